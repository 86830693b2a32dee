#include "program/Validate.h"
#include "sprt/types.h"

namespace sprt {

Status CommandValidator::check(
    const std::vector<std::unique_ptr<plan::CommandT>> &commands) {
  for (const auto &command : commands) {
    if (!command)
      return fail(SPRT_DAMAGED) << "an empty command";
    if (Status failure = check(*command))
      return std::move(failure).within(
          command->name.empty() ? std::string("a command")
                                : "command \"" + command->name + "\"");
  }
  return Status::success();
}

Status CommandValidator::check(const plan::CommandT &command) {
  if (!isEnum(command.stream))
    return fail(SPRT_DAMAGED) << "unknown stream " << int(command.stream);
  if (command.row)
    if (Status failure = parts.checkExpr(command.row.get(), "a row"))
      return failure;
  if (command.when)
    if (Status failure = parts.checkExpr(command.when.get(), "\"when\""))
      return failure;
  for (uint32_t event : command.waits)
    if (event >= plan.events)
      return fail(SPRT_DAMAGED)
             << "waits for event " << event << " of " << plan.events;
  if (command.records < -1 ||
      (command.records >= 0 &&
       static_cast<uint32_t>(command.records) >= plan.events))
    return fail(SPRT_DAMAGED)
           << "records event " << command.records << " of " << plan.events;
  if (command.records >= 0) {
    // Records of one event must complete in program order, as one stream's do.
    int &stream = recorder[static_cast<size_t>(command.records)];
    if (stream >= 0 && stream != static_cast<int>(command.stream))
      return fail(SPRT_DAMAGED)
             << "event " << command.records << " is recorded on two streams";
    stream = static_cast<int>(command.stream);
  }
  return checkOperation(command);
}

Status CommandValidator::checkOperation(const plan::CommandT &command) {
  using plan::Operation;
  const plan::OperationUnion &operation = command.operation;
  if (operation.type == Operation::NONE || !operation.value)
    return fail(SPRT_DAMAGED) << "no operation";
  bool computes = operation.type == Operation::Launch ||
                  operation.type == Operation::Attend ||
                  operation.type == Operation::AttendBackward ||
                  operation.type == Operation::Gemm;
  if (computes && command.stream != plan::Stream::compute)
    return fail(SPRT_DAMAGED)
           << "a kernel on stream " << plan::EnumNameStream(command.stream);
  switch (operation.type) {
  case Operation::Launch:
    return check(*operation.AsLaunch());
  case Operation::Attend:
    return check(*operation.AsAttend());
  case Operation::AttendBackward:
    return check(*operation.AsAttendBackward());
  case Operation::Gemm:
    return check(*operation.AsGemm());
  case Operation::SendRecv:
    return check(*operation.AsSendRecv());
  case Operation::Exchange:
    return check(*operation.AsExchange());
  case Operation::AllReduce:
    return check(*operation.AsAllReduce());
  case Operation::ReduceScatter:
    return check(*operation.AsReduceScatter());
  case Operation::Copy: {
    const plan::CopyT &copy = *operation.AsCopy();
    if (Status failure =
            parts.checkView(copy.source.get(), "the source of a copy",
                            /*written=*/false, 0, /*mayBeFar=*/true))
      return failure;
    if (Status failure =
            parts.checkView(copy.target.get(), "the target of a copy",
                            /*written=*/true, 0, /*mayBeFar=*/true))
      return failure;
    if (copy.source->space == plan::Space::far &&
        copy.target->space == plan::Space::far)
      return fail(SPRT_DAMAGED) << "a copy from far memory to far memory";
    if (copy.source->bytes != copy.target->bytes)
      return fail(SPRT_DAMAGED) << "a copy of " << copy.source->bytes
                                << " bytes into " << copy.target->bytes;
    return Status::success();
  }
  case Operation::Fill:
    return parts.checkView(operation.AsFill()->target.get(),
                           "the target of a fill", true);
  case Operation::RowsTable:
    return check(*operation.AsRowsTable());
  case Operation::Loop:
    return check(*operation.AsLoop());
  case Operation::While:
    return check(*operation.AsWhile());
  case Operation::Case:
    return check(*operation.AsCase());
  case Operation::Sync:
    return Status::success();
  case Operation::NONE:
    break;
  }
  return fail(SPRT_DAMAGED) << "unknown operation " << int(operation.type);
}

Status CommandValidator::checkBody(
    const std::vector<std::unique_ptr<plan::CommandT>> &body) {
  if (++nesting > kMaxNesting)
    return fail(SPRT_DAMAGED) << "commands nest deeper than " << kMaxNesting;
  Status failure = check(body);
  --nesting;
  return failure;
}

Status CommandValidator::check(const plan::LoopT &loop) {
  if (Status failure =
          parts.checkExpr(loop.lower.get(), "a loop's lower bound"))
    return failure;
  if (Status failure =
          parts.checkExpr(loop.upper.get(), "a loop's upper bound"))
    return failure;
  parts.enterLoop();
  Status failure = checkBody(loop.body);
  parts.leaveLoop();
  return failure;
}

Status CommandValidator::check(const plan::WhileT &loop) {
  if (Status failure =
          parts.checkView(loop.predicate.get(), "a predicate", false, 1))
    return failure;
  if (Status failure = checkBody(loop.condition))
    return failure;
  return checkBody(loop.body);
}

Status CommandValidator::check(const plan::CaseT &choice) {
  bool known = choice.type == plan::DType::i1 ||
               choice.type == plan::DType::i32 ||
               choice.type == plan::DType::i64;
  if (!known || choice.branches.empty())
    return fail(SPRT_DAMAGED)
           << "a case of " << choice.branches.size()
           << " branches, index of type " << int(choice.type);
  int64_t bytes = static_cast<int64_t>(
      sprt_dtype_size(static_cast<sprt_dtype>(choice.type)));
  if (Status failure =
          parts.checkView(choice.index.get(), "a case's index", false, bytes))
    return failure;
  for (const auto &branch : choice.branches) {
    if (!branch)
      return fail(SPRT_DAMAGED) << "an empty branch";
    if (Status failure = checkBody(branch->body))
      return failure;
  }
  return Status::success();
}

} // namespace sprt
