#include "executor/StreamRun.h"

namespace sprt {

Status StreamRun::run() {
  Status failure = walk(program.steps);
  if (failure)
    rank.control.stop(rank.number);
  cpu.events->finish(number);
  return failure;
}

Status StreamRun::visit(const Step &step) {
  if (Status failure = enter(step))
    return failure;
  // Recorders count on all streams, whoever runs them.
  if (step.command->records >= 0)
    ++recorded[static_cast<size_t>(step.command->records)];
  return Status::success();
}

Status StreamRun::enter(const Step &step) {
  const plan::CommandT &command = *step.command;
  bool own = command.stream == stream;
  if (!isCompound(command))
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
    cpu.events->record(static_cast<uint32_t>(command.records));
  return Status::success();
}

Status StreamRun::decide(const Step &step, const plan::ViewT &view,
                         plan::DType type, int64_t &out_value) {
  if (step.command->stream != stream)
    return cpu.events->awaitDecision(number, decisions++, out_value);
  if (rank.control.stopped.load(std::memory_order_relaxed))
    return fail(SPRT_FAILED).asConsequence() << "stopped";
  std::byte *data = nullptr;
  if (Status failure = rank.resolve(view, scope, data))
    return failure;
  out_value = decisionOf(type, data);
  ++decisions;
  if (program.streams() > 1)
    cpu.events->decide(out_value);
  return Status::success();
}

Status StreamRun::await(const plan::CommandT &command) {
  for (uint32_t event : command.waits)
    if (Status failure = cpu.events->await(number, event, recorded[event]))
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
    cpu.events->record(static_cast<uint32_t>(command.records));
  return Status::success();
}

} // namespace sprt
