#include "executor/DeviceRun.h"

#include "program/Role.h"
#include "tiles/SliceTable.h"

namespace sprt {

Status DeviceRun::finish() {
  for (int stream = 0; stream < kStreams; ++stream)
    if (program.usesStream[stream])
      if (Status failure = synchronise(stream))
        return failure;
  return Status::success();
}

Status DeviceRun::synchronise(int stream) {
  Device::Fault fault =
      deviceRank.stream(stream).synchronise(rank.communicator->timeout);
  if (!fault.status)
    return Status::success();
  if (fault.origin && fault.origin->command >= 0)
    return located(std::move(fault.status),
                   *program.stepOf[static_cast<size_t>(fault.origin->command)],
                   fault.origin->counters);
  if (fault.status->rank < 0)
    fault.status->rank = rank.number;
  return std::move(fault.status)
      .within("rank " + std::to_string(rank.number) + ", stream " +
              plan::EnumNameStream(static_cast<plan::Stream>(stream)));
}

Status DeviceRun::visit(const Step &step) {
  enter(step);
  if (!isCompound(*step.command))
    return located(perform(step), step);
  if (Status failure = located(inject(step), step))
    return failure;
  if (Status failure = located(await(*step.command), step))
    return failure;
  bool runs = true;
  if (Status failure = located(enabled(*step.command, runs), step))
    return failure;
  if (runs)
    if (Status failure = control(step))
      return failure;
  enter(step);
  return located(record(*step.command), step);
}

void DeviceRun::enter(const Step &step) {
  number = static_cast<int>(step.command->stream);
  stream().origin =
      std::make_shared<const Device::Origin>(Device::Origin{step.id, counters});
}

Status DeviceRun::decide(const Step &step, const plan::ViewT &view,
                         plan::DType type, int64_t &out_value) {
  if (rank.control.stopped.load(std::memory_order_relaxed))
    return fail(SPRT_FAILED).asConsequence() << "stopped";
  enter(step);
  std::byte *data = nullptr;
  if (Status failure = rank.resolve(view, scope, data))
    return failure;
  if (Status failure = synchronise(number))
    return failure;
  std::byte value[sizeof(int64_t)] = {};
  int64_t bytes =
      static_cast<int64_t>(sprt_dtype_size(static_cast<sprt_dtype>(type)));
  if (Status failure =
          stream().copy(denseMessage(value, bytes), denseMessage(data, bytes)))
    return failure;
  if (Status failure = synchronise(number))
    return failure;
  out_value = decisionOf(type, value);
  return Status::success();
}

Status DeviceRun::await(const plan::CommandT &command) {
  for (uint32_t event : command.waits)
    if (Status failure = stream().wait(*deviceRank.events[event]))
      return failure;
  return Status::success();
}

Status DeviceRun::record(const plan::CommandT &command) {
  if (command.records < 0)
    return Status::success();
  return stream().record(
      *deviceRank.events[static_cast<size_t>(command.records)]);
}

Status DeviceRun::perform(const Step &step) {
  if (rank.control.stopped.load(std::memory_order_relaxed))
    return fail(SPRT_FAILED).asConsequence() << "stopped";
  if (Status failure = inject(step))
    return failure;
  if (Status failure = await(*step.command))
    return failure;
  bool runs = true;
  if (Status failure = enabled(*step.command, runs))
    return failure;
  if (runs)
    if (Status failure = timed(step))
      return failure;
  return record(*step.command);
}

Status DeviceRun::timed(const Step &step) {
  if (!rank.timing)
    return work(step);
  if (deviceRank.spanCount == deviceRank.spans.size()) {
    DeviceRank::Span &added = deviceRank.spans.emplace_back();
    for (auto *event : {&added.begin, &added.end})
      if (Status failure = device.createEvent(true, *event))
        return failure;
  }
  DeviceRank::Span &span = deviceRank.spans[deviceRank.spanCount++];
  span.command = step.id;
  span.counters = counters;
  span.stream = number;
  span.firstFlow = rank.communicator->flows(number).size();
  if (Status failure = stream().record(*span.begin))
    return failure;
  if (Status failure = work(step))
    return failure;
  span.lastFlow = rank.communicator->flows(number).size();
  return stream().record(*span.end);
}

Status DeviceRun::launch(const plan::LaunchT &launch) {
  std::vector<void *> arguments;
  for (const auto &buffer : launch.buffers) {
    std::byte *data = nullptr;
    if (Status failure = aligned(*buffer, data))
      return failure;
    arguments.push_back(data);
  }
  arguments.push_back(deviceRank.scratch);
  return stream().launch(launch.kernel, arguments, launch.tiles);
}

Status DeviceRun::multiply(const plan::GemmT &gemm, const GemmData &data) {
  return stream().multiply(gemm, data);
}

Status DeviceRun::move(const Message &target, const Message &source) {
  return stream().copy(target, source);
}

Status DeviceRun::fill(std::byte *target, uint8_t value, int64_t bytes) {
  return stream().fill(target, value, bytes);
}

Status DeviceRun::write(std::byte *target,
                        const std::vector<std::byte> &bytes) {
  int64_t size = static_cast<int64_t>(bytes.size());
  // From the device's own memory: a repeated run reads none of the host's.
  auto [entry, added] = deviceRank.numbers.try_emplace({number, bytes});
  if (added)
    if (Status failure = upload(bytes.data(), size, entry->second))
      return failure;
  return stream().copy(
      denseMessage(target, size),
      denseMessage(const_cast<std::byte *>(entry->second), size));
}

} // namespace sprt
