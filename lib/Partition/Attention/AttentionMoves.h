/// The moves that attention and its gradients are spread by.
#ifndef SP_LIB_PARTITION_ATTENTIONMOVES_H
#define SP_LIB_PARTITION_ATTENTIONMOVES_H

#include "Sharding/Resharding.h"

namespace mlir::sp {

/// The heads [first, first + count) of an attention, all of them here or dealt
/// to ranks as `dealt`, a layout of query heads, says.
struct HeadRange {
  int64_t first = 0, count = 0;
  LayoutAttr dealt;
};

/// Kv heads and the query heads that read them.
struct HeadGroup {
  HeadRange query, kv;
};

/// How rows are dealt, and how those of a ring owner are joined where heads are
/// exchanged for them.
struct ExchangedRows {
  LayoutAttr rows, joined;
};

class AttentionMoves {
public:
  /// Of local queries and keys with all heads that are the rank's.
  AttentionMoves(OpBuilder &builder, Location loc, PlanAttr plan, Value query,
                 Value key)
      : builder(builder), loc(loc), plan(plan),
        heads(cast<RankedTensorType>(query.getType()).getDimSize(2)),
        kvHeads(cast<RankedTensorType>(key.getType()).getDimSize(2)) {}

  /// One of the plan's groups of heads.
  HeadGroup group(int64_t number) const;
  /// All heads at once, of which none is dealt.
  HeadGroup allHeads() const;
  /// Rows of a sequence, once exchanged.
  ExchangedRows exchangedRows(LayoutAttr rows) const {
    return {rows, plan.getRingRows(rows.getLength())};
  }
  /// Those of queries, or of one turn of them.
  ExchangedRows exchangedQueries(LayoutAttr rows) const {
    if (!isInTurns())
      return exchangedRows(rows);
    return {rows.getBlock(),
            plan.getRingRowsByTurn(rows.getLength()).getBlock()};
  }
  /// How queries are dealt that heads were exchanged for.
  LayoutAttr attendedRows(LayoutAttr rows) const {
    return isInTurns() ? plan.getRingRowsByTurn(rows.getLength())
                       : plan.getRingRows(rows.getLength());
  }
  bool isInTurns() const { return plan && plan.getTurns() > 1; }
  bool isExchanged() const { return plan && plan.getHeads() > 1; }

  /// Dimension 2 of a value with all heads.
  Value takeHeads(Value value, const HeadRange &range) const;
  void takeHeads(MutableArrayRef<Value> values, const HeadRange &range) const;
  /// Groups of heads in dimension 2, one after another.
  Value joinHeads(ArrayRef<Value> groups) const;

  /// Every row of a group's operands, and with those of the first group every
  /// row of terms, which serve all. They travel together, once `after` is
  /// there.
  void gatherRows(int64_t group, MutableArrayRef<Value> operands,
                  MutableArrayRef<Value> terms, LayoutAttr rows,
                  Value after) const;
  /// Of every row the sum over ranks, on the rank whose it is.
  SmallVector<Value> scatterRows(ValueRange values, LayoutAttr rows) const;
  /// The same, or the sum on every rank where all have the rows.
  SmallVector<Value> sumRows(ValueRange values, LayoutAttr rows) const;
  SmallVector<Value> reduce(ValueRange values, Reduction kind) const;
  /// From rows of all heads of a range to joined rows of its dealt heads:
  /// [batch, rows, heads] or with a last dimension.
  Value toHeads(Value value, const HeadRange &range,
                const ExchangedRows &rows) const;
  void toHeads(MutableArrayRef<Value> values, const HeadRange &range,
               const ExchangedRows &rows) const;
  /// What all heads share goes to every rank: as one head for each.
  void toHeads(MutableArrayRef<Value> terms, const ExchangedRows &rows) const;
  Value toRows(Value value, const HeadRange &range,
               const ExchangedRows &rows) const;
  /// As `toRows`, for parts of kv heads: one that several ranks hold gets the
  /// sum of theirs.
  Value sumToRows(Value value, const HeadRange &range,
                  const ExchangedRows &rows) const;
  /// Whether several ranks hold a kv head of the range.
  bool isShared(const HeadRange &kv) const;

private:
  Value exchange(Value value, const HeadRange &range, const ExchangedRows &rows,
                 bool toRows) const;
  SmallVector<SmallVector<int64_t>> slotsOf(const HeadRange &kv) const;

  OpBuilder &builder;
  Location loc;
  PlanAttr plan;
  int64_t heads, kvHeads;
};

/// The layout of gathered rows.
LayoutAttr denseLayout(LayoutAttr layout);

/// Who needs blocks that travel, in any turn where rows have turns.
ReadersAttr readersOf(LayoutAttr rows, ArrayAttr bands,
                      DocumentsAttr documents);

/// Brings group after group of heads and attends each. The next group comes
/// before the attention that hides it, so that two are there at once.
template <typename BringT, typename AttendT>
void forEachGroup(int64_t groups, BringT bring, AttendT attend) {
  auto next = bring(0);
  for (int64_t group = 0; group < groups; ++group) {
    auto here = next;
    if (group + 1 < groups)
      next = bring(group + 1);
    attend(here);
  }
}

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_ATTENTIONMOVES_H
