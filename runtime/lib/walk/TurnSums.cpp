#include "walk/TurnSums.h"

namespace sprt {

namespace {

void append(std::string &text, int64_t number) {
  text.append(reinterpret_cast<const char *>(&number), sizeof number);
}

void append(std::string &text, const plan::RowsT &rows) {
  for (const plan::Term &term : rows.owner->terms) {
    append(text, static_cast<int64_t>(term.op()));
    append(text, term.value());
  }
  append(text, -1);
}

/// What two attentions have alike that see the same pairs of the same owners.
template <typename TableT>
std::array<int64_t, 3> kindKey(const Program &program, const Step &step,
                               const TableT &attend) {
  return {program.maskOf[static_cast<size_t>(step.id)], attend.queries->layout,
          attend.keys->layout};
}

/// And whose owners are the same, turn by turn.
template <typename TableT>
std::string sumKey(const Program &program, const Step &step,
                   const TableT &attend, const LoopBounds &loops) {
  std::string key;
  for (int64_t number : kindKey(program, step, attend))
    append(key, number);
  append(key, *attend.queries);
  append(key, *attend.keys);
  for (auto [lower, upper] : loops) {
    append(key, lower);
    append(key, upper);
  }
  return key;
}

/// value + slope * counter.
struct Linear {
  int64_t value = 0, slope = 0;
};

/// An expression of one counter that is linear but for a remainder at its end.
struct Cycle {
  Linear linear;
  int64_t modulus;
};

std::optional<Cycle> cycleOf(const plan::ExprT &expression,
                             const std::vector<int64_t> &coordinates,
                             const std::vector<algebra::Layout> &layouts) {
  std::vector<Linear> stack;
  for (size_t i = 0; i < expression.terms.size(); ++i) {
    const plan::Term &term = expression.terms[i];
    if (term.op() == plan::ExprOp::constant)
      stack.push_back({term.value(), 0});
    else if (term.op() == plan::ExprOp::coordinate)
      stack.push_back({coordinates[static_cast<size_t>(term.value())], 0});
    else if (term.op() == plan::ExprOp::counter)
      stack.push_back({0, 1});
    else {
      if (stack.size() < 2)
        return std::nullopt;
      Linear b = stack.back();
      stack.pop_back();
      Linear &a = stack.back();
      bool isLast = i + 1 == expression.terms.size();
      if (term.op() == plan::ExprOp::mod && isLast && b.slope == 0 &&
          b.value > 0)
        return Cycle{a, b.value};
      // Where all owners are one group.
      if (term.op() == plan::ExprOp::group_source && isLast) {
        const algebra::Layout &rows =
            layouts[static_cast<size_t>(term.value())];
        if (rows.deal() || __builtin_sub_overflow(a.value, b.value, &a.value) ||
            __builtin_sub_overflow(a.slope, b.slope, &a.slope))
          return std::nullopt;
        return Cycle{a, rows.ring()};
      }
      bool isAdd = term.op() == plan::ExprOp::add,
           isMul = term.op() == plan::ExprOp::mul && b.slope == 0;
      if (isAdd && (__builtin_add_overflow(a.value, b.value, &a.value) ||
                    __builtin_add_overflow(a.slope, b.slope, &a.slope)))
        return std::nullopt;
      if (isMul && (__builtin_mul_overflow(a.value, b.value, &a.value) ||
                    __builtin_mul_overflow(a.slope, b.value, &a.slope)))
        return std::nullopt;
      if (!isAdd && !isMul)
        return std::nullopt;
    }
  }
  return std::nullopt;
}

int64_t remainder(int64_t value, int64_t modulus) {
  return (value % modulus + modulus) % modulus;
}

} // namespace

Status TurnSums::spend(int64_t turns) {
  if (turns > turnsLeft)
    return fail(SPRT_UNSUPPORTED)
           << "expected at most " << kMostTurns
           << " turns of loops, over all ranks, to predict what a run sends "
              "and touches but got "
           << turns << " after " << kMostTurns - turnsLeft
           << "; do more in each turn, or leave out what asks for it "
              "(--explain, --report)";
  turnsLeft -= turns;
  return Status::success();
}

std::optional<TurnSums::Met>
TurnSums::meetInCycle(const plan::RowsT &rows, const LoopBounds &loops) const {
  if (loops.size() != 1)
    return std::nullopt;
  std::optional<Cycle> cycle =
      cycleOf(*rows.owner, *coordinates, bound.layouts);
  auto [lower, upper] = loops.front();
  int64_t ranks = bound.layouts[rows.layout].ranks();
  constexpr int64_t kMost = int64_t(1) << 40;
  auto isSmall = [](int64_t value) { return -kMost < value && value < kMost; };
  if (!cycle || !isSmall(lower) || !isSmall(upper) ||
      !isSmall(cycle->linear.value) ||
      (cycle->linear.slope != 1 && cycle->linear.slope != -1) ||
      cycle->modulus != ranks || upper - lower > ranks || upper < lower)
    return std::nullopt;
  Met met;
  met.isAllBut = true;
  for (int64_t turn = upper; turn < lower + ranks; ++turn)
    ++met.owners[remainder(cycle->linear.value + cycle->linear.slope * turn,
                           ranks)];
  return met;
}

Status TurnSums::meet(const plan::RowsT &rows, const LoopBounds &loops,
                      Met &out_met) {
  if (std::optional<Met> met = meetInCycle(rows, loops)) {
    out_met = *met;
    return Status::success();
  }
  int64_t turns = turnsOf(loops);
  if (turns == 0)
    return Status::success();
  if (Status failure = spend(turns))
    return failure;
  int64_t ranks = bound.layouts[rows.layout].ranks();
  std::vector<int64_t> counters = firstTurn(loops);
  Scope scope{coordinates, &counters, &bound.layouts};
  bool areOnce = true;
  do {
    int64_t owner = 0;
    if (Status failure = evaluate(*rows.owner, scope, owner))
      return failure;
    // Whoever is no owner holds nothing.
    if (owner < 0 || owner >= ranks)
      continue;
    areOnce &= ++out_met.owners[owner] == 1;
  } while (nextTurn(loops, counters));
  if (!areOnce || 2 * static_cast<int64_t>(out_met.owners.size()) <= ranks)
    return Status::success();
  Met others;
  others.isAllBut = true;
  for (int64_t owner = 0; owner < ranks; ++owner)
    if (out_met.owners.count(owner) == 0)
      others.owners[owner] = 1;
  out_met = std::move(others);
  return Status::success();
}

/// The loops whose counters an expression has; of the others one turn.
static LoopBounds boundsIn(const plan::ExprT &expression,
                           const LoopBounds &loops) {
  LoopBounds own = loops;
  for (size_t depth = 0; depth < own.size(); ++depth)
    if (!hasCounter(expression, depth))
      own[depth].second = std::min(own[depth].second, own[depth].first + 1);
  return own;
}

Status TurnSums::meet(const plan::RowsT &rows, const LoopBounds &loops,
                      Parts &out_parts) {
  Met met;
  if (Status failure = meet(rows, boundsIn(*rows.owner, loops), met))
    return failure;
  const algebra::Layout &layout = bound.layouts[rows.layout];
  if (met.isAllBut)
    out_parts.emplace_back(algebra::denseRanges(layout.length()), 1);
  for (auto [owner, times] : met.owners)
    out_parts.emplace_back(layout.ranges(owner), met.isAllBut ? -times : times);
  return Status::success();
}

/// Where no counter chooses both, all queries that are met meet all keys that
/// are; a loop whose counter does goes turn by turn.
template <typename TableT>
Status TurnSums::count(const algebra::Bands &bands, const TableT &attend,
                       const LoopBounds &loops, int64_t &out_area) {
  int64_t alike = 1;
  for (size_t depth = 0; depth < loops.size(); ++depth) {
    auto [lower, upper] = loops[depth];
    bool inQueries = hasCounter(*attend.queries->owner, depth),
         inKeys = hasCounter(*attend.keys->owner, depth);
    if (!inQueries && !inKeys)
      alike *= std::max<int64_t>(upper - lower, 0);
    if (!inQueries || !inKeys || upper - lower <= 1)
      continue;
    if (Status failure = spend(upper - lower))
      return failure;
    LoopBounds one = loops;
    for (int64_t turn = lower; turn < upper; ++turn) {
      one[depth] = {turn, turn + 1};
      if (Status failure = count(bands, attend, one, out_area))
        return failure;
    }
    return Status::success();
  }
  Parts queries, keys;
  if (Status failure = meet(*attend.queries, loops, queries))
    return failure;
  if (Status failure = meet(*attend.keys, loops, keys))
    return failure;
  for (const auto &[rows, times] : queries)
    for (const auto &[others, timesOfOthers] : keys)
      out_area +=
          alike * times * timesOfOthers *
          static_cast<int64_t>(algebra::area(bands.restrict(rows, others)));
  return Status::success();
}

Status TurnSums::rows(const plan::RowsT &rows, const LoopBounds &loops,
                      int64_t &out_rows) {
  Met met;
  if (Status failure = meet(rows, loops, met))
    return failure;
  const algebra::Layout &layout = bound.layouts[rows.layout];
  out_rows = met.isAllBut ? layout.length() : 0;
  for (auto [owner, times] : met.owners)
    out_rows += (met.isAllBut ? -times : times) * layout.count(owner);
  return Status::success();
}

template <typename TableT>
Status TurnSums::pairs(const Step &step, const TableT &attend,
                       const LoopBounds &loops, int64_t &out_area) {
  auto [known, isNew] =
      sums.try_emplace(sumKey(program, step, attend, loops), 0);
  if (isNew)
    if (Status failure =
            count(program.maskIn(bound, step), attend, loops, known->second))
      return failure;
  out_area = known->second;
  return Status::success();
}

template <typename TableT>
int64_t TurnSums::pairsOf(const RowOfBatch &here, const Step &step,
                          const TableT &attend, int64_t queryOwner,
                          int64_t keyOwner) {
  auto command = static_cast<size_t>(step.id);
  kindOf.resize(program.stepOf.size());
  if (kindOf[command] == 0)
    kindOf[command] =
        kinds.try_emplace(kindKey(program, step, attend), kinds.size() + 1)
            .first->second;
  auto [known, isNew] = areas.try_emplace(
      {kindOf[command], here.number(), queryOwner, keyOwner}, 0);
  if (isNew)
    known->second = static_cast<int64_t>(algebra::area(
        here.mask(program, step)
            .restrict(here.layout(attend.queries->layout), queryOwner,
                      here.layout(attend.keys->layout), keyOwner)));
  return known->second;
}

template Status TurnSums::pairs(const Step &, const plan::AttendT &,
                                const LoopBounds &, int64_t &);
template Status TurnSums::pairs(const Step &, const plan::AttendBackwardT &,
                                const LoopBounds &, int64_t &);
template int64_t TurnSums::pairsOf(const RowOfBatch &, const Step &,
                                   const plan::AttendT &, int64_t, int64_t);
template int64_t TurnSums::pairsOf(const RowOfBatch &, const Step &,
                                   const plan::AttendBackwardT &, int64_t,
                                   int64_t);

} // namespace sprt
