#include "device/DriverDevice.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace sprt {

namespace {

/// Pauses between two looks at a stream: short at first for latency, then long
/// enough to cost the waiting rank little of a core.
constexpr std::chrono::microseconds kShortestPause(10);
constexpr std::chrono::microseconds kLongestPause(500);
/// The driver's largest pitch.
constexpr int64_t kMaxPitch = INT32_MAX;

CUdeviceptr address(const void *data) {
  return reinterpret_cast<CUdeviceptr>(data);
}

} // namespace

class DriverDevice::OwnStream : public Stream {
public:
  OwnStream(DriverDevice &device, int64_t rank)
      : Stream(rank), device(device) {}
  ~OwnStream() override {
    if (handle && !device.enter())
      (void)device.driver.cuStreamDestroy(handle);
  }
  DriverDevice &device;
  CUstream handle = nullptr;
};

class DriverDevice::OwnEvent : public Event {
public:
  explicit OwnEvent(DriverDevice &device) : device(device) {}
  ~OwnEvent() override {
    if (handle && !device.enter())
      (void)device.driver.cuEventDestroy(handle);
  }
  DriverDevice &device;
  CUevent handle = nullptr;
};

CUstream DriverDevice::handleOf(Stream &stream) {
  return static_cast<OwnStream &>(stream).handle;
}

