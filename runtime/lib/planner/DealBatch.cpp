#include "planner/DealBatch.h"

#include "planner/BatchPlan.h"

#include <algorithm>
#include <unordered_map>

namespace sprt {

namespace {

/// Of what no document goes beyond: mostly a document each.
std::vector<int64_t> lengthsOf(const algebra::Documents::Row &documents) {
  std::unordered_map<int64_t, int64_t> ends;
  for (const algebra::Documents::Run &run : documents)
    ends[run.document] = run.positions.end;
  std::vector<int64_t> lengths;
  int64_t begin = 0, end = 0;
  for (const algebra::Documents::Run &run : documents) {
    end = std::max(end, ends[run.document]);
    if (run.positions.end < end)
      continue;
    lengths.push_back(end - begin);
    begin = end;
  }
  return lengths;
}

algebra::Deal dealOf(const BatchPlan &plan) {
  std::vector<algebra::Ranges> ranges(plan.work.size());
  std::vector<algebra::OwnerGroup> groups(plan.work.size());
  for (size_t owner = 0; owner < plan.work.size(); ++owner) {
    groups[owner].first = static_cast<int64_t>(owner);
    if (plan.work[owner].empty())
      continue;
    const BatchPlan::Work &work = plan.work[owner].front();
    groups[owner] = {work.group.first, work.group.size};
    for (const BatchPlan::Piece &piece : work.pieces)
      algebra::append(ranges[owner], {piece.begin, piece.end - piece.begin, 1});
  }
  return {std::move(ranges), std::move(groups)};
}

} // namespace

Status dealBatch(const algebra::Documents::Row &documents,
                 const DealOptions &options,
                 std::shared_ptr<const algebra::Deal> &out_deal) {
  out_deal = nullptr;
  std::vector<int64_t> lengths = lengthsOf(documents);
  BatchOptions wanted;
  wanted.ranks = options.owners;
  wanted.capacity = options.capacity;
  wanted.maxMicroBatches = 1;
  if (options.tokenCost > 0 || options.pairCost > 0) {
    wanted.tokenCost = options.tokenCost;
    wanted.pairCost = options.pairCost;
  }
  if (options.loads)
    wanted.loads = *options.loads;
  // Wider groups have less to do each, but need more neighbours that are free.
  for (bool spread : {true, false}) {
    wanted.spread = spread;
    BatchPlan plan;
    if (planBatch(lengths, wanted, plan))
      continue;
    if (Status failure = checkBatch(plan, lengths, wanted))
      return failure;
    out_deal = std::make_shared<algebra::Deal>(dealOf(plan));
    if (options.loads)
      for (size_t owner = 0; owner < plan.costs.size(); ++owner)
        (*options.loads)[owner] += plan.costs[owner];
    break;
  }
  return Status::success();
}

} // namespace sprt
