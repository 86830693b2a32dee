#include "device/DriverHandles.h"

#include <algorithm>
#include <cstring>

namespace sprt {

Status DriverDevice::open(int number, std::shared_ptr<Device> &out_device) {
  auto gpu = std::make_unique<DriverDevice>();
  if (Status failure = gpu->take(number))
    return failure;
  out_device = std::shared_ptr<DriverDevice>(gpu.release(), leave);
  return Status::success();
}

Status DriverDevice::take(int number) {
  Status failure = gpu.find(number);
  abilities.name = gpu.name;
  if (failure)
    return failure;
  abilities.processors = gpu.processors;
  if (Status failure = reclaim())
    return failure;
  if (Status failure = gpu.open())
    return failure;
  size_t free = 0, total = 0;
  SPRT_CALL(gpu, cuMemGetInfo, &free, &total);
  abilities.freeBytes = static_cast<int64_t>(free);
  abilities.memoryBytes = static_cast<int64_t>(total);
  abilities.productBytes = CublasLt::kWorkspaceBytes;
  return Status::success();
}

DriverDevice::~DriverDevice() {
  if (!gpu.isOpen() || gpu.enter())
    return;
  products.close();
  fence.reset();
  for (CUstream stream : strays)
    (void)gpu.driver.cuStreamDestroy(stream);
  events.close();
  if (graph)
    (void)gpu.driver.cuGraphExecDestroy(graph);
  for (std::byte *data : memory)
    (void)gpu.driver.cuMemFree(address(data));
  for (std::byte *data : hostMemory)
    (void)gpu.driver.cuMemFreeHost(data);
  kernels.close();
}

Status DriverDevice::load(const Program &loaded) {
  program = &loaded;
  portable =
      std::none_of(loaded.plan->images.begin(), loaded.plan->images.end(),
                   [&](const auto &image) {
                     return fitOf(*image, gpu.architecture) == Fit::native;
                   });
  if (Status failure = gpu.enter())
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
    if (Status failure = kernels.find(loaded, kernel))
      return failure;
  }
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
  SPRT_CALL(gpu, cuTensorMapEncodeTiled, &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            kRank, fields.base, sizes, strides, box, steps,
            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
            CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  std::memcpy(&out_map, &map, sizeof map);
  return Status::success();
}

} // namespace sprt
