#include "walk/Prediction.h"

#include "sprt/types.h"
#include "walk/TouchedMemory.h"
#include "walk/Walk.h"

namespace sprt {

namespace {

/// A rank whose memory is addresses only.
class Imagined : public RankView {
public:
  Imagined(const Program &program, int64_t number) : RankView(program, number) {
    arenaData = reinterpret_cast<std::byte *>(kArena);
    constantData = reinterpret_cast<const std::byte *>(kConstants);
  }
  /// False for what is none of the arena's.
  bool offsetOf(const std::byte *data, int64_t &out_offset) const {
    out_offset = data - arenaData;
    return out_offset >= 0 && out_offset < program.plan->arena_bytes;
  }

private:
  static constexpr uintptr_t kArena = uintptr_t(1) << 61, kConstants = 1 << 20;
};

int64_t sizeOf(plan::DType type) {
  return static_cast<int64_t>(sprt_dtype_size(static_cast<sprt_dtype>(type)));
}

/// Without what a member keeps for itself.
int64_t bytesToOthers(const GroupMessages &messages) {
  int64_t bytes = 0;
  for (int64_t member = 0; member < messages.group.size(); ++member)
    if (member != messages.group.index)
      bytes += messageBytes(messages.outgoing[static_cast<size_t>(member)]);
  return bytes;
}

class Predictor : public Walk {
public:
  explicit Predictor(Imagined &rank)
      : Walk(rank), rank(rank), memory(program.plan->arena_bytes) {}

  Status run(Prediction &out_prediction) {
    for (const ParameterInfo &input : program.inputs)
      if (Status failure = touch(*input.parameter->view))
        return failure;
    if (Status failure = walk(program.steps))
      return failure;
    prediction.touchedBytes = memory.bytes();
    out_prediction = prediction;
    return Status::success();
  }

private:
  Status visit(const Step &step) override {
    const plan::OperationUnion &operation = step.command->operation;
    bool isEnabled = true;
    if (Status failure = enabled(*step.command, isEnabled))
      return located(std::move(failure), step);
    if (!isEnabled)
      return Status::success();
    switch (operation.type) {
    case plan::Operation::Loop:
      return control(step);
    case plan::Operation::While:
      return repeat(step, *operation.AsWhile());
    case plan::Operation::Case:
      return choose(step);
    default:
      return located(count(step), step);
    }
  }

  Status decide(const Step &, const plan::ViewT &, plan::DType,
                int64_t &) override {
    return fail(SPRT_FAILED) << "a prediction decides nothing";
  }

  /// The condition is asked once more than it holds.
  Status repeat(const Step &step, const plan::WhileT &loop) {
    int64_t before = prediction.bytesSent, outside = times;
    int64_t trips = loop.trips < 0 ? 1 : loop.trips;
    times = outside * (trips + 1);
    if (Status failure = walk(step.condition))
      return failure;
    times = outside * trips;
    if (Status failure = walk(step.body))
      return failure;
    times = outside;
    prediction.isExact &= loop.trips >= 0 || prediction.bytesSent == before;
    return Status::success();
  }

  Status choose(const Step &step) {
    Prediction before = prediction, most = prediction;
    for (const std::vector<Step> &branch : step.branches) {
      prediction = before;
      if (Status failure = walk(branch))
        return failure;
      bool isSilent = prediction.bytesSent == before.bytesSent;
      if (prediction.bytesSent >= most.bytesSent)
        most = prediction;
      most.isExact &= isSilent;
    }
    prediction = most;
    return Status::success();
  }

  Status count(const Step &step) {
    const plan::OperationUnion &operation = step.command->operation;
    switch (operation.type) {
    case plan::Operation::Launch:
      return touch(operation.AsLaunch()->buffers);
    case plan::Operation::Attend:
      return count(step, *operation.AsAttend());
    case plan::Operation::AttendBackward:
      return count(step, *operation.AsAttendBackward());
    case plan::Operation::Gemm:
      return count(*operation.AsGemm());
    case plan::Operation::SendRecv:
      return count(step, *operation.AsSendRecv());
    case plan::Operation::Exchange: {
      GroupMessages messages;
      if (Status failure = resolve(*operation.AsExchange(), messages))
        return failure;
      count(messages);
      return Status::success();
    }
    case plan::Operation::AllReduce:
      return count(*operation.AsAllReduce());
    case plan::Operation::ReduceScatter: {
      GroupMessages messages;
      if (Status failure = resolve(*operation.AsReduceScatter(), messages))
        return failure;
      count(messages);
      return touch(*operation.AsReduceScatter()->source->view);
    }
    case plan::Operation::Copy:
      if (Status failure = touch(*operation.AsCopy()->source))
        return failure;
      return touch(*operation.AsCopy()->target);
    case plan::Operation::Fill:
      return touch(*operation.AsFill()->target);
    case plan::Operation::RowsTable:
      return touch(*operation.AsRowsTable()->target);
    default:
      return Status::success();
    }
  }

  void count(const GroupMessages &messages) {
    prediction.bytesSent += times * bytesToOthers(messages);
    for (const auto *list : {&messages.outgoing, &messages.incoming})
      for (const Message &message : *list)
        touch(message);
  }

