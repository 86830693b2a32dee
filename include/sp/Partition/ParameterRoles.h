/// What the arguments of a training step are, by how the program reads them.
#ifndef SP_PARTITION_PARAMETERROLES_H
#define SP_PARTITION_PARAMETERROLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {

/// Bytes below which --zero leaves an argument whole: dealing it saves less
/// than moving it takes.
constexpr int64_t kSmallBytes = 64 * 1024;

enum class ArgumentRole {
  Parameter, ///< donated, and read by more than its update
  State,     ///< donated, and read by updates alone, and norms of these
  Cache,     ///< donated, for itself with rows that are written
  Small,     ///< donated, of fewer than kSmallBytes
  Data       ///< not donated
};

/// "parameter", "state", "cache", "small", "data".
StringRef nameOf(ArgumentRole role);

/// How a program reads one of its arguments.
struct ArgumentUses {
  /// By more than the operations that keep elements apart.
  bool isRead = false;
  /// By more than those, sums of elements, and what moves them: by a product, a
  /// gather or an attention.
  bool isWeight = false;
  /// Results that those alone make of it.
  llvm::SmallSetVector<unsigned, 4> results;
  /// Dimensions of which loops take parts, and others that are taken in parts.
  llvm::SmallSetVector<unsigned, 4> cut, sliced;
};

/// A parameter, or state of an optimizer: an argument of floating point that is
/// donated.
struct TrainedArgument {
  BlockArgument argument;
  unsigned result; ///< that it is donated to
  ArgumentUses uses;
};

/// Marks (kCache) arguments that become what some are donated for with rows
/// that are written to them, as caches of keys do: no number is computed of
/// theirs.
void findCaches(func::FuncOp func);

/// Whether an operation is part of an update: what it makes goes into donated
/// arguments of the next step, and element by element.
bool isOfUpdate(Operation *op);

/// All of a program whose donations are resolved and whose shapes are global.
SmallVector<TrainedArgument> findTrained(func::FuncOp func);

/// The role of each argument of such a program.
SmallVector<ArgumentRole> findRoles(func::FuncOp func);

} // namespace mlir::sp

#endif // SP_PARTITION_PARAMETERROLES_H
