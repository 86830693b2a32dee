#include "planner/BatchPlan.h"

#include "sprt/algebra/Bands.h"

#include <algorithm>
#include <map>

namespace sprt {

namespace {

using algebra::Area;

/// A piece and where it lies.
struct PlacedPiece {
  int64_t rank;
  int64_t microBatch;
  BatchPlan::Span group;
  int64_t begin; ///< in the document
  int64_t end;
};

class BatchCheck {
public:
  BatchCheck(const BatchPlan &plan, const std::vector<int64_t> &lengths,
             const BatchOptions &options)
      : plan(plan), lengths(lengths), options(options), placed(lengths.size()),
        costs(plan.work.size()) {}

  Status run();

private:
  Status checkWork(int64_t rank, int64_t microBatch);
  Status checkGroup(int64_t rank, int64_t microBatch) const;
  Status checkPiece(int64_t rank, int64_t microBatch,
                    const BatchPlan::Piece &piece);
  Status checkPositions(size_t document);
  Status checkWhole(size_t document) const;
  Status checkShared(size_t document);
  Status checkDealing(size_t document, BatchPlan::Span group) const;
  Status checkArea(size_t document);
  Status checkCosts() const;

  Failure at(int64_t rank, int64_t microBatch) const {
    Failure failure = fail(SPRT_INVALID_ARGUMENT);
    failure.about(rank) << "rank " << rank << ", micro-batch " << microBatch
                        << ": ";
    return failure;
  }
  Failure of(size_t document) const {
    Failure failure = fail(SPRT_INVALID_ARGUMENT);
    failure << "document " << document << ": ";
    return failure;
  }

