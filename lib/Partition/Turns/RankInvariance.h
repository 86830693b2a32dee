/// Which values ranks compute alike.
#ifndef SP_LIB_PARTITION_RANKINVARIANCE_H
#define SP_LIB_PARTITION_RANKINVARIANCE_H

#include "sp/IR/SP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {

/// Of a program that Localize has left: what is made of arguments that are
/// whole, of constants and of reductions over all ranks, through loops.
class RankInvariance {
public:
  explicit RankInvariance(func::FuncOp func);
  /// On the ranks of an axis, alike otherwise or not.
  RankInvariance(func::FuncOp func, AxisAttr axis);

  bool isAlike(Value value) const { return !differing.contains(value); }

private:
  void run(func::FuncOp func);
  void visit(Operation *op);
  /// Whether an operation gives ranks different results of the same operands.
  bool tellsApart(Operation *op) const;
  /// Whether it gives them the same result of any.
  bool makesAlike(Operation *op) const;
  void differ(Value value) { changed |= differing.insert(value).second; }

  AxisAttr axis; ///< null for all ranks
  DenseSet<Value> differing;
  bool changed = false;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_RANKINVARIANCE_H
