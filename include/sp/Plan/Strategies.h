/// The strategies by which an attention is spread over the ranks of an axis.
///
/// A strategy is factors of the axis: what `#sp.plan` holds, and what Partition
/// has a rule for. Its name, the options that it takes and what `auto` tries of
/// it are a row of lib/Plan/Strategies.cpp, and nowhere else.
#ifndef SP_PLAN_STRATEGIES_H
#define SP_PLAN_STRATEGIES_H

#include "sp/IR/SP.h"

namespace mlir::sp {

/// What may be asked for; 0 where it is not.
struct AskedFactors {
  int64_t heads = 0;  ///< ranks that share the heads of a ring owner
  int64_t inner = 0;  ///< ranks of a window
  int64_t groups = 1; ///< of heads, that come one after another
};

/// Factors whose product is the size of an axis.
struct AxisFactors {
  int64_t heads = 1, outer = 1, inner = 1, gather = 1, merge = 1;
  bool isDirect = false; ///< blocks of the ring go straight to their readers

  int64_t ring() const { return outer * inner; }
  int64_t product() const { return heads * ring() * gather * merge; }
};

struct Strategy {
  StringLiteral name;
  /// Of an axis of that many ranks.
  AxisFactors (*factors)(int64_t ranks, const AskedFactors &asked);
  /// Whether factors of more than one rank are this strategy's.
  bool (*isOf)(const AxisFactors &factors);

  bool takesHeads = false, takesInner = false;
  /// Whether heads come in groups, that are exchanged or that are gathered.
  bool takesGroups = false, gathersKeys = false;
  /// Whether every rank has all queries, whose states are merged.
  bool gathersQueries = false;
  /// Whether blocks travel, one way or both, of keys or of queries.
  bool hasRing = false;
  /// Whether the documents of a batch may say which rank has which tokens.
  bool dealsBatches = false;
  /// Whether `auto` tries it: also with how many ranks that share heads; of
  /// equal ones it takes the first of the table.
  bool isTried = false, isTriedByHeads = false;

  /// Whether more than one rank works on an attention.
  bool spreads() const { return factors(2, {.heads = 2}).product() > 1; }
  /// Whether queries may meet the keys one block after another.
  bool takesTurns() const {
    return !gathersKeys && !gathersQueries && !factors(2, {}).isDirect;
  }
};

/// All of them, in the order in which `auto` prefers them.
ArrayRef<Strategy> strategies();
/// Null for a name that none has.
const Strategy *findStrategy(StringRef name);
/// That a plan follows.
const Strategy &strategyOf(PlanAttr plan);
/// "ring over 8 ranks, zigzag, both ways at once".
std::string textOf(PlanAttr plan);

/// "ring, double-ring or 2d": those that `takes` holds for, as texts name them.
std::string listStrategies(function_ref<bool(const Strategy &)> takes,
                           StringRef last = " or ");

} // namespace mlir::sp

#endif // SP_PLAN_STRATEGIES_H
