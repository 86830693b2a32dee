#include "walk/Prediction.h"

#include "sprt/types.h"
#include "walk/HomeTurns.h"
#include "walk/Sameness.h"
#include "walk/TouchingWalk.h"
#include "walk/TurnSums.h"

#include <algorithm>

namespace sprt {
namespace {

/// What is counted: what comes to the same for every rank, but what differs in
/// it; or all else, of one rank.
enum class Part { shared, own };

class Predictor : public TouchingWalk {
public:
  /// Goes on from what `shared` has counted, if anything.
  Predictor(Imagined &rank, const Sameness &same, TurnSums &sums,
            const Predictor *shared = nullptr)
      : TouchingWalk(rank), same(same), sums(sums),
        part(shared ? Part::own : Part::shared) {
    if (!shared)
      return;
    prediction = shared->prediction;
    memory = shared->memory;
    far = shared->far;
  }

  Status run() {
    if (part == Part::shared)
      for (const ParameterInfo &input : program.inputs)
        if (Status failure = touch(*input.parameter->view))
          return failure;
    if (Status failure = walk(program.steps))
      return failure;
    prediction.touchedBytes = memory.bytes();
    prediction.farTouchedBytes = far.bytes();
    return Status::success();
  }
  const Prediction &result() const { return prediction; }

private:
  Status visit(const Step &step) override {
    const plan::OperationUnion &operation = step.command->operation;
    if (!isWhole && same.of(step) != (part == Part::shared)) {
      if (operation.AsWhile())
        return take(step);
      return part == Part::own ? addSums(step) : Status::success();
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

  Status turning(int64_t turns) override { return sums.spend(turns); }

  /// The condition is asked once more than it holds.
  Status repeat(const Step &step, const plan::WhileT &loop) {
    Prediction before = prediction;
    int64_t outside = times;
    // More than anybody waits for are not counted.
    constexpr int64_t kMostTimes = int64_t(1) << 32;
    bool isKnown = loop.trips >= 0 &&
                   loop.trips < kMostTimes / std::max<int64_t>(outside, 1);
    int64_t trips = isKnown ? loop.trips : 1;
    times = outside * (trips + 1);
    if (Status failure = walk(step.condition))
      return failure;
    times = outside * trips;
    if (Status failure = walk(step.body))
      return failure;
    times = outside;
    prediction.isExact &= isKnown || prediction.movesAsMuch(before);
    return Status::success();
  }

  Status choose(const Step &step) {
    Prediction before = prediction, most = prediction;
    for (const std::vector<Step> &branch : step.branches) {
      prediction = before;
      if (Status failure = walk(branch))
        return failure;
      bool isSilent = prediction.movesAsMuch(before);
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
      prediction.addFlops({times, operation.AsLaunch()->flops});
      return touch(operation.AsLaunch()->buffers);
    case plan::Operation::Attend:
      return count(step, *operation.AsAttend());
    case plan::Operation::AttendBackward:
      return count(step, *operation.AsAttendBackward());
    case plan::Operation::Gemm:
      return count(*operation.AsGemm());
    case plan::Operation::SendRecv:
      return count(step, *operation.AsSendRecv());
    case plan::Operation::Exchange:
      return countSums(*operation.AsExchange());
    case plan::Operation::AllReduce:
      return count(*operation.AsAllReduce());
    case plan::Operation::ReduceScatter:
      return countSums(*operation.AsReduceScatter());
    case plan::Operation::Copy:
      return count(*operation.AsCopy());
    case plan::Operation::Fill:
      return touch(*operation.AsFill()->target);
    case plan::Operation::RowsTable:
      return touch(*operation.AsRowsTable()->target);
    case plan::Operation::Sync:
    case plan::Operation::NONE:
    case plan::Operation::Loop:
    case plan::Operation::While:
    case plan::Operation::Case:
      return Status::success();
    }
  }

  template <typename TableT> Status countSums(const TableT &collective) {
    GroupSums sums;
    if (Status failure = sum(collective, sums))
      return failure;
    prediction.bytesSent += times * sums.bytes;
    touch(sums.touched);
    return touchOfAnyBatch(collective);
  }

  /// Of blocks that all ranks exchange; uneven rows are added rank by rank.
  Status countShared(const plan::SendRecvT &transfer) {
    for (const auto *blocks : {&transfer.sends, &transfer.receives})
      for (const auto &block : *blocks) {
        const algebra::Layout &rows = here.layout(block->rows->layout);
        int64_t heads = 0;
        Piece piece;
        if (Status failure = evaluate(*block->heads, scope, heads))
          return failure;
        if (Status failure = strided(*block->strided, Sameness::mostRows(rows),
                                     heads, piece))
          return failure;
        if (blocks == &transfer.receives)
          touch({piece});
        else if (Sameness::isEven(rows))
          prediction.bytesSent += times * piece.bytes();
      }
    return touchOfAnyBatch(transfer);
  }

  Status count(const Step &step, const plan::SendRecvT &transfer) {
    if (part == Part::shared) {
      bool isLast = false;
      Status failure = goesHome(program, transfer, scope, isLast);
      return failure || isLast ? std::move(failure) : countShared(transfer);
    }
    Transfer moved;
    if (Status failure = resolve(step, transfer, moved))
      return failure;
    if (moved.to != rank.number)
      prediction.bytesSent += times * messageBytes(moved.outgoing);
    touch(moved.incoming);
    if (transfer.needs && transfer.needs->straight)
      for (const auto &block : transfer.receives)
        if (Status failure = touch(*block->strided->view))
          return failure;
    return touchOfAnyBatch(transfer);
  }

  Status count(const plan::AllReduceT &reduce) {
    prediction.bytesSent += times * bytesSent(reduce);
    return touch(reduce.views);
  }

  Status count(const plan::CopyT &copy) {
    prediction.addFar(copy, times);
    for (const auto *view : {&copy.source, &copy.target})
      if (Status failure = touch(**view))
        return failure;
    return Status::success();
  }

  Status count(const plan::GemmT &gemm) {
    prediction.addFlops({times, 2, gemm.batch, gemm.m, gemm.n, gemm.k});
    for (const auto *view : {&gemm.a, &gemm.b, &gemm.bias, &gemm.c})
      if (*view)
        if (Status failure = touch(**view))
          return failure;
    return Status::success();
  }

  /// What differs in what is the same for every rank.
  Status addSums(const Step &step) {
    if (!same.differs(step))
      return Status::success();
    const plan::OperationUnion &operation = step.command->operation;
    if (const plan::AttendT *attend = operation.AsAttend())
      return located(addPairs(step, *attend), step);
    if (const auto *backward = operation.AsAttendBackward())
      return located(addPairs(step, *backward), step);
    if (const plan::SendRecvT *transfer = operation.AsSendRecv())
      return located(addRows(*transfer), step);
    bool isLoop = operation.AsLoop() != nullptr;
    if (isLoop) {
      loops.push_back(same.bounds(step));
      counters.push_back(loops.back().first);
    }
    for (const Step &inner : step.body)
      if (Status failure = addSums(inner))
        return failure;
    if (isLoop) {
      loops.pop_back();
      counters.pop_back();
    }
    return Status::success();
  }

  Status addRows(const plan::SendRecvT &transfer) {
    LoopBounds turns = loops;
    Status failure = leaveOutHome(program, transfer, rank.coordinates, turns);
    if (failure)
      return failure;
    for (const auto &block : transfer.sends) {
      int64_t rows = 0, heads = 0;
      if (Sameness::isEven(here.layout(block->rows->layout)))
        continue;
      if (Status failure = sums.rows(*block->rows, turns, rows))
        return failure;
      if (Status failure = evaluate(*block->heads, scope, heads))
        return failure;
      prediction.bytesSent += times * rows * block->strided->batch * heads *
                              block->strided->inner_bytes;
    }
    return Status::success();
  }

  template <typename TableT>
  Status addPairs(const Step &step, const TableT &attend) {
    AttendShape shape;
    int64_t area = 0;
    if (Status failure = shapeOf(attend, shape))
      return failure;
    if (Status failure = sums.pairs(step, attend, loops, area))
      return failure;
    prediction.addFlops({times, 2, area, shape.pairs(), productsOf(attend)});
    return Status::success();
  }

  /// Counts the pairs of one turn. What adds to a state or gradient touches it
  /// anew only where it sees one, unless others have touched it before.
  template <typename TableT>
  Status count(const Step &step, const TableT &attend, AttendShape &out_shape,
               bool &out_sees) {
    if (Status failure = shapeOf(attend, out_shape))
      return failure;
    out_sees = true;
    if (part == Part::shared) {
      out_shape.queries =
          Sameness::mostRows(here.layout(attend.queries->layout));
      out_shape.keys = Sameness::mostRows(here.layout(attend.keys->layout));
    } else {
      int64_t area = sums.pairsOf(here, step, attend, out_shape.queryOwner,
                                  out_shape.keyOwner);
      prediction.addFlops(
          {times, 2, area, out_shape.pairs(), productsOf(attend)});
      out_sees = area > 0;
    }
    out_sees |= allowAnyBatch(*attend.queries, out_shape.queries) |
                allowAnyBatch(*attend.keys, out_shape.keys);
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

  const Sameness &same;
  TurnSums &sums;
  const Part part;
  Prediction prediction;
  int64_t times = 1;    ///< that the commands under way run
  bool isWhole = false; ///< they are in what is counted whole
  LoopBounds loops;     ///< that addSums is in
};

} // namespace

Status predict(const Program &program, const Bindings &bindings,
               std::vector<Prediction> &out, Counting counting) {
  Sameness same(program, bindings, counting == Counting::together);
  TurnSums sums(program, bindings.whole);
  Imagined first(program, 0);
  first.bindings = &bindings;
  Predictor shared(first, same, sums);
  if (Status failure = shared.run())
    return failure;
  out.clear();
  // How far blocks travel is the same for all ranks.
  RankView::Reaches reaches;
  for (int64_t number = 0; number < program.ranks(); ++number) {
    Imagined rank(program, number);
    rank.bindings = &bindings;
    std::swap(rank.reaches, reaches);
    sums.begin(rank.coordinates);
    Predictor own(rank, same, sums, &shared);
    if (Status failure = own.run())
      return failure;
    out.push_back(own.result());
    std::swap(rank.reaches, reaches);
  }
  return Status::success();
}

} // namespace sprt
