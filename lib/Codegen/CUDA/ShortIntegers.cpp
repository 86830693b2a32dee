#include "CUDA/ShortIntegers.h"

#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::stablehlo;

/// Bits of a signed integer; 0 of anything else.
static unsigned widthOf(Value value) {
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(value.getType()));
  return type && type.getWidth() > 1 && !type.isUnsigned() ? type.getWidth()
                                                           : 0;
}

std::optional<ShortIntegers::Range>
ShortIntegers::rangeOf(Operation *operation) const {
  if (auto constant = dyn_cast<ConstantOp>(operation)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || dense.getNumElements() != 1)
      return std::nullopt;
    APInt value = *dense.value_begin<APInt>();
    if (value.getSignificantBits() > 64)
      return std::nullopt;
    return Range{value.getSExtValue(), value.getSExtValue()};
  }
  SmallVector<Range, 2> of;
  for (Value operand : operation->getOperands()) {
    auto found = ranges.find(operand);
    if (found == ranges.end())
      return std::nullopt;
    of.push_back(found->second);
  }
  if (isa<ConvertOp, ReshapeOp>(operation))
    return of[0];
  if (isa<AddOp>(operation))
    return Range{of[0].least + of[1].least, of[0].most + of[1].most};
  if (isa<SubtractOp>(operation))
    return Range{of[0].least - of[1].most, of[0].most - of[1].least};
  if (isa<NegOp>(operation))
    return Range{-of[0].most, -of[0].least};
  if (isa<MaxOp>(operation))
    return Range{std::max(of[0].least, of[1].least),
                 std::max(of[0].most, of[1].most)};
  if (isa<MinOp>(operation))
    return Range{std::min(of[0].least, of[1].least),
                 std::min(of[0].most, of[1].most)};
  if (isa<AbsOp>(operation))
    return Range{0, std::max(-of[0].least, of[0].most)};
  if (isa<MulOp>(operation)) {
    __int128 ends[] = {of[0].least * of[1].least, of[0].least * of[1].most,
                       of[0].most * of[1].least, of[0].most * of[1].most};
    return Range{*std::min_element(ends, ends + 4),
                 *std::max_element(ends, ends + 4)};
  }
  return std::nullopt;
}

void ShortIntegers::visit(Operation *operation) {
  if (operation->getNumResults() != 1)
    return;
  Value result = operation->getResult(0);
  unsigned width = widthOf(result);
  if (width == 0)
    return;
  std::optional<Range> range = rangeOf(operation);
  // Where it wraps around, nothing is known.
  __int128 limit = __int128(1) << (width - 1);
  if (!range || range->least < -limit || range->most >= limit)
    return;
  ranges[result] = *range;
  bool fits = range->least >= INT32_MIN && range->most <= INT32_MAX;
  bool isShort = llvm::all_of(operation->getOperands(), [&](Value operand) {
    return widthOf(operand) < 64 || shortened.contains(operand);
  });
  if (width == 64 && fits && isShort)
    shortened.insert(result);
}

bool ShortIntegers::takesShort(Operation *operation) const {
  if (isa<ConvertOp>(operation))
    return true;
  if (isa<CompareOp>(operation))
    return llvm::all_of(operation->getOperands(),
                        [&](Value operand) { return contains(operand); });
  return operation->getNumResults() == 1 && contains(operation->getResult(0));
}
