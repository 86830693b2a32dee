#include "planner/DealBatch.h"

#include "planner/OneGroup.h"

#include <algorithm>
#include <unordered_map>

namespace sprt {

namespace {

/// Positions that no document goes beyond: mostly those of one document.
std::vector<algebra::Interval>
unitsOf(const algebra::Documents::Row &documents) {
  std::unordered_map<int64_t, int64_t> ends;
  for (const algebra::Documents::Run &run : documents)
    ends[run.document] = run.positions.end;
  std::vector<algebra::Interval> units;
  int64_t begin = 0, end = 0;
  for (const algebra::Documents::Run &run : documents) {
    end = std::max(end, ends[run.document]);
    if (run.positions.end < end)
      continue;
    units.push_back({begin, end});
    begin = end;
  }
  return units;
}

/// A row on its way to its owners. Positions that are documents of their own,
/// as padding is, go wherever there is room, as many together as can be.
class Dealing {
public:
  explicit Dealing(const algebra::Documents::Row &documents) {
    int64_t planned = 0;
    for (const algebra::Interval &unit : unitsOf(documents))
      if (unit.size() > 1) {
        shared.push_back(unit);
        begins.push_back(planned);
        planned += unit.size();
      } else {
        algebra::append(single, {unit.begin, 1, 1});
      }
  }

  std::vector<int64_t> lengths() const {
    std::vector<int64_t> all;
    for (const algebra::Interval &unit : shared)
      all.push_back(unit.size());
    return all;
  }

  std::pair<std::vector<algebra::Ranges>, std::vector<algebra::OwnerGroup>>
  deal(const BatchPlan &plan, int64_t capacity) {
    std::vector<algebra::Ranges> ranges(plan.work.size());
    std::vector<algebra::OwnerGroup> groups(plan.work.size());
    for (size_t owner = 0; owner < plan.work.size(); ++owner) {
      groups[owner].first = static_cast<int64_t>(owner);
      int64_t room = capacity;
      if (!plan.work[owner].empty()) {
        const BatchPlan::Work &work = plan.work[owner].front();
        groups[owner] = {work.group.first, work.group.size};
        for (const BatchPlan::Piece &piece : work.pieces) {
          ranges[owner].push_back(placeOf(piece));
          room -= piece.end - piece.begin;
        }
      }
      fill(ranges[owner], room);
    }
    return {std::move(ranges), std::move(groups)};
  }

private:
  /// A plan has documents of several positions alone, one behind another.
  algebra::Range placeOf(const BatchPlan::Piece &piece) {
    auto number = static_cast<size_t>(piece.document);
    return {shared[number].begin + piece.begin - begins[number],
            piece.end - piece.begin, 1};
  }

  /// Takes the next single positions, as many as there is room for.
  void fill(algebra::Ranges &ranges, int64_t room) {
    while (room > 0 && next < single.size()) {
      algebra::Range &left = single[next];
      int64_t count = std::min(room, left.count);
      ranges.push_back({left.first, count, 1});
      left.first += count;
      left.count -= count;
      room -= count;
      next += left.count == 0;
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const algebra::Range &a, const algebra::Range &b) {
                return a.first < b.first;
              });
    algebra::Ranges joined;
    for (const algebra::Range &range : ranges)
      algebra::append(joined, range);
    ranges = std::move(joined);
  }

  std::vector<algebra::Interval> shared; ///< documents of several positions
  std::vector<int64_t> begins;           ///< of those, as a plan has them
  algebra::Ranges single;
  size_t next = 0; ///< of those that are left
};

Status planRow(const std::vector<int64_t> &lengths, const DealOptions &options,
               BatchPlan &plan) {
  BatchOptions wanted;
  wanted.ranks = options.owners;
  wanted.capacity = options.capacity;
  wanted.maxMicroBatches = 1;
  wanted.tokenCost = options.tokenCost;
  wanted.pairCost = options.pairCost;
  wanted.spread = true;
  if (options.loads)
    wanted.loads = *options.loads;
  if (planBatch(lengths, wanted, plan))
    return planOneGroup(lengths, wanted, plan);
  return checkBatch(plan, lengths, wanted);
}

} // namespace

Status dealBatch(const algebra::Documents::Row &documents,
                 const DealOptions &options,
                 std::shared_ptr<const algebra::Deal> &out_deal) {
  out_deal = nullptr;
  if (documents.empty() ||
      documents.back().positions.end > options.owners * options.capacity)
    return Status::success();
  Dealing dealing(documents);
  BatchPlan plan;
  if (Status failure = planRow(dealing.lengths(), options, plan))
    return failure;
  auto [ranges, groups] = dealing.deal(plan, options.capacity);
  std::string flaw = algebra::Deal::check(ranges, groups);
  if (!flaw.empty())
    return fail(SPRT_INVALID_ARGUMENT) << flaw;
  out_deal =
      std::make_shared<algebra::Deal>(std::move(ranges), std::move(groups));
  if (options.loads)
    for (size_t owner = 0; owner < plan.costs.size(); ++owner)
      (*options.loads)[owner] += plan.costs[owner];
  return Status::success();
}

} // namespace sprt
