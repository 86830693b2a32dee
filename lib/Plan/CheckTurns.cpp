#include "CheckTurns.h"

using namespace mlir;
using namespace mlir::sp;

LogicalResult mlir::sp::checkTurns(int64_t turns, const Strategy *asked,
                                   StringRef backward, int64_t ranks,
                                   int64_t tokensPerRank,
                                   ArrayRef<PlannedAttention> attentions) {
  if (turns == 1)
    return success();
  Location loc = attentions.front().getLoc();
  if (asked && !asked->takesTurns())
    return emitError(loc)
           << "expected --chunks with a strategy that "
           << (asked->gathersKeys || asked->gathersQueries
                   ? "does not keep the keys, or the queries, of all ranks"
                   : "hands keys on for one block after another")
           << " but got \"" << asked->name << "\"; take "
           << listStrategies([](const Strategy &one) {
                return one.spreads() && one.takesTurns();
              });
  if (backward == "q")
    return emitError(loc)
           << "expected keys and values to travel in the backward of rings "
              "with --chunks but got --backward=q; leave it out";
  if (asked && !asked->spreads())
    ranks = 1;
  for (const PlannedAttention &op : attentions) {
    int64_t rows =
        std::max<int64_t>(llvm::divideCeil(op.queries, ranks), tokensPerRank);
    if (rows <= 1)
      return emitError(op.getLoc())
             << "expected several tokens a rank for --chunks but "
             << op.getName() << " has " << op.queries << " for " << ranks
             << " ranks; leave it out";
    if (turns < 1 || turns > rows)
      return emitError(op.getLoc())
             << "expected --chunks of 1 to " << rows << ", the "
             << (ranks > 1 ? "tokens of a rank" : "tokens") << " in "
             << op.getName() << ", but got " << turns;
  }
  return success();
}
