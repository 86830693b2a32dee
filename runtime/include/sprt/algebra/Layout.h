#ifndef SPRT_ALGEBRA_LAYOUT_H
#define SPRT_ALGEBRA_LAYOUT_H

#include "sprt/algebra/Deal.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sprt::algebra {

enum class LayoutKind : int8_t { contiguous, zigzag, striped, batch };

/// "contiguous", "zigzag", "striped" or "batch".
const char *name(LayoutKind kind);
std::optional<LayoutKind> parseLayoutKind(std::string_view text);

/// How many blocks a sequence is cut into first, and whether each has owners of
/// its own.
struct LayoutBlocks {
  int64_t count = 1;
  bool apart = false;

  bool operator==(const LayoutBlocks &other) const {
    return count == other.count && apart == other.apart;
  }
};

/// Which positions of a sequence each rank holds, and in which order.
///
/// A layout deals `length` positions to a ring of `ring` owners:
///
///   - contiguous: `ring` consecutive blocks. Cheap to gather, but under a
///     causal mask the last owner has almost twice the mean work.
///   - zigzag: 2 * ring consecutive chunks; owner k holds chunk k and chunk
///     2 * ring - 1 - k, an early one and its mirror image, so that causal work
///     is the same for every owner at every ring step (Megatron calls this
///     exchange of chunks dual chunk swap).
///   - striped: owner k holds the positions t with t mod ring = k, so that at
///     every ring step all owners see a causal triangle, with or without its
///     diagonal: balanced to within one pair a row.
///   - batch: as a table says (`Deal`), which the documents of each batch make
///     anew; zigzag before there is one.
///
///     12 positions, ring of 2     owner 0              owner 1
///     contiguous                  0 1 2 3 4 5          6 7 8 9 10 11
///     zigzag                      0 1 2 9 10 11        3 4 5 6 7 8
///     striped                     0 2 4 6 8 10         1 3 5 7 9 11
///
/// A ring beside a second axis (heads, when attention is two-dimensional) then
/// cuts the rows of each ring owner, in their local order, into `split`
/// consecutive parts. Owners of the result are numbered owner * split + part:
///
///     zigzag, ring 2, split 2     0: 0 1 2    1: 9 10 11    2: 3 4 5    3: 6 7
///     8
///
/// Nothing has to divide. Whatever is cut into n parts gives its first
/// (length mod n) parts one more, so that the counts of any two owners differ
/// by at most one, for every kind and split; a sequence shorter than the ranks
/// leaves owners without rows. An owner's first rows are its valid rows: local
/// tensors have maxCount() rows, the rest is padding.
///
///     7 positions, ring of 3      owner 0      owner 1      owner 2
///     contiguous                  0 1 2        3 4          5 6
///     zigzag (chunks 2 1 1 1 1 1) 0 1 6        2 5          3 4
///     striped                     0 3 6        1 4          2 5
///
/// With `within`, the positions are the first ones of so many, dealt as all of
/// those are: what is left of a sequence whose last positions are cut off stays
/// where it lies. An owner's rows ascend, so it keeps its first ones.
///
///     10 positions within 12      owner 0              owner 1
///     zigzag                      0 1 2 9              3 4 5 6 7 8
///
/// With `blocks`, the positions are first cut into so many consecutive blocks
/// of the same size, and each of them is dealt to all owners, who hold their
/// parts block after block. What is masked causally may then go through the
/// blocks in turn, of which none sees a later one. Where they are `apart` each
/// block has owners of its own: part k of block b is that of owner b * ring *
/// split + k. Blocks are dealt evenly: their size is a multiple of the owners,
/// of a zigzag of twice as many; a sequence of another length is the first
/// positions of a longer one.
///
///     16 positions, ring of 2     owner 0              owner 1
///     zigzag in 2 blocks          0 1 6 7 8 9 14 15    2 3 4 5 10 11 12 13
///     apart                       0: 0 1 6 7           1: 2 3 4 5
///                                 2: 8 9 14 15         3: 10 11 12 13
///
/// A batch deals unevenly: with `holds` local tensors have so many rows, and no
/// owner may hold more. Its blocks are of rows, as positions go wherever their
/// documents do: `holds / blocks` of each owner, the last ones fewer, or none.
///
/// Every function is O(1) a block; ranges() and rowsIn() have at most two
/// entries a block, and of a table what that has for the owner. Owners outside
/// [0, ranks()) hold nothing. Heads are dealt by the same class.
class Layout {
public:
  static constexpr int64_t maxLength = int64_t(1) << 40;
  static constexpr int64_t maxRanks = int64_t(1) << 20;

