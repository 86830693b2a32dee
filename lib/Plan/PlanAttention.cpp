//===- PlanAttention.cpp - A strategy and a layout for every attention ----===//
//
//   before   sp.attention(%q, %k, %v) ...
//   after    sp.attention(%q, %k, %v) ... plan <axis = "sp", inner = 4, ...>
//
//===----------------------------------------------------------------------===//

#include "sp/Plan/AttentionCost.h"
#include "sp/Plan/Passes.h"

#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "sp-plan-attention"

namespace mlir::sp {
#define GEN_PASS_DEF_PLANATTENTIONPASS
#include "sp/Plan/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct PlanAttentionPass
    : mlir::sp::impl::PlanAttentionPassBase<PlanAttentionPass> {
  using PlanAttentionPassBase::PlanAttentionPassBase;

  PlanAttr makePlan(StringRef name, LayoutKind kind);
  FailureOr<LayoutKind> chooseLayout(ArrayRef<AttentionOp> attentions);
  PlanAttr cheapest(AttentionOp op, LayoutKind kind);

  void runOnOperation() override;

  MeshOp meshOp;
};

PlanAttr PlanAttentionPass::makePlan(StringRef name, LayoutKind kind) {
  StringRef axis = meshOp.getSequence().value_or("");
  int64_t ranks = meshOp.getAxisSize(axis);
  auto factor = [&](StringRef wanted) { return name == wanted ? ranks : 1; };
  return PlanAttr::get(&getContext(), axis, factor("ulysses"), 1,
                       factor("ring"), factor("allgather"), kind,
                       Placement::HeadFirst);
}

FailureOr<LayoutKind>
PlanAttentionPass::chooseLayout(ArrayRef<AttentionOp> attentions) {
  if (layout != "auto") {
    std::optional<LayoutKind> kind = symbolizeLayoutKind(layout);
    if (!kind)
      return getOperation().emitError()
             << "expected --layout to be auto, contiguous, zigzag or striped "
                "but got \""
             << layout << "\"";
    return *kind;
  }
  // What the user planned in the IR decides for all.
  for (AttentionOp op : attentions)
    if (op.getPlan() && op.getPlan()->getRanks() > 1)
      return op.getPlan()->getLayout();
  bool isCausal = llvm::any_of(attentions, [](AttentionOp op) {
    ArrayRef<int64_t> q = op.getQuery().getType().getShape(),
                      k = op.getKey().getType().getShape();
    return StringRef(toAlgebra(op.getBands()).name(q[1], k[1])) == "causal";
  });
  return isCausal ? LayoutKind::Zigzag : LayoutKind::Contiguous;
}

/// How diagnostics and remarks call an attention.
std::string nameOf(AttentionOp op) {
  return op.getName().empty() ? "an attention" : op.getName().str();
}

PlanAttr PlanAttentionPass::cheapest(AttentionOp op, LayoutKind kind) {
  int64_t batch = op.getQuery().getType().getDimSize(0);
  if (std::optional<StringRef> axis = meshOp.getBatch())
    batch = llvm::divideCeil(batch, meshOp.getAxisSize(*axis));
  PlanAttr best;
  int64_t bestBytes = 0;
  for (StringRef name : {"ring", "ulysses", "allgather"}) {
    PlanAttr plan = makePlan(name, kind);
    int64_t bytes = estimateBytesSent(op, plan, batch);
    remark::analysis(
        op.getLoc(),
        remark::RemarkOpts::name("Alternative").category(DEBUG_TYPE))
        << nameOf(op) << ": " << name << " would send "
        << remark::metric("bytes", bytes) << " bytes a rank";
    if (best && bytes >= bestBytes)
      continue;
    best = plan;
    bestBytes = bytes;
  }
  return best;
}

void PlanAttentionPass::runOnOperation() {
  meshOp = getMesh(getOperation());
  if (!meshOp) {
    getOperation().emitError() << "expected a mesh; run sp-assign-mesh first";
    return signalPassFailure();
  }
  if (!llvm::is_contained({"auto", "none", "allgather", "ulysses", "ring"},
                          strategy)) {
    getOperation().emitError() << "expected --strategy to be auto, none, "
                                  "allgather, ulysses or ring but got \""
                               << strategy << "\"";
    return signalPassFailure();
  }
  SmallVector<AttentionOp> attentions;
  getOperation().walk([&](AttentionOp op) { attentions.push_back(op); });
  bool isExplicit = strategy != "auto" && strategy != "none";
  if (attentions.empty()) {
    if (isExplicit) {
      getOperation().emitError()
          << "expected an attention for strategy \"" << strategy
          << "\" but the model has none that could be taken; --explain says "
             "why, "
             "--strategy=none compiles it for every rank to do whole";
      return signalPassFailure();
    }
    remark::missed(getOperation().getLoc(),
                   remark::RemarkOpts::name("NoAttention").category(DEBUG_TYPE))
        << "the model has no attention that could be taken: nothing shards its "
           "sequence";
    return;
  }
  if (isExplicit && !meshOp.getSequence()) {
    getOperation().emitError()
        << "expected an axis that shards the sequence for strategy \""
        << strategy << "\" but mesh " << meshOp.getMesh().getText()
        << " has none; name it with --seq-axis";
    return signalPassFailure();
  }
  FailureOr<LayoutKind> kind = chooseLayout(attentions);
  if (failed(kind))
    return signalPassFailure();
  for (AttentionOp op : attentions) {
    if (op.getPlan())
      continue;
    bool counts = strategy == "auto" && meshOp.getSequence();
    PlanAttr plan = counts ? cheapest(op, *kind) : makePlan(strategy, *kind);
    op.setPlanAttr(plan);
    std::string text = plan.getStrategyName().str() + ": whole on every rank";
    if (plan.getRanks() > 1)
      text = plan.getStrategyName().str() + " over " +
             std::to_string(plan.getRanks()) + " ranks, " +
             stringifyLayoutKind(plan.getLayout()).str();
    remark::passed(op.getLoc(),
                   remark::RemarkOpts::name("Planned").category(DEBUG_TYPE))
        << nameOf(op) << ": " << text
        << (counts ? ", chosen by counted bytes" : ", as asked for");
  }
}

} // namespace
