//===- LocalizeAttention.cpp - Attention as its plan says -----------------===//
//
// Strategies are compositions of the same few moves:
//
//   gather   k, v = all_gather              one attend, local q x every key
//   heads    q, k, v = all_to_all           rows of the ring owner x own heads,
//                                           and back with the result
//   inner    k, v = shift, W - 1 times      W attends onto one state
//   outer    k, v = shift along windows     a turn of the inner ring each
//
// Rings are RingAttention.cpp.
//
//===----------------------------------------------------------------------===//

#include "AttentionState.h"
#include "Localizer.h"
#include "RingAttention.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

using State = SoftmaxState;

class AttentionEmitter {
public:
  AttentionEmitter(OpBuilder &builder, const LocalAttention &attention)
      : builder(builder), op(attention.op), loc(op.getLoc()),
        plan(op.getPlan().value_or(PlanAttr())), query(attention.query),
        own{attention.key, attention.value, attention.perKey},
        perQuery(attention.perQuery), perHead(attention.perHead),
        pair(attention.pair), table(attention.table),
        states(builder, op, attention.sink, attention.mean),
        queries(attention.queries), keys(attention.keys),
        heads{0, op.getQuery().getType().getDimSize(2), {}} {}

  Value emit() {
    if (!plan || plan.getRanks() == 1)
      return finalize(attend(begin(), own));
    if (plan.getGather() > 1) {
      own = {gatherRows(own.key), gatherRows(own.value),
             llvm::map_to_vector(own.perKey,
                                 [&](Value term) { return gatherRows(term); })};
      keys = denseLayout(keys);
      return finalize(attend(begin(), own));
    }
    if (plan.getHeads() > 1)
      return emitHeads();
    return finalize(emitRing());
  }

private:
  /// What a rank attends of a group of heads.
  struct HeadGroup {
    Value query;
    KeyBlock own;
    HeadRange heads;
    int64_t kvCount;
  };

  /// Exchanges rows for heads, attends, and goes back; the next group's
  /// exchange comes before the attention that it hides behind.
  Value emitHeads() {
    HeadGroup whole = {query, own, {}, 0};
    LayoutAttr rows = queries, keyRows = keys;
    LayoutAttr joined = plan.getRingRows(queries.getLength()),
               joinedKeys = plan.getRingRows(keys.getLength());
    queries = joined;
    keys = joinedKeys;
    for (Value &term : perQuery)
      term = exchangeTerm(term, rows, joined);
    for (Value &term : whole.own.perKey)
      term = exchangeTerm(term, keyRows, joinedKeys);
    SmallVector<Value> results;
    HeadGroup next = exchange(whole, 0, rows, keyRows);
    for (int64_t group = 0; group < plan.getGroups(); ++group) {
      HeadGroup here = next;
      if (group + 1 < plan.getGroups())
        next = exchange(whole, group + 1, rows, keyRows);
      std::tie(query, own, heads, kvCount) =
          std::tie(here.query, here.own, here.heads, here.kvCount);
      Value result = finalize(emitRing());
      results.push_back(
          exchange(result, rows, joined, heads.dealt, heads.count, true));
    }
    return joinHeads(results);
  }

  HeadGroup exchange(const HeadGroup &whole, int64_t group, LayoutAttr rows,
                     LayoutAttr keyRows) {
    auto [kvFirst, kvHeads] = plan.getKvGroup(group, allKvHeads());
    HeadRange range = queryHeads(kvFirst, kvHeads);
    range.dealt = plan.getHeadsLayout(range.count);
    auto toHeads = [&](Value value, LayoutAttr from, LayoutAttr onto,
                       int64_t first, int64_t count) {
      Value cut = sliceDim(builder, loc, value, 2, first, count);
      return exchange(cut, from, onto, range.dealt, count, false);
    };
    Value q = toHeads(whole.query, rows, queries, range.first, range.count);
    Value k = toHeads(whole.own.key, keyRows, keys, kvFirst, kvHeads);
    Value v = toHeads(whole.own.value, keyRows, keys, kvFirst, kvHeads);
    return {q, {k, v, whole.own.perKey}, range, kvHeads};
  }

  int64_t allHeads() { return op.getQuery().getType().getDimSize(2); }
  int64_t allKvHeads() { return op.getKey().getType().getDimSize(2); }

  /// The query heads that read kv heads [first, first + count).
  HeadRange queryHeads(int64_t first, int64_t count) {
    return {first * allHeads() / allKvHeads(),
            count * allHeads() / allKvHeads(),
            {}};
  }