/// Makes a call of the driver, whose failure the function returns.
#define SPRT_CALL(name, ...)                                                   \
  if (Status failure = check(driver.name(__VA_ARGS__), #name))                 \
  return failure

Status DriverDevice::check(CUresult result, const char *call) const {
  if (result == CUDA_SUCCESS)
    return Status::success();
  const char *text = nullptr;
  if (driver.cuGetErrorString(result, &text) != CUDA_SUCCESS)
    text = "unknown error";
  return fail(SPRT_FAILED) << capability().name << ", " << call << ": " << text
                           << " (" << int(result) << ")";
}

Status DriverDevice::enter() {
  return check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

Status DriverDevice::open(int number) {
  abilities.name = "GPU " + std::to_string(number);
  if (Status failure = driver.open())
    return failure;
  SPRT_CALL(cuInit, 0);
  int count = 0;
  SPRT_CALL(cuDeviceGetCount, &count);
  if (number >= count)
    return fail(SPRT_UNSUPPORTED)
           << "expected the number of a GPU below " << count << " but got "
           << number << "; or run with --device=emulated";
  SPRT_CALL(cuDeviceGet, &device, number);
  char name[128] = "";
  SPRT_CALL(cuDeviceGetName, name, sizeof name, device);
  abilities.name += std::string(" (") + name + ")";
  int major = 0, minor = 0;
  for (auto [attribute, out] :
       {std::pair(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major),
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &abilities.processors}})
    SPRT_CALL(cuDeviceGetAttribute, out, attribute, device);
  architecture = 10 * major + minor;
  SPRT_CALL(cuDevicePrimaryCtxRetain, &context, device);
  if (Status failure = enter())
    return failure;
  size_t free = 0, total = 0;
  SPRT_CALL(cuMemGetInfo, &free, &total);
  abilities.freeBytes = static_cast<int64_t>(free);
  abilities.memoryBytes = static_cast<int64_t>(total);
  return Status::success();
}

DriverDevice::~DriverDevice() {
  if (!context)
    return;
  if (!enter()) {
    for (std::byte *data : memory)
      (void)driver.cuMemFree(address(data));
    if (module)
      (void)driver.cuModuleUnload(module);
  }
  (void)driver.cuDevicePrimaryCtxRelease(device);
}

Status DriverDevice::choose(const Program &loaded,
                            const std::byte *&out_image) const {
  // Code for sm_90a runs on sm_90 and no other; code for sm_80 on sm_8x.
  std::string exact = "sm_" + std::to_string(architecture), held;
  for (size_t i = 0; i < loaded.images.size(); ++i) {
    const std::string &wanted = loaded.plan->images[i]->architecture;
    held += (held.empty() ? "" : ", ") + wanted;
    bool family =
        wanted.size() == exact.size() &&
        wanted.compare(0, exact.size() - 1, exact, 0, exact.size() - 1) == 0 &&
        wanted.back() <= exact.back();
    if (family || wanted == exact + "a") {
      out_image = loaded.images[i];
      return Status::success();
    }
  }
  return fail(SPRT_UNSUPPORTED)
         << capability().name << " is " << exact
         << " but the artifact has code for " << (held.empty() ? "none" : held)
         << "; compile with --arch=" << exact
         << ", or run with --device=emulated";
}

Status DriverDevice::load(const Program &loaded) {
  program = &loaded;
  functions.resize(loaded.plan->kernels.size());
  const std::byte *image = nullptr;
  if (Status failure = choose(loaded, image))
    return failure;
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuModuleLoadData, &module, image);
  for (const Step *step : loaded.stepOf) {
    const plan::OperationUnion &operation = step->command->operation;
    if (const plan::LaunchT *launch = operation.AsLaunch())
      return fail(SPRT_UNSUPPORTED)
             << "the artifact holds kernel \""
             << loaded.plan->kernels[launch->kernel]->symbol << "\" of command "
             << step->id << " for the CPU only; run it with --device=emulated";
    if (operation.AsGemm())
      return fail(SPRT_UNSUPPORTED)
             << "command " << step->id
             << " is a matrix product, which this runtime leaves to no library "
                "of GPUs; run it with --device=emulated";
    const plan::AttendT *attend = operation.AsAttend();
    if (!attend || functions[attend->kernel])
      continue;
    const plan::KernelT &kernel = *loaded.plan->kernels[attend->kernel];
    CUfunction &function = functions[attend->kernel];
    if (Status failure = check(driver.cuModuleGetFunction(
                                   &function, module, kernel.symbol.c_str()),
                               "cuModuleGetFunction"))
      return std::move(failure).within("kernel \"" + kernel.symbol + "\"");
    SPRT_CALL(cuFuncSetAttribute, function,
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
              static_cast<int>(kernel.shared_bytes));
  }
  return Status::success();
}

Status DriverDevice::allocate(int64_t bytes, std::byte *&out_data) {
  CUdeviceptr data = 0;
  if (Status failure = enter())
    return failure;
  if (Status failure =
          check(driver.cuMemAlloc(
                    &data, static_cast<size_t>(std::max<int64_t>(bytes, 1))),
                "cuMemAlloc"))
    return std::move(failure).within(std::to_string(bytes) + " bytes");
  out_data = reinterpret_cast<std::byte *>(data);
  std::lock_guard<std::mutex> lock(mutex);
  memory.insert(out_data);
  return Status::success();
}

void DriverDevice::release(std::byte *data) {
  std::lock_guard<std::mutex> lock(mutex);
  // The driver waits for work that uses the memory.
  if (memory.erase(data) && !enter())
    (void)driver.cuMemFree(address(data));
}

Status DriverDevice::createStream(int64_t rank,
                                  std::unique_ptr<Stream> &out_stream) {
  auto stream = std::make_unique<OwnStream>(*this, rank);
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuStreamCreate, &stream->handle, CU_STREAM_NON_BLOCKING);
  out_stream = std::move(stream);
  return Status::success();
}

Status DriverDevice::createEvent(bool timed,
                                 std::unique_ptr<Event> &out_event) {
  auto event = std::make_unique<OwnEvent>(*this);
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuEventCreate, &event->handle,
            timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
  out_event = std::move(event);
  return Status::success();
}

Status DriverDevice::record(Event &event, Stream &stream) {
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuEventRecord, static_cast<OwnEvent &>(event).handle,
            handleOf(stream));
  return Status::success();
}

Status DriverDevice::wait(Stream &stream, Event &event) {
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuStreamWaitEvent, handleOf(stream),
            static_cast<OwnEvent &>(event).handle, CU_EVENT_WAIT_DEFAULT);
  return Status::success();
}

Status DriverDevice::elapsed(const Event &from, const Event &to,
                             double &out_seconds) {
  float milliseconds = 0;
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuEventElapsedTime, &milliseconds,
            static_cast<const OwnEvent &>(from).handle,
            static_cast<const OwnEvent &>(to).handle);
  out_seconds = 1e-3 * static_cast<double>(milliseconds);
  return Status::success();
}

