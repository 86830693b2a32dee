// Launches an artifact's attention kernel on memory of the caller, and times
// every launch: what gpu/kernels.py calls. The rest of the program is not
// looked at, so that it may be for the CPU.

#include "tiles/SliceTable.h"

#include "device/Device.h"

#include <cmath>
#include <cstring>

using namespace sprt;

namespace {

/// Of [batch, row, head, size]; strides in elements.
struct Tensor {
  void *data;
  int64_t strides[3];
};

/// One launch. kernels.py has the same struct.
struct Launch {
  Tensor q, k, v, out, lse;
  const sprt_slice *slices;
  int32_t sliceCount;
  int32_t batch, heads, kvHeads, queries, keys;
  int32_t init;
  int32_t order; ///< a plan::BlockOrder, or -1: the artifact's
  double scale;
};

/// What a launch reads beside its tensors, on the device.
struct Tables {
  const cuda::Slice *slices;
  const int32_t *order, *ranges, *counter;
  int64_t blocks;
  int32_t groupPairs;
};

class Kernel {
public:
  ~Kernel() { release(); }

  Status open(const char *name, const char *artifact);
  Status run(const Launch *launches, int count, double *out_seconds);

private:
  static constexpr std::chrono::duration<double> kLimit{10}; ///< of a launch

  Status makeTables(const Launch &launch, Tables &out_tables);
  template <class T>
  Status upload(const std::vector<T> &values, const T *&out_data);
  Status map(const Tensor &tensor, const Launch &launch, int64_t rows,
             int64_t heads, int64_t size, int64_t boxRows,
             cuda::TensorMap &out_map);
  Status attend(const Launch &launch, const Tables &tables);
  void release();

  Program program;
  std::shared_ptr<Device> device;
  const plan::AttendT *planned = nullptr;
  std::unique_ptr<Device::Stream> stream;
  std::vector<std::byte *> memory;
};

} // namespace

Status Kernel::open(const char *name, const char *artifact) {
  if (Status failure = program.load(artifact))
    return failure;
  std::vector<const Step *> attends;
  for (const Step *step : program.stepOf)
    if (step->command->operation.AsAttend())
      attends.push_back(step);
  // Steps of a ring run the same kernel.
  for (const Step *step : attends)
    if (step->command->operation.AsAttend()->kernel !=
        attends.front()->command->operation.AsAttend()->kernel)
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected one kernel of attention in " << artifact
             << " but got two; compile one attention";
  if (attends.empty())
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected an attention in " << artifact << " but got none";
  attends.resize(1);
  planned = attends.front()->command->operation.AsAttend();
  if (planned->scored)
    return fail(SPRT_UNSUPPORTED)
           << artifact << " has a score function; run it with sp-run";
  program.stepOf = attends;
  if (Status failure = openDevice(name, device))
    return failure;
  if (Status failure = device->load(program))
    return failure;
  device->limitWork(kLimit, kLimit);
  return device->createStream(0, stream);
}

template <class T>
Status Kernel::upload(const std::vector<T> &values, const T *&out_data) {
  int64_t bytes = static_cast<int64_t>(values.size() * sizeof(T));
  std::byte *data = nullptr;
  if (Status failure = device->allocate(bytes, data))
    return failure;
  memory.push_back(data);
  out_data = reinterpret_cast<const T *>(data);
  return stream->upload(
      data, reinterpret_cast<const std::byte *>(values.data()), bytes);
}

Status Kernel::makeTables(const Launch &launch, Tables &out_tables) {
  std::vector<sprt_slice> slices(launch.slices,
                                 launch.slices + launch.sliceCount);
  std::vector<cuda::Slice> narrowed(slices.size());
  for (size_t i = 0; i < slices.size(); ++i)
    if (!narrowSlice(slices[i], narrowed[i]))
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected slice " << i << " within 32 bits";
  plan::BlockOrder asked = launch.order < 0
                               ? planned->order
                               : static_cast<plan::BlockOrder>(launch.order);
  BlockList list = listBlocks(slices, launch.queries, planned->query_block,
                              asked, /*isCarried=*/!launch.init);
  out_tables.blocks = static_cast<int64_t>(list.order.size());
  out_tables.groupPairs = groupPairs(list, launch.batch * launch.heads,
                                     launch.heads / launch.kvHeads,
                                     device->blocksAtOnce(planned->kernel));
  if (Status failure = upload(narrowed, out_tables.slices))
    return failure;
  if (Status failure = upload(list.order, out_tables.order))
    return failure;
  if (Status failure = upload(list.ranges, out_tables.ranges))
    return failure;
  return upload(std::vector<int32_t>{0}, out_tables.counter);
}

Status Kernel::map(const Tensor &tensor, const Launch &launch, int64_t rows,
                   int64_t heads, int64_t size, int64_t boxRows,
                   cuda::TensorMap &out_map) {
  constexpr int64_t kElementBytes = 2;
  cuda::TensorMapFields fields = {tensor.data,
                                  {size, rows, heads, launch.batch},
                                  {tensor.strides[1] * kElementBytes,
                                   tensor.strides[2] * kElementBytes,
                                   tensor.strides[0] * kElementBytes},
                                  static_cast<int32_t>(boxRows)};
  return device->encode(fields, out_map);
}

