// A run as a picture. It is drawn from the trace, so that it says what that
// does:
//
//   rank 0  compute       [attention][product ][..]    [attention]
//           send/receive  [ shift         ][ shift        ]
//           0 ms               1 ms               2 ms
//
// Bars that are too narrow to be seen are joined, in the colour of what takes
// most of their time: the file stays small however many events there are.

#include "Timeline.h"

#include "Report.h"
#include "Svg.h"
#include "Units.h"

#include "sprt/files.h"

#include <array>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;
using sprt::tools::bytesText;

struct Kind {
  const char *word, *name, *colour;
};
/// In the order of the legend.
constexpr Kind kKinds[] = {
    {"attention", "attention", "#2f8f78"},
    {"product", "matrix products", "#3f6fb0"},
    {"kernel", "other kernels", "#b9a3d6"},
    {"exchange", "sends and receives, with waits", "#d9594c"},
    {"sum", "sums over ranks", "#a5524a"},
    {"copy", "copies", "#c9a227"},
    {"far", "far memory", "#e08a1e"},
};
constexpr size_t kKindCount = std::size(kKinds);

/// By operation and stream of an event; none where nothing is done.
std::optional<size_t> kindOf(const std::string &operation, int64_t stream) {
  constexpr int64_t kFirstFar = 3; // "in" and "out"
  static const std::map<std::string, size_t> kinds = {{"attend", 0},
                                                      {"attend_backward", 0},
                                                      {"gemm", 1},
                                                      {"launch", 2},
                                                      {"rows_table", 2},
                                                      {"send_recv", 3},
                                                      {"exchange", 3},
                                                      {"all_reduce", 4},
                                                      {"reduce_scatter", 4},
                                                      {"copy", 5},
                                                      {"fill", 5}};
  auto known = kinds.find(operation);
  if (known == kinds.end())
    return std::nullopt;
  return known->second == 5 && stream >= kFirstFar ? 6 : known->second;
}

/// Microseconds from when the first rank began.
struct Bar {
  double begin, end;
  size_t kind;
  std::string tip; ///< "" where several are joined
};

struct Row {
  std::string stream; ///< in words
  std::vector<Bar> bars;
};

std::string streamName(const std::string &stream) {
  static const std::map<std::string, std::string> names = {
      {"compute", "compute"},
      {"comm", "send/receive"},
      {"back", "back, sums"},
      {"in", "from far"},
      {"out", "to far"}};
  auto known = names.find(stream);
  return known == names.end() ? stream : known->second;
}

struct TimeUnit {
  const char *name;
  double microseconds;
};

/// The largest one of which there is a whole one.
TimeUnit unitOf(double microseconds) {
  return microseconds < 1e3   ? TimeUnit{"us", 1}
         : microseconds < 1e6 ? TimeUnit{"ms", 1e3}
                              : TimeUnit{"s", 1e6};
}

std::string timeText(double microseconds, TimeUnit unit) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g %s", microseconds / unit.microseconds,
                unit.name);
  return text;
}

/// "1.25 ms"
std::string timeText(double microseconds) {
  return timeText(microseconds, unitOf(microseconds));
}

class Timeline {
public:
  explicit Timeline(const json &trace) {
    for (const json &event : trace["traceEvents"])
      read(event);
    for (auto &[place, row] : rows)
      std::sort(row.bars.begin(), row.bars.end(),
                [](const Bar &a, const Bar &b) { return a.begin < b.begin; });
  }

  std::string draw(const std::string &title, double seconds) {
    length = std::max(length, 1.0);
    chooseSizes();
    svg.text({16, 30}, title, {14, "start", true});
    double y = kTop;
    int64_t drawn = 0, last = -1;
    for (auto &[place, row] : rows) {
      if (place.first % every != 0)
        continue;
      if (place.first != last) {
        y += drawn > 0 ? gap : 0;
        drawRank(place.first, y, drawn++);
        last = place.first;
      }
      drawRow(place, row, y);
      y += height;
    }
    drawAxis(y + 4);
    y += 40;
    double x = kLeft;
    for (size_t kind = 0; kind < kKindCount; ++kind)
      if (times[kind] > 0)
        x = svg.legend({x, y}, kKinds[kind].colour, kKinds[kind].name);
    y += 32;
    svg.text({kLeft, y}, describeShares());
    if (every > 1)
      svg.text({kLeft, y += 18},
               "every " + std::to_string(every) + "th rank is drawn");
    return svg.str(title + ", " + timeText(1e6 * seconds));
  }

private:
  static constexpr double kLeft = 150, kWidth = 1000, kTop = 48;
  static constexpr size_t kMostRows = 400;
  static constexpr size_t kMostTips = 2500;  ///< bars that say what they are
  static constexpr double kMostBars = 40000; ///< in one file

