// Attention on a device: tensor maps, and a mask's tables in its memory.

#include "executor/DeviceRun.h"
#include "tiles/SliceTable.h"

#include <algorithm>
#include <cmath>

namespace sprt {

struct AttendKernel {
  uint32_t number;
  int64_t queryBlock;
  bool isPlain;
};

namespace {

constexpr int64_t kElementBytes = 2; ///< of q, k and v
/// Rows of a box of q, and what a tensor map wants of bases and strides.
constexpr int64_t kQueryBoxRows = 64;
constexpr int64_t kMapAlignment = 16;

AttendKernel kernelOf(const Device &device, const plan::AttendT &attend) {
  if (device.isPortable() && attend.portable)
    return {attend.portable->kernel, attend.portable->query_block, true};
  return {attend.kernel, attend.query_block, attend.key_block == 0};
}

/// The numbers of a launch, which kernels multiply in 32 bits.
bool narrowShape(const AttendShape &shape, const plan::AttendT &attend,
                 cuda::AttendArguments &out_arguments) {
  cuda::AttendArguments &to = out_arguments;
  int32_t batch = 0, product = 0;
  return narrow(shape.batch, batch) && narrow(shape.heads, to.heads) &&
         narrow(int64_t(batch) * to.heads, to.pairs) &&
         narrow(shape.blocks, to.queryBlocks) &&
         narrow(int64_t(to.pairs) * to.queryBlocks, product) &&
         narrow(shape.queries, to.queries) && narrow(shape.keys, to.keys) &&
         narrow(shape.headFirst, to.headFirst) &&
         narrow(shape.kvFirst, to.kvFirst) &&
         narrow(attend.heads_total, to.headsTotal) &&
         narrow(attend.kv_total, to.kvTotal) &&
         narrow(int64_t(to.headsTotal) * to.kvTotal, product);
}

/// The map of q, k or v in the buffer of `view` at `data`: `rows` valid rows of
/// `heads` heads.
Status mapOf(Device &device, const plan::ViewT &view, std::byte *data,
             const std::vector<int64_t> &strides, const AttendShape &shape,
             int64_t rows, int64_t heads, int64_t inner, int64_t boxRows,
             cuda::TensorMap &out_map) {
  cuda::TensorMapFields fields = {};
  fields.base = data;
  fields.boxRows = static_cast<int32_t>(boxRows);
  // No dimension of a map may be empty; nobody looks at that row.
  int64_t sizes[] = {inner, std::max<int64_t>(rows, 1), heads, shape.batch};
  int64_t planned[] = {strides[1], strides[2],
                       strides[0]}; // rows, heads, batch
  algebra::Area last = static_cast<algebra::Area>(inner) * kElementBytes;
  std::copy(std::begin(sizes), std::end(sizes), fields.sizes);
  for (int dim = 0; dim < 3; ++dim) {
    // A dimension of one element has no stride of its own.
    bool single = sizes[dim + 1] == 1;
    int64_t stride = single ? kMapAlignment : planned[dim] * kElementBytes;
    fields.strides[dim] = stride;
    if (stride <= 0 || stride % kMapAlignment != 0)
      return fail(SPRT_UNSUPPORTED)
             << "expected strides of attention that are multiples of "
             << kMapAlignment << " bytes but got " << stride;
    if (!single)
      last += static_cast<algebra::Area>(sizes[dim + 1] - 1) *
              static_cast<algebra::Area>(stride);
  }
  if (rows > 0 && last > static_cast<algebra::Area>(view.bytes))
    return fail(SPRT_DAMAGED)
           << "an operand of attention of " << algebra::toString(last)
           << " bytes does not fit into its buffer of " << view.bytes;
  return device.encode(fields, out_map);
}

/// Kv heads that the rank holds, from its first one; 0 where they do not begin
/// early enough.
int64_t kvHeadsHeld(const AttendShape &shape, const plan::AttendT &attend) {
  auto kvHeadOf = [&](int64_t head) {
    return algebra::kvHeadOf(head, attend.heads_total, attend.kv_total);
  };
  if (kvHeadOf(shape.headFirst) < shape.kvFirst)
    return 0;
  return kvHeadOf(shape.headFirst + shape.heads - 1) - shape.kvFirst + 1;
}

/// Where q, k and v lie on the device.
struct Operands {
  std::byte *q, *k, *v;
};

Status setOperands(Device &device, const plan::AttendT &attend,
                   const Operands &operands, const AttendShape &shape,
                   cuda::ForwardArguments &out_arguments) {
  int64_t held = kvHeadsHeld(shape, attend);
  if (Status failure = mapOf(device, *attend.q, operands.q, attend.q_strides,
                             shape, shape.queries, shape.heads,
                             attend.head_size, kQueryBoxRows, out_arguments.q))
    return failure;
  if (Status failure = mapOf(device, *attend.k, operands.k, attend.k_strides,
                             shape, shape.keys, held, attend.head_size,
                             attend.key_block, out_arguments.k))
    return failure;
  out_arguments.scale =
      static_cast<float>(attend.scale * (attend.scored ? 1 : M_LOG2E));
  return mapOf(device, *attend.v, operands.v, attend.v_strides, shape,
               shape.keys, held, attend.value_size, attend.key_block,
               out_arguments.v);
}

void setOperands(const plan::AttendT &attend, const Operands &operands,
                 cuda::PlainArguments &out_arguments) {
  out_arguments.q = operands.q;
  out_arguments.k = operands.k;
  out_arguments.v = operands.v;
  for (auto [strides, out] :
       {std::pair(&attend.q_strides, out_arguments.qStrides),
        {&attend.k_strides, out_arguments.kStrides},
        {&attend.v_strides, out_arguments.vStrides}})
    std::copy(strides->begin(), strides->end(), out);
  out_arguments.scale = attend.scale;
}

/// What a score function is told; nothing where there is none.
Status setScore(const Rank &rank, const Scope &scope,
                const plan::AttendT &attend,
                const DeviceRank::AttendTable &table, int64_t headFirst,
                cuda::ScoreArguments &out_arguments) {
  out_arguments.queryPositions = table.queryPositions;
  out_arguments.keyPositions = table.keyPositions;
  for (size_t i = 0; i < attend.terms.size(); ++i) {
    const plan::ScoreTermT &term = *attend.terms[i];
    std::byte *address = nullptr;
    if (Status failure = rank.resolve(*term.view, scope, address))
      return failure;
    out_arguments.terms[i].data = address + headFirst * term.head_bytes;
    std::copy(term.strides.begin(), term.strides.end(),
              out_arguments.terms[i].strides);
  }
  return Status::success();
}

} // namespace

Status DeviceRun::upload(const std::byte *values, int64_t bytes,
                         const std::byte *&out_data) {
  std::byte *data = nullptr;
  if (Status failure = device.allocate(bytes, data))
    return failure;
  deviceRank.tableMemory.push_back(data);
  out_data = data;
  if (Status failure = synchronise(number))
    return failure;
  return stream().upload(data, values, bytes);
}

Status DeviceRun::tableOf(const Step &step, const plan::AttendT &attend,
                          const AttendShape &shape, const AttendKernel &kernel,
                          DeviceRank::AttendTable &out_table) {
  auto [entry, added] = deviceRank.tables.try_emplace(
      {step.id, here.number(), shape.queryOwner, shape.keyOwner});
  out_table = entry->second;
  if (!added)
    return Status::success();
  std::vector<sprt_slice> slices =
      here.mask(program, step)
          .restrict(here.layout(attend.queries->layout), shape.queryOwner,
                    here.layout(attend.keys->layout), shape.keyOwner);
  std::vector<cuda::Slice> narrowed(slices.size());
  for (size_t i = 0; i < slices.size(); ++i)
    if (!narrowSlice(slices[i], narrowed[i]))
      return fail(SPRT_UNSUPPORTED)
             << "expected a slice within 32 bits but got rows " << slices[i].q0
             << ".." << slices[i].q1 << " and keys " << slices[i].k0 << ".."
             << slices[i].k1 << " between lines " << slices[i].lo << " and "
             << slices[i].hi << "; use more ranks";
  BlockList blocks =
      listBlocks(slices, shape.queries, kernel.queryBlock, attend.order,
                 /*isCarried=*/!attend.init);
  out_table.sliceCount = static_cast<int32_t>(narrowed.size());
  out_table.blockCount = static_cast<int32_t>(blocks.order.size());
  out_table.groupPairs =
      groupPairs(blocks, shape.batch * shape.heads,
                 std::max<int64_t>(attend.heads_total / attend.kv_total, 1),
                 device.blocksAtOnce(kernel.number));
  auto give = [this](const auto &values, auto *&out_data) {
    const std::byte *data = nullptr;
    Status failure = upload(
        reinterpret_cast<const std::byte *>(values.data()),
        static_cast<int64_t>(values.size() * sizeof values.front()), data);
    out_data = reinterpret_cast<decltype(values.data())>(data);
    return failure;
  };
  if (Status failure = give(narrowed, out_table.slices))
    return failure;
  if (Status failure = give(blocks.order, out_table.order))
    return failure;
  if (Status failure = give(blocks.ranges, out_table.ranges))
    return failure;
  if (Status failure = give(std::vector<int32_t>{0}, out_table.counter))
    return failure;
  if (attend.scored)
    for (auto [rows, owner, out] :
         {std::tuple(attend.queries.get(), shape.queryOwner,
                     &out_table.queryPositions),
          std::tuple(attend.keys.get(), shape.keyOwner,
                     &out_table.keyPositions)}) {
      std::vector<int32_t> positions;
      for (int64_t position : positionsOf(here.layout(rows->layout), owner))
        positions.push_back(static_cast<int32_t>(position));
      if (Status failure = give(positions, *out))
        return failure;
    }
  entry->second = out_table;
  return Status::success();
}

Status DeviceRun::attend(const Step &step, const plan::AttendT &attend) {
  AttendShape shape;
  if (Status failure = shapeOf(attend, shape))
    return failure;
  AttendKernel kernel = kernelOf(device, attend);
  shape.blocks = (shape.queries + kernel.queryBlock - 1) / kernel.queryBlock;
  cuda::AttendArguments common = {};
  if (!narrowShape(shape, attend, common))
    return fail(SPRT_UNSUPPORTED)
           << "expected attention within 32 bits but got " << shape.queries
           << " queries and " << shape.keys << " keys, batch " << shape.batch
           << ", heads " << shape.heads << " of " << attend.heads_total
           << " and " << attend.kv_total << " kv heads";
  if (int64_t(common.pairs) * common.queryBlocks == 0)
    return Status::success();
  if (kvHeadsHeld(shape, attend) == 0)
    return fail(SPRT_DAMAGED)
           << "kv heads from " << shape.kvFirst << " of " << attend.kv_total
           << " for query heads from " << shape.headFirst << " of "
           << attend.heads_total;
  DeviceRank::AttendTable table;
  if (Status failure = tableOf(step, attend, shape, kernel, table))
    return failure;
  int64_t items = int64_t(common.pairs) * table.blockCount;
  if (items == 0)
    return Status::success();
  std::byte *out = nullptr, *lse = nullptr;
  if (Status failure = aligned(*attend.out, out))
    return failure;
  if (Status failure = aligned(*attend.lse, lse))
    return failure;
  common.out = out;
  common.lse = lse;
  common.slices = table.slices;
  common.order = table.order;
  common.ranges = table.ranges;
  common.groupPairs = table.groupPairs;
  common.queryBlocks = table.blockCount;
  common.sliceCount = table.sliceCount;
  common.init = attend.init;
  std::copy(attend.o_strides.begin(), attend.o_strides.end(),
            common.outStrides);
  std::copy(attend.lse_strides.begin(), attend.lse_strides.end(),
            common.lseStrides);
  if (Status failure =
          setScore(rank, scope, attend, table, shape.headFirst, common.score))
    return failure;
  Operands operands;
  for (auto [view, data] : {std::pair(attend.q.get(), &operands.q),
                            {attend.k.get(), &operands.k},
                            {attend.v.get(), &operands.v}})
    if (Status failure = aligned(*view, *data))
      return failure;
  int64_t blocks = std::min(items, device.blocksAtOnce(kernel.number));
  if (kernel.isPlain) {
    cuda::PlainArguments arguments = {};
    static_cast<cuda::AttendArguments &>(arguments) = common;
    setOperands(attend, operands, arguments);
    return stream().attend(kernel.number, arguments, blocks);
  }
  cuda::ForwardArguments arguments = {};
  static_cast<cuda::AttendArguments &>(arguments) = common;
  arguments.counter = const_cast<int32_t *>(table.counter);
  if (Status failure = setOperands(device, attend, operands, shape, arguments))
    return failure;
  return stream().attend(kernel.number, arguments, blocks);
}

} // namespace sprt
