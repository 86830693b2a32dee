/// Size of tensors as buffers hold them.
#ifndef SP_IR_STORAGE_H
#define SP_IR_STORAGE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"

namespace mlir::sp {

/// Bytes of one element: booleans and sub-byte types take one byte, complex
/// numbers two parts.
int64_t elementBytes(Type elementType);

/// Bytes of a dense row-major tensor.
int64_t storageBytes(Type tensorType);
/// Of several.
int64_t storageBytes(TypeRange tensorTypes);

/// Bytes of one row of dimension `dim`, before which all dimensions are 1.
int64_t rowBytesOf(RankedTensorType type, int64_t dim);

} // namespace mlir::sp

#endif // SP_IR_STORAGE_H
