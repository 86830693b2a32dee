//===- VerifyPlan.cpp - The guard of Plan ---------------------------------===//

#include "sp/Plan/AttentionCost.h"
#include "sp/Plan/Passes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYPLANPASS
#include "sp/Plan/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct VerifyPlanPass : mlir::sp::impl::VerifyPlanPassBase<VerifyPlanPass> {
  template <typename OpT>
  LogicalResult checkFactors(OpT op, PlanAttr plan, MeshOp mesh) {
    if (plan.getTurns() > 1 && plan.getQueriesTravel())
      return op.emitOpError()
             << "expected keys to travel where queries take turns but got "
             << plan;
    if (plan.getRanks() == 1)
      return success();
    if (plan.getAxis() != mesh.getSequence())
      return op.emitOpError()
             << "expected a plan over the sequence axis of mesh "
             << mesh.getMesh().getText() << " but got axis \""
             << plan.getAxis().getText() << "\"";
    int64_t size = mesh.getAxisSize(plan.getAxis());
    if (plan.getRanks() != size)
      return op.emitOpError()
             << "expected the plan's factors to multiply to the " << size
             << " ranks of axis \"" << plan.getAxis().getText() << "\" but got "
             << plan.getRanks();
    if (plan.getGather() > 1 && plan.getGather() != plan.getRanks())
      return op.emitOpError() << "expected gather to take the whole axis but "
                                 "got "
                              << plan;
    if (plan.getMerge() > 1 &&
        (plan.getMerge() != plan.getRanks() || plan.getTurns() > 1))
      return op.emitOpError()
             << "expected merge to take the whole axis, and all queries in one "
                "turn, but got "
             << plan;
    if (plan.getOuter() > 1 && plan.getInner() == 1)
      return op.emitOpError()
             << "expected inner windows of more than one rank but got " << plan;
    if (plan.getBidirectional() && plan.getInner() == 1)
      return op.emitOpError()
             << "expected a ring to turn both ways but got " << plan;
    if (plan.getQueriesTravel() && plan.getRing() == 1)
      return op.emitOpError()
             << "expected a ring for queries to travel but got " << plan;
    if constexpr (std::is_same_v<OpT, AttentionBackwardOp>)
      if (plan.getQueriesTravel() && hasTermsByQueries(op))
        return op.emitOpError()
               << "expected keys to travel, as ranks have a term of each pair "
                  "by their queries, but got "
               << plan;
    return checkGroups(op, plan, mesh);
  }

  template <typename OpT>
  LogicalResult checkGroups(OpT op, PlanAttr plan, MeshOp mesh) {
    int64_t heads = op.getQuery().getType().getDimSize(2),
            kvHeads = op.getKey().getType().getDimSize(2);
    if (HeadPartAttr part = headPartOf(mesh, op))
      std::tie(heads, kvHeads) = std::pair(part.getHeads(), part.getKvHeads());
    if (plan.getGroups() == 1)
      return success();
    if (plan.getHeads() == 1 && plan.getGather() == 1)
      return op.emitOpError()
             << "expected groups of heads that are exchanged or gathered but "
                "got "
             << plan;
    if (plan.getGroups() > kvHeads || heads % kvHeads != 0)
      return op.emitOpError()
             << "expected groups of kv heads with as many query heads each, of "
             << kvHeads << " kv heads for " << heads << " query heads, but got "
             << plan;
    return success();
  }

  /// One layout serves every attention of a sequence.
  template <typename OpT> LogicalResult checkLayout(OpT op, PlanAttr plan) {
    if (plan.getRanks() == 1)
      return success();
    for (Value value : {op.getQuery(), op.getKey()}) {
      int64_t length = cast<RankedTensorType>(value.getType()).getDimSize(1);
      if (value == op.getQuery() && plan.getQueryRows(length).isDense())
        continue;
      LayoutAttr rows = plan.getRows(length);
      auto [other, known] =
          first.try_emplace(length, op.getOperation(), rows).first->second;
      if (rows == known)
        continue;
      InFlightDiagnostic diagnostic =
          op.emitOpError() << "expected one layout for the sequence of "
                           << length << " positions but got " << rows
                           << " beside " << known;
      diagnostic.attachNote(other->getLoc()) << "the other attention";
      return diagnostic;
    }
    return success();
  }

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh) {
      getOperation().emitError() << "expected a mesh after Plan";
      return signalPassFailure();
    }
    first.clear();
    bool ok = true;
    auto check = [&](auto op) {
      std::optional<PlanAttr> plan = op.getPlan();
      if (!plan)
        op.emitOpError() << "expected a plan after Plan";
      ok &= plan && succeeded(checkFactors(op, *plan, mesh)) &&
            succeeded(checkLayout(op, *plan));
    };
    getOperation().walk([&](Operation *op) {
      if (auto forward = dyn_cast<AttentionOp>(op))
        check(forward);
      if (auto backward = dyn_cast<AttentionBackwardOp>(op))
        check(backward);
    });
    if (!ok)
      signalPassFailure();
  }

  /// The first attention of each length, with the layout of that.
  DenseMap<int64_t, std::pair<Operation *, LayoutAttr>> first;
};

} // namespace
