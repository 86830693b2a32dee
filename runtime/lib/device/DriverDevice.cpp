#include "device/DriverHandles.h"

#include <algorithm>
#include <cstring>

namespace sprt {

/// Of a grid, along its first dimension.
static constexpr int64_t kMaxBlocks = INT32_MAX;

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

Status DriverDevice::open(int number, std::shared_ptr<Device> &out_device) {
  auto gpu = std::make_unique<DriverDevice>();
  if (Status failure = gpu->take(number))
    return failure;
  out_device = std::shared_ptr<DriverDevice>(gpu.release(), leave);
  return Status::success();
}

Status DriverDevice::take(int number) {
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
  if (Status failure = reclaim())
    return failure;
  SPRT_CALL(cuDevicePrimaryCtxRetain, &context, device);
  if (Status failure = enter())
    return failure;
  size_t free = 0, total = 0;
  SPRT_CALL(cuMemGetInfo, &free, &total);
  abilities.freeBytes = static_cast<int64_t>(free);
  abilities.memoryBytes = static_cast<int64_t>(total);
  abilities.productBytes = CublasLt::kWorkspaceBytes;
  return Status::success();
}

DriverDevice::~DriverDevice() {
  if (!context)
    return;
  if (!enter()) {
    products.close();
    fence.reset();
    for (CUstream stream : strays)
      (void)driver.cuStreamDestroy(stream);
    for (const std::vector<CUevent> &events : spareEvents)
      for (CUevent event : events)
        (void)driver.cuEventDestroy(event);
    if (graph)
      (void)driver.cuGraphExecDestroy(graph);
    for (std::byte *data : memory)
      (void)driver.cuMemFree(address(data));
    for (std::byte *data : hostMemory)
      (void)driver.cuMemFreeHost(data);
    for (CUmodule module : modules)
      (void)driver.cuModuleUnload(module);
  }
  (void)driver.cuDevicePrimaryCtxRelease(device);
}

std::vector<size_t> DriverDevice::runnable(const Program &loaded) const {
  std::vector<size_t> numbers;
  for (Fit wanted : {Fit::native, Fit::portable})
    for (size_t i = 0; i < loaded.images.size(); ++i)
      if (fitOf(*loaded.plan->images[i], architecture) == wanted)
        numbers.push_back(i);
  return numbers;
}

Status DriverDevice::unsupported(const Program &loaded,
                                 const plan::KernelT &kernel) const {
  std::string held;
  for (const auto &image : loaded.plan->images)
    if (held.find(image->architecture) == std::string::npos)
      held += (held.empty() ? "" : ", ") + image->architecture;
  std::string exact = "sm_" + std::to_string(architecture);
  return fail(SPRT_UNSUPPORTED)
         << capability().name << " is " << exact
         << " but the artifact has kernel \"" << kernel.symbol << "\" for "
         << (held.empty() ? "none" : held) << "; compile with --arch=" << exact
         << ", or run with --device=emulated";
}

Status DriverDevice::find(const Program &loaded, uint32_t number) {
  const plan::KernelT &kernel = *loaded.plan->kernels[number];
  CUfunction &function = functions[number];
  std::vector<size_t> usable = runnable(loaded);
  for (size_t i = 0; i < usable.size() && !function; ++i) {
    if (i == modules.size())
      SPRT_CALL(cuModuleLoadData, &modules.emplace_back(),
                loaded.images[usable[i]]);
    CUresult found = driver.cuModuleGetFunction(&function, modules[i],
                                                kernel.symbol.c_str());
    if (found == CUDA_ERROR_NOT_FOUND)
      function = nullptr;
    else if (Status failure = check(found, "cuModuleGetFunction"))
      return std::move(failure).within("kernel \"" + kernel.symbol + "\"");
  }
  if (!function)
    return unsupported(loaded, kernel);
  SPRT_CALL(cuFuncSetAttribute, function,
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            static_cast<int>(kernel.shared_bytes));
  int blocks = 0;
  SPRT_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, function,
            static_cast<int>(kernel.threads),
            static_cast<size_t>(kernel.shared_bytes));
  if (blocks < 1)
    return fail(SPRT_UNSUPPORTED)
           << capability().name << " has no room for a block of kernel \""
           << kernel.symbol << "\" with " << kernel.threads << " threads and "
           << kernel.shared_bytes << " bytes of shared memory";
  residentBlocks[number] = blocks;
  return Status::success();
}

