#include "Report.h"

#include "Units.h"

#include "sprt/documents.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <sstream>

#include <nlohmann/json.hpp>

namespace {

using sprt::tools::bytesText;

sprt_rank_statistics statisticsOf(const sprt_session *session, int64_t rank) {
  sprt_rank_statistics statistics = {};
  statistics.size = sizeof statistics;
  sprt_status_free(sprt_session_rank_statistics(session, rank, &statistics));
  return statistics;
}

sprt_command_statistics commandOf(const sprt_session *session,
                                  int64_t command) {
  sprt_command_statistics statistics = {};
  statistics.size = sizeof statistics;
  sprt_status_free(
      sprt_session_command_statistics(session, command, &statistics));
  return statistics;
}

/// "1.25 MiB (1310720)", or the range over the ranks.
std::string perRank(const std::vector<int64_t> &values) {
  auto [least, most] = std::minmax_element(values.begin(), values.end());
  std::string text =
      bytesText(*most) + " a rank (" + std::to_string(*most) + ")";
  return *least == *most ? text
                         : text + ", least " + bytesText(*least) + " (" +
                               std::to_string(*least) + ")";
}

void printCommands(const sprt_session *session, const Timings &timings) {
  constexpr size_t kMost = 20;
  std::vector<size_t> order(timings.commands.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    double left = median(timings.commands[a]);
    double right = median(timings.commands[b]);
    return left != right ? left > right : a < b;
  });
  std::printf("%8s  %-14s %-24s %6s %12s %12s\n", "command", "kind", "name",
              "runs", "min ms", "median ms");
  size_t shown = 0;
  for (size_t command : order) {
    sprt_command_statistics statistics =
        commandOf(session, static_cast<int64_t>(command));
    if (statistics.runs == 0 || shown++ == kMost)
      break;
    std::printf("%8zu  %-14s %-24.24s %6" PRId64 " %12.3f %12.3f\n", command,
                statistics.kind, statistics.name, statistics.runs,
                1e3 * minimum(timings.commands[command]),
                1e3 * median(timings.commands[command]));
  }
}

} // namespace

bool Timings::add(const sprt_program *program, const sprt_session *session) {
  seconds.push_back(sprt_session_seconds(session));
  commands.resize(static_cast<size_t>(sprt_program_command_count(program)));
  for (size_t command = 0; command < commands.size(); ++command)
    commands[command].push_back(
        commandOf(session, static_cast<int64_t>(command)).seconds);
  return !batches || batches->add(program, session);
}

int64_t peakBytes(const sprt_program *program, const sprt_session *session) {
  int64_t most = 0;
  for (int64_t rank = 0; rank < sprt_program_ranks(program); ++rank)
    most = std::max(most, statisticsOf(session, rank).peak_bytes);
  return most;
}

