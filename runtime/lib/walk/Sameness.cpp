#include "walk/Sameness.h"

#include "program/LayoutOf.h"

#include <algorithm>

namespace sprt {

namespace {

/// Evaluations of an expression, of all ranks at all turns, beyond which it
/// counts as different for each.
constexpr int64_t kMostEvaluations = int64_t(1) << 25;

/// Whether the expression ends with a remainder of at most that.
bool isBelow(const plan::ExprT &expression, int64_t limit) {
  const auto &terms = expression.terms;
  size_t size = terms.size();
  return size >= 2 && terms[size - 1].op() == plan::ExprOp::mod &&
         terms[size - 2].op() == plan::ExprOp::constant &&
         terms[size - 2].value() > 0 && terms[size - 2].value() <= limit;
}

/// Of an owner, of which others may have one more: memory of that many more is
/// not worth a walk of each rank.
constexpr int64_t kManyRows = 64;

} // namespace

Sameness::Sameness(const Program &program, const Bindings &bindings, bool looks)
    : program(program), bound(bindings.whole), haveRows(!bindings.rows.empty()),
      same(program.stepOf.size()), different(program.stepOf.size()) {
  for (int64_t rank = 0; rank < program.ranks(); ++rank)
    coordinates.push_back(program.coordinates(rank));
  (void)findDifferent(program.steps);
  LoopBounds loops;
  if (looks)
    (void)find(program.steps, loops);
}

std::pair<int64_t, int64_t> Sameness::bounds(const Step &step) const {
  const plan::LoopT &loop = *step.command->operation.AsLoop();
  Scope scope{&coordinates.front(), nullptr, &bound.layouts};
  std::pair<int64_t, int64_t> bounds;
  if (evaluate(*loop.lower, scope, bounds.first) ||
      evaluate(*loop.upper, scope, bounds.second))
    return {0, 0};
  return bounds;
}

bool Sameness::find(const std::vector<Step> &steps, LoopBounds &loops) {
  bool areSame = true;
  for (const Step &step : steps) {
    bool isOne = find(step, loops);
    same[static_cast<size_t>(step.id)] = isOne;
    areSame &= isOne;
  }
  return areSame;
}

bool Sameness::findDifferent(const std::vector<Step> &steps) {
  bool areDifferent = false;
  for (const Step &step : steps) {
    plan::Operation type = step.command->operation.type;
    bool has = type == plan::Operation::Attend ||
               type == plan::Operation::AttendBackward;
    if (const auto *transfer = step.command->operation.AsSendRecv())
      for (const auto &block : transfer->sends)
        has |= !isEven(bound.layouts[block->rows->layout]);
    has |= findDifferent(step.condition);
    has |= findDifferent(step.body);
    for (const std::vector<Step> &branch : step.branches)
      has |= findDifferent(branch);
    different[static_cast<size_t>(step.id)] = has;
    areDifferent |= has;
  }
  return areDifferent;
}

bool Sameness::find(const Step &step, LoopBounds &loops) {
  const plan::OperationUnion &operation = step.command->operation;
  auto areSame = [&](const auto &views) {
    return std::all_of(views.begin(), views.end(),
                       [&](const auto &view) { return isSame(*view); });
  };
  if (haveRows && step.command->row)
    return false;
  // Sums are over all turns.
  const plan::ExprT *when = step.command->when.get();
  if (when && (!isSame(*when) || differs(step)))
    return false;
  switch (operation.type) {
  case plan::Operation::Loop: {
    const plan::LoopT &loop = *operation.AsLoop();
    if (!hasOneValue(*loop.lower, loops) || !hasOneValue(*loop.upper, loops))
      return false;
    loops.push_back(bounds(step));
    bool isOne = find(step.body, loops);
    loops.pop_back();
    return isOne;
  }
  // What differs where data decides, or repeats, is counted there.
  case plan::Operation::While: {
    bool isOne = find(step.condition, loops);
    return find(step.body, loops) && isOne && !differs(step);
  }
  case plan::Operation::Case: {
    bool isOne = !differs(step);
    for (const std::vector<Step> &branch : step.branches)
      isOne &= find(branch, loops);
    return isOne;
  }
  case plan::Operation::Launch:
    return areSame(operation.AsLaunch()->buffers);
  case plan::Operation::Gemm: {
    const plan::GemmT &gemm = *operation.AsGemm();
    return isSame(*gemm.a) && isSame(*gemm.b) && isSame(*gemm.c) &&
           (!gemm.bias || isSame(*gemm.bias));
  }
  case plan::Operation::Copy:
    return isSame(*operation.AsCopy()->source) &&
           isSame(*operation.AsCopy()->target);
  case plan::Operation::Fill:
    return isSame(*operation.AsFill()->target);
  case plan::Operation::RowsTable:
    return isSame(*operation.AsRowsTable()->target);
  case plan::Operation::SendRecv:
    return isSame(step, *operation.AsSendRecv(), loops);
  case plan::Operation::Attend: {
    const plan::AttendT &attend = *operation.AsAttend();
    return isSame(attend, loops) && isSame(*attend.out) && isSame(*attend.lse);
  }
  case plan::Operation::AttendBackward: {
    const plan::AttendBackwardT &backward = *operation.AsAttendBackward();
    return isSame(backward, loops) && isSame(*backward.dq) &&
           isSame(*backward.dk) && isSame(*backward.dv);
  }
  case plan::Operation::Sync:
    return true;
  default:
    return false;
  }
}

bool Sameness::isSame(const plan::ExprT &expression) const {
  return std::none_of(expression.terms.begin(), expression.terms.end(),
                      [](const plan::Term &term) {
                        return term.op() == plan::ExprOp::coordinate ||
                               isOfLayout(term.op());
                      });
}

bool Sameness::hasOneValue(const plan::ExprT &expression,
                           const LoopBounds &loops) const {
  if (isSame(expression))
    return true;
  if (hasCounters(expression))
    return false;
  std::vector<int64_t> counters(loops.size());
  int64_t first = 0;
  for (const std::vector<int64_t> &rank : coordinates) {
    int64_t value = 0;
    if (evaluate(expression, {&rank, &counters, &bound.layouts}, value))
      return false;
    if (&rank == &coordinates.front())
      first = value;
    if (value != first)
      return false;
  }
  return true;
}

bool Sameness::isSame(const plan::RowsT &rows, const LoopBounds &loops) const {
  const algebra::Layout &layout = bound.layouts[rows.layout];
  if (!isEven(layout) &&
      (layout.deal() || layout.length() / layout.ranks() < kManyRows))
    return false;
  if (isBelow(*rows.owner, layout.ranks()))
    return true;
  // Whoever is no owner holds nothing.
  int64_t turns = hasCounters(*rows.owner) ? turnsOf(loops) : 1;
  if (turns > kMostEvaluations / program.ranks())
    return false;
  std::vector<int64_t> counters = firstTurn(loops);
  for (int64_t turn = 0; turn < turns; ++turn) {
    for (const std::vector<int64_t> &rank : coordinates) {
      int64_t owner = -1;
      if (evaluate(*rows.owner, {&rank, &counters, &bound.layouts}, owner) ||
          owner < 0 || owner >= layout.ranks())
        return false;
    }
    (void)nextTurn(loops, counters);
  }
  return true;
}

bool Sameness::areAllNeeded(const Step &step, const plan::NeedsT &needs,
                            uint32_t keys) {
  // Who sees which rows differs by rank.
  if (needs.straight)
    return false;
  std::vector<int64_t> key = {keys,
                              needs.queries,
                              needs.stride,
                              needs.size,
                              needs.step,
                              needs.hops,
                              program.maskOf[static_cast<size_t>(step.id)]};
  auto [known, isNew] = allNeeded.try_emplace(std::move(key), true);
  if (!isNew)
    return known->second;
  const algebra::Layout &layout = bound.layouts[keys],
                        &queries = bound.layouts[needs.queries];
  // Each owner has a group of its own.
  if (queries.deal())
    return known->second = false;
  int64_t windows = layout.ranks() / (needs.stride * needs.size);
  for (int64_t owner = 0; owner < layout.ranks(); ++owner) {
    algebra::RingWay way = wayOf(needs, queries, owner);
    int64_t most = std::min(way.hops, way.size - 1);
    for (int64_t above = 0; above < std::max<int64_t>(windows, 1); ++above)
      if (program.maskIn(bound, step)
              .ringReach(queries, layout, owner, way, above) < most)
        return known->second = false;
  }
  return true;
}

bool Sameness::isSame(const Step &step, const plan::SendRecvT &transfer,
                      const LoopBounds &loops) {
  if (hasCounters(*transfer.to) || hasCounters(*transfer.from))
    return false;
  std::vector<int64_t> none;
  for (int64_t rank = 0; rank < program.ranks(); ++rank) {
    Scope scope{&coordinates[static_cast<size_t>(rank)], &none, &bound.layouts};
    int64_t to = rank, from = rank;
    if (evaluate(*transfer.to, scope, to) ||
        evaluate(*transfer.from, scope, from) || to == rank || from == rank)
      return false;
  }
  for (const auto *list : {&transfer.sends, &transfer.receives})
    for (const auto &block : *list) {
      if (!isSame(*block->strided->view) || !isSame(*block->rows, loops) ||
          !hasOneValue(*block->heads, loops))
        return false;
      if (transfer.needs &&
          !areAllNeeded(step, *transfer.needs, block->rows->layout))
        return false;
    }
  return true;
}

template <typename TableT>
bool Sameness::isSame(const TableT &attend, const LoopBounds &loops) const {
  return !loops.empty() && isSame(*attend.queries, loops) &&
         isSame(*attend.keys, loops) && hasOneValue(*attend.heads, loops) &&
         hasOneValue(*attend.batch, loops);
}

} // namespace sprt
