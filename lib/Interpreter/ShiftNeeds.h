//===- ShiftNeeds.h - Which rows of blocks are handed on -------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_SHIFTNEEDS_H
#define SP_LIB_INTERPRETER_SHIFTNEEDS_H

#include "sp/IR/SP.h"

#include "sprt/algebra/Bands.h"

namespace mlir::interpreter {

/// Which rows of blocks arrive: of those that a start hands on, all or none, as
/// a rank further on its way reads one; of those that go straight, the ones
/// that bound what is seen. As `needs` of the plan has it.
class ShiftNeeds {
public:
  template <typename OpT> explicit ShiftNeeds(OpT op) {
    blocks = sp::toAlgebra(op.getLayout());
    isStraight = op.getSeenBy().has_value();
    // In value form everything goes on.
    std::optional<sp::ReadersAttr> neededBy = op.getSeenBy();
    if constexpr (std::is_same_v<OpT, sp::ShiftStartOp>)
      if (!isStraight && op.getNeededBy()) {
        neededBy = op.getNeededBy();
        way = op.getWay(sp::getMesh(op->template getParentOfType<ModuleOp>()));
      }
    if (!neededBy)
      return;
    readers = sp::toAlgebra(neededBy->getRows());
    bands = sp::toAlgebra(neededBy->getBands());
  }

  /// Of the block of an owner, from `giver` to `taker`.
  std::vector<sprt::algebra::Interval> arriving(int64_t block, int64_t giver,
                                                int64_t taker) const {
    if (isStraight)
      return bands.seenRows(readers, block == giver ? taker : giver, blocks,
                            block);
    if (way) {
      int64_t hops = way->hopsTo(block, taker);
      if (hops == 0 || hops > bands.ringReach(readers, blocks, block, *way,
                                              way->above(taker)))
        return {};
    }
    return {{0, blocks.count(block)}};
  }
  /// Whether rows that do not arrive are zeros.
  bool areOthersZero() const { return isStraight; }

private:
  sprt::algebra::Layout readers, blocks;
  sprt::algebra::Bands bands;
  bool isStraight = false;
  std::optional<sprt::algebra::RingWay> way;
};

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_SHIFTNEEDS_H
