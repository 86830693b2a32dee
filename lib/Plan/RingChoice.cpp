//===- RingChoice.cpp - What travels in a ring ----------------------------===//

#include "RingChoice.h"

#include "mlir/IR/Remarks.h"
#define DEBUG_TYPE "sp-plan-attention"

using namespace mlir;
using namespace mlir::sp;

int64_t RingChoice::bytesOf(const PlannedAttention &op, PlanAttr plan) const {
  return op.estimateBytes(plan, llvm::divideCeil(op.batch, batchRanks));
}

PlanAttr RingChoice::goStraight(const PlannedAttention &op,
                                PlanAttr plan) const {
  // Blocks of all of them come at once, two of a ring.
  size_t most =
      std::max<size_t>(2, std::min<size_t>(8, (plan.getInner() - 1) / 2));
  if (!asked.isFree || plan.getInner() == 1 || plan.getOuter() > 1 ||
      asked.bidirectional || asked.turns > 1 || asked.backward == "q" ||
      plan.getLayout() == LayoutKind::Batch || !op.hasFewReaders(plan, most))
    return {};
  // What hides few rows is as well handed on.
  PlanAttr direct = plan.withDirect();
  return 4 * op.estimateKeyBytes(direct) <= 3 * op.estimateKeyBytes(plan)
             ? direct
             : PlanAttr();
}

PlanAttr RingChoice::choose(const PlannedAttention &op, PlanAttr plan) const {
  if (PlanAttr direct = goStraight(op, plan))
    return direct;
  bool isOpen = plan.getRing() > 1 && !plan.getDirect() && op.hasGradients() &&
                !op.hasTermsOfPairs() && asked.backward != "kv" &&
                asked.turns == 1;
  if (!isOpen)
    return plan;
  PlanAttr other = plan.withQueriesTravel(true);
  bool isCheaper = bytesOf(op, other) < bytesOf(op, plan);
  return asked.backward == "q" || isCheaper ? other : plan;
}

LogicalResult RingChoice::explain(const PlannedAttention &op,
                                  PlanAttr plan) const {
  StringRef backward = asked.backward;
  if (plan.getRing() == 1 || !op.hasGradients()) {
    if (!backward.empty())
      remark::missed(
          op.getLoc(),
          remark::RemarkOpts::name("BackwardUnused").category(DEBUG_TYPE))
          << op.getName() << ": --backward does not apply, it has no "
          << (op.hasGradients() ? "ring" : "gradients");
    return success();
  }
  if (backward == "q" && op.hasTermsOfPairs())
    return emitError(op.getLoc())
           << "expected keys and values to travel in the backward of "
           << op.getName()
           << ", whose score function reads a term of each pair or has "
              "gradients "
              "of terms, which ranks have by queries, but got --backward=q; "
              "leave it out";
  bool areQueries = plan.getQueriesTravel();
  auto bytes = [&](StringRef name, bool queriesTravel) {
    PlanAttr counted = plan.withQueriesTravel(queriesTravel);
    return remark::metric(name, bytesOf(op, counted));
  };
  auto said = remark::passed(
      op.getLoc(), remark::RemarkOpts::name("Travelling").category(DEBUG_TYPE));
  if (plan.getDirect()) {
    said << remark::metric("name", op.getName())
         << ": rows of keys and values go straight to ranks that see them, "
            "their gradients straight back: a rank sends "
         << bytes("bytes", false) << " bytes in all";
    return success();
  }
  said << remark::metric("name", op.getName()) << ": "
       << (areQueries ? "queries" : "keys and values")
       << " travel in its backward"
       << (backward.empty() ? ": " : ", as asked for: ") << "a rank sends "
       << bytes("bytes", areQueries) << " bytes in all, ";
  if (op.hasTermsOfPairs())
    said << "and has terms of pairs, or their gradients, where the query is";
  else if (plan.getTurns() > 1)
    said << "once for each of " << remark::metric("turns", plan.getTurns())
         << " turns";
  else
    said << bytes("otherBytes", !areQueries) << " bytes if "
         << (areQueries ? "keys and values" : "queries") << " did";
  return success();
}
#undef DEBUG_TYPE
