#include "Blocks.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::RingWay;

void Moves::add(const RingWay &way) {
  auto *at = llvm::find_if(
      digits, [&](const Digit &digit) { return digit.stride >= way.stride; });
  if (at == digits.end() || at->stride != way.stride || at->size != way.size)
    at = digits.insert(at, {way.stride, way.size, 0});
  at->by = ((at->by + way.step) % way.size + way.size) % way.size;
  if (at->by == 0)
    digits.erase(at);
}

int64_t Moves::source(int64_t owner) const {
  for (const Digit &digit : digits)
    owner = RingWay{digit.stride, digit.size}.moved(owner, -digit.by);
  return owner;
}

LogicalResult RowBlock::handOn(ShiftStartOp op, const RingWay &way,
                               bool isGradient) {
  std::optional<ReadersAttr> seenBy = op.getSeenBy();
  if (isGradient ? isPartial && seenBy : isPartial)
    return op.emitOpError()
           << (isGradient ? "takes straight home what several ranks have added "
                            "up of a gradient, of which rows stay behind"
                          : "hands on blocks that went straight to one rank, "
                            "with the rows that it sees");
  if (isGradient && seenBy && neededBy != *seenBy)
    return op.emitOpError()
           << "takes straight home rows that are seen by " << *seenBy
           << " of a gradient that others made, " << neededBy;
  if (!isGradient && seenBy && !moves.empty())
    return op.emitOpError()
           << "sends blocks straight on that are not the rank's own";
  moves.add(way);
  if (isGradient && seenBy && !moves.empty())
    return op.emitOpError() << "takes a gradient straight to another rank than "
                               "its owner: at owner 0 it is that of owner "
                            << moves.source(0);
  isPartial = isGradient != seenBy.has_value();
  if (isGradient)
    return success();
  std::optional<ReadersAttr> readers = seenBy ? seenBy : op.getNeededBy();
  if (readers && neededBy && neededBy != *readers)
    return op.emitOpError() << "hands on for " << *readers
                            << " blocks that came for others, " << neededBy;
  if (readers)
    neededBy = *readers;
  return success();
}
