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
// Ring of W, rank r at step t, holds the block of rank (r - t) mod W:
//
//   step 0        shift own block out       attend own
//   step t        shift block on            attend block (r - t) mod W
//   step W - 1                              attend block (r + 1) mod W
//
// A double ring (LoongTrain, arXiv:2406.18485) hands each window's first block
// to the next window while the window turns.
//
//===----------------------------------------------------------------------===//

#include "AttentionState.h"
#include "Localizer.h"

#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

using State = SoftmaxState;

/// Keys and values that travel together, and what terms say of each key.
struct Block {
  Value key, value;
  SmallVector<Value> perKey;
};

class AttentionEmitter {
public:
  AttentionEmitter(OpBuilder &builder, const LocalAttention &attention)
      : builder(builder), op(attention.op), loc(op.getLoc()),
        plan(op.getPlan().value_or(PlanAttr())), query(attention.query),
        own{attention.key, attention.value, attention.perKey},
        perQuery(attention.perQuery), perHead(attention.perHead),
        pair(attention.pair), table(attention.table),
        states(builder, op, attention.sink, attention.mean),
        queries(attention.queries), keys(attention.keys) {}

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
  /// A group of heads, exchanged: the rows of the ring owner.
  struct HeadGroup {
    Value query;
    Block own;
    LayoutAttr heads;
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
          exchange(result, rows, joined, heads, heads.getLength(), true));
    }
    if (results.size() == 1)
      return results.front();
    auto type = cast<RankedTensorType>(results.front().getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[2] = op.getQuery().getType().getDimSize(2);
    return stablehlo::ConcatenateOp::create(builder, loc, type.clone(shape),
                                            results, 2);
  }

  HeadGroup exchange(const HeadGroup &whole, int64_t group, LayoutAttr rows,
                     LayoutAttr keyRows) {
    int64_t kvHeads = op.getKey().getType().getDimSize(2),
            shared = op.getQuery().getType().getDimSize(2) / kvHeads;
    std::pair<int64_t, int64_t> part = plan.getKvGroup(group, kvHeads);
    int64_t first = part.first, count = part.second;
    heads = plan.getHeadsLayout(count * shared);
    auto toHeads = [&](Value value, LayoutAttr from, LayoutAttr onto,
                       int64_t perKv) {
      Value cut = cutHeads(value, first * perKv, count * perKv);
      return exchange(cut, from, onto, heads, count * perKv, false);
    };
    Value q = toHeads(whole.query, rows, queries, shared);
    return {q,
            {toHeads(whole.own.key, keyRows, keys, 1),
             toHeads(whole.own.value, keyRows, keys, 1), whole.own.perKey},
            heads,
            count};
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
    rank = RankOp::create(builder, loc, builder.getIndexType(),
                          plan.getRingAxis());
    int64_t windows = plan.getOuter();
    if (windows == 1)
      return turn(begin(), own, builder.getIndexAttr(0));
    auto first = [&](OpFoldResult window) {
      return source(window, builder.getIndexAttr(0));
    };
    OpFoldResult zero = builder.getIndexAttr(0),
                 last = builder.getIndexAttr(windows - 1);
    Block next = shift(own, first(zero), plan.getOuterAxis());
    State state = turn(begin(), own, zero);
    if (windows > 2)
      std::tie(state, next) = loop(
          windows - 1, state, next, [&](Value window, State state, Block here) {
            Block next = shift(here, first(window), plan.getOuterAxis());
            return std::pair(turn(state, here, window), next);
          });
    return turn(state, next, last);
  }

  /// One turn of the inner ring, from the block that a window begins with.
  State turn(State state, Block block, OpFoldResult window) {
    int64_t steps = plan.getInner();
    auto sourceAt = [&](OpFoldResult step) { return source(window, step); };
    auto number = [&](int64_t n) { return builder.getIndexAttr(n); };
    Value begin = sourceAt(number(0));
    if (steps == 1)
      return attend(state, block, begin);
    Block next = shift(block, begin, plan.getInnerAxis());
    state = attend(state, block, begin);
    if (steps > 2)
      std::tie(state, next) = loop(
          steps - 1, state, next, [&](Value step, State state, Block here) {
            Value from = sourceAt(step);
            Block next = shift(here, from, plan.getInnerAxis());
            return std::pair(attend(state, here, from), next);
          });
    return attend(state, next, sourceAt(number(steps - 1)));
  }

  /// Steps 1 to `end`, exclusive, over a state and a block.
  std::pair<State, Block>
  loop(int64_t end, State state, Block block,
       function_ref<std::pair<State, Block>(Value, State, Block)> body) {
    auto bound = [&](int64_t n) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, n);
    };
    auto listed = [](const State &state, const Block &block) {
      SmallVector<Value> values = {state.output, state.lse, block.key,
                                   block.value};
      llvm::append_range(values, block.perKey);
      return values;
    };
    auto read = [](ValueRange values) -> std::pair<State, Block> {
      return {{values[0], values[1]},
              {values[2], values[3], llvm::to_vector(values.drop_front(4))}};
    };
    auto loop = scf::ForOp::create(builder, loc, bound(1), bound(end), bound(1),
                                   listed(state, block));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    auto [here, carried] = read(loop.getRegionIterArgs());
    auto [next, following] = body(loop.getInductionVar(), here, carried);
    scf::YieldOp::create(builder, loc, listed(next, following));
    return read(loop.getResults());
  }

  /// The ring owner whose block is here in a step of a window: with o windows
  /// of w ranks ((r / w - window) mod o) * w + (r - step) mod w.
  Value source(OpFoldResult window, OpFoldResult step) {
    int64_t o = plan.getOuter(), w = plan.getInner();
    SmallVector<Value> operands = {rank};
    auto expression = [&](OpFoldResult value, int64_t turn) -> AffineExpr {
      if (auto known = dyn_cast<Attribute>(value)) {
        int64_t number = cast<IntegerAttr>(known).getInt();
        return builder.getAffineConstantExpr(number ? turn - number : 0);
      }
      operands.push_back(cast<Value>(value));
      return -builder.getAffineDimExpr(operands.size() - 1);
    };
    AffineExpr r = builder.getAffineDimExpr(0);
    AffineExpr back = expression(window, o), steps = expression(step, w);
    AffineExpr owner = o == 1
                           ? (r + steps) % w
                           : ((r.floorDiv(w) + back) % o) * w + (r + steps) % w;
    if (o == 1 && steps == builder.getAffineConstantExpr(0))
      return rank;
    return affine::AffineApplyOp::create(
        builder, loc, AffineMap::get(operands.size(), 0, owner), operands);
  }

  State begin() { return states.begin(query, heads); }
  Value finalize(State state) { return states.finalize(state, heads); }

  State attend(State state, Block block, Value source = Value()) {
    auto [outputType, lseType] = states.types(query);
    auto partial = AttendOp::create(
        builder, loc, TypeRange{outputType, lseType}, query, block.key,
        block.value, state.output, state.lse, source, perQuery, block.perKey,
        perHead, pair, table, queries, keys, heads, kvHeads(), op.getBands(),
        op.getScaleAttr(), op.getScoreAttr(), op.getNameAttr());
    return {partial.getOutput(), partial.getLse()};
  }

  Block shift(Block block, Value source, StringRef axis) {
    StringAttr along;
    if (axis != keys.getAxis())
      along = builder.getStringAttr(axis);
    auto move = [&](ValueRange values, LayoutAttr heads, IntegerAttr kvHeads) {
      return ShiftOp::create(builder, loc, values.getTypes(), values, source, 1,
                             keys, along, heads, kvHeads);
    };
    ShiftOp moved = move({block.key, block.value}, heads, kvHeads());
    Block next = {moved.getResult(0), moved.getResult(1), {}};
    if (!block.perKey.empty())
      next.perKey =
          llvm::to_vector(ValueRange(move(block.perKey, {}, {}).getResults()));
    return next;
  }

  Value gatherRows(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = keys.getLength();
    return AllGatherOp::create(builder, loc, type.clone(shape), value, 1, keys);
  }

  IntegerAttr kvHeads() {
    return heads ? builder.getI64IntegerAttr(kvCount) : IntegerAttr();
  }

  Value cutHeads(Value value, int64_t first, int64_t count) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> start(4, 0), limit(type.getShape()), stride(4, 1);
    if (count == limit[2])
      return value;
    start[2] = first;
    limit[2] = first + count;
    SmallVector<int64_t> shape(type.getShape());
    shape[2] = count;
    return stablehlo::SliceOp::create(builder, loc, type.clone(shape), value,
                                      start, limit, stride);
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
  Block own;
  SmallVector<Value> perQuery, perHead, pair, table;
  AttentionState states;
  LayoutAttr queries, keys, heads;
  int64_t kvCount = 0; ///< kv heads of the group that is exchanged
  /// Coordinate in the ring.
  Value rank;
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
    if (pair.getDimSize(1) > 1)
      dims[1] = dealtDim(plan->getHeadsLayout(pair.getDimSize(1)));
  }
  if (!queries.isDense())
    dims[2] = dealtDim(queries);
  return dims;
}
