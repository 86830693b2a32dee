/// Which values every rank computes alike.
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

  bool isAlike(Value value) const { return !differing.contains(value); }

private:
  void visit(Operation *op);
  void differ(Value value) { changed |= differing.insert(value).second; }

  DenseSet<Value> differing;
  bool changed = false;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_RANKINVARIANCE_H