Status Kernel::attend(const Launch &launch, const Tables &tables) {
  cuda::AttendArguments common = {};
  common.out = launch.out.data;
  common.lse = launch.lse.data;
  common.slices = tables.slices;
  common.order = tables.order;
  common.ranges = tables.ranges;
  common.groupPairs = tables.groupPairs;
  common.sliceCount = launch.sliceCount;
  common.queryBlocks = static_cast<int32_t>(tables.blocks);
  common.pairs = launch.batch * launch.heads;
  common.heads = common.headsTotal = launch.heads;
  common.kvTotal = launch.kvHeads;
  common.queries = launch.queries;
  common.keys = launch.keys;
  common.init = launch.init;
  std::memcpy(common.outStrides, launch.out.strides, sizeof common.outStrides);
  std::memcpy(common.lseStrides, launch.lse.strides, sizeof common.lseStrides);
  int64_t blocks = std::min<int64_t>(common.pairs * tables.blocks,
                                     device->blocksAtOnce(planned->kernel));
  if (blocks == 0)
    return Status::success();
  if (planned->key_block == 0) {
    cuda::PlainArguments arguments = {};
    static_cast<cuda::AttendArguments &>(arguments) = common;
    arguments.q = launch.q.data;
    arguments.k = launch.k.data;
    arguments.v = launch.v.data;
    std::memcpy(arguments.qStrides, launch.q.strides,
                sizeof arguments.qStrides);
    std::memcpy(arguments.kStrides, launch.k.strides,
                sizeof arguments.kStrides);
    std::memcpy(arguments.vStrides, launch.v.strides,
                sizeof arguments.vStrides);
    arguments.scale = launch.scale;
    return stream->attend(planned->kernel, arguments, blocks);
  }
  cuda::ForwardArguments arguments = {};
  static_cast<cuda::AttendArguments &>(arguments) = common;
  arguments.counter = const_cast<int32_t *>(tables.counter);
  arguments.scale = static_cast<float>(launch.scale * M_LOG2E);
  if (Status failure = map(launch.q, launch, launch.queries, launch.heads,
                           planned->head_size, /*boxRows=*/64, arguments.q))
    return failure;
  if (Status failure = map(launch.k, launch, launch.keys, launch.kvHeads,
                           planned->head_size, planned->key_block, arguments.k))
    return failure;
  if (Status failure =
          map(launch.v, launch, launch.keys, launch.kvHeads,
              planned->value_size, planned->key_block, arguments.v))
    return failure;
  return stream->attend(planned->kernel, arguments, blocks);
}

void Kernel::release() {
  for (std::byte *data : memory)
    device->release(data);
  memory.clear();
}

Status Kernel::run(const Launch *launches, int count, double *out_seconds) {
  release();
  std::vector<Tables> tables(static_cast<size_t>(count));
  std::vector<std::unique_ptr<Device::Event>> marks(2 *
                                                    static_cast<size_t>(count));
  for (auto &mark : marks)
    if (Status failure = device->createEvent(/*timed=*/true, mark))
      return failure;
  for (int i = 0; i < count; ++i) {
    // Repeats of a launch share its tables.
    bool again = i > 0 && launches[i].slices == launches[i - 1].slices &&
                 launches[i].queries == launches[i - 1].queries &&
                 launches[i].init == launches[i - 1].init;
    size_t at = static_cast<size_t>(i);
    if (again)
      tables[at] = tables[at - 1];
    else if (Status failure = makeTables(launches[i], tables[at]))
      return failure;
  }
  for (int i = 0; i < count; ++i) {
    size_t at = static_cast<size_t>(i);
    if (Status failure = stream->record(*marks[2 * at]))
      return failure;
    if (Status failure = attend(launches[i], tables[at]))
      return failure;
    if (Status failure = stream->record(*marks[2 * at + 1]))
      return failure;
  }
  Device::Fault fault = stream->synchronise(kLimit);
  if (fault.status)
    return std::move(fault.status);
  for (size_t i = 0; i < tables.size(); ++i)
    if (Status failure =
            device->elapsed(*marks[2 * i], *marks[2 * i + 1], out_seconds[i]))
      return failure;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// What Python calls
//===----------------------------------------------------------------------===//

/// 0, or 1 with the reason in `error`.
static int told(const Status &failure, char *error, int64_t errorBytes) {
  if (failure)
    std::strncat(error, failure->text.c_str(),
                 static_cast<size_t>(errorBytes) - 1);
  return failure ? 1 : 0;
}

extern "C" {

/// device: as sp-run's --device. `error` is empty, of `errorBytes`.
SPRT_API int gpu_attention_open(const char *device, const char *artifact,
                                void **out_kernel, char *error,
                                int64_t errorBytes) {
  auto kernel = std::make_unique<Kernel>();
  Status failure = kernel->open(device, artifact);
  if (!failure)
    *out_kernel = kernel.release();
  return told(failure, error, errorBytes);
}

/// Runs `count` launches one after the other; seconds of each.
SPRT_API int gpu_attention_run(void *kernel, const Launch *launches, int count,
                               double *out_seconds, char *error,
                               int64_t errorBytes) {
  return told(static_cast<Kernel *>(kernel)->run(launches, count, out_seconds),
              error, errorBytes);
}

SPRT_API void gpu_attention_close(void *kernel) {
  delete static_cast<Kernel *>(kernel);
}
}
