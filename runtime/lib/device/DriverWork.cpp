// What a GPU's streams are given.

#include "device/DriverHandles.h"

#include <cstring>

namespace sprt {

/// The driver's largest pitch.
static constexpr int64_t kMaxPitch = INT32_MAX;
/// Of a grid, along its first dimension.
static constexpr int64_t kMaxBlocks = INT32_MAX;

Status DriverDevice::OwnStream::record(Event &event) {
  auto &marked = static_cast<OwnEvent &>(event);
  marked.marked = true;
  marked.recorded = records;
  // In a graph, other events are only edges.
  unsigned flags = marked.timed && marked.recorded ? CU_EVENT_RECORD_EXTERNAL
                                                   : CU_EVENT_RECORD_DEFAULT;
  if (Status failure = gpu.enter())
    return failure;
  SPRT_CALL(gpu, cuEventRecordWithFlags, marked.handle, turn(), flags);
  return Status::success();
}

Status DriverDevice::OwnStream::wait(Event &event) {
  const auto &marked = static_cast<OwnEvent &>(event);
  // A handle may have had another owner, who marked something else.
  if (!marked.marked)
    return Status::success();
  // What was marked before a recording began has been done.
  if (records && !marked.recorded)
    return Status::success();
  if (Status failure = gpu.enter())
    return failure;
  SPRT_CALL(gpu, cuStreamWaitEvent, turn(), marked.handle,
            CU_EVENT_WAIT_DEFAULT);
  return Status::success();
}

bool DriverDevice::OwnEvent::reached() const {
  return !marked || (!device.gpu.enter() &&
                     device.gpu.driver.cuEventQuery(handle) == CUDA_SUCCESS);
}

Status DriverDevice::OwnStream::copy(const Message &target,
                                     const Message &source) {
  if (Status failure = gpu.enter())
    return failure;
  Status failure;
  auto copyRow = [&](const Rectangle &part, int64_t row) {
    return gpu.check(
        gpu.driver.cuMemcpyAsync(address(part.target + row * part.targetPitch),
                                 address(part.source + row * part.sourcePitch),
                                 static_cast<size_t>(part.width), turn()),
        "cuMemcpyAsync");
  };
  forEachRectangle(target, source, [&](const Rectangle &part) {
    bool atOnce = part.height > 1 && part.targetPitch <= kMaxPitch &&
                  part.sourcePitch <= kMaxPitch;
    for (int64_t row = 0; !atOnce && !failure && row < part.height; ++row)
      failure = copyRow(part, row);
    if (!atOnce || failure)
      return;
    CUDA_MEMCPY2D copied;
    std::memset(&copied, 0, sizeof copied);
    // The driver knows from the address whose memory it is.
    copied.srcMemoryType = copied.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copied.srcDevice = address(part.source);
    copied.srcPitch = static_cast<size_t>(part.sourcePitch);
    copied.dstDevice = address(part.target);
    copied.dstPitch = static_cast<size_t>(part.targetPitch);
    copied.WidthInBytes = static_cast<size_t>(part.width);
    copied.Height = static_cast<size_t>(part.height);
    failure = gpu.check(gpu.driver.cuMemcpy2DAsync(&copied, turn()),
                        "cuMemcpy2DAsync");
  });
  return failure;
}

Status DriverDevice::OwnStream::upload(std::byte *target, const std::byte *data,
                                       int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  if (Status failure = gpu.enter())
    return failure;
  // From memory that is not pinned, the driver has its own copy when it
  // returns.
  SPRT_CALL(gpu, cuMemcpyAsync, address(target), address(data),
            static_cast<size_t>(bytes), turn());
  return Status::success();
}

Status DriverDevice::OwnStream::fill(std::byte *target, uint8_t value,
                                     int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  if (Status failure = gpu.enter())
    return failure;
  SPRT_CALL(gpu, cuMemsetD8Async, address(target), value,
            static_cast<size_t>(bytes), turn());
  return Status::success();
}

Status DriverDevice::OwnStream::launch(uint32_t kernel,
                                       const std::vector<void *> &arguments,
                                       int64_t blocks) {
  std::vector<void *> parameters;
  for (void *const &argument : arguments)
    parameters.push_back(static_cast<void *>(const_cast<void **>(&argument)));
  return start(kernel, parameters.data(), blocks);
}

Status DriverDevice::OwnStream::multiply(const plan::GemmT &gemm,
                                         const GemmData &data) {
  if (!workspace)
    if (Status failure = device.allocate(CublasLt::kWorkspaceBytes, workspace))
      return failure;
  if (Status failure = gpu.enter())
    return failure;
  if (Status failure =
          device.products.multiply(GemmShape(gemm), data, workspace, turn()))
    return failure;
  return note({});
}

Status DriverDevice::OwnStream::attend(uint32_t kernel,
                                       const AttendArguments &arguments,
                                       int64_t blocks) {
  const void *address = std::visit(
      [](const auto &each) -> const void * { return &each; }, arguments);
  void *parameters[] = {const_cast<void *>(address)};
  return start(kernel, parameters, blocks);
}

Status DriverDevice::OwnStream::start(uint32_t kernel, void **parameters,
                                      int64_t blocks) {
  const plan::KernelT &described = *device.program->plan->kernels[kernel];
  if (blocks > kMaxBlocks)
    return fail(SPRT_UNSUPPORTED)
           << "expected at most " << kMaxBlocks << " blocks of kernel \""
           << described.symbol << "\" but got " << blocks
           << "; use more ranks, or a smaller batch";
  if (Status failure = gpu.enter())
    return failure;
  // The driver copies the parameters before it returns.
  SPRT_CALL(gpu, cuLaunchKernel, device.kernels[kernel].function,
            static_cast<unsigned>(blocks), 1, 1,
            static_cast<unsigned>(described.threads), 1, 1,
            static_cast<unsigned>(described.shared_bytes), turn(), parameters,
            nullptr);
  return note({&described.symbol});
}

} // namespace sprt