  const BatchPlan &plan;
  const std::vector<int64_t> &lengths;
  const BatchOptions &options;
  std::vector<int64_t> starts;
  std::vector<std::vector<PlacedPiece>> placed; ///< by document
  std::vector<Area> costs;                      ///< by rank
  /// The document of a group, by micro-batch and first rank.
  std::map<std::pair<int64_t, int64_t>, size_t> documentOf;
};

Status BatchCheck::checkGroup(int64_t rank, int64_t microBatch) const {
  auto [first, size] = plan.work[size_t(rank)][size_t(microBatch)].group;
  if (size < 1 || size > options.ranks || first < 0 ||
      first > options.ranks - size || rank < first || rank >= first + size)
    return at(rank, microBatch)
           << "expected a group of ranks with this one but got " << size
           << " from rank " << first;
  // Each is asked about the first one, which asks about all.
  int64_t end = rank == first ? first + size : first + 1;
  for (int64_t member = first; member < end; ++member) {
    const std::vector<BatchPlan::Work> &own = plan.work[size_t(member)];
    if (size_t(microBatch) >= own.size())
      return at(rank, microBatch)
             << "rank " << member << " of its group has no such micro-batch";
    BatchPlan::Span other = own[size_t(microBatch)].group;
    if (other.first != first || other.size != size)
      return at(rank, microBatch)
             << "expected rank " << member << " to be in the group of " << size
             << " ranks from " << first << " but it is in one of " << other.size
             << " from " << other.first;
  }
  return Status::success();
}

Status BatchCheck::checkPiece(int64_t rank, int64_t microBatch,
                              const BatchPlan::Piece &piece) {
  if (piece.document < 0 || size_t(piece.document) >= lengths.size())
    return at(rank, microBatch) << "expected one of " << lengths.size()
                                << " documents but got " << piece.document;
  int64_t start = starts[size_t(piece.document)];
  int64_t end = start + lengths[size_t(piece.document)];
  if (piece.begin < start || piece.begin >= piece.end || piece.end > end)
    return at(rank, microBatch)
           << "expected positions of document " << piece.document << ", of ["
           << start << ", " << end << "), but got [" << piece.begin << ", "
           << piece.end << ")";
  placed[size_t(piece.document)].push_back(
      {rank, microBatch, plan.work[size_t(rank)][size_t(microBatch)].group,
       piece.begin - start, piece.end - start});
  return Status::success();
}

Status BatchCheck::checkWork(int64_t rank, int64_t microBatch) {
  const BatchPlan::Work &work = plan.work[size_t(rank)][size_t(microBatch)];
  if (Status failure = checkGroup(rank, microBatch))
    return failure;
  int64_t tokens = 0, end = 0;
  for (const BatchPlan::Piece &piece : work.pieces) {
    if (Status failure = checkPiece(rank, microBatch, piece))
      return failure;
    if (piece.begin < end)
      return at(rank, microBatch) << "expected ascending positions but got "
                                  << piece.begin << " behind " << end;
    end = piece.end;
    tokens += piece.end - piece.begin;
  }
  if (tokens > options.capacity)
    return at(rank, microBatch) << "expected at most " << options.capacity
                                << " tokens but got " << tokens;
  return Status::success();
}

Status BatchCheck::checkPositions(size_t document) {
  std::vector<PlacedPiece> &pieces = placed[document];
  std::sort(pieces.begin(), pieces.end(),
            [](const PlacedPiece &a, const PlacedPiece &b) {
              return a.begin < b.begin;
            });
  int64_t next = 0, start = starts[document];
  for (const PlacedPiece &piece : pieces) {
    if (piece.begin > next)
      return of(document) << "no rank has position " << start + next;
    if (piece.begin < next)
      return of(document) << "position " << start + piece.begin
                          << " is there twice";
    next = piece.end;
  }
  if (next != lengths[document])
    return of(document) << "no rank has position " << start + next;
  return Status::success();
}

Status BatchCheck::checkWhole(size_t document) const {
  if (placed[document].size() == 1)
    return Status::success();
  return of(document) << "expected its " << lengths[document]
                      << " tokens on one rank, whose capacity is "
                      << options.capacity << ", but got "
                      << placed[document].size() << " pieces";
}

Status BatchCheck::checkShared(size_t document) {
  const PlacedPiece &one = placed[document].front();
  int64_t fewest = (lengths[document] - 1) / options.capacity + 1;
  if (one.group.size < fewest || (one.group.size > fewest && !options.spread))
    return of(document) << "expected a group of " << fewest << " ranks but got "
                        << one.group.size;
  for (const PlacedPiece &piece : placed[document]) {
    if (piece.microBatch != one.microBatch)
      return of(document) << "expected one micro-batch but got "
                          << one.microBatch << " on rank " << one.rank
                          << " and " << piece.microBatch << " on rank "
                          << piece.rank;
    if (piece.group.first != one.group.first)
      return of(document) << "expected all of it in the group from rank "
                          << one.group.first << " but rank " << piece.rank
                          << " has a piece";
  }
  auto [other, isNew] =
      documentOf.insert({{one.microBatch, one.group.first}, document});
  if (!isNew)
    return of(document) << "its group has document " << other->second
                        << " as well";
  return checkDealing(document, one.group);
}

/// Chunks m and 2n - 1 - m of 2n on member m of n, the first ones longer by one
/// where they do not divide.
Status BatchCheck::checkDealing(size_t document, BatchPlan::Span group) const {
  int64_t chunks = 2 * group.size;
  int64_t least = lengths[document] / chunks;
  int64_t larger = lengths[document] % chunks;
  std::vector<int64_t> held(static_cast<size_t>(chunks));
  for (const PlacedPiece &piece : placed[document]) {
    int64_t member = piece.rank - group.first;
    for (int64_t chunk : {member, chunks - 1 - member}) {
      int64_t begin = chunk * least + std::min(chunk, larger);
      int64_t end = begin + least + (chunk < larger);
      held[size_t(chunk)] += std::max<int64_t>(
          0, std::min(end, piece.end) - std::max(begin, piece.begin));
    }
  }
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    int64_t member = std::min(chunk, chunks - 1 - chunk);
    if (held[size_t(chunk)] != least + (chunk < larger))
      return of(document) << "expected " << least + (chunk < larger)
                          << " tokens of chunk " << chunk << " of " << chunks
                          << " on rank " << group.first + member << " but got "
                          << held[size_t(chunk)];
  }
  return Status::success();
}

Status BatchCheck::checkArea(size_t document) {
  int64_t length = lengths[document];
  Area all = 0;
  for (const PlacedPiece &piece : placed[document]) {
    algebra::Band band;
    band.q0 = piece.begin;
    band.q1 = piece.end;
    band.k1 = length;
    band.hi = 0;
    Area pairs = algebra::Bands({band}).area();
    all += pairs;
    costs[size_t(piece.rank)] +=
        pairs * Area(options.pairCost) +
        Area(piece.end - piece.begin) * Area(options.tokenCost);
  }
  // Queries of all pieces against all keys: as many pairs as the document has.
  Area expected = Area(length) * Area(length + 1) / 2;
  if (all != expected)
    return of(document) << "expected " << algebra::toString(expected)
                        << " visible pairs but got " << algebra::toString(all);
  return Status::success();
}

Status BatchCheck::checkCosts() const {
  if (plan.costs.size() != costs.size())
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected the costs of " << costs.size() << " ranks but got "
           << plan.costs.size();
  for (size_t rank = 0; rank < costs.size(); ++rank)
    if (costs[rank] != Area(uint64_t(plan.costs[rank])))
      return fail(SPRT_INVALID_ARGUMENT).about(int64_t(rank))
             << "rank " << rank << ": expected a cost of "
             << algebra::toString(costs[rank]) << " but got "
             << plan.costs[rank];
  return Status::success();
}

Status BatchCheck::run() {
  if (int64_t(plan.work.size()) != options.ranks)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a plan for " << options.ranks << " ranks but got "
           << plan.work.size();
  int64_t start = 0;
  for (int64_t length : lengths) {
    starts.push_back(start);
    start += length;
  }
  size_t groups = 0, most = 0;
  for (int64_t rank = 0; rank < options.ranks; ++rank) {
    const std::vector<BatchPlan::Work> &own = plan.work[size_t(rank)];
    most = std::max(most, own.size());
    for (size_t i = 0; i < own.size(); ++i) {
      if (Status failure = checkWork(rank, int64_t(i)))
        return failure;
      groups += own[i].group.size > 1 && own[i].group.first == rank;
    }
  }
  if (options.maxMicroBatches && int64_t(most) > options.maxMicroBatches)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected at most " << options.maxMicroBatches
           << " micro-batches but got " << most;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (Status failure = checkPositions(i))
      return failure;
    bool isWhole = lengths[i] <= options.capacity &&
                   (!options.spread || placed[i].size() == 1);
    if (Status failure = isWhole ? checkWhole(i) : checkShared(i))
      return failure;
    if (Status failure = checkArea(i))
      return failure;
  }
  if (groups != documentOf.size())
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected " << documentOf.size()
           << " groups, one for each document on several ranks, but got "
           << groups;
  return checkCosts();
}

} // namespace

Status checkBatch(const BatchPlan &plan, const std::vector<int64_t> &lengths,
                  const BatchOptions &options) {
  return BatchCheck(plan, lengths, options).run();
}

} // namespace sprt