double minimum(std::vector<double> values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

void printSummary(const sprt_program *program, const sprt_session *session,
                  const Options &options, const Timings &timings) {
  std::vector<int64_t> sent, peak, far, read, written;
  for (int64_t rank = 0; rank < sprt_program_ranks(program); ++rank) {
    sprt_rank_statistics statistics = statisticsOf(session, rank);
    sent.push_back(statistics.bytes_sent);
    peak.push_back(statistics.peak_bytes);
    far.push_back(statistics.far_peak_bytes);
    read.push_back(statistics.far_read_bytes);
    written.push_back(statistics.far_written_bytes);
  }
  std::printf("ranks    %" PRId64 " (%s), communicator %s\n",
              sprt_program_ranks(program), sprt_program_mesh(program),
              sprt_session_communicator(session));
  std::printf("seconds  min %.6f, median %.6f of %zu %s\n",
              minimum(timings.seconds), median(timings.seconds),
              timings.seconds.size(), options.steps > 0 ? "steps" : "runs");
  std::printf("sent     %s\n", perRank(sent).c_str());
  std::printf("peak     %s\n", perRank(peak).c_str());
  if (sprt_program_far_bytes(program) > 0) {
    std::printf("far      %s\n", perRank(far).c_str());
    std::printf("evicted  %s\n", perRank(written).c_str());
    std::printf("fetched  %s\n", perRank(read).c_str());
  }
  if (options.explicitRepeat)
    printCommands(session, timings);
}

namespace {

/// What documents of the last run made of the program's promises; null where
/// it tells none apart.
nlohmann::ordered_json documentsOf(const sprt_program *program,
                                   const sprt_session *session) {
  using Json = nlohmann::ordered_json;
  sprt_documents documents = {sizeof documents, 0, 0, 0};
  int64_t ranks = sprt_program_ranks(program);
  std::vector<sprt_prediction> predictions(
      static_cast<size_t>(ranks),
      {sizeof(sprt_prediction), 0, 0, 0, 0, 0, 0, 0, 0});
  if (failed(sprt_session_documents(session, &documents)) ||
      documents.count == 0 ||
      failed(sprt_session_predict(session, ranks, predictions.data())))
    return nullptr;
  Json sent = Json::array(), flops = Json::array();
  bool isExact = true;
  for (const sprt_prediction &each : predictions) {
    isExact &= each.exact != 0;
    sent.push_back(each.bytes_sent);
    flops.push_back(each.flops);
  }
  return {{"count", documents.count},
          {"skipped", documents.skipped != 0},
          {"dealt", documents.dealt != 0},
          {"promised",
           {{"bytesSentPerRank", sent},
            {"flopsPerRank", flops},
            {"bytesAreExact", isExact}}}};
}

/// {"dp": 2, "sp": 4}.
nlohmann::ordered_json meshOf(const sprt_program *program) {
  nlohmann::ordered_json mesh = nlohmann::ordered_json::object();
  std::istringstream text(sprt_program_mesh(program));
  for (std::string axis; std::getline(text, axis, ',');) {
    size_t equals = axis.rfind('=');
    mesh[axis.substr(0, equals)] = std::stoll(axis.substr(equals + 1));
  }
  return mesh;
}

} // namespace

bool writeReport(const sprt_program *program, const sprt_session *session,
                 const Options &options, const Timings &timings,
                 const Errors &errors) {
  using Json = nlohmann::ordered_json;
  Json sent = Json::array(), peak = Json::array(), rankSeconds = Json::array(),
       busy = Json::array(), commands = Json::array(), far = Json::array(),
       read = Json::array(), written = Json::array();
  for (int64_t rank = 0; rank < sprt_program_ranks(program); ++rank) {
    sprt_rank_statistics statistics = statisticsOf(session, rank);
    sent.push_back(statistics.bytes_sent);
    peak.push_back(statistics.peak_bytes);
    rankSeconds.push_back(statistics.seconds);
    busy.push_back(statistics.busy_seconds);
    far.push_back(statistics.far_peak_bytes);
    read.push_back(statistics.far_read_bytes);
    written.push_back(statistics.far_written_bytes);
  }
  for (int64_t command = 0; command < sprt_program_command_count(program);
       ++command) {
    sprt_command_statistics statistics = commandOf(session, command);
    const std::vector<double> &times =
        timings.commands[static_cast<size_t>(command)];
    if (statistics.runs > 0)
      commands.push_back(
          {{"command", command},
           {"kind", statistics.kind},
           {"name", statistics.name},
           {"stream", statistics.stream},
           {"runs", statistics.runs},
           {"seconds", {{"min", minimum(times)}, {"median", median(times)}}},
           {"waitSeconds", statistics.wait_seconds}});
  }
  // JSON has no infinity: what cannot be compared is null.
  auto number = [](double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  };
  Json report = {{"version", 1},
                 {"tool", "sp-run"},
                 {"mesh", meshOf(program)},
                 {"ranks", sprt_program_ranks(program)},
                 {"communicator", sprt_session_communicator(session)},
                 {"executor", options.executor},
                 {"seconds",
                  {{"min", minimum(timings.seconds)},
                   {"median", median(timings.seconds)}}},
                 {"secondsPerRank", rankSeconds},
                 {"busySecondsPerRank", busy},
                 {"bytesSentPerRank", sent},
                 {"peakBytesPerRank", peak},
                 {"promisedPeakBytes", sprt_program_peak_bytes(program)},
                 {"checked", errors.compared},
                 {"maxAbsError", number(errors.maxAbs)},
                 {"maxRelError", number(errors.maxRel)},
                 {"commands", commands}};
  if (Json documents = documentsOf(program, session); !documents.is_null())
    report["documents"] = documents;
  if (sprt_program_far_bytes(program) > 0) {
    report["farPeakBytesPerRank"] = far;
    report["farReadPerRank"] = read;
    report["farWrittenPerRank"] = written;
  }
  if (options.steps > 0) {
    report["steps"] = options.steps;
    report["stepValues"] = Json::array();
    for (double value : timings.values)
      report["stepValues"].push_back(number(value));
    report["stepSeconds"] = timings.seconds;
    report["tokensPerStep"] = timings.tokens;
  }
  // Names are the model's and may hold any bytes.
  std::string text =
      report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return !failed(
      sprt_file_write(options.report.c_str(), text.data(), text.size()));
}
