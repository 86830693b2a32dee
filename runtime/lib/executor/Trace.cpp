#include "executor/Trace.h"

#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

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

/// What the schema calls an operation, as SendRecv, in the words of reports:
/// `send_recv`.
std::string nameOf(plan::Operation operation) {
  if (operation == plan::Operation::NONE)
    return "unknown";
  std::string name;
  for (char letter : std::string_view(plan::EnumNameOperation(operation))) {
    bool isCapital = std::isupper(static_cast<unsigned char>(letter));
    if (isCapital && !name.empty())
      name += '_';
    name += isCapital ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return name;
}

} // namespace

const char *kindName(plan::Operation operation) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> names;
    for (plan::Operation each : plan::EnumValuesOperation())
      names.push_back(nameOf(each));
    return names;
  }();
  return names[static_cast<size_t>(operation)].c_str();
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