Status DriverDevice::copy(Stream &stream, const Message &target,
                          const Message &source) {
  if (Status failure = enter())
    return failure;
  Status failure;
  auto copyRow = [&](const Rectangle &part, int64_t row) {
    return check(
        driver.cuMemcpyAsync(address(part.target + row * part.targetPitch),
                             address(part.source + row * part.sourcePitch),
                             static_cast<size_t>(part.width), handleOf(stream)),
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
    failure = check(driver.cuMemcpy2DAsync(&copied, handleOf(stream)),
                    "cuMemcpy2DAsync");
  });
  return failure;
}

Status DriverDevice::upload(Stream &stream, std::byte *target,
                            const std::byte *data, int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  if (Status failure = enter())
    return failure;
  // From memory that is not pinned, the driver has its own copy when it
  // returns.
  SPRT_CALL(cuMemcpyAsync, address(target), address(data),
            static_cast<size_t>(bytes), handleOf(stream));
  return Status::success();
}

Status DriverDevice::fill(Stream &stream, std::byte *target, uint8_t value,
                          int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuMemsetD8Async, address(target), value, static_cast<size_t>(bytes),
            handleOf(stream));
  return Status::success();
}

Status DriverDevice::launch(Stream &, uint32_t kernel,
                            const std::vector<void *> &, int64_t) {
  // load() has refused such a program.
  return fail(SPRT_UNSUPPORTED)
         << "kernel \"" << program->plan->kernels[kernel]->symbol
         << "\" is for the CPU only";
}

Status DriverDevice::multiply(Stream &, const plan::GemmT &, const std::byte *,
                              const std::byte *, std::byte *) {
  // load() has refused such a program.
  return fail(SPRT_UNSUPPORTED) << "no library for matrix products on GPUs";
}

Status DriverDevice::attend(Stream &stream, uint32_t kernel,
                            const AttendArguments &arguments, int64_t blocks) {
  const plan::KernelT &described = *program->plan->kernels[kernel];
  // The driver copies the arguments before it returns.
  const void *address = std::visit(
      [](const auto &each) -> const void * { return &each; }, arguments);
  void *parameters[] = {const_cast<void *>(address)};
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuLaunchKernel, functions[kernel], static_cast<unsigned>(blocks), 1,
            1, static_cast<unsigned>(described.threads), 1, 1,
            static_cast<unsigned>(described.shared_bytes), handleOf(stream),
            parameters, nullptr);
  return Status::success();
}

Status DriverDevice::encode(const cuda::TensorMapFields &fields,
                            cuda::TensorMap &out_map) {
  constexpr int kRank = cuda::TensorMapFields::kRank;
  static_assert(sizeof(CUtensorMap) == sizeof(cuda::TensorMap),
                "kernels know the driver's map by our name");
  cuuint64_t sizes[kRank], strides[kRank - 1];
  std::copy(std::begin(fields.sizes), std::end(fields.sizes), sizes);
  std::copy(std::begin(fields.strides), std::end(fields.strides), strides);
  const cuuint32_t box[kRank] = {64, static_cast<cuuint32_t>(fields.boxRows), 1,
                                 1};
  const cuuint32_t steps[kRank] = {1, 1, 1, 1};
  CUtensorMap map;
  // Both 16-bit types have the same map: zeros are the same bits.
  SPRT_CALL(cuTensorMapEncodeTiled, &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            kRank, fields.base, sizes, strides, box, steps,
            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
            CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  std::memcpy(&out_map, &map, sizeof map);
  return Status::success();
}

Device::Fault DriverDevice::synchronise(Stream &stream, Limit limit) {
  if (Status failure = enter())
    return {std::move(failure), nullptr};
  auto end = std::chrono::steady_clock::now() + limit;
  std::chrono::microseconds pause = kShortestPause;
  for (;;) {
    CUresult result = driver.cuStreamQuery(handleOf(stream));
    if (result != CUDA_ERROR_NOT_READY)
      return {check(result, "cuStreamQuery"), nullptr};
    if (stopped.load())
      return {fail(SPRT_FAILED).asConsequence() << "stopped", nullptr};
    if (std::chrono::steady_clock::now() > end)
      return {fail(SPRT_TIMEOUT).about(stream.rank)
                  << "waited " << limit.count() << " s for "
                  << capability().name,
              nullptr};
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

} // namespace sprt
