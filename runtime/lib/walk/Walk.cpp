#include "walk/Walk.h"

#include "walk/Turns.h"

namespace sprt {

Status Walk::walk(const std::vector<Step> &steps) {
  for (const Step &step : steps) {
    if (Status failure = located(here.goTo(*step.command, scope), step))
      return failure;
    scope.layouts = &here.bound().layouts;
    if (Status failure = visit(step))
      return failure;
  }
  return Status::success();
}

Status Walk::control(const Step &step) {
  const plan::OperationUnion &operation = step.command->operation;
  if (const plan::LoopT *body = operation.AsLoop())
    return loop(step, *body);
  if (const plan::WhileT *body = operation.AsWhile())
    return whileLoop(step, *body);
  return choose(step, *operation.AsCase());
}

Status Walk::loop(const Step &step, const plan::LoopT &loop) {
  int64_t lower = 0;
  int64_t upper = 0;
  if (Status failure = located(evaluate(*loop.lower, scope, lower), step))
    return failure;
  if (Status failure = located(evaluate(*loop.upper, scope, upper), step))
    return failure;
  if (Status failure = located(turning(turnsOf({{lower, upper}})), step))
    return failure;
  counters.push_back(lower);
  for (int64_t counter = lower; counter < upper; ++counter) {
    counters.back() = counter;
    if (Status failure = walk(step.body))
      return failure;
    if (Status failure = turned(step))
      return failure;
  }
  counters.pop_back();
  return Status::success();
}

Status Walk::whileLoop(const Step &step, const plan::WhileT &loop) {
  for (;;) {
    if (Status failure = walk(step.condition))
      return failure;
    int64_t more = 0;
    if (Status failure =
            located(decide(step, *loop.predicate, plan::DType::i1, more), step))
      return failure;
    if (!more)
      return Status::success();
    if (Status failure = walk(step.body))
      return failure;
    if (Status failure = turned(step))
      return failure;
  }
}

Status Walk::choose(const Step &step, const plan::CaseT &choice) {
  int64_t index = 0;
  if (Status failure =
          located(decide(step, *choice.index, choice.type, index), step))
    return failure;
  int64_t last = static_cast<int64_t>(step.branches.size()) - 1;
  // An index outside the branches takes the last one, as in StableHLO.
  if (index < 0 || index > last)
    index = last;
  return walk(step.branches[static_cast<size_t>(index)]);
}

Status Walk::enabled(const plan::CommandT &command, bool &out_enabled) const {
  out_enabled = true;
  if (!command.when)
    return Status::success();
  int64_t value = 0;
  if (Status failure = evaluate(*command.when, scope, value))
    return failure;
  out_enabled = value != 0;
  return Status::success();
}

Status Walk::located(Status failure, const Step &step,
                     const std::vector<int64_t> &at) const {
  if (!failure || failure->command >= 0)
    return failure;
  // Work of another rank may be to blame.
  if (failure->rank < 0)
    failure->rank = self.number;
  std::string where = "rank " + std::to_string(failure->rank) + ", command " +
                      std::to_string(step.id);
  if (!step.command->name.empty())
    where += " \"" + step.command->name + "\"";
  if (!at.empty()) {
    where += ", step ";
    for (size_t depth = 0; depth < at.size(); ++depth)
      where += (depth ? "," : "") + std::to_string(at[depth]);
  }
  failure->command = step.id;
  return std::move(failure).within(where);
}

Status Walk::aligned(const plan::ViewT &view, std::byte *&out_data) const {
  if (Status failure = self.resolve(view, scope, out_data))
    return failure;
  if (reinterpret_cast<uintptr_t>(out_data) % 64 != 0)
    return fail(SPRT_DAMAGED) << "a kernel's buffer is not 64-byte aligned";
  return Status::success();
}

} // namespace sprt
