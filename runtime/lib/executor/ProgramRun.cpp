#include "executor/ProgramRun.h"

#include "sprt/types.h"
#include "tiles/Gemm.h"
#include "tiles/SliceTable.h"

#include <cstring>

namespace sprt {

Status ProgramRun::tooLong(const char *what) const {
  return fail(SPRT_TIMEOUT)
         << what << " has taken more than " << rank.control.limit->count()
         << " s; --timeout=<seconds> lets it take longer";
}

Status ProgramRun::control(const Step &step) {
  if (step.command->operation.AsCase())
    return Walk::control(step);
  return withLimit([&] { return Walk::control(step); });
}

Status ProgramRun::withLimit(const std::function<Status()> &loop) {
  if (loopEnd || !rank.control.limit)
    return loop();
  loopEnd = Clock::now() +
            std::chrono::duration_cast<Clock::duration>(*rank.control.limit);
  Status failure = loop();
  loopEnd.reset();
  return failure;
}

Status ProgramRun::turned(const Step &step) {
  // A body that leaves this stream nothing to do must still end with the run.
  if (rank.control.stopped.load(std::memory_order_relaxed))
    return located(fail(SPRT_FAILED).asConsequence() << "stopped", step);
  if (loopEnd && Clock::now() > *loopEnd)
    return located(tooLong("a loop"), step);
  return Status::success();
}

int64_t decisionOf(plan::DType type, const std::byte *data) {
  int64_t wide = 0;
  if (type == plan::DType::i64) {
    std::memcpy(&wide, data, sizeof wide);
    return wide;
  }
  if (type == plan::DType::i32) {
    int32_t value = 0;
    std::memcpy(&value, data, sizeof value);
    return value;
  }
  return *data != std::byte(0);
}

Status ProgramRun::inject(const Step &step) const {
  if (rank.injection.command != step.id || rank.injection.rank != rank.number)
    return Status::success();
  if (!rank.injection.stalls)
    return fail(SPRT_FAILED) << "failed on request (--inject)";
  // Silent until the others have noticed; not for ever where nobody depends on
  // it.
  std::unique_lock<std::mutex> lock(rank.control.mutex);
  rank.control.stopping.wait_for(lock, 4 * rank.communicator->timeout,
                                 [&] { return rank.control.stopped.load(); });
  return fail(SPRT_FAILED) << "stalled on request (--inject)";
}

Status ProgramRun::work(const Step &step) {
  using plan::Operation;
  const plan::OperationUnion &operation = step.command->operation;
  switch (operation.type) {
  case Operation::Launch:
    return launch(*operation.AsLaunch());
  case Operation::Attend:
    return attend(step, *operation.AsAttend());
  case Operation::AttendBackward:
    return attendBackward(step, *operation.AsAttendBackward());
  case Operation::Gemm:
    return gemm(*operation.AsGemm());
  case Operation::SendRecv:
    return sendRecv(step, *operation.AsSendRecv());
  case Operation::Exchange:
    return exchangeRows(*operation.AsExchange());
  case Operation::AllReduce:
    return reduceAll(*operation.AsAllReduce());
  case Operation::ReduceScatter:
    return reduceRows(*operation.AsReduceScatter());
  case Operation::Copy:
    return copy(*operation.AsCopy());
  case Operation::Fill:
    return fill(*operation.AsFill());
  case Operation::RowsTable:
    return rowsTable(*operation.AsRowsTable());
  case Operation::Sync:
    return Status::success();
  default:
    return fail(SPRT_DAMAGED) << "unknown operation " << int(operation.type);
  }
}

Status ProgramRun::gemm(const plan::GemmT &gemm) {
  std::byte *a = nullptr, *b = nullptr, *bias = nullptr, *c = nullptr;
  if (Status failure = rank.resolve(*gemm.a, scope, a))
    return failure;
  if (Status failure = rank.resolve(*gemm.b, scope, b))
    return failure;
  if (gemm.bias)
    if (Status failure = rank.resolve(*gemm.bias, scope, bias))
      return failure;
  if (Status failure = rank.resolve(*gemm.c, scope, c))
    return failure;
  for (auto [data, type] : {std::pair(a, gemm.type),
                            {b, gemm.type},
                            {bias, gemm.out_type},
                            {c, gemm.out_type}})
    if (size_t size = sprt_dtype_size(static_cast<sprt_dtype>(type));
        reinterpret_cast<uintptr_t>(data) % size != 0)
      return fail(SPRT_DAMAGED)
             << "an operand of a gemm is not aligned to " << size << " bytes";
  return multiply(gemm, {a, b, bias, c});
}

Status ProgramRun::clear(const plan::SendRecvT &transfer) {
  for (const auto &block : transfer.receives) {
    std::byte *to = nullptr;
    const plan::ViewT &view = *block->strided->view;
    if (Status failure = rank.resolve(view, scope, to))
      return failure;
    if (Status failure = fill(to, 0, view.bytes))
      return failure;
  }
  return Status::success();
}

Status ProgramRun::sendRecv(const Step &step, const plan::SendRecvT &transfer) {
  Transfer moved;
  if (Status failure = resolve(step, transfer, moved))
    return failure;
  if (moved.to == rank.number && moved.from == rank.number)
    return move(moved.incoming, moved.outgoing);
  if (transfer.needs && transfer.needs->straight)
    if (Status failure = clear(transfer))
      return failure;
  int channel = static_cast<int>(step.command->stream);
  Requests requests;
  if (!moved.outgoing.empty())
    if (Status failure = rank.communicator->send(
            moved.to, channel, std::move(moved.outgoing), requests.sent))
      return failure;
  if (!moved.incoming.empty())
    if (Status failure = rank.communicator->receive(
            moved.from, channel, std::move(moved.incoming), requests.received))
      return failure;
  return settle(step, std::move(requests));
}

Status ProgramRun::complete(Requests &requests) {
  for (RequestPtr *request : {&requests.received, &requests.sent})
    if (*request)
      if (Status failure = rank.communicator->order(**request))
        return failure;
  return Status::success();
}

Status ProgramRun::copy(const plan::CopyT &copy) {
  std::byte *from = nullptr, *to = nullptr;
  int64_t bytes = copy.source->bytes;
  if (Status failure = rank.resolve(*copy.source, scope, from))
    return failure;
  if (Status failure = rank.resolve(*copy.target, scope, to))
    return failure;
  if (copy.source->space == plan::Space::far)
    rank.farRead += bytes;
  if (copy.target->space == plan::Space::far)
    rank.farWritten += bytes;
  return move(denseMessage(to, bytes), denseMessage(from, bytes));
}

Status ProgramRun::fill(const plan::FillT &fill) {
  std::byte *to = nullptr;
  if (Status failure = rank.resolve(*fill.target, scope, to))
    return failure;
  return this->fill(to, fill.value, fill.target->bytes);
}

Status ProgramRun::rowsTable(const plan::RowsTableT &table) {
  int64_t owner = 0;
  std::byte *to = nullptr;
  if (Status failure = evaluate(*table.rows->owner, scope, owner))
    return failure;
  if (Status failure = rank.resolve(*table.target, scope, to))
    return failure;
  return write(to,
               rowsTableBytes(table, here.layout(table.rows->layout), owner));
}

} // namespace sprt
