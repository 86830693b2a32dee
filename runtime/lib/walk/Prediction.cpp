#include "walk/Prediction.h"

#include "sprt/types.h"
#include "walk/PairAreas.h"
#include "walk/Sameness.h"
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

/// What is counted: what comes to the same for every rank, but the pairs of its
/// attention; or all else, of one rank.
enum class Part { shared, own };

class Predictor : public Walk {
public:
  /// Goes on from what `shared` has counted, if anything.
  Predictor(Imagined &rank, const Sameness &same, PairAreas &areas,
            const Predictor *shared = nullptr)
      : Walk(rank), rank(rank), same(same), areas(areas),
        memory(shared ? shared->memory
                      : TouchedMemory(program.plan->arena_bytes)),
        part(shared ? Part::own : Part::shared) {
    if (shared)
      prediction = shared->prediction;
  }

  Status run() {
    if (part == Part::shared)
      for (const ParameterInfo &input : program.inputs)
        if (Status failure = touch(*input.parameter->view))
          return failure;
    if (Status failure = walk(program.steps))
      return failure;
    prediction.touchedBytes = memory.bytes();
    return Status::success();
  }
  const Prediction &result() const { return prediction; }

private:
  Status visit(const Step &step) override {
    const plan::OperationUnion &operation = step.command->operation;
    if (!isWhole && same.of(step) != (part == Part::shared)) {
      if (const plan::WhileT *loop = operation.AsWhile())
        return repeat(step, *loop);
      return part == Part::own ? countPairs(step) : Status::success();
    }
    bool wasWhole = isWhole;
    // A while loop is cut into its parts.
    isWhole |= same.of(step) || operation.type != plan::Operation::While;
    Status failure = take(step);
    isWhole = wasWhole;
    return failure;
  }

  Status take(const Step &step) {
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

  /// The pairs of attention in what is the same for every rank.
  Status countPairs(const Step &step) {
    if (!same.hasPairs(step))
      return Status::success();
    const plan::OperationUnion &operation = step.command->operation;
    if (const plan::AttendT *attend = operation.AsAttend())
      return located(countPairs(step, *attend), step);
    if (const auto *backward = operation.AsAttendBackward())
      return located(countPairs(step, *backward), step);
    bool isLoop = operation.AsLoop() != nullptr;
    if (isLoop) {
      loops.push_back(same.bounds(step));
      counters.push_back(loops.back().first);
    }
    for (const Step &inner : step.body)
      if (Status failure = countPairs(inner))
        return failure;
    if (isLoop) {
      loops.pop_back();
      counters.pop_back();
    }
    return Status::success();
  }

  template <typename TableT>
  Status countPairs(const Step &step, const TableT &attend) {
    AttendShape shape;
    int64_t area = 0;
    if (Status failure = shapeOf(attend, shape))
      return failure;
    if (Status failure = areas.sum(step, attend, loops, area))
      return failure;
    addPairs(shape, area, productsOf(attend));
    return Status::success();
  }

  /// Of each pair so many multiplications and additions.
  void addPairs(const AttendShape &shape, int64_t area, int64_t products) {
    prediction.flops += times * 2 * area * shape.pairs() * products;
  }
  static int64_t productsOf(const plan::AttendT &attend) {
    return attend.head_size + attend.value_size;
  }
  /// Of scores and of dQ and dK; of dP and of dV.
  static int64_t productsOf(const plan::AttendBackwardT &backward) {
    return 3 * backward.head_size + 2 * backward.value_size;
  }

  /// Counts the pairs of one turn. What adds to a state or gradient touches it
  /// anew only where it sees one, unless others have touched it before.
  template <typename TableT>
  Status count(const Step &step, const TableT &attend, AttendShape &out_shape,
               bool &out_sees) {
    if (Status failure = shapeOf(attend, out_shape))
      return failure;
    out_sees = true;
    if (part == Part::shared)
      return Status::success();
    int64_t area =
        areas.of(step, attend, out_shape.queryOwner, out_shape.keyOwner);
    addPairs(out_shape, area, productsOf(attend));
    out_sees = area > 0;
    return Status::success();
  }

  Status count(const Step &step, const plan::AttendT &attend) {
    AttendShape shape;
    bool sees = false;
    if (Status failure = count(step, attend, shape, sees))
      return failure;
    if (shape.pairs() == 0 || !(sees || attend.init))
      return Status::success();
    if (Status failure =
            touch(*attend.out, attend.o_strides, shape.batch, shape.queries))
      return failure;
    return touch(*attend.lse, attend.lse_strides, shape.batch, shape.queries);
  }

  Status count(const Step &step, const plan::AttendBackwardT &backward) {
    AttendShape shape;
    bool sees = false;
    if (Status failure = count(step, backward, shape, sees))
      return failure;
    if (shape.pairs() == 0)
      return Status::success();
    if (sees || backward.init_queries)
      if (Status failure = touch(*backward.dq, backward.dq_strides, shape.batch,
                                 shape.queries))
        return failure;
    if (!(sees || backward.init_keys))
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
  const Sameness &same;
  PairAreas &areas;
  TouchedMemory memory;
  const Part part;
  Prediction prediction;
  int64_t times = 1;    ///< that the commands under way run
  bool isWhole = false; ///< they are in what is counted whole
  LoopBounds loops;     ///< of countPairs
};

} // namespace

Status predict(const Program &program, std::vector<Prediction> &out,
               Counting counting) {
  Sameness same(program, counting == Counting::together);
  PairAreas areas(program);
  Imagined first(program, 0);
  Predictor shared(first, same, areas);
  if (Status failure = shared.run())
    return failure;
  out.clear();
  // How far blocks travel is the same for all ranks.
  RankView::Reaches reaches;
  for (int64_t number = 0; number < program.ranks(); ++number) {
    Imagined rank(program, number);
    std::swap(rank.reaches, reaches);
    areas.begin(rank.coordinates);
    Predictor own(rank, same, areas, &shared);
    if (Status failure = own.run())
      return failure;
    out.push_back(own.result());
    std::swap(rank.reaches, reaches);
  }
  return Status::success();
}

} // namespace sprt
