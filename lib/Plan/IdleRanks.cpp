//===- IdleRanks.cpp - Ranks that have nothing to do ----------------------===//

#include "IdleRanks.h"

#include "sp/IR/SP.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::Layout;

/// Of ranks that share rows by a layout.
static int64_t countIdle(const Layout &layout, int64_t ranks) {
  int64_t idle = 0;
  for (int64_t rank = 0; rank < ranks; ++rank)
    idle += layout.count(rank) == 0;
  return idle;
}

struct Noun {
  StringRef one, many;
};

static void explain(const PlannedAttention &op, int64_t idle, int64_t ranks,
                    const Twine &whose, int64_t shared, Noun what) {
  if (idle == 0)
    return;
  remark::missed(
      op.getLoc(),
      remark::RemarkOpts::name("IdleRanks").category("sp-plan-attention"))
      << remark::metric("idle", idle) << " of the "
      << remark::metric("ranks", ranks) << " ranks of " << whose.str()
      << (idle == 1 ? " has" : " have")
      << " nothing of an attention to do: it has "
      << remark::metric("shared", shared) << " "
      << (shared == 1 ? what.one : what.many);
}

void mlir::sp::explainNoAttention(ModuleOp module, MeshOp mesh) {
  auto name =
      remark::RemarkOpts::name("NoAttention").category("sp-plan-attention");
  bool isLoss = mesh && mesh.getRanks() > 1;
  (isLoss ? remark::missed(module.getLoc(), name)
          : remark::analysis(module.getLoc(), name))
      << "the model has no attention that could be taken: nothing shards its "
         "sequence";
}

void mlir::sp::explainIdleRanks(const PlannedAttention &op, PlanAttr plan,
                                MeshOp mesh) {
  if (int64_t ranks = mesh.getAxisSize(mesh.getBatch()); ranks > 1)
    explain(op,
            countIdle(
                Layout(sprt::algebra::LayoutKind::contiguous, op.batch, ranks),
                ranks),
            ranks, "axis \"" + mesh.getBatch()->getText() + "\"", op.batch,
            {"sequence", "sequences"});
  if (plan.getLayout() == LayoutKind::Batch || plan.getRanks() == 1)
    return;
  std::string axis = "axis \"" + plan.getAxis().getText() + "\"";
  // Queries that are merged meet the keys of every rank.
  bool merges = plan.getMerge() > 1;
  int64_t rows = merges ? op.keys : op.queries;
  explain(op, countIdle(toAlgebra(plan.getRows(rows)), plan.getRanks()),
          plan.getRanks(), axis, rows,
          merges ? Noun{"key", "keys"} : Noun{"query", "queries"});
  if (int64_t ranks = plan.getHeads(); ranks > op.heads)
    explain(op,
            countIdle(
                Layout(sprt::algebra::LayoutKind::contiguous, op.heads, ranks),
                ranks),
            ranks, axis + " that exchange heads", op.heads, {"head", "heads"});
}
