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

#include "Localizer.h"

#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// The softmax state.
struct State {
  Value output, lse;
};

/// Keys and values that travel together.
struct Block {
  Value key, value;
};

class AttentionEmitter {
public:
  AttentionEmitter(OpBuilder &builder, const LocalAttention &attention)
      : builder(builder), op(attention.op), loc(op.getLoc()),
        plan(op.getPlan().value_or(PlanAttr())), query(attention.query),
        own{attention.key, attention.value}, queries(attention.queries),
        keys(attention.keys) {}

  Value emit() {
    if (!plan || plan.getRanks() == 1)
      return finalize(attend({}, own));
    if (plan.getGather() > 1) {
      own = {gatherRows(own.key), gatherRows(own.value)};
      keys = denseLayout(keys);
      return finalize(attend({}, own));
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
          exchange(result, rows, joined, heads.getLength(), true));
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
    heads =
        LayoutAttr::get(builder.getContext(), LayoutKind::Contiguous,
                        count * shared, plan.getHeadsAxis(), plan.getHeads());
    auto toHeads = [&](Value value, LayoutAttr from, LayoutAttr onto,
                       int64_t perKv) {
      Value cut = cutHeads(value, first * perKv, count * perKv);
      return exchange(cut, from, onto, count * perKv, false);
    };
    Value q = toHeads(whole.query, rows, queries, shared);
    return {q,
            {toHeads(whole.own.key, keyRows, keys, 1),
             toHeads(whole.own.value, keyRows, keys, 1)},
            heads,
            count};
  }

  /// Between rows of all of `headCount` heads and joined rows of dealt heads.
  Value exchange(Value value, LayoutAttr rows, LayoutAttr joined,
                 int64_t headCount, bool toRows) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = (toRows ? rows : joined).getMaxCount();
    shape[2] = toRows ? headCount : getMaxHeads(heads, headCount);
    return AllToAllOp::create(builder, loc, type.clone(shape), value, rows,
                              joined.isDense() ? LayoutAttr() : joined, heads,
                              headCount, toRows);
  }

  State emitRing() {
    if (plan.getRing() == 1)
      return attend({}, own);
    rank = RankOp::create(builder, loc, builder.getIndexType(),
                          plan.getRingAxis());
    int64_t windows = plan.getOuter();
    if (windows == 1)
      return turn({}, own, builder.getIndexAttr(0));
    auto first = [&](OpFoldResult window) {
      return source(window, builder.getIndexAttr(0));
    };
    OpFoldResult zero = builder.getIndexAttr(0),
                 last = builder.getIndexAttr(windows - 1);
    Block next = shift(own, first(zero), plan.getOuterAxis());
    State state = turn({}, own, zero);
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
    auto loop = scf::ForOp::create(
        builder, loc, bound(1), bound(end), bound(1),
        ValueRange{state.output, state.lse, block.key, block.value});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ValueRange carried = loop.getRegionIterArgs();
    auto [next, following] =
        body(loop.getInductionVar(), {carried[0], carried[1]},
             {carried[2], carried[3]});
    scf::YieldOp::create(
        builder, loc,
        ValueRange{next.output, next.lse, following.key, following.value});
    return {{loop.getResult(0), loop.getResult(1)},
            {loop.getResult(2), loop.getResult(3)}};
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

  State attend(State state, Block block, Value source = Value()) {
    auto type = cast<RankedTensorType>(query.getType());
    Type element = type.getElementType().isF64() ? builder.getF64Type()
                                                 : Type(builder.getF32Type());
    SmallVector<int64_t> shape(type.getShape().drop_back());
    auto lseType = RankedTensorType::get(shape, element);
    shape.push_back(
        cast<RankedTensorType>(block.value.getType()).getDimSize(3));
    auto outputType = RankedTensorType::get(shape, element);
    auto partial = AttendOp::create(
        builder, loc, TypeRange{outputType, lseType}, query, block.key,
        block.value, state.output, state.lse, source, queries, keys, heads,
        kvHeads(), op.getBands(), op.getScaleAttr(), op.getNameAttr());
    return {partial.getOutput(), partial.getLse()};
  }

  Block shift(Block block, Value source, StringRef axis) {
    StringAttr along;
    if (axis != keys.getAxis())
      along = builder.getStringAttr(axis);
    auto moved = ShiftOp::create(
        builder, loc, TypeRange{block.key.getType(), block.value.getType()},
        ValueRange{block.key, block.value}, source, 1, keys, along, heads,
        kvHeads());
    return {moved.getResult(0), moved.getResult(1)};
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

  Value finalize(State state) {
    Value output = state.output;
    auto type = cast<RankedTensorType>(output.getType());
    ArrayRef<int64_t> q = op.getQuery().getType().getShape();
    int64_t keys = op.getKey().getType().getDimSize(1);
    bool mayBeEmpty = !toAlgebra(op.getBands()).emptyRows(q[1], keys).empty();
    if (mayBeEmpty && op.getEmpty() == Empty::Nan) {
      // A row that saw no key has lse = -inf, which only then equals the fill.
      auto lseType = cast<RankedTensorType>(state.lse.getType());
      const llvm::fltSemantics &semantics =
          cast<FloatType>(type.getElementType()).getFloatSemantics();
      Value infinity = splat(builder, loc, lseType,
                             FloatAttr::get(type.getElementType(),
                                            APFloat::getInf(semantics, true)));
      Value empty =
          stablehlo::CompareOp::create(builder, loc, state.lse, infinity,
                                       stablehlo::ComparisonDirection::EQ);
      Value mask = stablehlo::BroadcastInDimOp::create(
          builder, loc,
          RankedTensorType::get(type.getShape(), builder.getI1Type()), empty,
          ArrayRef<int64_t>{0, 1, 2});
      Value nan = splat(
          builder, loc, type,
          FloatAttr::get(type.getElementType(), APFloat::getNaN(semantics)));
      output = stablehlo::SelectOp::create(builder, loc, mask, nan, output);
    }
    Type element = cast<RankedTensorType>(op.getType()).getElementType();
    if (element != type.getElementType())
      output = stablehlo::ConvertOp::create(builder, loc, type.clone(element),
                                            output);
    return output;
  }

  OpBuilder &builder;
  AttentionOp op;
  Location loc;
  PlanAttr plan;
  /// Local operands and how their rows are dealt, before or after heads are
  /// exchanged.
  Value query;
  Block own;
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
