/// Sizes and element types of ranked tensor values.
#ifndef SP_LIB_CODEGEN_TENSORSHAPE_H
#define SP_LIB_CODEGEN_TENSORSHAPE_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::sp {

/// Sizes of a ranked tensor value.
inline ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}
inline Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}
inline int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_TENSORSHAPE_H
