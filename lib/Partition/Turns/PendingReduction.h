/// Reductions that may as well come later.
#ifndef SP_LIB_PARTITION_PENDINGREDUCTION_H
#define SP_LIB_PARTITION_PENDINGREDUCTION_H

#include "sp/IR/AxisTypes.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/TensorTypes.h"

namespace mlir::sp {

/// A value that is made of reductions so that it would be the reduction of what
/// the same operations make of each rank's values, but for rounding.
class PendingReduction {
public:
  /// With `factors` products with what all ranks have alike are linear, though
  /// it may be 0 or infinite; without, those with a plain constant.
  PendingReduction(Block &body, AxisTypes &ranks, bool factors)
      : body(&body), ranks(&ranks), factors(factors) {}

  bool reach(Value value);
  /// Whether numbers of such a type may be computed as the reductions' are:
  /// they are the same, or narrow ones that are made in f32.
  bool fits(Type type) const {
    Type own = elementOf(AllReduceOp(first())->getResult(0));
    return getElementTypeOrSelf(type) == own || (isNarrow(type) && own.isF32());
  }
  /// No product of two that are pending.
  bool isLinear() const;
  /// Whether nothing else reads what lies between but what `isReader` holds of.
  bool isReadBy(function_ref<bool(Operation *)> isReader) const;
  /// The reductions and what lies between.
  SmallVector<Operation *> operations() const;
  /// Gives `last`, which reads the value, operations of its own, where others
  /// read some of them.
  void separate(Operation *last);
  AllReduceOp first() const { return reductions.front(); }
  size_t count() const { return reductions.size(); }
  Reduction kind() const { return AllReduceOp(first()).getKind(); }
  /// Has the operations compute what a rank has, with such elements, and erases
  /// the reductions.
  void release(Type element);

private:
  bool reach(Operation *op, Value value);
  bool isFactor(Value value) const;
  bool reachProduct(Operation *op);

  Block *body;
  AxisTypes *ranks;
  bool factors;
  SmallVector<AllReduceOp> reductions;
  SmallVector<Operation *> between; ///< in an order of the program
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_PENDINGREDUCTION_H
