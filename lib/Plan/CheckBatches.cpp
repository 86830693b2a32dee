#include "CheckBatches.h"

using namespace mlir;
using namespace mlir::sp;

/// Of which documents the queries of an attention are, and its keys.
static DocumentsAttr documentsOf(const PlannedAttention &op) {
  Operation *first = op.ops.front();
  if (auto forward = dyn_cast<AttentionOp>(first))
    return forward.getDocumentsAttr();
  return cast<AttentionBackwardOp>(first).getDocumentsAttr();
}

static LogicalResult checkDocuments(ArrayRef<PlannedAttention> attentions) {
  DocumentsAttr shared = documentsOf(attentions.front());
  for (const PlannedAttention &op : attentions) {
    auto refuse = [&]() {
      return emitError(op.getLoc())
             << "expected --tokens-per-rank where all attentions are within "
                "the same documents but "
             << op.getName();
    };
    DocumentsAttr documents = documentsOf(op);
    if (!documents)
      return refuse() << " is within none that could be found; --explain says "
                         "more, leave out the option or the attention's mask "
                         "must tell documents apart by inputs";
    if (documents.getQueries() != documents.getKeys())
      return refuse() << " tells those of queries and of keys by different "
                         "numbers";
    if (documents != shared) {
      InFlightDiagnostic error = refuse();
      error << " has others than the first one";
      error.attachNote(attentions.front().getLoc()) << "which is this one";
      return error;
    }
    if (op.batch != 1)
      return refuse() << " has " << op.batch
                      << " sequences at a time, each with documents of its "
                         "own; --accumulate with as many micro-batches as the "
                         "batch has rows takes one at a time";
  }
  return success();
}

LogicalResult mlir::sp::checkBatches(const BatchesAsked &asked, int64_t ranks,
                                     ArrayRef<PlannedAttention> attentions) {
  Location loc = attentions.front().getLoc();
  if (ranks == 1)
    return emitError(loc)
           << "expected a mesh with several ranks that share the sequence for "
              "--tokens-per-rank but it has one; leave the option out";
  if (!asked.strategy->dealsBatches)
    return emitError(loc) << "expected --tokens-per-rank with --strategy=auto, "
                          << listStrategies([](const Strategy &one) {
                               return one.dealsBatches;
                             })
                          << " but got \"" << asked.strategy->name << "\"";
  if (asked.batchRanks > 1)
    return emitError(loc)
           << "expected no axis of " << asked.batchRanks
           << " ranks for the batch with --tokens-per-rank, whose rows run one "
              "after the other; give its ranks to the sequence";
  if (asked.factors.outer > 1)
    return emitError(loc)
           << "expected --tokens-per-rank without --inner: the ring of a "
              "document has one window; leave one of them out";
  if (asked.factors.ring() == 1)
    return emitError(loc) << "expected a ring for --tokens-per-rank but all "
                          << ranks
                          << " ranks share heads; give fewer with --heads";
  if (asked.layout != "auto")
    return emitError(loc) << "expected --tokens-per-rank, by which documents "
                             "say who has which tokens, without --layout but "
                             "got \""
                          << asked.layout << "\"";
  if (asked.turns > 1 && asked.factors.heads > 1)
    return emitError(loc)
           << "expected --tokens-per-rank with --chunks on a ring of all "
           << ranks << " ranks but " << asked.factors.heads
           << " of them share heads, whose exchange knows all of a rank's rows "
              "alone; ask for --strategy=ring, or leave one of them out";
  if (asked.tokensPerRank % asked.turns != 0) {
    int64_t next = llvm::alignTo(asked.tokensPerRank, asked.turns);
    return emitError(loc)
           << "expected --tokens-per-rank of a multiple of the " << asked.turns
           << " blocks that --chunks cuts a rank's tokens into but got "
           << asked.tokensPerRank << "; "
           << (next > attentions.front().queries ? next - asked.turns : next)
           << " is one";
  }
  if (asked.bidirectional)
    return emitError(loc)
           << "expected --tokens-per-rank without --bidirectional: the ring of "
              "a document turns one way; leave one of them out";
  for (const PlannedAttention &op : attentions) {
    int64_t least = llvm::divideCeil(op.queries, ranks);
    if (asked.tokensPerRank < least || asked.tokensPerRank > op.queries)
      return emitError(op.getLoc())
             << "expected --tokens-per-rank of " << least << " to "
             << op.queries << ", to hold the " << op.queries << " tokens of "
             << op.getName() << " on " << ranks << " ranks, but got "
             << asked.tokensPerRank;
  }
  return checkDocuments(attentions);
}
