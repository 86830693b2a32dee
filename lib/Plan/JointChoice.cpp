//===- JointChoice.cpp - Plans that fit each other ------------------------===//

#include "JointChoice.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

#include <set>

using namespace mlir;
using namespace mlir::sp;

/// What counts of a plan: whether heads leave ranks idle, which costs more than
/// bytes, and then the bytes.
static std::pair<int64_t, int64_t> costOf(const Candidate &candidate,
                                          ArrayRef<Candidate> all) {
  constexpr double tolerated = 1.25;
  double least = candidate.work;
  for (const Candidate &other : all)
    least = std::min(least, other.work);
  return {candidate.work > tolerated * least, candidate.bytes};
}

/// The first of the best, of any layout or of one; null without any.
static const Candidate *best(ArrayRef<Candidate> all,
                             std::optional<int64_t> split = {}) {
  const Candidate *found = nullptr;
  for (const Candidate &candidate : all) {
    bool fits = !split || candidate.plan.getRanks() == 1 ||
                candidate.plan.getSplit() == *split;
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
    std::set<int64_t> splits;
    for (size_t i : group)
      for (const Candidate &candidate : candidates[i])
        splits.insert(candidate.plan.getSplit());
    std::optional<std::pair<int64_t, int64_t>> least;
    for (int64_t split : splits) {
      std::pair<int64_t, int64_t> total;
      SmallVector<PlanAttr> chosen;
      for (size_t i : group)
        if (const Candidate *candidate = best(candidates[i], split)) {
          auto [idle, bytes] = costOf(*candidate, candidates[i]);
          total.first += idle;
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