  void read(const json &event) {
    std::string phase = event["ph"];
    if (phase != "X" && phase != "M")
      return;
    if (phase == "M") {
      if (event["name"] == "thread_name")
        rows[{event["pid"], event["tid"]}].stream =
            streamName(event["args"]["name"]);
      return;
    }
    std::pair<int64_t, int64_t> place = {event["pid"], event["tid"]};
    double begin = event["ts"], lasts = event["dur"];
    length = std::max(length, begin + lasts);
    std::optional<size_t> kind = kindOf(event["cat"], place.second);
    if (!kind)
      return;
    times[*kind] += lasts;
    happensOn[*kind].insert(place.second);
    rows[place].bars.push_back(
        {std::max(begin, 0.0), begin + lasts, *kind, describe(event)});
    ++count;
  }

  /// "rank 1: shift layer0, step 2, to 2, from 0, 1.00 MiB, 12 us (model.py:3)"
  static std::string describe(const json &event) {
    const json &arguments = event["args"];
    std::string text = "rank " + std::to_string(event["pid"].get<int64_t>()) +
                       ": " + event["name"].get<std::string>();
    for (const char *name : {"step", "to", "from"})
      if (arguments.contains(name))
        text += std::string(", ") + name + " " + arguments[name].dump();
    if (arguments.contains("bytes"))
      text += ", " + bytesText(arguments["bytes"]);
    double lasts = event["dur"];
    if (arguments.contains("FLOPs")) {
      double flops = arguments["FLOPs"];
      char rate[40];
      std::snprintf(rate, sizeof rate, ", %.3g GFLOP/s",
                    flops / std::max(lasts, 1e-3) / 1e3);
      text += rate;
    }
    text += ", " + timeText(lasts);
    if (arguments.contains("line")) {
      std::string line = arguments["line"];
      // Folders would hide what is new in it.
      text += " (" + line.substr(line.rfind('/') + 1) + ")";
    }
    return text;
  }

  void chooseSizes() {
    int64_t ranks = rows.empty() ? 1 : rows.rbegin()->first.first + 1;
    every = static_cast<int64_t>((rows.size() + kMostRows - 1) / kMostRows);
    double drawn =
        static_cast<double>(rows.size()) / static_cast<double>(every);
    height = drawn <= 24 ? 16 : drawn <= 80 ? 10 : 5;
    gap = drawn <= 80 ? 5 : 2;
    labelled = std::max<int64_t>(
        every, every * static_cast<int64_t>(std::ceil(
                           11 / (height * drawn * static_cast<double>(every) /
                                     static_cast<double>(ranks) +
                                 gap))));
    pixel = std::max(1.0, drawn * kWidth / kMostBars);
    haveTips = count <= kMostTips;
  }

  double x(double time) const { return kLeft + kWidth * time / length; }

  void drawRank(int64_t rank, double y, int64_t number) {
    size_t streams = 0;
    for (auto row = rows.lower_bound({rank, 0});
         row != rows.end() && row->first.first == rank; ++row)
      ++streams;
    svg.rectangle(kLeft, y, kWidth, height * static_cast<double>(streams),
                  number % 2 == 0 ? "#f3f3f3" : "#ececec");
    if (rank % labelled == 0)
      svg.text({16, y + std::min(height, 16.0) * 0.5 + 4},
               "rank " + std::to_string(rank), {11});
  }

