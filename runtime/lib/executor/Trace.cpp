#include "executor/Trace.h"

#include "walk/StepWork.h"

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

namespace {

/// The events of one rank, as they are written.
class TraceWriter {
public:
  TraceWriter(const Rank &rank, Clock::time_point origin)
      : rank(rank), plan(*rank.program.plan), origin(origin),
        imagined(imagine(rank)), counter(imagined) {}

  std::string write() {
    add({{"ph", "M"},
         {"name", "process_name"},
         {"pid", rank.number},
         {"args", {{"name", "rank " + std::to_string(rank.number)}}}});
    for (int stream = 0; stream < kStreams; ++stream)
      if (rank.program.usesStream[stream])
        writeStream(stream);
    writeMemory();
    return std::move(text);
  }

private:
  /// The rank without its memory, as the last run had it.
  static Imagined imagine(const Rank &rank) {
    Imagined imagined(rank.program, rank.number);
    imagined.bindings = rank.bindings;
    return imagined;
  }

  void add(const OrderedJson &event) {
    // Names are the model's and may hold any bytes.
    text += (text.empty() ? "" : ",\n") +
            event.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  }

  void writeStream(int stream) {
    add({{"ph", "M"},
         {"name", "thread_name"},
         {"pid", rank.number},
         {"tid", stream},
         {"args",
          {{"name",
            plan::EnumNameStream(static_cast<plan::Stream>(stream))}}}});
    for (const TraceEvent &event : rank.trace[stream])
      writeEvent(stream, event);
    for (const FlowEvent &flow : rank.communicator->flows(stream))
      writeFlow(stream, flow);
  }

  void writeEvent(int stream, const TraceEvent &event) {
    const Step &step = *rank.program.stepOf[static_cast<size_t>(event.command)];
    const plan::CommandT &command = *step.command;
    std::string kind = kindName(command.operation.type);
    std::string name = command.name.empty() ? kind : command.name;
    // Both are called as the attention is.
    if (command.operation.AsAttendBackward() && name != kind)
      name = "gradients of " + name;
    if (!command.subject.empty())
      name += " " + command.subject;
    OrderedJson arguments = {{"command", event.command}};
    if (!event.counters.empty())
      arguments["step"] = event.counters.back();
    if (!command.location.empty())
      arguments["line"] = command.location;
    describeWork(step, event.counters, arguments);
    add({{"ph", "X"},
         {"name", name},
         {"cat", kind},
         {"pid", rank.number},
         {"tid", stream},
         {"ts", microseconds(event.begin, origin)},
         {"dur", microseconds(event.end, event.begin)},
         {"args", arguments}});
  }

  /// What the command has moved and computed, where that is something. The run
  /// has resolved it before: a failure here says no more.
  void describeWork(const Step &step, const std::vector<int64_t> &counters,
                    OrderedJson &arguments) {
    StepWork work;
    if (counter.count(step, counters, work))
      return;
    if (work.to >= 0)
      arguments["to"] = work.to;
    if (work.from >= 0)
      arguments["from"] = work.from;
    if (int64_t bytes = work.bytesSent + work.farRead + work.farWritten)
      arguments["bytes"] = bytes;
    if (work.flops > 0)
      arguments["FLOPs"] = work.flops;
  }

  void writeFlow(int stream, const FlowEvent &flow) {
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

  /// A counter of what values take while commands compute, with constants and
  /// scratch memory.
  void writeMemory() {
    int64_t known = -1;
    for (const TraceEvent &event :
         rank.trace[static_cast<int>(plan::Stream::compute)]) {
      int64_t live = rank.program.stepOf[static_cast<size_t>(event.command)]
                         ->command->live_bytes;
      if (live < 0 || live == known)
        continue;
      known = live;
      add({{"ph", "C"},
           {"name", "memory"},
           {"pid", rank.number},
           {"ts", microseconds(event.begin, origin)},
           {"args",
            {{"bytes", live + plan.scratch_bytes + plan.constant_bytes}}}});
    }
  }

  const Rank &rank;
  const plan::PlanT &plan;
  Clock::time_point origin;
  Imagined imagined;
  StepCounter counter;
  std::string text;
};

} // namespace

std::string traceText(const Rank &rank, Clock::time_point origin) {
  return TraceWriter(rank, origin).write();
}

} // namespace sprt
