#include "executor/StreamRun.h"

#include <algorithm>
#include <cstring>

namespace sprt {

Status StreamRun::run() {
  Status failure = walk(program.steps);
  if (failure)
    rank.control.stop(rank.number);
  rank.events->finish(number);
  return failure;
}

Status StreamRun::walk(const std::vector<Step> &steps) {
  for (const Step &step : steps) {
    if (Status failure = visit(step))
      return failure;
    // Recorders count on all streams, whoever runs them.
    if (step.command->records >= 0)
      ++recorded[static_cast<size_t>(step.command->records)];
  }
  return Status::success();
}

Status StreamRun::visit(const Step &step) {
  const plan::CommandT &command = *step.command;
  bool own = command.stream == stream;
  bool compound = command.operation.type == plan::Operation::Loop ||
                  command.operation.type == plan::Operation::While ||
                  command.operation.type == plan::Operation::Case;
  if (!compound)
    return own ? located(perform(step), step) : Status::success();

  if (own) {
    if (Status failure = located(inject(step), step))
      return failure;
    if (Status failure = located(await(command), step))
      return failure;
  }
  bool runs = true;
  if (Status failure = located(enabled(command, runs), step))
    return failure;
  if (runs)
    if (Status failure = control(step))
      return failure;
  if (own && command.records >= 0)
    rank.events->record(static_cast<uint32_t>(command.records));
  return Status::success();
}

Status StreamRun::control(const Step &step) {
  const plan::OperationUnion &operation = step.command->operation;
  if (const plan::LoopT *body = operation.AsLoop())
    return loop(step, *body);
  if (const plan::WhileT *body = operation.AsWhile())
    return whileLoop(step, *body);
  return choose(step, *operation.AsCase());
}

Status StreamRun::loop(const Step &step, const plan::LoopT &loop) {
  int64_t lower = 0;
  int64_t upper = 0;
  if (Status failure = located(evaluate(*loop.lower, scope, lower), step))
    return failure;
  if (Status failure = located(evaluate(*loop.upper, scope, upper), step))
    return failure;
  counters.push_back(lower);
  for (int64_t counter = lower; counter < upper; ++counter) {
    counters.back() = counter;
    if (Status failure = walk(step.body))
      return failure;
    // A body that leaves this stream nothing to do must still end with the run.
    if (rank.control.stopped.load(std::memory_order_relaxed))
      return located(fail(SPRT_FAILED).asConsequence() << "stopped", step);
  }
  counters.pop_back();
  return Status::success();
}

Status StreamRun::whileLoop(const Step &step, const plan::WhileT &loop) {
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
  }
}

Status StreamRun::choose(const Step &step, const plan::CaseT &choice) {
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

Status StreamRun::decide(const Step &step, const plan::ViewT &view,
                         plan::DType type, int64_t &out_value) {
  if (step.command->stream != stream)
    return rank.events->awaitDecision(number, decisions++, out_value);
  if (rank.control.stopped.load(std::memory_order_relaxed))
    return fail(SPRT_FAILED).asConsequence() << "stopped";
  std::byte *data = nullptr;
  if (Status failure = rank.resolve(view, scope, data))
    return failure;
  if (type == plan::DType::i64) {
    std::memcpy(&out_value, data, sizeof out_value);
  } else if (type == plan::DType::i32) {
    int32_t value = 0;
    std::memcpy(&value, data, sizeof value);
    out_value = value;
  } else {
    out_value = *data != std::byte(0);
  }
  ++decisions;
  if (program.streams() > 1)
    rank.events->decide(out_value);
  return Status::success();
}

Status StreamRun::await(const plan::CommandT &command) {
  for (uint32_t event : command.waits)
    if (Status failure = rank.events->await(number, event, recorded[event]))
      return failure;
  return Status::success();
}

Status StreamRun::perform(const Step &step) {
  const plan::CommandT &command = *step.command;
  if (rank.control.stopped.load(std::memory_order_relaxed))
    return fail(SPRT_FAILED).asConsequence() << "stopped";
  if (Status failure = inject(step))
    return failure;
  Clock::time_point arrived = Clock::now();
  if (Status failure = await(command))
    return failure;
  Clock::time_point begin = command.waits.empty() ? arrived : Clock::now();
  bool runs = true;
  if (Status failure = enabled(command, runs))
    return failure;
  if (runs) {
    if (Status failure = work(step))
      return failure;
    Clock::time_point end = Clock::now();
    CommandTime &time = rank.times[static_cast<size_t>(step.id)];
    ++time.runs;
    time.seconds += std::chrono::duration<double>(end - begin).count();
    time.waitSeconds += std::chrono::duration<double>(begin - arrived).count();
    if (rank.tracing)
      rank.trace[number].push_back(
          {step.id, counters.empty() ? -1 : counters.back(), begin, end});
  }
  if (command.records >= 0)
    rank.events->record(static_cast<uint32_t>(command.records));
  return Status::success();
}

Status StreamRun::inject(const Step &step) const {
  if (rank.injection.command != step.id || rank.injection.rank != rank.number)
    return Status::success();
  if (!rank.injection.stalls)
    return fail(SPRT_FAILED) << "failed on request (--inject)";
  // Silent until the others have noticed; not for ever where nobody depends on
  // it.
  std::unique_lock<std::mutex> lock(rank.control.mutex);
  rank.control.stopping.wait_for(lock, 2 * rank.communicator->timeout,
                                 [&] { return rank.control.stopped.load(); });
  return fail(SPRT_FAILED) << "stalled on request (--inject)";
}

Status StreamRun::enabled(const plan::CommandT &command,
                          bool &out_enabled) const {
  out_enabled = true;
  if (!command.when)
    return Status::success();
  int64_t value = 0;
  if (Status failure = evaluate(*command.when, scope, value))
    return failure;
  out_enabled = value != 0;
  return Status::success();
}

Status StreamRun::located(Status failure, const Step &step) const {
  if (!failure)
    return failure;
  std::string where = "rank " + std::to_string(rank.number) + ", command " +
                      std::to_string(step.id);
  if (!step.command->name.empty())
    where += " \"" + step.command->name + "\"";
  if (!counters.empty()) {
    where += ", step ";
    for (size_t depth = 0; depth < counters.size(); ++depth)
      where += (depth ? "," : "") + std::to_string(counters[depth]);
  }
  failure->rank = rank.number;
  failure->command = step.id;
  return std::move(failure).within(where);
}

Status StreamRun::work(const Step &step) {
  using plan::Operation;
  const plan::OperationUnion &operation = step.command->operation;
  switch (operation.type) {
  case Operation::Launch:
    return launch(*operation.AsLaunch());
  case Operation::Attend:
    return attend(step, *operation.AsAttend());
  case Operation::Gemm:
    return gemm(*operation.AsGemm());
  case Operation::SendRecv:
    return sendRecv(step, *operation.AsSendRecv());
  case Operation::Exchange:
    return exchangeRows(*operation.AsExchange());
  case Operation::AllReduce:
    return reduceAll(*operation.AsAllReduce());
  case Operation::ReduceScatter:
    return reduceRows(*operation.AsReduceScatter());
  case Operation::Copy:
    return copy(*operation.AsCopy());
  case Operation::Fill:
    return fill(*operation.AsFill());
  case Operation::RowsTable:
    return rowsTable(*operation.AsRowsTable());
  case Operation::Sync:
    return Status::success();
  default:
    return fail(SPRT_DAMAGED) << "unknown operation " << int(operation.type);
  }
}

} // namespace sprt
