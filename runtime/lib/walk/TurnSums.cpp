#include "walk/TurnSums.h"

#include <algorithm>

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
template <typename TableT> std::string maskKey(const TableT &attend) {
  std::string key;
  append(key, attend.queries->layout);
  append(key, attend.keys->layout);
  for (const plan::Band &band : attend.bands)
    for (int64_t number : {band.q0(), band.q1(), band.k0(), band.k1(),
                           band.lo(), band.hi(), int64_t(band.uniform())})
      append(key, number);
  return key;
}

/// And whose owners are the same, turn by turn.
template <typename TableT>
std::string sumKey(const TableT &attend, const LoopBounds &loops) {
  std::string key = maskKey(attend);
  append(key, *attend.queries);
  append(key, *attend.keys);
  for (auto [lower, upper] : loops) {
    append(key, lower);
    append(key, upper);
  }
  return key;
}

bool hasCounters(const plan::ExprT &expression) {
  return std::any_of(expression.terms.begin(), expression.terms.end(),
                     [](const plan::Term &term) {
                       return term.op() == plan::ExprOp::counter;
                     });
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
                             const std::vector<int64_t> &coordinates) {
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

std::optional<std::vector<int64_t>>
TurnSums::missed(const Side &side, const LoopBounds &loops) const {
  if (loops.size() != 1)
    return std::nullopt;
  std::optional<Cycle> cycle = cycleOf(*side.rows.owner, *coordinates);
  auto [lower, upper] = loops.front();
  int64_t ranks = side.layout.ranks();
  constexpr int64_t kMost = int64_t(1) << 40;
  auto isSmall = [](int64_t value) { return -kMost < value && value < kMost; };
  if (!cycle || !isSmall(lower) || !isSmall(upper) ||
      !isSmall(cycle->linear.value) ||
      (cycle->linear.slope != 1 && cycle->linear.slope != -1) ||
      cycle->modulus != ranks || upper - lower > ranks || upper < lower)
    return std::nullopt;
  std::vector<int64_t> others;
  for (int64_t turn = upper; turn < lower + ranks; ++turn)
    others.push_back(
        remainder(cycle->linear.value + cycle->linear.slope * turn, ranks));
  return others;
}

Status TurnSums::owners(const Side &side, const LoopBounds &loops,
                        std::vector<int64_t> &out_owners) const {
  std::vector<int64_t> counters;
  for (auto [lower, upper] : loops) {
    if (lower >= upper)
      return Status::success();
    counters.push_back(lower);
  }
  Scope scope{coordinates, &counters, &program.layouts};
  for (;;) {
    int64_t owner = 0;
    if (Status failure = evaluate(*side.rows.owner, scope, owner))
      return failure;
    out_owners.push_back(owner);
    size_t depth = loops.size();
    for (; depth > 0; --depth) {
      if (++counters[depth - 1] < loops[depth - 1].second)
        break;
      counters[depth - 1] = loops[depth - 1].first;
    }
    if (depth == 0)
      return Status::success();
  }
}

Status TurnSums::count(const algebra::Bands &bands, const Side &queries,
                       const Side &keys, const LoopBounds &loops,
                       int64_t &out_area) {
  auto area = [&](const algebra::Ranges &q, const algebra::Ranges &k) {
    return static_cast<int64_t>(algebra::area(bands.restrict(q, k)));
  };
  bool queriesMove = hasCounters(*queries.rows.owner);
  const Side &moving = queriesMove ? queries : keys,
             &still = queriesMove ? keys : queries;
  std::vector<int64_t> stays, moves;
  if (Status failure = owners(still, LoopBounds(), stays))
    return failure;
  algebra::Ranges own = still.layout.ranges(stays.front());
  auto with = [&](const algebra::Ranges &other) {
    return queriesMove ? area(other, own) : area(own, other);
  };
  algebra::Ranges all =
      algebra::Layout::dense(moving.layout.length()).ranges(0);
  out_area = 0;
  if (std::optional<std::vector<int64_t>> others = missed(moving, loops)) {
    out_area = with(all);
    for (int64_t owner : *others)
      out_area -= with(moving.layout.ranges(owner));
    return Status::success();
  }
  if (Status failure = owners(moving, loops, moves))
    return failure;
  std::vector<char> isMet(static_cast<size_t>(moving.layout.ranks()));
  bool areOnce = true;
  for (int64_t owner : moves) {
    if (owner < 0 || owner >= moving.layout.ranks())
      continue;
    areOnce &= !isMet[static_cast<size_t>(owner)];
    isMet[static_cast<size_t>(owner)] = true;
  }
  bool areMost = 2 * static_cast<int64_t>(moves.size()) > moving.layout.ranks();
  if (!areOnce || !areMost) {
    for (int64_t owner : moves)
      if (owner >= 0 && owner < moving.layout.ranks())
        out_area += with(moving.layout.ranges(owner));
    return Status::success();
  }
  out_area = with(all);
  for (int64_t owner = 0; owner < moving.layout.ranks(); ++owner)
    if (!isMet[static_cast<size_t>(owner)])
      out_area -= with(moving.layout.ranges(owner));
  return Status::success();
}

Status TurnSums::rows(const plan::RowsT &rows, const LoopBounds &loops,
                      int64_t &out_rows) const {
  Side side{rows, program.layouts[rows.layout]};
  if (std::optional<std::vector<int64_t>> others = missed(side, loops)) {
    out_rows = side.layout.length();
    for (int64_t owner : *others)
      out_rows -= side.layout.count(owner);
    return Status::success();
  }
  std::vector<int64_t> met;
  if (Status failure = owners(side, loops, met))
    return failure;
  out_rows = 0;
  for (int64_t owner : met)
    out_rows += side.layout.count(owner);
  return Status::success();
}

template <typename TableT>
Status TurnSums::sum(const Step &step, const TableT &attend,
                     const LoopBounds &loops, int64_t &out_area) {
  auto [known, isNew] = sums.try_emplace(sumKey(attend, loops), 0);
  if (isNew)
    if (Status failure =
            count(program.bandsOf[static_cast<size_t>(step.id)],
                  {*attend.queries, program.layouts[attend.queries->layout]},
                  {*attend.keys, program.layouts[attend.keys->layout]}, loops,
                  known->second))
      return failure;
  out_area = known->second;
  return Status::success();
}

template <typename TableT>
int64_t TurnSums::of(const Step &step, const TableT &attend, int64_t queryOwner,
                     int64_t keyOwner) {
  auto command = static_cast<size_t>(step.id);
  maskOf.resize(program.stepOf.size());
  if (maskOf[command] == 0)
    maskOf[command] =
        masks.try_emplace(maskKey(attend), masks.size() + 1).first->second;
  auto [known, isNew] =
      areas.try_emplace({maskOf[command], queryOwner, keyOwner}, 0);
  if (isNew)
    known->second =
        static_cast<int64_t>(algebra::area(program.bandsOf[command].restrict(
            program.layouts[attend.queries->layout], queryOwner,
            program.layouts[attend.keys->layout], keyOwner)));
  return known->second;
}

template Status TurnSums::sum(const Step &, const plan::AttendT &,
                              const LoopBounds &, int64_t &);
template Status TurnSums::sum(const Step &, const plan::AttendBackwardT &,
                              const LoopBounds &, int64_t &);
template int64_t TurnSums::of(const Step &, const plan::AttendT &, int64_t,
                              int64_t);
template int64_t TurnSums::of(const Step &, const plan::AttendBackwardT &,
                              int64_t, int64_t);

} // namespace sprt
