//===- JointChoice.cpp - Plans that fit each other ------------------------===//

#include "JointChoice.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sp;

SmallVector<int64_t> mlir::sp::headFactors(int64_t heads, int64_t ranks) {
  SmallVector<int64_t> factors;
  for (int64_t factor = 2; factor < ranks && factor <= heads; ++factor)
    if (ranks % factor == 0)
      factors.push_back(factor);
  return factors;
}

SequenceLayouts mlir::sp::findLayouts(ArrayRef<PlannedAttention> attentions,
                                      LayoutKind kind, bool isKindOpen,
                                      int64_t ranks, int64_t turns) {
  SequenceLayouts found = {{kind}, {1}};
  bool isPlanned = false;
  for (const PlannedAttention &op : attentions) {
    bool isSpread = op.plan && op.plan.getRanks() > 1;
    isPlanned |= isSpread;
    if (isSpread)
      found.splits.push_back(op.plan.getSplit());
    else if (!op.plan && turns == 1)
      llvm::append_range(found.splits, headFactors(op.heads, ranks));
  }
  llvm::sort(found.splits);
  found.splits.erase(llvm::unique(found.splits), found.splits.end());
  // Beside an attention that only zigzag deals evenly others may send so much
  // less that it had better exchange heads.
  if (isKindOpen && !isPlanned && kind == LayoutKind::Zigzag)
    found.kinds.push_back(LayoutKind::Contiguous);
  return found;
}

/// How a plan deals the rows of a sequence.
using Dealing = std::pair<LayoutKind, int64_t>;
static Dealing dealingOf(PlanAttr plan) {
  return {plan.getLayout(), plan.getSplit()};
}

/// What counts of a plan: the time that is lost where ranks have much less to
/// do than others, of heads or of pairs, which costs more than bytes; and then
/// the bytes.
static std::pair<double, int64_t> costOf(const Candidate &candidate,
                                         ArrayRef<Candidate> all) {
  constexpr double tolerated = 1.125;
  double least = candidate.work;
  for (const Candidate &other : all)
    least = std::min(least, other.work);
  bool isTolerated = candidate.work <= tolerated * least;
  return {isTolerated ? 0 : candidate.work - least, candidate.bytes};
}

/// The first of the best, however it deals rows or in one way; null without
/// any.
static const Candidate *best(ArrayRef<Candidate> all,
                             std::optional<Dealing> dealing = {}) {
  const Candidate *found = nullptr;
  for (const Candidate &candidate : all) {
    bool fits = !dealing || candidate.plan.getRanks() == 1 ||
                dealingOf(candidate.plan) == *dealing;
    if (fits && (!found || costOf(candidate, all) < costOf(*found, all)))
      found = &candidate;
  }
  return found;
}

const Candidate &mlir::sp::cheapest(ArrayRef<Candidate> candidates) {
  return *best(candidates);
}

/// Attentions tied by their lengths, by number.
static SmallVector<SmallVector<size_t>>
groupByLength(ArrayRef<PlannedAttention> attentions) {
  llvm::EquivalenceClasses<int64_t> lengths;
  for (const PlannedAttention &op : attentions)
    lengths.unionSets(op.queries, op.keys);
  llvm::MapVector<int64_t, SmallVector<size_t>> groups;
  for (auto [i, op] : llvm::enumerate(attentions))
    groups[lengths.getLeaderValue(op.queries)].push_back(i);
  return llvm::map_to_vector(groups,
                             [](const auto &group) { return group.second; });
}

SmallVector<PlanAttr>
mlir::sp::choosePlans(ArrayRef<PlannedAttention> attentions,
                      ArrayRef<Candidates> candidates) {
  // Where the user's own plans do not fit each other, nothing does.
  SmallVector<PlanAttr> plans = llvm::map_to_vector(
      candidates, [](const Candidates &all) { return cheapest(all).plan; });
  for (ArrayRef<size_t> group : groupByLength(attentions)) {
    llvm::SetVector<Dealing> dealings;
    for (size_t i : group)
      for (const Candidate &candidate : candidates[i])
        dealings.insert(dealingOf(candidate.plan));
    std::optional<std::pair<double, int64_t>> least;
    for (Dealing dealing : dealings) {
      std::pair<double, int64_t> total;
      SmallVector<PlanAttr> chosen;
      for (size_t i : group)
        if (const Candidate *candidate = best(candidates[i], dealing)) {
          auto [lost, bytes] = costOf(*candidate, candidates[i]);
          total.first += lost;
          total.second += bytes;
          chosen.push_back(candidate->plan);
        }
      if (chosen.size() < group.size() || (least && *least <= total))
        continue;
      least = total;
      for (auto [i, plan] : llvm::zip_equal(group, chosen))
        plans[i] = plan;
    }
  }
  return plans;
}
