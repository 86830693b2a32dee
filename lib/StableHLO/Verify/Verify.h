//===- Verify.h - What verifiers share --------------------------*- C++ -*-===//

#ifndef SP_LIB_STABLEHLO_VERIFY_H
#define SP_LIB_STABLEHLO_VERIFY_H

#include "sp/StableHLO/StableHLO.h"

namespace mlir::stablehlo {

/// Sizes agree where both are known.
inline bool sameSize(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}
bool sameShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b);

/// `[2, 3]` in a diagnostic.
std::string text(ArrayRef<int64_t> values);

/// Dimensions of the list called `name` differ and are below `rank`; ascending
/// too if `sorted`.
LogicalResult verifyDims(Operation *op, StringRef name, ArrayRef<int64_t> dims,
                         int64_t rank, bool sorted = false);

/// A list called `name` has one entry per dimension.
LogicalResult verifyLength(Operation *op, StringRef name, int64_t length,
                           int64_t rank);

/// The result has the shape that follows from the operands.
LogicalResult verifyShape(Operation *op, Value result,
                          ArrayRef<int64_t> expected);

/// The region takes and returns those types; `name` is what it is called.
LogicalResult verifyRegion(Operation *op, StringRef name, Region &region,
                           TypeRange arguments, TypeRange results);

/// How to do without an operation that is not read.
StringRef findWayOut(StringRef name);

/// A scalar tensor of the value's elements.
RankedTensorType scalarOf(Value value);

/// A size computed in wide integers, within what a shape can say.
int64_t narrow(__int128 size);

/// Size of a dimension after padding, dilation and a sliding window; all sizes
/// known.
struct WindowDim {
  int64_t size = 1, stride = 1, padLow = 0, padHigh = 0;
  int64_t baseDilation = 1, windowDilation = 1;
};
int64_t slideWindow(int64_t size, const WindowDim &window);

/// Window attributes as dimensions, those absent at their defaults; checks
/// their lengths and signs. `sizes` gives the extent of the window.
FailureOr<SmallVector<WindowDim>>
makeWindow(Operation *op, ArrayRef<int64_t> sizes,
           std::optional<ArrayRef<int64_t>> strides,
           DenseIntElementsAttr padding,
           std::optional<ArrayRef<int64_t>> baseDilations,
           std::optional<ArrayRef<int64_t>> windowDilations);

} // namespace mlir::stablehlo

#endif // SP_LIB_STABLEHLO_VERIFY_H
