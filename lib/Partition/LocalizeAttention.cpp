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
// Gathered or exchanged heads may come in groups, of which two are there at
// once:
//
//   k0 = gather   k1 = gather   attend k0   k2 = gather   attend k1   ...
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
    if (plan.getGather() > 1)
      return emitGathered();
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

  /// Attends the groups of heads that `bring` brings, and joins what `giveBack`
  /// makes of each result. The next group comes before the attention that hides
  /// it, `after` the one before: no more than two groups are there at once.
  Value emitGroups(function_ref<HeadGroup(int64_t group, Value after)> bring,
                   function_ref<Value(Value)> giveBack) {
    SmallVector<Value> results;
    Value done;
    HeadGroup next = bring(0, done);
    for (int64_t group = 0; group < plan.getGroups(); ++group) {
      HeadGroup here = next;
      if (group + 1 < plan.getGroups())
        next = bring(group + 1, done);
      std::tie(query, own, heads, kvCount) =
          std::tie(here.query, here.own, here.heads, here.kvCount);
      State state = emitRing();
      done = state.lse;
      results.push_back(giveBack(finalize(state)));
    }
    if (results.size() == 1)
      return results.front();
    auto type = cast<RankedTensorType>(results.front().getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[2] = allHeads();
    return stablehlo::ConcatenateOp::create(builder, loc, type.clone(shape),
                                            results, 2);
  }

  /// Gathers keys and values, a group of heads after another; what is said of
  /// keys serves all heads.
  Value emitGathered() {
    HeadGroup whole = {query, own, {}, 0};
    LayoutAttr rows = keys;
    keys = denseLayout(keys);
    for (Value &term : whole.own.perKey)
      term = gatherRows(term, rows, Value());
    return emitGroups(
        [&](int64_t group, Value after) {
          return gather(whole, group, rows, after);
        },
        [](Value result) { return result; });
  }

  HeadGroup gather(const HeadGroup &whole, int64_t group, LayoutAttr rows,
                   Value after) {
    auto [kvFirst, kvHeads] = plan.getKvGroup(group, allKvHeads());
    HeadRange range = queryHeads(kvFirst, kvHeads);
    Value k = sliceDim(builder, loc, whole.own.key, 2, kvFirst, kvHeads);
    Value v = sliceDim(builder, loc, whole.own.value, 2, kvFirst, kvHeads);
    return {sliceDim(builder, loc, whole.query, 2, range.first, range.count),
            {gatherRows(k, rows, after), gatherRows(v, rows, after),
             whole.own.perKey},
            range,
            kvHeads};
  }

  /// Exchanges rows for heads, attends, and goes back.
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
    // Exchanges keep their order: the next one follows that of the result.
    return emitGroups(
        [&](int64_t group, Value) {
          return exchange(whole, group, rows, keyRows);
        },
        [&](Value result) {
          return exchange(result, rows, joined, heads.dealt, heads.count, true);
        });
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

  Value gatherRows(Value value, LayoutAttr rows, Value after) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = rows.getLength();
    return AllGatherOp::create(builder, loc, type.clone(shape), value, 1, rows,
                               after);
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
  int64_t kvCount = 0; ///< kv heads of the group at hand
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
