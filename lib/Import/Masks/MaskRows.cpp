//===- MaskRows.cpp - Bands from visible keys, row by row -----------------===//
//
//   query 0   x            three documents, causal: in each the first key stays
//         1   x x          and the last moves along, so that each is one band
//         2       x
//         3       x x
//         4           x
//
//===----------------------------------------------------------------------===//

#include "Masks/MaskAnalysis.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::Band;
using sprt::algebra::Interval;

/// Rows times places of change that are looked at.
static constexpr int64_t maxSteps = int64_t(1) << 25;
/// A mask of more bands is better read as a tensor.
static constexpr size_t maxBands = 4096;

namespace {

/// A run of rows with one interval each.
struct Run {
  int64_t row;
  Interval first, last;
  /// How far an end moves from row to row: 0 or 1, known from the second row.
  int begin = -1, end = -1;

  bool extend(const Interval &next) {
    int64_t moved[2] = {next.begin - last.begin, next.end - last.end};
    int known[2] = {begin, end};
    for (unsigned i = 0; i < 2; ++i)
      if (moved[i] < 0 || moved[i] > 1 ||
          (known[i] >= 0 && moved[i] != known[i]))
        return false;
    begin = int(moved[0]);
    end = int(moved[1]);
    last = next;
    return true;
  }

  Band toBand(int64_t rowsEnd) const {
    Band band{row, rowsEnd, first.begin, last.end};
    if (begin == 1)
      band.lo = first.begin - row;
    if (end == 1)
      band.hi = first.end - 1 - row;
    return band;
  }
};

} // namespace

/// The visible intervals of a row; `places` are where visibility may change.
static std::vector<Interval>
intervalsOf(int64_t query, int64_t keys, ArrayRef<int64_t> breaks,
            ArrayRef<int64_t> differences,
            function_ref<bool(int64_t, int64_t)> isVisible) {
  std::vector<int64_t> places = {0};
  auto isInside = [&](int64_t place) { return place > 0 && place < keys; };
  llvm::copy_if(breaks, std::back_inserter(places), isInside);
  for (int64_t difference : differences)
    if (isInside(query + difference))
      places.push_back(query + difference);
  llvm::sort(places);
  places.push_back(keys);
  std::vector<Interval> intervals;
  for (size_t i = 0; i + 1 < places.size(); ++i) {
    if (places[i] == places[i + 1] || !isVisible(query, places[i]))
      continue;
    if (!intervals.empty() && intervals.back().end == places[i])
      intervals.back().end = places[i + 1];
    else
      intervals.push_back({places[i], places[i + 1]});
  }
  return intervals;
}

std::optional<sprt::algebra::Bands>
mlir::sp::bandsByRow(int64_t queries, int64_t keys, ArrayRef<int64_t> breaks,
                     ArrayRef<int64_t> differences,
                     function_ref<bool(int64_t, int64_t)> isVisible) {
  int64_t places = int64_t(breaks.size() + differences.size()) + 1;
  if (places > maxSteps / std::max<int64_t>(queries, 1))
    return std::nullopt;
  std::vector<Band> bands;
  std::vector<Run> open;
  for (int64_t query = 0; query < queries; ++query) {
    std::vector<Run> next;
    for (const Interval &interval :
         intervalsOf(query, keys, breaks, differences, isVisible)) {
      auto run = llvm::find_if(
          open, [&](Run &candidate) { return candidate.extend(interval); });
      if (run == open.end()) {
        next.push_back({query, interval, interval});
        continue;
      }
      next.push_back(*run);
      open.erase(run);
    }
    for (const Run &run : open)
      bands.push_back(run.toBand(query));
    open = std::move(next);
    if (bands.size() + open.size() > maxBands)
      return std::nullopt;
  }
  for (const Run &run : open)
    bands.push_back(run.toBand(queries));
  return sprt::algebra::Bands(std::move(bands)).simplified();
}

LogicalResult MaskAnalysis::cutByRow() {
  int64_t queries = axes.queryLength(component.labels);
  int64_t keys = component.labels.size(axes.key);
  auto addChanges = [](const std::vector<uint32_t> &classes,
                       std::vector<int64_t> &cuts) {
    for (size_t i = 1; i < classes.size(); ++i)
      if (classes[i] != classes[i - 1])
        cuts.push_back(int64_t(i));
  };
  for (const Threshold &threshold : thresholds) {
    addChanges(threshold.keyClass, keyCuts);
    addChanges(threshold.queryClass, queryCuts);
    std::vector<int64_t> &cuts = threshold.kind == Kind::Query ? queryCuts
                                 : threshold.kind == Kind::Key ? keyCuts
                                                               : differenceCuts;
    if (threshold.kind != Kind::Constant)
      llvm::append_range(cuts, threshold.cuts);
  }
  for (std::vector<int64_t> *cuts : {&queryCuts, &keyCuts, &differenceCuts}) {
    llvm::sort(*cuts);
    cuts->erase(std::unique(cuts->begin(), cuts->end()), cuts->end());
  }
  bool isKnown = true;
  std::optional<sprt::algebra::Bands> found = bandsByRow(
      queries, keys, keyCuts, differenceCuts, [&](int64_t query, int64_t key) {
        unsigned truths = 0;
        for (auto [i, threshold] : llvm::enumerate(thresholds))
          if (threshold.kind != Kind::Constant && threshold.truthOf(query, key))
            truths |= 1U << i;
        std::optional<bool> shown = visible(truths, query, key);
        isKnown &= shown.has_value();
        return shown.value_or(false);
      });
  Location location = component.weights()->value.getLoc();
  if (!isKnown)
    return refuse("its weights are not the exponential of a constant times the "
                  "product of queries and keys",
                  location);
  if (!found)
    return refuse("its mask has too many pieces to be bands", location);
  bands = *found;
  return success();
}