  using Place = Deal::Place;

  /// No positions, on one rank.
  Layout() = default;
  /// The arguments must pass `check`. `within` 0 is `length`; a batch alone
  /// `holds`.
  Layout(LayoutKind kind, int64_t length, int64_t ring, int64_t split = 1,
         int64_t within = 0, LayoutBlocks blocks = {}, int64_t holds = 0);

  /// What is wrong with such a layout, as a diagnostic; empty if nothing is.
  static std::string check(LayoutKind kind, int64_t length, int64_t ring,
                           int64_t split = 1, int64_t within = 0,
                           LayoutBlocks blocks = {}, int64_t holds = 0);
  /// What the size of a block is a multiple of.
  static int64_t granule(LayoutKind kind, int64_t ring, int64_t split) {
    return (kind == LayoutKind::zigzag ? 2 : 1) * ring * split;
  }

  static Layout dense(int64_t length) {
    return Layout(LayoutKind::contiguous, length, 1);
  }

  /// The layout of a batch that is dealt so, which must pass `checkDeal`; null
  /// as before there was one.
  Layout dealtAs(std::shared_ptr<const Deal> deal) const;

  /// Null as long as there is no batch.
  const std::shared_ptr<const Deal> &deal() const { return table; }

  LayoutKind kind() const { return dealt; }
  int64_t length() const { return positions; }
  /// How many positions are dealt, of which the layout has the first ones.
  int64_t within() const { return whole; }
  /// Owners of the ring, before each is split.
  int64_t ring() const { return owners; }
  int64_t split() const { return parts; }
  LayoutBlocks blocks() const { return cut; }
  int64_t holds() const { return capacity; } ///< rows of an owner; or 0
  /// Which owners of the ring hand blocks round with this one.
  OwnerGroup group(int64_t ringOwner) const;
  /// All owners: ring() * split(), for each block where these are apart.
  int64_t ranks() const { return owners * parts * (cut.apart ? cut.count : 1); }

  /// How many rows an owner holds.
  int64_t count(int64_t owner) const;
  /// No owner's count is larger, and some owner's is as large where all
  /// positions are there and the layout is not a batch's.
  int64_t maxCount() const;
  /// The positions of an owner's rows, in local order.
  Ranges ranges(int64_t owner) const;
  /// The position of a row, 0 <= row < count(owner).
  int64_t toGlobal(int64_t owner, int64_t row) const;
  /// Who holds a position, 0 <= position < length(), and in which row.
  Place toLocal(int64_t position) const;
  /// The rows of an owner whose positions lie in [lo, hi).
  std::vector<Interval> rowsIn(int64_t owner, int64_t lo, int64_t hi) const;

  /// Whether one owner holds every position, in order.
  bool isDense() const { return ranks() == 1; }

  /// The same rows for the same owners. Kinds are alike on a ring of one.
  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }

  /// "zigzag(4096 over 8)", "zigzag(4096 over 4x2)" with a split of 2,
  /// "zigzag(4095 within 4096 over 8)", "zigzag(4096 over 8 in 4 blocks)" or,
  /// where these are apart, "zigzag(4096 over 8 in 4 turns)", of a batch
  /// "batch(4096 over 8 holding 640)" whatever its table.
  std::string str() const;
  static std::optional<Layout> parse(std::string_view text);

private:
  LayoutKind dealt = LayoutKind::contiguous;
  int64_t positions = 0;
  int64_t whole = 0;
  int64_t owners = 1;
  int64_t parts = 1;
  LayoutBlocks cut;
  int64_t capacity = 0;
  std::shared_ptr<const Deal> table;
};

/// Owners among whom are all that hold a position of [lo, hi), perhaps others.
std::vector<Interval> ownersNear(const Layout &layout, int64_t lo, int64_t hi);

/// What keeps a batch from being dealt so; empty if nothing does.
std::string checkDeal(const Layout &layout, const Deal &deal);

/// The layout of its ring, whose owners are not split.
inline Layout joined(const Layout &layout) {
  return Layout(layout.kind(), layout.length(), layout.ring(), 1,
                layout.within(), layout.blocks(),
                layout.holds() * layout.split())
      .dealtAs(layout.deal());
}

} // namespace sprt::algebra

#endif // SPRT_ALGEBRA_LAYOUT_H
