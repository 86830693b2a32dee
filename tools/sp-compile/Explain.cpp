//===- Explain.cpp - What a compilation made, for people ------------------===//

#include "Explain.h"

#include "Arguments.h"
#include "Units.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace mlir::sp;
using nlohmann::json;
using sprt::tools::bytesText;
using sprt::tools::flopsText;

static std::string textAt(const json &object, const char *key) {
  return object.value(key, std::string());
}

/// "1.50 MiB" where all ranks agree, else "1.50 MiB to 2.00 MiB".
static std::string range(const json &perRank,
                         function_ref<std::string(double)> text) {
  if (perRank.empty())
    return text(0);
  auto [lo, hi] = std::minmax_element(perRank.begin(), perRank.end());
  std::string least = text(lo->get<double>()), most = text(hi->get<double>());
  return least == most ? least : least + " to " + most;
}

static std::string plural(int64_t count, StringRef noun) {
  return std::to_string(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

//===----------------------------------------------------------------------===//
// Attentions
//===----------------------------------------------------------------------===//

/// "causal window of 1024 keys": what each query sees.
static std::string describeMask(const json &attention) {
  std::string mask = textAt(attention, "mask");
  if (mask == "window") {
    int64_t first = attention["window"][0], last = attention["window"][1];
    mask = last == 0 ? "causal window of " + plural(last - first + 1, "key")
                     : "window from " + std::to_string(first) + " to " +
                           std::to_string(last);
  } else if (mask == "bands") {
    mask = "mask of bands";
  }
  if (attention["documents"].get<bool>())
    mask += " in documents that a run's inputs tell apart";
  return mask;
}

static std::string describeShape(const json &attention) {
  std::string text;
  auto number = [&](const char *key) { return attention[key].get<int64_t>(); };
  llvm::raw_string_ostream stream(text);
  stream << describeMask(attention) << ", " << number("queryLength")
         << " queries x " << number("kvLength") << " keys, "
         << plural(number("queryHeads"), "head") << " of " << number("headSize")
         << ", " << plural(number("kvHeads"), "kv head");
  if (textAt(attention, "scores") != "scaled")
    stream << ", scores " << textAt(attention, "scores");
  return text;
}

/// "a rank sends 2.00 KiB and computes 5 to 9 visible pairs a head".
static std::string describeWork(const json &attention) {
  std::string text =
      "a rank sends " + range(attention["bytesSentPerRank"], bytesText);
  if (attention.contains("bytesSentPerRankOtherwise")) {
    bool areQueries = attention["travelling"] == "q";
    text += std::string(", as ") +
            (areQueries ? "queries" : "keys and values") + " travel, " +
            range(attention["bytesSentPerRankOtherwise"], bytesText) + " if " +
            (areQueries ? "keys and values" : "queries") + " did,";
  }
  auto pairsText = [](double pairs) {
    return llvm::formatv("{0:F0}", pairs).str();
  };
  return text + " and computes " + range(attention["areaPerRank"], pairsText) +
         " visible pairs a head";
}

namespace {

/// An attention and its gradients.
struct Described {
  std::string location, shape, plan, forward, backward;
  SmallVector<std::string> candidates; ///< "ring 5.00 MiB"

  std::string text() const {
    std::string text = location + "\n      " + shape + "\n      " + plan + "\n";
    if (!forward.empty())
      text += "      " + forward + "\n";
    if (!backward.empty())
      text += "      gradients: " + backward + "\n";
    if (candidates.size() > 1)
      text += "      counted: " + llvm::join(candidates, ", ") + "\n";
    return text;
  }
};

} // namespace

/// "layer0 to layer23 (24)", or the first of names that do not follow each
/// other.
static std::string listNames(ArrayRef<std::string> names) {
  if (names.size() == 1)
    return names.front();
  auto split = [](StringRef name) {
    StringRef stem = name.rtrim("0123456789");
    int64_t number = -1;
    (void)name.drop_front(stem.size()).getAsInteger(10, number);
    return std::pair(stem, number);
  };
  auto [stem, first] = split(names.front());
  bool follow = first >= 0;
  for (auto [index, name] : llvm::enumerate(names)) {
    auto [other, number] = split(name);
    follow &= other == stem && number == first + int64_t(index);
  }
  std::string count = " (" + std::to_string(names.size()) + ")";
  if (follow)
    return names.front() + (names.size() > 2 ? " to " : " and ") +
           names.back() + count;
  constexpr size_t kMost = 4;
  return llvm::join(names.take_front(kMost), ", ") +
         (names.size() > kMost ? ", …" : "") + count;
}

static void printAttentions(const RemarkLog &log, const json &attentions,
                            raw_ostream &os) {
  llvm::MapVector<StringRef, Described> byName;
  std::vector<std::string> names;
  names.reserve(attentions.size());
  for (const json &attention : attentions) {
    names.push_back(textAt(attention, "name"));
    Described &described = byName[names.back()];
    bool isBackward = attention["direction"] == "backward";
    if (!isBackward || described.shape.empty()) {
      described.location = textAt(attention, "location");
      described.shape = describeShape(attention);
      described.plan =
          textAt(attention, "strategy") + ", " + textAt(attention, "layout");
    }
    (isBackward ? described.backward : described.forward) =
        describeWork(attention);
  }
  for (const Decision &decision : log.decisions()) {
    auto known = byName.find(textAt(decision.values, "name"));
    if (known == byName.end())
      continue;
    if (decision.name == "Alternative")
      known->second.candidates.push_back(
          textAt(decision.values, "strategy") + " " +
          bytesText(decision.values["bytes"].get<double>()));
    if (decision.name == "Planned")
      known->second.plan = textAt(decision.values, "plan") + ", " +
                           textAt(decision.values, "choice");
  }
  std::vector<std::pair<std::string, SmallVector<std::string>>> alike;
  for (auto &[name, described] : byName) {
    std::string text = described.text();
    auto known = llvm::find_if(
        alike, [&](const auto &other) { return other.first == text; });
    if (known == alike.end())
      known = alike.insert(known, {std::move(text), {}});
    known->second.push_back(name.str());
  }
  for (const auto &[text, own] : alike)
    os << "  " << listNames(own) << ", " << text;
}

//===----------------------------------------------------------------------===//
// What is sent beside attention
//===----------------------------------------------------------------------===//

namespace {

struct Sent {
  double bytes = 0;
  int64_t times = 0;
  std::string line; ///< of the first
  llvm::StringSet<> lines;
};

} // namespace

/// What such a decision has ranks do, or "".
static StringRef nameOfTransfer(StringRef decision) {
  return llvm::StringSwitch<StringRef>(decision)
      .Cases({"Gathered", "NotDealt"}, "gathers for")
      .Case("Reduced", "sums of")
      .Case("Scattered", "sums, dealt, of")
      .Case("Moved", "moved rows of")
      .Default("");
}

static void printTransfers(const RemarkLog &log, raw_ostream &os) {
  std::map<std::string, Sent> kinds;
  for (const Decision &decision : log.decisions()) {
    StringRef name = nameOfTransfer(decision.name);
    bool isOfLoop = decision.name == "NotDealt";
    if (name.empty() || (isOfLoop && decision.values.value("bytes", 0.0) == 0))
      continue;
    StringRef op = StringRef(decision.text).split(' ').first;
    op = isOfLoop ? "loops that all ranks run" : op.substr(op.find('.') + 1);
    Sent &sent = kinds[(name + " " + op).str()];
    std::string line = describeLocation(decision.loc);
    double trips = double(decision.values.value("trips", int64_t(1)));
    sent.bytes += double(decision.values.value("bytes", int64_t(0))) * trips;
    if (sent.times++ == 0)
      sent.line = line;
    sent.lines.insert(line);
  }
  std::vector<std::pair<std::string, Sent>> sorted(kinds.begin(), kinds.end());
  llvm::sort(sorted, [](const auto &a, const auto &b) {
    return std::tie(b.second.bytes, a.first) <
           std::tie(a.second.bytes, b.first);
  });
  if (!sorted.empty())
    os << "sent by a rank beside attention\n";
  constexpr size_t kMost = 8;
  double rest = 0;
  for (auto [index, kind] : llvm::enumerate(sorted)) {
    auto &[name, sent] = kind;
    if (index >= kMost) {
      rest += sent.bytes;
      continue;
    }
    os << llvm::formatv("  {0,10}  {1,5} {2}, {3}", bytesText(sent.bytes),
                        sent.times, name, sent.line);
    if (sent.lines.size() > 1)
      os << " and " << plural(int64_t(sent.lines.size()) - 1, "other line");
    os << "\n";
  }
  if (sorted.size() > kMost)
    os << llvm::formatv("  {0,10}  of {1} other kinds\n", bytesText(rest),
                        sorted.size() - kMost);
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// What was decided beside what the rest of an explanation shows.
static void printOthers(const RemarkLog &log, raw_ostream &os) {
  static constexpr StringRef kShown[] = {"AttentionFound", "GradientsFound",
                                         "Alternative",    "Planned",
                                         "Travelling",     "Arena"};
  RemarkLog others;
  int64_t buckets = 0, values = 0;
  double most = 0;
  for (const Decision &decision : log.decisions()) {
    if (decision.name == "Joined") {
      ++buckets;
      values += decision.values["values"].get<int64_t>();
      most = std::max(most, decision.values["bytes"].get<double>());
    } else if (nameOfTransfer(decision.name).empty() &&
               !llvm::is_contained(kShown, decision.name)) {
      others.add(decision);
    }
  }
  printDecisions(others, os);
  if (buckets > 0)
    os << "  " << values << " values travel in " << plural(buckets, "bucket")
       << " of at most " << bytesText(most) << "\n";
}

/// What is in use at the peak, a line a kind.
static void printPeak(const json &places, raw_ostream &os) {
  struct Kind {
    double bytes = 0;
    std::string largest;
  };
  llvm::MapVector<StringRef, Kind> kinds; // the largest place first
  double all = 0;
  std::vector<std::string> names;
  names.reserve(places.size());
  for (const json &place : places) {
    Kind &kind = kinds[names.emplace_back(textAt(place, "kind"))];
    auto bytes = place["bytes"].get<double>();
    auto count = place["count"].get<int64_t>();
    if (kind.largest.empty() && textAt(place, "name") != names.back())
      kind.largest =
          ": " + textAt(place, "name") +
          (count > 1 ? " and " + std::to_string(count - 1) + " alike" : "") +
          " " + bytesText(bytes);
    kind.bytes += bytes;
    all += bytes;
  }
  if (!kinds.empty())
    os << "memory in use at the peak, " << bytesText(all) << "\n";
  for (const auto &[name, kind] : kinds)
    os << llvm::formatv("  {0,10}  {1}{2}\n", bytesText(kind.bytes), name,
                        kind.largest);
}

static void printProgram(const json &report, raw_ostream &os) {
  const json &attentions = report["attentions"];
  bool hasDocuments = llvm::any_of(attentions, [](const json &attention) {
    return attention["documents"].get<bool>();
  });
  bool dealsRows = llvm::any_of(attentions, [](const json &attention) {
    return attention["layout"] == "batch";
  });
  os << "whole program, a rank: sends "
     << range(report["bytesSentPerRank"], bytesText)
     << (report["bytesAreExact"].get<bool>() ? ""
         : dealsRows    ? " where all ranks share one document"
         : hasDocuments ? ", fewer where documents are on few ranks"
                        : " an iteration of loops of unknown count")
     << ", computes " << range(report["flopsPerRank"], flopsText)
     << " of products and attention, needs "
     << range(report["peakBytesPerRank"], bytesText);
  if (report["constantBytes"] != 0)
    os << ", " << bytesText(report["constantBytes"].get<double>())
       << " of them for constants";
  if (report.contains("farPeakBytesPerRank"))
    os << ", and " << range(report["farPeakBytesPerRank"], bytesText)
       << " of far memory, to which it copies "
       << range(report["farWrittenPerRank"], bytesText) << " and from which "
       << range(report["farReadPerRank"], bytesText);
  os << "\n";
  printPeak(report["atPeak"], os);
  if (hasDocuments || llvm::any_of(attentions, [](const json &attention) {
        return attention["mask"] != "full";
      }))
    os << "what positions or documents hide from a query is not read for it: "
          "NaN and infinity there do not reach its row, as 0 * NaN does in the "
          "model\n";
}

void mlir::sp::printExplanation(const RemarkLog &log, const json &report,
                                raw_ostream &os) {
  const json &attentions = report["attentions"];
  int64_t backward = llvm::count_if(attentions, [](const json &attention) {
    return attention["direction"] == "backward";
  });
  os << plural(int64_t(attentions.size()) - backward, "attention");
  if (backward > 0)
    os << " and gradients of " << backward;
  os << " on " << plural(report["ranks"].get<int64_t>(), "rank") << "\n";
  printAttentions(log, attentions, os);
  printProgram(report, os);
  printArguments(report["arguments"], os);
  printTransfers(log, os);
  printOthers(log, os);
}
