/// What Plan decides about: attentions with their gradients.
#ifndef SP_LIB_PLAN_PLANNEDATTENTION_H
#define SP_LIB_PLAN_PLANNEDATTENTION_H

#include "sp/Plan/AttentionCost.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sp {

/// An attention and its gradients, which get one plan, or gradients alone.
/// Where it is out of sight whose lse they read, as between loops, they are
/// those of the first attention that they could be of.
struct PlannedAttention {
  template <typename OpT>
  PlannedAttention(OpT op, MeshOp mesh)
      : ops{op}, counted{CountedAttention(op, headPartOf(mesh, op))},
        batch(op.getQuery().getType().getDimSize(0)),
        heads(counted.front().query.getDimSize(2)),
        kvHeads(counted.front().value.getDimSize(2)),
        queries(op.getQuery().getType().getDimSize(1)),
        keys(op.getKey().getType().getDimSize(1)),
        plan(op.getPlan().value_or(PlanAttr())) {}

  Location getLoc() const { return ops.front()->getLoc(); }
  /// How diagnostics and remarks call it.
  std::string getName() const;
  /// Whether a group of kv heads has query heads of its own.
  bool hasEvenHeads() const { return heads % kvHeads == 0; }
  bool hasGradients() const;
  /// Whether a score function of its gradients reads terms of each pair, of
  /// which ranks have those of their queries.
  bool hasTermsOfPairs() const;
  /// Whether a score function reads terms of each pair that are dealt with the
  /// queries over so many ranks: whole they may be more than keys and values.
  bool dealsPairs(int64_t ranks) const;
  /// The mean of what a rank sends.
  int64_t estimateBytes(PlanAttr candidate, int64_t localBatch) const;
  /// Of that what keys and values take in a ring, once, in one element of the
  /// batch.
  int64_t estimateKeyBytes(PlanAttr candidate) const;
  /// Whether ranks that see keys of an owner are at most so many numbers of
  /// ranks away from theirs.
  bool hasFewReaders(PlanAttr candidate, size_t most) const;
  /// Visible pairs of one head on the busiest rank.
  int64_t estimateArea(PlanAttr candidate) const {
    return estimateGreatestArea(counted.front(), candidate);
  }
  /// Visible pairs of all heads of the busiest rank.
  double workOf(PlanAttr candidate) const {
    return static_cast<double>(estimateArea(candidate)) *
           static_cast<double>(llvm::divideCeil(heads, candidate.getHeads()));
  }
  /// Of those with one key the same plans cost the same.
  SmallVector<int64_t> key() const;
  /// Gives a plan to those that have none.
  void setPlan(PlanAttr plan);

  /// The attention first, as `counted` has it.
  SmallVector<Operation *> ops;
  std::vector<CountedAttention> counted;
  int64_t batch;
  /// Of a rank of the tensor axis.
  int64_t heads, kvHeads;
  /// Positions of queries and of keys.
  int64_t queries, keys;
  /// Of the first of them; null before it has one.
  PlanAttr plan;
};

/// The attentions of a module, and then gradients that are none of theirs.
std::vector<PlannedAttention> findAttentions(ModuleOp module);

} // namespace mlir::sp

#endif // SP_LIB_PLAN_PLANNEDATTENTION_H
