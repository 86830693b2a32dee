#include "walk/StepWork.h"

namespace sprt {

StepCounter::StepCounter(Imagined &imagined)
    : Walk(imagined), sums(imagined.program, imagined.bindings->whole) {
  sums.begin(imagined.coordinates);
}

Status StepCounter::decide(const Step &, const plan::ViewT &, plan::DType,
                           int64_t &) {
  return fail(SPRT_FAILED) << "a count decides nothing";
}

Status StepCounter::count(const Step &step, const std::vector<int64_t> &at,
                          StepWork &out_work) {
  counters = at;
  if (Status failure = here.goTo(*step.command, scope))
    return failure;
  scope.layouts = &here.bound().layouts;
  const plan::OperationUnion &operation = step.command->operation;
  if (const plan::AttendT *attend = operation.AsAttend())
    return countPairs(step, *attend, out_work);
  if (const plan::AttendBackwardT *backward = operation.AsAttendBackward())
    return countPairs(step, *backward, out_work);
  if (const plan::LaunchT *launch = operation.AsLaunch())
    out_work.addFlops({launch->flops});
  if (const plan::GemmT *gemm = operation.AsGemm())
    out_work.addFlops({2, gemm->batch, gemm->m, gemm->n, gemm->k});
  if (const plan::CopyT *copy = operation.AsCopy())
    out_work.addFar(*copy);
  if (const plan::ExchangeT *exchange = operation.AsExchange())
    return countSums(*exchange, out_work);
  if (const plan::ReduceScatterT *reduce = operation.AsReduceScatter())
    return countSums(*reduce, out_work);
  if (const plan::AllReduceT *reduce = operation.AsAllReduce())
    out_work.bytesSent += bytesSent(*reduce);
  const plan::SendRecvT *transfer = operation.AsSendRecv();
  if (!transfer)
    return Status::success();
  Transfer moved;
  if (Status failure = resolve(step, *transfer, moved))
    return failure;
  // Where nobody needs a block it stays.
  int64_t sent = messageBytes(moved.outgoing);
  if (sent > 0)
    out_work.to = moved.to;
  if (messageBytes(moved.incoming) > 0)
    out_work.from = moved.from;
  if (moved.to != self.number)
    out_work.bytesSent += sent;
  return Status::success();
}

template <typename TableT>
Status StepCounter::countPairs(const Step &step, const TableT &attend,
                               StepWork &work) {
  AttendShape shape;
  if (Status failure = shapeOf(attend, shape))
    return failure;
  int64_t area =
      sums.pairsOf(here, step, attend, shape.queryOwner, shape.keyOwner);
  work.addFlops({2, area, shape.pairs(), productsOf(attend)});
  return Status::success();
}

template <typename TableT>
Status StepCounter::countSums(const TableT &collective, StepWork &work) {
  GroupSums group;
  if (Status failure = sum(collective, group))
    return failure;
  work.bytesSent += group.bytes;
  return Status::success();
}

} // namespace sprt
