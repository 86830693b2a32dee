#include "planner/BatchPlan.h"

#include "planner/GangSchedule.h"
#include "planner/Packing.h"
#include "support/Sha256.h"

#include <algorithm>
#include <optional>

namespace sprt {

namespace {

/// The first document that has found no room, if one has not.
std::optional<BatchDocument> assignAll(const Batch &batch,
                                       Assignment &assignment, bool tightly) {
  GangSchedule gangs(assignment, batch.limit(),
                     tightly ? INT64_MAX : batch.bound);
  BatchDocuments wholeOnes;
  for (const BatchDocument &document : batch.documents) {
    if (document.degree > 1 && gangs.place(document))
      continue;
    if (!batch.fits(document))
      return document;
    wholeOnes.push_back(document);
  }
  const BatchDocument *left = (tightly ? packTightly : packEvenly)(
      wholeOnes, assignment, batch.limit());
  return left ? std::optional(*left) : std::nullopt;
}

/// Seven bits a byte, the lowest first, and the eighth where more follow.
void appendNumber(std::string &bytes, int64_t number) {
  uint64_t rest = uint64_t(number);
  for (; rest > 127; rest >>= 7)
    bytes.push_back(char(rest | 128));
  bytes.push_back(char(rest));
}

} // namespace

Status planBatch(const std::vector<int64_t> &lengths,
                 const BatchOptions &options, BatchPlan &plan) {
  Batch batch;
  if (Status failure = batch.read(lengths, options))
    return failure;
  std::optional<BatchDocument> left;
  // Where micro-batches are few, first of all everything has to fit: documents
  // on fewer ranks leave room for others.
  constexpr int64_t kPercents[] = {100, 125, 150, 200, 300, 0};
  for (int64_t percent : kPercents) {
    batch.chooseDegrees(percent);
    for (bool tightly : {false, true}) {
      Assignment assignment(options);
      left = assignAll(batch, assignment, tightly);
      if (!left) {
        plan = assignment.take();
        return Status::success();
      }
    }
    if (!options.spread)
      break;
  }
  return fail(SPRT_INVALID_ARGUMENT)
         << "expected room for document " << left->index << " of "
         << left->length << " tokens in " << options.maxMicroBatches
         << " micro-batches of " << options.ranks
         << " ranks with a capacity of " << options.capacity
         << " but the others leave none; allow more micro-batches";
}

int64_t BatchPlan::microBatches() const {
  size_t most = 0;
  for (const std::vector<Work> &own : work)
    most = std::max(most, own.size());
  return int64_t(most);
}

std::string BatchPlan::hash() const {
  std::string bytes = "sprt batch plan 1\n";
  appendNumber(bytes, int64_t(work.size()));
  for (const std::vector<Work> &own : work) {
    appendNumber(bytes, int64_t(own.size()));
    for (const Work &each : own) {
      appendNumber(bytes, each.group.first);
      appendNumber(bytes, each.group.size);
      appendNumber(bytes, int64_t(each.pieces.size()));
      for (const Piece &piece : each.pieces) {
        appendNumber(bytes, piece.document);
        appendNumber(bytes, piece.begin);
        appendNumber(bytes, piece.end - piece.begin);
      }
    }
  }
  std::string digits;
  for (uint8_t byte : sha256(bytes)) {
    digits.push_back("0123456789abcdef"[byte >> 4]);
    digits.push_back("0123456789abcdef"[byte & 15]);
  }
  return digits;
}

} // namespace sprt
