#include "planner/Batch.h"

#include "sprt/algebra/Layout.h"

#include <algorithm>

namespace sprt {

using algebra::Layout;
using algebra::LayoutKind;

namespace {

using Wide = __int128;

/// Pairs of the first `length` queries of a document with keys before them or
/// at them.
Wide triangle(int64_t length) { return length * (Wide(length) + 1) / 2; }

int64_t ceilOf(Wide a, Wide b) { return int64_t((a + b - 1) / b); }

/// A document's cost, or more than INT64_MAX where that is what it is.
Wide documentCost(int64_t length, const BatchOptions &options) {
  Wide pairs = triangle(length), most = INT64_MAX;
  if (options.pairCost && pairs > most / options.pairCost)
    return most + 1;
  return Wide(length) * options.tokenCost + pairs * options.pairCost;
}

} // namespace

std::vector<BatchPlan::Piece> piecesOf(const BatchDocument &document,
                                       int64_t member) {
  Layout layout(LayoutKind::zigzag, document.length, document.degree);
  std::vector<BatchPlan::Piece> pieces;
  for (const algebra::Range &range : layout.ranges(member)) {
    int64_t begin = document.begin + range.first;
    pieces.push_back({document.index, begin, begin + range.count});
  }
  return pieces;
}

int64_t costOf(const std::vector<BatchPlan::Piece> &pieces,
               const BatchDocument &document, const BatchOptions &options) {
  Wide cost = 0;
  for (const BatchPlan::Piece &piece : pieces)
    cost += Wide(piece.end - piece.begin) * options.tokenCost +
            (triangle(piece.end - document.begin) -
             triangle(piece.begin - document.begin)) *
                options.pairCost;
  return int64_t(cost);
}

Status Batch::checkOptions() const {
  if (options.ranks < 1 || options.ranks > BatchOptions::maxRanks)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected 1 to " << BatchOptions::maxRanks << " ranks but got "
           << options.ranks;
  if (options.capacity < 1)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a capacity of at least 1 token but got "
           << options.capacity;
  if (options.tokenCost < 0)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a token to cost at least 0 but got "
           << options.tokenCost;
  if (options.pairCost < 0)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a pair to cost at least 0 but got " << options.pairCost;
  if (options.maxMicroBatches < 0)
    return fail(SPRT_INVALID_ARGUMENT) << "expected at least 0 micro-batches "
                                          "(0: as many as needed) but got "
                                       << options.maxMicroBatches;
  if (!options.loads.empty() && int64_t(options.loads.size()) != options.ranks)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected loads of " << options.ranks << " ranks but got "
           << options.loads.size();
  return Status::success();
}

Status Batch::readLengths(const std::vector<int64_t> &lengths) {
  Wide room = Wide(options.ranks) * options.capacity, tokens = 0, costs = 0;
  for (int64_t load : options.loads) {
    if (load < 0)
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected a load of at least 0 but got " << load;
    costs += load;
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    int64_t length = lengths[i];
    if (length < 1)
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected documents of at least 1 token but document " << i
             << " has " << length;
    if (length > room) {
      int64_t ranks = ceilOf(length, options.capacity);
      Failure failure = fail(SPRT_INVALID_ARGUMENT);
      failure << "expected documents of at most " << int64_t(room)
              << " tokens (" << options.ranks << " ranks with a capacity of "
              << options.capacity << ") but document " << i << " has " << length
              << "; it fits ";
      if (ranks <= BatchOptions::maxRanks)
        failure << "on " << ranks << " ranks, or ";
      return failure << "with a capacity of " << ceilOf(length, options.ranks);
    }
    Wide cost = documentCost(length, options);
    tokens += length;
    costs += cost;
    if (tokens > Layout::maxLength)
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected at most " << Layout::maxLength
             << " tokens in a batch but documents 0 to " << i << " have more";
    if (costs > INT64_MAX)
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected a batch to cost at most " << INT64_MAX
             << " but documents 0 to " << i
             << " cost more; give smaller costs of tokens and pairs";
    documents.push_back({int64_t(i), int64_t(tokens) - length, length,
                         int64_t(cost), 1, int64_t(cost)});
  }
  mean = ceilOf(costs, options.ranks);
  return checkRoom(int64_t(tokens));
}

Status Batch::checkRoom(int64_t tokens) const {
  Wide room = Wide(options.ranks) * options.capacity;
  if (!options.maxMicroBatches || room > tokens / options.maxMicroBatches)
    return Status::success();
  int64_t needed = ceilOf(tokens, room);
  if (needed <= options.maxMicroBatches)
    return Status::success();
  return fail(SPRT_INVALID_ARGUMENT)
         << "expected at most " << int64_t(room * options.maxMicroBatches)
         << " tokens in " << options.maxMicroBatches << " micro-batches ("
         << options.ranks << " ranks with a capacity of " << options.capacity
         << ") but got " << tokens << "; they need at least " << needed
         << " micro-batches";
}

int64_t Batch::degreeOf(const BatchDocument &document, int64_t target) const {
  int64_t fewest = ceilOf(document.length, options.capacity);
  if (!options.spread || !target)
    return fewest;
  // Up to a token a chunk: no rank goes away empty.
  int64_t degree =
      std::max(fewest, std::min({ceilOf(document.cost, target),
                                 document.length / 2, options.ranks}));
  // More ranks are worth no more than what its tokens take to travel there.
  constexpr Wide kPairsOfMove = 256;
  int64_t saved = ceilOf(document.cost, fewest) -
                  std::max(target, ceilOf(document.cost, degree));
  return saved < kPairsOfMove * options.pairCost * document.length ? fewest
                                                                   : degree;
}

void Batch::chooseDegrees(int64_t percent) {
  bound = mean;
  int64_t target = int64_t(Wide(mean) * percent / 100);
  for (BatchDocument &document : documents) {
    document.degree = degreeOf(document, target);
    document.share = document.degree == 1 ? document.cost : 0;
    for (int64_t member = 0; document.degree > 1 && member < document.degree;
         ++member)
      document.share =
          std::max(document.share,
                   costOf(piecesOf(document, member), document, options));
    bound = std::max(bound, document.share);
  }
}

Status Batch::read(const std::vector<int64_t> &lengths,
                   const BatchOptions &given) {
  options = given;
  documents.reserve(lengths.size());
  if (Status failure = checkOptions())
    return failure;
  if (Status failure = readLengths(lengths))
    return failure;
  std::sort(documents.begin(), documents.end(),
            [](const BatchDocument &a, const BatchDocument &b) {
              return a.length != b.length ? a.length > b.length
                                          : a.index < b.index;
            });
  return Status::success();
}

} // namespace sprt
