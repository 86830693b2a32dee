#include "executor/StreamRun.h"

#include "program/Role.h"

namespace sprt {

Status StreamRun::run() {
  Status failure = walk(program.steps);
  for (int each = 0; each < kStreams && !failure; ++each)
    failure = completePosted(static_cast<plan::Stream>(each));
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
  bool own = isOwn(command);
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
  if (own)
    record(command);
  return Status::success();
}

Status StreamRun::decide(const Step &step, const plan::ViewT &view,
                         plan::DType type, int64_t &out_value) {
  if (!isOwn(*step.command))
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
  // What a stream does comes after what it did.
  if (Status failure = completePosted(command.stream))
    return failure;
  for (uint32_t event : command.waits) {
    for (const std::optional<Posted> &each : posted)
      if (each && each->step->command->records == static_cast<int64_t>(event))
        if (Status failure = completePosted(each->step->command->stream))
          return failure;
    if (Status failure = cpu.events->await(number, event, recorded[event]))
      return failure;
  }
  return Status::success();
}

Status StreamRun::settle(const Step &step, Requests requests) {
  if (stream)
    return complete(requests);
  posted[static_cast<int>(step.command->stream)] =
      Posted{&step, counters, std::move(requests), {}, {}};
  return Status::success();
}

Status StreamRun::completePosted(plan::Stream of) {
  std::optional<Posted> &mine = posted[static_cast<int>(of)];
  if (!mine)
    return Status::success();
  Posted done = std::move(*mine);
  mine.reset();
  if (Status failure = complete(done.requests))
    return located(std::move(failure), *done.step, done.counters);
  note(*done.step, done.counters, done.arrived, done.begin);
  return Status::success();
}

void StreamRun::note(const Step &step, const std::vector<int64_t> &at,
                     Clock::time_point arrived, Clock::time_point begin) {
  Clock::time_point end = Clock::now();
  CommandTime &time = rank.times[static_cast<size_t>(step.id)];
  ++time.runs;
  time.seconds += std::chrono::duration<double>(end - begin).count();
  time.waitSeconds += std::chrono::duration<double>(begin - arrived).count();
  if (rank.tracing)
    rank.trace[static_cast<int>(step.command->stream)].push_back(
        {step.id, at, begin, end});
  record(*step.command);
}

void StreamRun::record(const plan::CommandT &command) {
  if (command.records >= 0)
    cpu.events->record(static_cast<uint32_t>(command.records));
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
  if (!runs) {
    record(command);
    return Status::success();
  }
  if (Status failure = work(step))
    return failure;
  // Kernels may have left tiles undone.
  if (rank.control.stopped.load(std::memory_order_relaxed))
    return fail(SPRT_FAILED).asConsequence() << "stopped";
  if (std::optional<Posted> &mine = posted[static_cast<int>(command.stream)]) {
    mine->arrived = arrived;
    mine->begin = begin;
    return Status::success();
  }
  note(step, counters, arrived, begin);
  return Status::success();
}

} // namespace sprt
