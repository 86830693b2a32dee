//===- Warnings.cpp - What a user loses unasked ---------------------------===//

#include "Warnings.h"

#include "Units.h"

#include "sp/IR/SourceLines.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::sp;
using nlohmann::json;
using sprt::tools::inUnits;

/// Of one that happens in a loop the bytes of all its trips.
static int64_t sentBytesOf(const Decision &decision) {
  return decision.values.value("bytes", int64_t(0)) *
         decision.values.value("trips", int64_t(1));
}

std::string Warning::text() const {
  std::string text = first.text;
  if (count > 1)
    text += "; this line has " + std::to_string(count) + " such";
  if (bytes != first.values.value("bytes", int64_t(0)))
    text += ", " + std::to_string(bytes) + " bytes in all";
  return text;
}

static const Decision *findNamed(const RemarkLog &log,
                                 ArrayRef<StringRef> names) {
  const std::vector<Decision> &all = log.decisions();
  auto found = llvm::find_if(all, [&](const Decision &decision) {
    return llvm::is_contained(names, decision.name);
  });
  return found == all.end() ? nullptr : &*found;
}

std::vector<Warning> mlir::sp::findWarnings(const RemarkLog &log) {
  std::vector<Warning> warnings;
  std::map<std::string, size_t> known;
  // A model without attention says why in one.
  const Decision *whyNone =
      findNamed(log, {"NoAttention"})
          ? findNamed(log, {"NoSoftmax", "AttentionNotTaken"})
          : nullptr;
  for (const Decision &decision : log.decisions()) {
    if (!decision.isLoss || (whyNone && decision.name == whyNone->name))
      continue;
    if (whyNone && decision.name == "NoAttention") {
      Decision joined = decision;
      joined.text += ": " + whyNone->text +
                     "; --shard=ARG=DIMENSIONS shards that of an input, or its "
                     "batch";
      joined.loc = whyNone->loc;
      warnings.push_back({std::move(joined)});
      continue;
    }
    std::string cause = describeSourceLine(decision.loc) + " " + decision.name;
    for (char letter : decision.text)
      if (!llvm::isDigit(letter))
        cause += letter;
    auto [entry, isNew] = known.try_emplace(cause, warnings.size());
    if (isNew) {
      warnings.push_back({decision, 1, sentBytesOf(decision)});
      continue;
    }
    Warning &warning = warnings[entry->second];
    ++warning.count;
    warning.bytes += sentBytesOf(decision);
  }
  return warnings;
}

LogicalResult mlir::sp::tell(ArrayRef<Warning> warnings, bool strict) {
  constexpr size_t kMost = 10; ///< what one reads
  for (const Warning &warning : warnings.take_front(kMost)) {
    FileLineColLoc line = sourceLineOf(warning.first.loc);
    Location loc = warning.first.loc;
    if (line) // of a module that says nothing, its first
      loc = line.getLine() > 0 ? line
                               : FileLineColLoc::get(line.getFilename(), 1, 1);
    (strict ? emitError(loc) : emitWarning(loc)) << inUnits(warning.text());
  }
  if (warnings.size() > kMost)
    emitRemark(warnings[kMost].first.loc)
        << "there are " << warnings.size() - kMost
        << " more such; --explain and --report list them";
  return failure(strict && !warnings.empty());
}

json mlir::sp::describeWarnings(ArrayRef<Warning> warnings) {
  json list = json::array();
  for (const Warning &warning : warnings)
    list.push_back({{"name", warning.first.name},
                    {"location", describeLocation(warning.first.loc)},
                    {"text", inUnits(warning.text())},
                    {"count", warning.count},
                    {"bytes", warning.bytes}});
  return list;
}
