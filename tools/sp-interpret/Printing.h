//===- Printing.h - Tensors as text ----------------------------*- C++ -*-===//
#ifndef SP_TOOLS_SP_INTERPRET_PRINTING_H
#define SP_TOOLS_SP_INTERPRET_PRINTING_H

#include "sp/Interpreter/Tensor.h"

namespace mlir::interpreter {

/// Type and values in one line; of many values the first ones.
void printTensor(llvm::raw_ostream &stream, const Tensor &tensor);

} // namespace mlir::interpreter

#endif // SP_TOOLS_SP_INTERPRET_PRINTING_H
