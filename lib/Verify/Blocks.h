/// Whose rows a value holds, on all ranks at once.
#ifndef SP_LIB_VERIFY_BLOCKS_H
#define SP_LIB_VERIFY_BLOCKS_H

#include "sp/IR/SP.h"

#include "sprt/algebra/Ring.h"

namespace mlir::sp {

/// How far blocks have been handed on, digit by digit of a ring owner's number.
/// A shift moves the blocks of all ranks alike, so one of these stands for all:
/// the block at owner r is that of owner `source(r)`.
class Moves {
public:
  void add(const sprt::algebra::RingWay &way);
  int64_t source(int64_t owner) const;
  bool empty() const { return digits.empty(); }
  bool operator==(const Moves &other) const { return digits == other.digits; }
  bool operator!=(const Moves &other) const { return digits != other.digits; }

private:
  struct Digit {
    int64_t stride, size;
    int64_t by; ///< 1 to size - 1
    bool operator==(const Digit &other) const {
      return stride == other.stride && size == other.size && by == other.by;
    }
  };
  /// By stride.
  SmallVector<Digit, 2> digits;
};

/// Rows of the value `origin`, which each rank has, after these moves. Where
/// these are for some, others do not have them. Of a gradient `neededBy` is
/// whose pairs it adds up.
struct RowBlock {
  Value origin;
  Moves moves;
  ReadersAttr neededBy = {};
  /// Rows of other ranks than the one that it came to are not here; of a
  /// gradient, it adds up parts of several ranks.
  bool isPartial = false;

  /// Goes on its way, alone or as a gradient.
  LogicalResult handOn(ShiftStartOp op, const sprt::algebra::RingWay &way,
                       bool isGradient);
  bool operator==(const RowBlock &other) const {
    return origin == other.origin && moves == other.moves &&
           neededBy == other.neededBy && isPartial == other.isPartial;
  }
};

} // namespace mlir::sp

#endif // SP_LIB_VERIFY_BLOCKS_H
