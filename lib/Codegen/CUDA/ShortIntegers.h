/// Which integers of 64 bits a function can compute in 32.
#ifndef SP_LIB_CODEGEN_SHORTINTEGERS_H
#define SP_LIB_CODEGEN_SHORTINTEGERS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::sp {

/// Follows the ranges of integers through additions, products and the like from
/// values that are known, in the order of the operations.
class ShortIntegers {
public:
  void setRange(Value value, int64_t least, int64_t most) {
    ranges[value] = {least, most};
  }
  void visit(Operation *operation);

  /// Whether it is one of 64 bits, and made of such: 32 hold its value.
  bool contains(Value value) const { return shortened.contains(value); }
  /// Whether an operation may have its operands in 32 bits where they are
  /// short: its result is short as well, or does not depend on their width.
  bool takesShort(Operation *operation) const;

private:
  struct Range {
    __int128 least, most;
  };

  std::optional<Range> rangeOf(Operation *operation) const;

  llvm::DenseMap<Value, Range> ranges;
  llvm::DenseSet<Value> shortened;
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_SHORTINTEGERS_H
