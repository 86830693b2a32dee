/// Where the numbers of documents come from: an argument, or few operations on
/// whole numbers of arguments.
#ifndef SP_LIB_IMPORT_NUMBERSOURCE_H
#define SP_LIB_IMPORT_NUMBERSOURCE_H

#include "sp/IR/SP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {

class NumberSource {
public:
  /// Of a term `[batch or 1, length, 1, 1]` of a score function. Nothing where
  /// it depends on anything but whole numbers of arguments and constants, or on
  /// what is too large to be computed before a run.
  static std::optional<NumberSource> find(mlir::Value term, func::FuncOp main);

  /// Whether both are the same value.
  bool operator==(const NumberSource &other) const {
    return numbers == other.numbers;
  }
  /// The documents that it tells apart, at `builder`.
  DocumentsOp create(OpBuilder &builder, StringRef name) const;

private:
  mlir::Value numbers; ///< in `main`, before they are laid out as a term
  int64_t length = 0;
  SmallVector<BlockArgument> arguments;
  SetVector<Operation *> operations; ///< between both, in their order
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_NUMBERSOURCE_H
