//===- TensorBytes.h - Tensors in the program's own formats ----*- C++ -*-===//
#ifndef SP_INTERPRETER_TENSORBYTES_H
#define SP_INTERPRETER_TENSORBYTES_H

#include "sp/Interpreter/Tensor.h"

namespace mlir::interpreter {

/// The tensor an attribute describes. Fails for resources whose value is not
/// in the file, with the reason in `reason`.
FailureOr<Tensor> tensorFromAttribute(ElementsAttr value, std::string &reason);

/// The tensor whose little-endian bytes, in the element type's own format,
/// are `bytes` (i1 as one byte). `bytes` has exactly the right size.
Tensor tensorFromBytes(RankedTensorType type, ArrayRef<char> bytes);

/// The inverse of tensorFromBytes, rounding to the element type where needed.
std::vector<char> bytesOf(const Tensor &tensor);

} // namespace mlir::interpreter

#endif // SP_INTERPRETER_TENSORBYTES_H
