#include "executor/Trace.h"

#include <nlohmann/json.hpp>

namespace sprt {

namespace {

using OrderedJson = nlohmann::ordered_json;

double microseconds(Clock::time_point time, Clock::time_point origin) {
  return std::chrono::duration<double, std::micro>(time - origin).count();
}

/// The same on both ends of a transfer.
std::string flowId(int64_t from, int64_t to, int channel, int64_t sequence) {
  return std::to_string(from) + ">" + std::to_string(to) + "/" +
         std::to_string(channel) + "/" + std::to_string(sequence);
}

} // namespace

const char *kindName(plan::Operation operation) {
  switch (operation) {
  case plan::Operation::Launch:
    return "launch";
  case plan::Operation::Attend:
    return "attend";
  case plan::Operation::AttendBackward:
    return "attend_backward";
  case plan::Operation::Gemm:
    return "gemm";
  case plan::Operation::SendRecv:
    return "send_recv";
  case plan::Operation::Exchange:
    return "exchange";
  case plan::Operation::AllReduce:
    return "all_reduce";
  case plan::Operation::ReduceScatter:
    return "reduce_scatter";
  case plan::Operation::Copy:
    return "copy";
  case plan::Operation::Fill:
    return "fill";
  case plan::Operation::RowsTable:
    return "rows_table";
  case plan::Operation::Loop:
    return "loop";
  case plan::Operation::While:
    return "while";
  case plan::Operation::Case:
    return "case";
  case plan::Operation::Sync:
    return "sync";
  case plan::Operation::NONE:
    break;
  }
  return "unknown";
}

std::string traceText(const Rank &rank, Clock::time_point origin) {
  std::string text;
  auto add = [&](const OrderedJson &event) {
    text += (text.empty() ? "" : ",\n") + event.dump();
  };
  add({{"ph", "M"},
       {"name", "process_name"},
       {"pid", rank.number},
       {"args", {{"name", "rank " + std::to_string(rank.number)}}}});
  for (int stream = 0; stream < kStreams; ++stream) {
    if (!rank.program.usesStream[stream])
      continue;
    add({{"ph", "M"},
         {"name", "thread_name"},
         {"pid", rank.number},
         {"tid", stream},
         {"args",
          {{"name",
            plan::EnumNameStream(static_cast<plan::Stream>(stream))}}}});
    for (const TraceEvent &event : rank.trace[stream]) {
      const plan::CommandT &command =
          *rank.program.stepOf[static_cast<size_t>(event.command)]->command;
      OrderedJson object = {{"ph", "X"},
                            {"name", command.name.empty()
                                         ? kindName(command.operation.type)
                                         : command.name},
                            {"cat", kindName(command.operation.type)},
                            {"pid", rank.number},
                            {"tid", stream},
                            {"ts", microseconds(event.begin, origin)},
                            {"dur", microseconds(event.end, event.begin)},
                            {"args", {{"command", event.command}}}};
      if (event.step >= 0)
        object["args"]["step"] = event.step;
      add(object);
    }
    for (const FlowEvent &flow : rank.communicator->flows(stream)) {
      std::string id =
          flow.sends ? flowId(rank.number, flow.peer, stream, flow.sequence)
                     : flowId(flow.peer, rank.number, stream, flow.sequence);
      OrderedJson object = {{"ph", flow.sends ? "s" : "f"},
                            {"name", "transfer"},
                            {"cat", "flow"},
                            {"id", id},
                            {"pid", rank.number},
                            {"tid", stream},
                            {"ts", microseconds(flow.time, origin)}};
      if (!flow.sends)
        object["bp"] = "e";
      add(object);
    }
  }
  return text;
}

} // namespace sprt
