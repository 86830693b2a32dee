#include "executor/ProgramWalk.h"

#include "executor/Gemm.h"
#include "executor/SliceTable.h"
#include "sprt/types.h"

#include <cstring>

namespace sprt {

Status ProgramWalk::walk(const std::vector<Step> &steps) {
  for (const Step &step : steps)
    if (Status failure = visit(step))
      return failure;
  return Status::success();
}

bool ProgramWalk::isCompound(const plan::CommandT &command) {
  return command.operation.type == plan::Operation::Loop ||
         command.operation.type == plan::Operation::While ||
         command.operation.type == plan::Operation::Case;
}

Status ProgramWalk::control(const Step &step) {
  const plan::OperationUnion &operation = step.command->operation;
  if (const plan::LoopT *body = operation.AsLoop())
    return withLimit([&] { return loop(step, *body); });
  if (const plan::WhileT *body = operation.AsWhile())
    return withLimit([&] { return whileLoop(step, *body); });
  return choose(step, *operation.AsCase());
}

Status ProgramWalk::tooLong(const char *what) const {
  return fail(SPRT_TIMEOUT)
         << what << " has taken more than " << rank.control.limit->count()
         << " s; --timeout=<seconds> lets it take longer";
}

Status ProgramWalk::withLimit(const std::function<Status()> &loop) {
  if (loopEnd || !rank.control.limit)
    return loop();
  loopEnd = Clock::now() +
            std::chrono::duration_cast<Clock::duration>(*rank.control.limit);
  Status failure = loop();
  loopEnd.reset();
  return failure;
}

Status ProgramWalk::checkTime(const Step &step) const {
  // A body that leaves this stream nothing to do must still end with the run.
  if (rank.control.stopped.load(std::memory_order_relaxed))
    return located(fail(SPRT_FAILED).asConsequence() << "stopped", step);
  if (loopEnd && Clock::now() > *loopEnd)
    return located(tooLong("a loop"), step);
  return Status::success();
}

Status ProgramWalk::loop(const Step &step, const plan::LoopT &loop) {
  int64_t lower = 0;
  int64_t upper = 0;
  if (Status failure = located(evaluate(*loop.lower, scope, lower), step))
    return failure;
  if (Status failure = located(evaluate(*loop.upper, scope, upper), step))
    return failure;
  counters.push_back(lower);
  for (int64_t counter = lower; counter < upper; ++counter) {
    counters.back() = counter;
    if (Status failure = walk(step.body))
      return failure;
    if (Status failure = checkTime(step))
      return failure;
  }
  counters.pop_back();
  return Status::success();
}

Status ProgramWalk::whileLoop(const Step &step, const plan::WhileT &loop) {
  for (;;) {
    if (Status failure = walk(step.condition))
      return failure;
    int64_t more = 0;
    if (Status failure =
            located(decide(step, *loop.predicate, plan::DType::i1, more), step))
      return failure;
    if (!more)
      return Status::success();
    if (Status failure = walk(step.body))
      return failure;
    if (Status failure = checkTime(step))
      return failure;
  }
}

Status ProgramWalk::choose(const Step &step, const plan::CaseT &choice) {
  int64_t index = 0;
  if (Status failure =
          located(decide(step, *choice.index, choice.type, index), step))
    return failure;
  int64_t last = static_cast<int64_t>(step.branches.size()) - 1;
  // An index outside the branches takes the last one, as in StableHLO.
  if (index < 0 || index > last)
    index = last;
  return walk(step.branches[static_cast<size_t>(index)]);
}

int64_t ProgramWalk::decisionOf(plan::DType type, const std::byte *data) {
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

Status ProgramWalk::inject(const Step &step) const {
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

Status ProgramWalk::enabled(const plan::CommandT &command,
                            bool &out_enabled) const {
  out_enabled = true;
  if (!command.when)
    return Status::success();
  int64_t value = 0;
  if (Status failure = evaluate(*command.when, scope, value))
    return failure;
  out_enabled = value != 0;
  return Status::success();
}

Status ProgramWalk::located(Status failure, const Step &step,
                            const std::vector<int64_t> &at) const {
  if (!failure || failure->command >= 0)
    return failure;
  // Work of another rank may be to blame.
  if (failure->rank < 0)
    failure->rank = rank.number;
  std::string where = "rank " + std::to_string(failure->rank) + ", command " +
                      std::to_string(step.id);
  if (!step.command->name.empty())
    where += " \"" + step.command->name + "\"";
  if (!at.empty()) {
    where += ", step ";
    for (size_t depth = 0; depth < at.size(); ++depth)
      where += (depth ? "," : "") + std::to_string(at[depth]);
  }
  failure->command = step.id;
  return std::move(failure).within(where);
}

Status ProgramWalk::aligned(const plan::ViewT &view,
                            std::byte *&out_data) const {
  if (Status failure = rank.resolve(view, scope, out_data))
    return failure;
  if (reinterpret_cast<uintptr_t>(out_data) % 64 != 0)
    return fail(SPRT_DAMAGED) << "a kernel's buffer is not 64-byte aligned";
  return Status::success();
}

Status ProgramWalk::work(const Step &step) {
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

Status ProgramWalk::gemm(const plan::GemmT &gemm) {
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

Status ProgramWalk::sendRecv(const Step &step,
                             const plan::SendRecvT &transfer) {
  Transfer moved;
  if (Status failure = resolve(step, transfer, moved))
    return failure;
  if (moved.to == rank.number && moved.from == rank.number)
    return move(moved.incoming, moved.outgoing);
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

Status ProgramWalk::complete(Requests &requests) {
  for (RequestPtr *request : {&requests.received, &requests.sent})
    if (*request)
      if (Status failure = rank.communicator->order(**request))
        return failure;
  return Status::success();
}

Status ProgramWalk::copy(const plan::CopyT &copy) {
  std::byte *from = nullptr, *to = nullptr;
  if (Status failure = rank.resolve(*copy.source, scope, from))
    return failure;
  if (Status failure = rank.resolve(*copy.target, scope, to))
    return failure;
  return move(denseMessage(to, copy.source->bytes),
              denseMessage(from, copy.source->bytes));
}

Status ProgramWalk::fill(const plan::FillT &fill) {
  std::byte *to = nullptr;
  if (Status failure = rank.resolve(*fill.target, scope, to))
    return failure;
  return this->fill(to, fill.value, fill.target->bytes);
}

Status ProgramWalk::rowsTable(const plan::RowsTableT &table) {
  int64_t owner = 0;
  std::byte *to = nullptr;
  if (Status failure = evaluate(*table.rows->owner, scope, owner))
    return failure;
  if (Status failure = rank.resolve(*table.target, scope, to))
    return failure;
  return write(
      to, rowsTableBytes(table, program.layouts[table.rows->layout], owner));
}

} // namespace sprt