  Status count(const Step &step, const plan::SendRecvT &transfer) {
    Transfer moved;
    if (Status failure = resolve(step, transfer, moved))
      return failure;
    if (moved.to != rank.number)
      prediction.bytesSent += times * messageBytes(moved.outgoing);
    touch(moved.incoming);
    return Status::success();
  }

  /// As a reduce-scatter of everybody's parts and an all-gather of one's own.
  Status count(const plan::AllReduceT &reduce) {
    Group group = rank.groupOf(reduce.factors);
    int64_t size = sizeOf(reduce.type);
    for (const auto &view : reduce.views) {
      int64_t elements = view->bytes / size;
      int64_t own = algebra::Layout(algebra::LayoutKind::contiguous, elements,
                                    group.size())
                        .count(group.index);
      prediction.bytesSent +=
          times * (elements + own * (group.size() - 2)) * size;
    }
    return touch(reduce.views);
  }

  Status count(const plan::GemmT &gemm) {
    prediction.flops += times * 2 * gemm.batch * gemm.m * gemm.n * gemm.k;
    for (const auto *view : {&gemm.a, &gemm.b, &gemm.bias, &gemm.c})
      if (*view)
        if (Status failure = touch(**view))
          return failure;
    return Status::success();
  }

  /// Of each pair so many multiplications and additions.
  void countPairs(const AttendShape &shape,
                  const std::vector<algebra::Slice> &slices, int64_t products) {
    prediction.flops += times * 2 *
                        static_cast<int64_t>(algebra::area(slices)) *
                        shape.pairs() * products;
  }

  template <typename TableT>
  std::vector<algebra::Slice> slicesOf(const Step &step, const TableT &attend,
                                       const AttendShape &shape) const {
    return program.bandsOf[static_cast<size_t>(step.id)].restrict(
        program.layouts[attend.queries->layout], shape.queryOwner,
        program.layouts[attend.keys->layout], shape.keyOwner);
  }

  Status count(const Step &step, const plan::AttendT &attend) {
    AttendShape shape;
    if (Status failure = shapeOf(attend, shape))
      return failure;
    std::vector<algebra::Slice> slices = slicesOf(step, attend, shape);
    countPairs(shape, slices, attend.head_size + attend.value_size);
    if (shape.pairs() == 0 || (slices.empty() && !attend.init))
      return Status::success();
    if (Status failure =
            touch(*attend.out, attend.o_strides, shape.batch, shape.queries))
      return failure;
    return touch(*attend.lse, attend.lse_strides, shape.batch, shape.queries);
  }

  /// Products of scores and of dQ and dK; of dP and of dV.
  Status count(const Step &step, const plan::AttendBackwardT &backward) {
    AttendShape shape;
    if (Status failure = shapeOf(backward, shape))
      return failure;
    std::vector<algebra::Slice> slices = slicesOf(step, backward, shape);
    countPairs(shape, slices, 3 * backward.head_size + 2 * backward.value_size);
    if (shape.pairs() == 0)
      return Status::success();
    if (!slices.empty() || backward.init_queries)
      if (Status failure = touch(*backward.dq, backward.dq_strides, shape.batch,
                                 shape.queries))
        return failure;
    if (slices.empty() && !backward.init_keys)
      return Status::success();
    if (Status failure =
            touch(*backward.dk, backward.dk_strides, shape.batch, shape.keys))
      return failure;
    return touch(*backward.dv, backward.dv_strides, shape.batch, shape.keys);
  }

  Status touch(const plan::ViewT &view) {
    std::byte *data = nullptr;
    if (Status failure = rank.resolve(view, scope, data))
      return failure;
    touch(data, view.bytes);
    return Status::success();
  }
  Status touch(const std::vector<std::unique_ptr<plan::ViewT>> &views) {
    for (const auto &view : views)
      if (Status failure = touch(*view))
        return failure;
    return Status::success();
  }
  /// The first rows of each batch of a dense tensor, of which all batches are
  /// there.
  Status touch(const plan::ViewT &view, const std::vector<int64_t> &strides,
               int64_t batches, int64_t rows) {
    std::byte *data = nullptr;
    if (Status failure = rank.resolve(view, scope, data))
      return failure;
    int64_t batch = view.bytes / batches;
    for (int64_t i = 0; i < batches; ++i)
      touch(data + i * batch,
            strides[0] == 0 ? batch : batch / strides[0] * strides[1] * rows);
    return Status::success();
  }
  void touch(const Message &message) {
    for (const Piece &piece : message)
      for (int64_t i = 0; i < piece.counts[0]; ++i)
        touch(piece.base + i * piece.strides[0],
              (piece.counts[1] - 1) * piece.strides[1] +
                  (piece.counts[2] - 1) * piece.strides[2] + piece.inner);
  }
  void touch(const std::byte *data, int64_t bytes) {
    int64_t offset = 0;
    if (rank.offsetOf(data, offset))
      memory.touch(offset, bytes);
  }

  Imagined &rank;
  TouchedMemory memory;
  Prediction prediction;
  int64_t times = 1; ///< that the commands under way run
};

} // namespace

Status predict(const Program &program, std::vector<Prediction> &out) {
  out.resize(static_cast<size_t>(program.ranks()));
  for (int64_t number = 0; number < program.ranks(); ++number) {
    Imagined rank(program, number);
    if (Status failure = Predictor(rank).run(out[static_cast<size_t>(number)]))
      return failure;
  }
  return Status::success();
}

} // namespace sprt
