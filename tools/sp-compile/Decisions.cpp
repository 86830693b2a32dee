//===- Decisions.cpp - What the stages found and decided ------------------===//

#include "Decisions.h"

#include "Units.h"

#include "sp/IR/SourceLines.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::sp;
using nlohmann::json;
using sprt::tools::inUnits;

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

std::string mlir::sp::describeLocation(Location location) {
  std::string text = describeSourceLine(location);
  if (text.empty())
    if (auto named = dyn_cast<NameLoc>(location))
      text = named.getName().str();
  return text.empty() ? "unknown" : text;
}

/// Digits as a number.
static json valueOf(const std::string &text) {
  int64_t number = 0;
  return StringRef(text).getAsInteger(10, number) ? json(text) : json(number);
}

namespace {

struct LogStreamer : remark::detail::MLIRRemarkStreamerBase {
  explicit LogStreamer(std::vector<Decision> &list) : list(list) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    Decision decision{remark.getCategoryName().str(),
                      remark.getRemarkName().str(),
                      remark.getLocation(),
                      "",
                      remark.getRemarkType() == llvm::remarks::Type::Missed,
                      json::object()};
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      decision.text += arg.val;
      if (arg.key != "Remark")
        decision.values[arg.key] = valueOf(arg.val);
    }
    list.push_back(std::move(decision));
  }

  std::vector<Decision> &list;
};

} // namespace

RemarkLog::RemarkLog(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis =
      categories.failed = "sp-.*";
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<LogStreamer>(list),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/false);
}

//===----------------------------------------------------------------------===//
// Text and report
//===----------------------------------------------------------------------===//

/// The text with "*" for each of these words, which begin and end as words do.
static std::string withoutNames(StringRef text,
                                const llvm::StringSet<> &names) {
  std::string key;
  auto isOfWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (!text.empty()) {
    StringRef word = text.take_while(isOfWord);
    key += names.contains(word) ? "*" : word.str();
    text = text.drop_front(word.size());
    if (!text.empty())
      key += text.front();
    text = text.drop_front(std::min<size_t>(1, text.size()));
  }
  return key;
}

void mlir::sp::printFolded(ArrayRef<std::string> texts,
                           const llvm::StringSet<> &names, raw_ostream &os) {
  constexpr int kFew = 2; ///< of which each is printed
  std::map<std::string, int> alike;
  std::vector<std::string> keys;
  for (const std::string &text : texts)
    ++alike[keys.emplace_back(withoutNames(text, names))];
  for (auto [text, key] : llvm::zip_equal(texts, keys)) {
    int &count = alike[key];
    std::string readable = inUnits(text);
    auto [first, rest] = StringRef(readable).split('\n');
    if (count >= 0)
      os << "  " << first;
    if (count > kFew)
      os << " (" << count << " alike)";
    if (count >= 0)
      os << "\n" << rest;
    if (count > kFew)
      count = -1;
  }
}

void mlir::sp::printDecisions(const RemarkLog &log, raw_ostream &os) {
  if (log.size() > 0)
    os << "decisions\n";
  llvm::StringSet<> names;
  std::vector<std::string> lines;
  for (const Decision &decision : log.decisions()) {
    if (decision.values.contains("name"))
      names.insert(decision.values["name"].get<std::string>());
    lines.push_back((isa<UnknownLoc>(decision.loc)
                         ? ""
                         : describeLocation(decision.loc) + ": ") +
                    decision.text);
  }
  printFolded(lines, names, os);
}

json mlir::sp::describeDecisions(const RemarkLog &log) {
  json list = json::array();
  for (const Decision &decision : log.decisions()) {
    json described{{"pass", decision.pass},
                   {"name", decision.name},
                   {"location", describeLocation(decision.loc)},
                   {"text", decision.text},
                   {"isLoss", decision.isLoss}};
    if (!decision.values.empty())
      described["values"] = decision.values;
    list.push_back(std::move(described));
  }
  return list;
}
