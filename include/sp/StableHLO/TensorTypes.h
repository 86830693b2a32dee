/// What the ranked tensor type of a value says.
#ifndef SP_STABLEHLO_TENSORTYPES_H
#define SP_STABLEHLO_TENSORTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace mlir::sp {

inline RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

inline ArrayRef<int64_t> shapeOf(Value value) {
  return typeOf(value).getShape();
}

inline int64_t rankOf(Value value) { return typeOf(value).getRank(); }

inline Type elementOf(Value value) { return typeOf(value).getElementType(); }

inline int64_t countOf(ArrayRef<int64_t> shape) {
  return ShapedType::getNumElements(shape);
}

} // namespace mlir::sp

#endif // SP_STABLEHLO_TENSORTYPES_H
