//===- PlannedAttention.cpp - Attentions with their gradients -------------===//

#include "PlannedAttention.h"

using namespace mlir;
using namespace mlir::sp;

std::string PlannedAttention::getName() const {
  Operation *first = ops.front();
  if (auto forward = dyn_cast<AttentionOp>(first))
    return forward.getName().empty() ? "an attention" : forward.getName().str();
  StringRef name = cast<AttentionBackwardOp>(first).getName();
  return name.empty() ? "gradients of an attention"
                      : "gradients of " + name.str();
}

bool PlannedAttention::hasGradients() const {
  return llvm::any_of(
      ops, [](Operation *op) { return isa<AttentionBackwardOp>(op); });
}

bool PlannedAttention::hasTermsOfPairs() const {
  return llvm::any_of(ops, [](Operation *op) {
    auto backward = dyn_cast<AttentionBackwardOp>(op);
    return backward && hasTermsByQueries(backward);
  });
}

bool PlannedAttention::dealsPairs(int64_t ranks) const {
  auto isOfQueries = [](Value pair) {
    return cast<RankedTensorType>(pair.getType()).getDimSize(2) > 1;
  };
  return queries >= ranks && llvm::any_of(ops, [&](Operation *op) {
           if (auto forward = dyn_cast<AttentionOp>(op))
             return llvm::any_of(forward.getTermsOf(TermKind::Pair),
                                 isOfQueries);
           return hasTermsByQueries(cast<AttentionBackwardOp>(op));
         });
}

int64_t PlannedAttention::estimateBytes(PlanAttr candidate,
                                        int64_t localBatch) const {
  int64_t bytes = 0;
  for (const CountedAttention &op : counted)
    bytes += estimateBytesSent(op, candidate, localBatch);
  return bytes;
}

int64_t PlannedAttention::estimateKeyBytes(PlanAttr candidate) const {
  CountedAttention keys = counted.front();
  for (int64_t *other :
       {&keys.queriesToHeads, &keys.keysToHeads, &keys.queriesToRows,
        &keys.keysToRows, &keys.keyPartBytes, &keys.queryPartBytes})
    *other = 0;
  keys.perQueryToHeads = keys.perKeyToHeads = {};
  return estimateBytesSent(keys, candidate, 1);
}

bool PlannedAttention::hasFewReaders(PlanAttr candidate, size_t most) const {
  return toAlgebra(counted.front().bands)
      .readerDistances(toAlgebra(candidate.getRingRows(queries)),
                       toAlgebra(candidate.getRingRows(keys)), most)
      .has_value();
}

SmallVector<int64_t> PlannedAttention::key() const {
  SmallVector<int64_t> key = {
      batch, heads, kvHeads, hasTermsOfPairs(),
      reinterpret_cast<intptr_t>(plan.getAsOpaquePointer())};
  for (const CountedAttention &op : counted)
    llvm::append_range(key, op.key());
  return key;
}

void PlannedAttention::setPlan(PlanAttr chosen) {
  plan = chosen;
  for (Operation *op : ops) {
    if (auto forward = dyn_cast<AttentionOp>(op); forward && !forward.getPlan())
      forward.setPlanAttr(chosen);
    if (auto backward = dyn_cast<AttentionBackwardOp>(op);
        backward && !backward.getPlan())
      backward.setPlanAttr(chosen);
  }
}

/// Whether scales are equal but for what rounding leaves of one in each loop.
static bool areClose(double a, double b) {
  return std::fabs(a - b) <= 1e-6 * std::fabs(a);
}

/// Whether these could be the gradients of an attention.
static bool fits(AttentionBackwardOp backward, AttentionOp forward) {
  return forward.getScore().has_value() == backward.getScore().has_value() &&
         forward.getTermKinds() == backward.getTermKinds() &&
         forward.getTerms().getTypes() == backward.getTerms().getTypes() &&
         forward.getBands() == backward.getBands() &&
         areClose(forward.getScale().convertToDouble(),
                  backward.getScale().convertToDouble()) &&
         forward.getQuery().getType() == backward.getQuery().getType() &&
         forward.getKey().getType() == backward.getKey().getType() &&
         forward.getValue().getType() == backward.getValue().getType();
}

std::vector<PlannedAttention> mlir::sp::findAttentions(ModuleOp module) {
  MeshOp mesh = getMesh(module);
  std::vector<PlannedAttention> found;
  SmallVector<AttentionOp> forwards;
  module.walk([&](AttentionOp op) {
    forwards.push_back(op);
    found.emplace_back(op, mesh);
  });
  module.walk([&](AttentionBackwardOp op) {
    AttentionOp own = findForward(op);
    auto *forward = llvm::find_if(forwards, [&](AttentionOp other) {
      return own ? other == own : fits(op, other);
    });
    if (forward == forwards.end()) {
      found.emplace_back(op, mesh);
      return;
    }
    PlannedAttention &planned = found[forward - forwards.begin()];
    planned.ops.push_back(op);
    planned.counted.emplace_back(op, headPartOf(mesh, op));
  });
  return found;
}
