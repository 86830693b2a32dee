/// What lies where in a rank's arena, and in its far memory, while a program
/// runs.
///
/// Every write puts a new content into a range of bytes; what lay there is
/// gone. A read wants its content whole. That is all that offsets must get
/// right, whatever rule made them:
///
///   write a at [0, 64)          0..64 a
///   write b at [32, 96)         0..32 a, 32..96 b
///   read a at [0, 64)           fails, b overwrote it
///
/// A stack into which rows were put holds the contents of both.
#ifndef SP_LIB_VERIFY_ARENA_H
#define SP_LIB_VERIFY_ARENA_H

#include "sp/IR/SP.h"

#include <map>

namespace mlir::sp {

/// What a value consists of: contents, where each was put. Constants never
/// change.
struct Held {
  struct Piece {
    int64_t begin, end, content;
  };
  int64_t offset = 0, bytes = 0;
  SmallVector<Piece, 1> pieces; ///< by first byte, without gaps
  Space space = Space::Arena;

  int64_t end() const { return offset + bytes; }
  /// The `size` bytes from `begin` on.
  Held part(int64_t begin, int64_t size) const;
  /// The same with `other` in its place.
  Held with(const Held &other) const;
};

class Arena {
public:
  /// A content that nothing held before, at a place that nothing is put yet.
  Held make(Space space, int64_t offset, int64_t bytes, Operation *writer);
  void put(const Held &held);
  /// The writer of what lies in the way, or nullopt where `held` is whole; a
  /// null writer means that nothing was ever written there.
  std::optional<Operation *> findDamage(const Held &held) const;

private:
  struct Range {
    int64_t end;
    int64_t content;
  };
  /// By first byte; ranges do not overlap.
  using Ranges = std::map<int64_t, Range>;

  static void cutAt(Ranges &ranges, int64_t offset);
  std::optional<Operation *> findDamage(const Ranges &ranges,
                                        const Held::Piece &piece) const;

  std::map<Space, Ranges> spaces = {{Space::Arena, {}}, {Space::Far, {}}};
  DenseMap<int64_t, Operation *> writers;
  int64_t lastContent = 0;
};

} // namespace mlir::sp

#endif // SP_LIB_VERIFY_ARENA_H