Status DriverDevice::load(const Program &loaded) {
  program = &loaded;
  functions.resize(loaded.plan->kernels.size());
  residentBlocks.resize(functions.size());
  portable = std::none_of(loaded.plan->images.begin(),
                          loaded.plan->images.end(), [&](const auto &image) {
                            return fitOf(*image, architecture) == Fit::native;
                          });
  if (Status failure = enter())
    return failure;
  for (const Step *step : loaded.stepOf) {
    const plan::OperationUnion &operation = step->command->operation;
    if (const plan::GemmT *gemm = operation.AsGemm())
      if (Status failure = products.prepare(GemmShape(*gemm)))
        return std::move(failure).within("command " + std::to_string(step->id));
    const plan::LaunchT *launch = operation.AsLaunch();
    const plan::AttendT *attend = operation.AsAttend();
    if (!launch && !attend)
      continue;
    uint32_t kernel = launch                         ? launch->kernel
                      : portable && attend->portable ? attend->portable->kernel
                                                     : attend->kernel;
    if (functions[kernel])
      continue;
    if (Status failure = find(loaded, kernel))
      return failure;
  }
  return Status::success();
}

Status DriverDevice::launch(Stream &stream, uint32_t kernel,
                            const std::vector<void *> &arguments,
                            int64_t blocks) {
  std::vector<void *> parameters;
  for (void *const &argument : arguments)
    parameters.push_back(static_cast<void *>(const_cast<void **>(&argument)));
  return start(stream, kernel, parameters.data(), blocks);
}

Status DriverDevice::multiply(Stream &stream, const plan::GemmT &gemm,
                              const GemmData &data) {
  std::byte *&workspace = static_cast<OwnStream &>(stream).workspace;
  if (!workspace)
    if (Status failure = allocate(CublasLt::kWorkspaceBytes, workspace))
      return failure;
  if (Status failure = enter())
    return failure;
  if (Status failure =
          products.multiply(GemmShape(gemm), data, workspace, handleOf(stream)))
    return failure;
  return note(static_cast<OwnStream &>(stream), {});
}

Status DriverDevice::attend(Stream &stream, uint32_t kernel,
                            const AttendArguments &arguments, int64_t blocks) {
  const void *address = std::visit(
      [](const auto &each) -> const void * { return &each; }, arguments);
  void *parameters[] = {const_cast<void *>(address)};
  return start(stream, kernel, parameters, blocks);
}

Status DriverDevice::start(Stream &stream, uint32_t kernel, void **parameters,
                           int64_t blocks) {
  const plan::KernelT &described = *program->plan->kernels[kernel];
  if (blocks > kMaxBlocks)
    return fail(SPRT_UNSUPPORTED)
           << "expected at most " << kMaxBlocks << " blocks of kernel \""
           << described.symbol << "\" but got " << blocks
           << "; use more ranks, or a smaller batch";
  if (Status failure = enter())
    return failure;
  // The driver copies the parameters before it returns.
  SPRT_CALL(cuLaunchKernel, functions[kernel], static_cast<unsigned>(blocks), 1,
            1, static_cast<unsigned>(described.threads), 1, 1,
            static_cast<unsigned>(described.shared_bytes), handleOf(stream),
            parameters, nullptr);
  Launched work;
  work.kernel = &described.symbol;
  return note(static_cast<OwnStream &>(stream), std::move(work));
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

} // namespace sprt