  void drawRow(std::pair<int64_t, int64_t> place, const Row &row, double y) {
    if (height >= 10)
      svg.text({kLeft - 6, y + height * 0.5 + 3.5}, row.stream, {9, "end"});
    svg.beginGroup("row", {{{"rank", std::to_string(place.first)},
                            {"stream", std::to_string(place.second)}},
                           ""});
    std::array<std::vector<std::pair<double, double>>, kKindCount> all;
    for (const Bar &bar : joined(row.bars)) {
      double from = x(bar.begin), to = std::max(x(bar.end), from + 0.4);
      to = std::min(to, kLeft + kWidth);
      if (bar.tip.empty() || !haveTips)
        all[bar.kind].push_back({from, to});
      else
        svg.rectangle(from, y + 1, to - from, height - 2,
                      kKinds[bar.kind].colour,
                      {{{"kind", kKinds[bar.kind].word}}, bar.tip});
    }
    for (size_t kind = 0; kind < kKindCount; ++kind)
      if (!all[kind].empty())
        svg.bars(all[kind], y + 1, height - 2, kKinds[kind].colour,
                 {{{"kind", kKinds[kind].word}}, ""});
    svg.endGroup();
  }

  /// Narrow neighbours as one bar.
  std::vector<Bar> joined(const std::vector<Bar> &bars) const {
    std::vector<Bar> all;
    std::array<double, kKindCount> shares{};
    double narrow = pixel * length / kWidth;
    for (const Bar &bar : bars) {
      bool isNarrow = bar.end - bar.begin < narrow;
      bool joins = !all.empty() && bar.begin - all.back().end < narrow / 2 &&
                   (isNarrow || all.back().end - all.back().begin < narrow);
      if (!joins) {
        all.push_back(bar);
        shares.fill(0);
        shares[bar.kind] = bar.end - bar.begin;
        continue;
      }
      Bar &whole = all.back();
      shares[bar.kind] += bar.end - bar.begin;
      whole.end = std::max(whole.end, bar.end);
      whole.kind = static_cast<size_t>(
          std::max_element(shares.begin(), shares.end()) - shares.begin());
      whole.tip.clear();
    }
    return all;
  }

  void drawAxis(double y) {
    svg.line({kLeft, y}, {kLeft + kWidth, y});
    for (double time : sprt::tools::ticks(length)) {
      svg.line({x(time), y}, {x(time), y + 4});
      svg.text({x(time), y + 17}, timeText(time, unitOf(length)),
               {11, "middle"});
    }
  }

  /// By kind, of the time that all ranks had on the streams where it happens:
  /// what happens on two of them at once takes no more than all of both.
  std::string describeShares() const {
    int64_t ranks = rows.empty() ? 1 : rows.rbegin()->first.first + 1;
    std::string text;
    for (size_t kind = 0; kind < kKindCount; ++kind) {
      if (times[kind] <= 0)
        continue;
      double most = length * static_cast<double>(ranks) *
                    static_cast<double>(happensOn[kind].size());
      char share[20];
      std::snprintf(share, sizeof share, " %.1f %%", 100 * times[kind] / most);
      text += text.empty() ? "of the time that all ranks have on the streams "
                             "that do it: "
                           : ", ";
      text += std::string(kKinds[kind].name) + share;
    }
    return text;
  }

  /// By rank and stream.
  std::map<std::pair<int64_t, int64_t>, Row> rows;
  std::array<double, kKindCount> times{};
  std::array<std::set<int64_t>, kKindCount> happensOn; ///< streams
  double length = 0;
  size_t count = 0;
  int64_t every = 1, labelled = 1; ///< of so many ranks one is
  double height = 16, gap = 5, pixel = 1;
  bool haveTips = true;
  sprt::tools::Svg svg;
};

} // namespace

bool writeTimeline(const sprt_session *session, const Options &options) {
  char *text = nullptr;
  if (failed(sprt_session_trace_text(session, &text)))
    return false;
  json trace = json::parse(text, nullptr, /*allow_exceptions=*/false);
  sprt_buffer_free(text);
  double seconds = sprt_session_seconds(session);
  std::string title =
      options.program + ": " +
      (options.steps > 1
           ? "the last of " + std::to_string(options.steps) + " steps, "
       : options.repeat > 1
           ? "the last of " + std::to_string(options.repeat) + " runs, "
           : "") +
      timeText(1e6 * seconds);
  std::string picture = Timeline(trace).draw(title, seconds);
  return !failed(
      sprt_file_write(options.svg.c_str(), picture.data(), picture.size()));
}
