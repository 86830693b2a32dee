#include "planner/DealBatch.h"

#include "planner/OneGroup.h"

#include <algorithm>
#include <numeric>
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
    std::vector<int64_t> held(plan.work.size());
    for (size_t owner = 0; owner < plan.work.size(); ++owner) {
      groups[owner].first = static_cast<int64_t>(owner);
      if (plan.work[owner].empty())
        continue;
      const BatchPlan::Work &work = plan.work[owner].front();
      groups[owner] = {work.group.first, work.group.size};
      for (const BatchPlan::Piece &piece : work.pieces) {
        ranges[owner].push_back(placeOf(piece));
        held[owner] += piece.end - piece.begin;
      }
    }
    // What goes round a ring takes along all that its owners have.
    std::vector<size_t> alone, grouped;
    for (size_t owner = 0; owner < groups.size(); ++owner)
      (groups[owner].size == 1 ? alone : grouped).push_back(owner);
    for (const std::vector<size_t> &owners : {alone, grouped})
      level(owners, held, capacity, ranges);
    for (algebra::Ranges &own : ranges)
      join(own);
    return {std::move(ranges), std::move(groups)};
  }

private:
  /// A plan has documents of several positions alone, one behind another.
  algebra::Range placeOf(const BatchPlan::Piece &piece) {
    auto number = static_cast<size_t>(piece.document);
    return {shared[number].begin + piece.begin - begins[number],
            piece.end - piece.begin, 1};
  }

  /// Gives owners the next single positions, as many as they have room for, so
  /// that those who have least have as many as the others.
  void level(const std::vector<size_t> &owners,
             const std::vector<int64_t> &held, int64_t capacity,
             std::vector<algebra::Ranges> &ranges) {
    int64_t left = 0;
    for (const algebra::Range &range : single)
      left += range.count;
    auto missing = [&](int64_t most) {
      int64_t all = 0;
      for (size_t owner : owners)
        all += std::max<int64_t>(most - held[owner], 0);
      return all;
    };
    int64_t low = 0, high = capacity;
    while (low < high) {
      int64_t middle = low + (high - low + 1) / 2;
      if (missing(middle) <= left)
        low = middle;
      else
        high = middle - 1;
    }
    int64_t more = low < capacity ? left - missing(low) : 0;
    for (size_t owner : owners) {
      int64_t count = std::max<int64_t>(low - held[owner], 0);
      if (more > 0 && held[owner] <= low) {
        ++count;
        --more;
      }
      take(ranges[owner], count);
    }
  }

  void take(algebra::Ranges &ranges, int64_t count) {
    while (count > 0) {
      algebra::Range &first = single.back();
      int64_t taken = std::min(count, first.count);
      ranges.push_back({first.first, taken, 1});
      first.first += taken;
      first.count -= taken;
      count -= taken;
      if (first.count == 0)
        single.pop_back();
    }
  }

  static void join(algebra::Ranges &ranges) {
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
  algebra::Ranges single;                ///< the last ones are given first
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
  if (Status failure = checkBatch(plan, lengths, wanted))
    return failure;
  // One ring sends more, and keeps more ranks waiting.
  constexpr double kMuchDearer = 1.25;
  auto dearest = [&](const BatchPlan &one) {
    double most = 0;
    for (size_t owner = 0; owner < one.costs.size(); ++owner)
      most = std::max(
          most, double(one.costs[owner]) +
                    (wanted.loads.empty() ? 0 : double(wanted.loads[owner])));
    return most;
  };
  double all = std::accumulate(plan.costs.begin(), plan.costs.end(), 0.0) +
               std::accumulate(wanted.loads.begin(), wanted.loads.end(), 0.0);
  if (dearest(plan) * double(options.owners) <= kMuchDearer * all)
    return Status::success();
  BatchPlan other;
  if (Status failure = planOneGroup(lengths, wanted, other))
    return failure;
  if (kMuchDearer * dearest(other) < dearest(plan))
    plan = std::move(other);
  return Status::success();
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