  /// The results of all groups as one.
  Value joinHeads(ArrayRef<Value> results) {
    if (results.size() == 1)
      return results.front();
    auto type = cast<RankedTensorType>(results.front().getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[2] = allHeads();
    return stablehlo::ConcatenateOp::create(builder, loc, type.clone(shape),
                                            results, 2);
  }

  /// What all heads share goes to every rank: as one head for each.
  Value exchangeTerm(Value term, LayoutAttr rows, LayoutAttr joined) {
    auto type = cast<RankedTensorType>(term.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[2] = plan.getHeads();
    Value spread = stablehlo::BroadcastInDimOp::create(
        builder, loc, type.clone(shape), term, ArrayRef<int64_t>{0, 1, 2, 3});
    return exchange(spread, rows, joined, plan.getHeadsLayout(shape[2]),
                    shape[2], false);
  }

  /// Between rows of all of `headCount` heads and joined rows of dealt heads.
  Value exchange(Value value, LayoutAttr rows, LayoutAttr joined,
                 LayoutAttr dealt, int64_t headCount, bool toRows) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = (toRows ? rows : joined).getMaxCount();
    shape[2] = toRows ? headCount : getMaxHeads(dealt, headCount);
    return AllToAllOp::create(builder, loc, type.clone(shape), value, rows,
                              joined.isDense() ? LayoutAttr() : joined, dealt,
                              headCount, toRows);
  }

  State emitRing() {
    if (plan.getRing() == 1)
      return attend(begin(), own);
    auto attendHere = [&](State state, const KeyBlock &block, Value source) {
      return attend(state, block, source);
    };
    RingAttention ring(builder, loc, {plan, keys, heads.dealt, dealtKvHeads()},
                       attendHere);
    return ring.emit(begin(), own);
  }

  State begin() { return states.begin(query, heads); }
  Value finalize(State state) { return states.finalize(state, heads); }

  State attend(State state, const KeyBlock &block, Value source = Value()) {
    auto [outputType, lseType] = states.types(query);
    auto partial = AttendOp::create(
        builder, loc, TypeRange{outputType, lseType}, query, block.key,
        block.value, state.output, state.lse, source, perQuery, block.perKey,
        perHead, pair, table, queries, keys, heads.dealt, dealtKvHeads(),
        builder.getI64IntegerAttr(heads.first), op.getBands(),
        op.getScaleAttr(), op.getScoreAttr(), op.getNameAttr());
    return {partial.getOutput(), partial.getLse()};
  }

  Value gatherRows(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = keys.getLength();
    return AllGatherOp::create(builder, loc, type.clone(shape), value, 1, keys);
  }

  IntegerAttr dealtKvHeads() {
    return heads.dealt ? builder.getI64IntegerAttr(kvCount) : IntegerAttr();
  }

  LayoutAttr denseLayout(LayoutAttr layout) {
    return LayoutAttr::get(builder.getContext(), LayoutKind::Contiguous,
                           layout.getLength(), layout.getAxis(), 1);
  }

  OpBuilder &builder;
  AttentionOp op;
  Location loc;
  PlanAttr plan;
  /// Local operands and how their rows are dealt, before or after heads are
  /// exchanged.
  Value query;
  KeyBlock own;
  SmallVector<Value> perQuery, perHead, pair, table;
  AttentionState states;
  LayoutAttr queries, keys;
  /// The heads that are attended.
  HeadRange heads;
  int64_t kvCount = 0; ///< kv heads of the group that is exchanged
};

} // namespace

Value mlir::sp::emitAttention(OpBuilder &builder,
                              const LocalAttention &attention) {
  return AttentionEmitter(builder, attention).emit();
}

SmallVector<DimAttr> mlir::sp::dimsOfPair(AttentionOp op, RankedTensorType pair,
                                          DimAttr batch, LayoutAttr queries) {
  SmallVector<DimAttr> dims = llvm::to_vector(
      ShardingAttr::getReplicated(op.getContext(), pair.getShape()).getDims());
  dims[0] = batch;
  if (pair.getDimSize(2) == 1)
    return dims;
  std::optional<PlanAttr> plan = op.getPlan();
  if (plan && plan->getHeads() > 1) {
    queries = plan->getRingRows(queries.getLength());
    // A rank holds heads of every group: no layout deals those.
    if (pair.getDimSize(1) > 1 && plan->getGroups() == 1)
      dims[1] = dealtDim(plan->getHeadsLayout(pair.getDimSize(1)));
  }
  if (!queries.isDense())
    dims[2] = dealtDim(queries);
  return dims;
}
