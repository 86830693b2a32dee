//===- LocalizeAttention.cpp - Attention as its plan says -----------------===//
//
// Strategies are compositions of the same few moves. With P ranks on the axis:
//
//   gather = P   k, v = all_gather             one attend, local q x every key
//   heads = P    q, k, v = all_to_all          one attend, every row x own
//   heads,
//                                              o = all_to_all to rows
//   inner = P    k, v = shift, P - 1 times     P attends onto one state
//
// Ring, rank r at step t, holds the block of rank (r - t) mod P:
//
//   step 0        shift own block out          attend own
//   step t        shift block on               attend block (r - t) mod P
//   step P - 1                                 attend block (r + 1) mod P
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

class AttentionEmitter {
public:
  AttentionEmitter(OpBuilder &builder, const LocalAttention &attention)
      : builder(builder), attention(attention), op(attention.op),
        loc(op.getLoc()) {}

  Value emit() {
    std::optional<PlanAttr> plan = op.getPlan();
    if (!plan || plan->getRanks() == 1)
      return finalize(attend({}, attention.query, attention.key,
                             attention.value, attention.queries,
                             attention.keys));
    if (plan->getGather() > 1)
      return emitGather();
    if (plan->getHeads() > 1)
      return emitHeads(*plan);
    return emitRing(*plan);
  }

private:
  Value emitGather() {
    return finalize(attend({}, attention.query, gatherRows(attention.key),
                           gatherRows(attention.value), attention.queries,
                           denseLayout(attention.keys)));
  }

  Value emitHeads(PlanAttr plan) {
    int64_t headCount = op.getQuery().getType().getDimSize(2),
            kvCount = op.getKey().getType().getDimSize(2);
    LayoutAttr heads =
        LayoutAttr::get(builder.getContext(), LayoutKind::Contiguous, headCount,
                        plan.getAxis(), plan.getHeads());
    Value q = toHeads(attention.query, attention.queries, heads, headCount);
    Value k = toHeads(attention.key, attention.keys, heads, kvCount);
    Value v = toHeads(attention.value, attention.keys, heads, kvCount);
    Value result =
        finalize(attend({}, q, k, v, denseLayout(attention.queries),
                        denseLayout(attention.keys), Value(), heads));
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = attention.queries.getMaxCount();
    shape[2] = headCount;
    return AllToAllOp::create(builder, loc, type.clone(shape), result,
                              attention.queries, heads, headCount,
                              /*to_rows=*/true);
  }

  Value emitRing(PlanAttr plan) {
    int64_t ranks = plan.getInner();
    Value rank =
        RankOp::create(builder, loc, builder.getIndexType(), plan.getAxis());
    auto [key, value] = shift(attention.key, attention.value, rank);
    State state = attend({}, attention.query, attention.key, attention.value,
                         attention.queries, attention.keys, rank);
    if (ranks > 2) {
      auto bound = [&](int64_t n) -> Value {
        return arith::ConstantIndexOp::create(builder, loc, n);
      };
      auto loop =
          scf::ForOp::create(builder, loc, bound(1), bound(ranks - 1), bound(1),
                             ValueRange{state.output, state.lse, key, value});
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      ValueRange carried = loop.getRegionIterArgs();
      // The block here at step t is that of rank (r - t) mod P.
      AffineExpr r = builder.getAffineDimExpr(0),
                 t = builder.getAffineDimExpr(1);
      Value source = affine::AffineApplyOp::create(
          builder, loc, AffineMap::get(2, 0, (r - t) % ranks),
          ValueRange{rank, loop.getInductionVar()});
      auto [nextKey, nextValue] = shift(carried[2], carried[3], source);
      State next =
          attend({carried[0], carried[1]}, attention.query, carried[2],
                 carried[3], attention.queries, attention.keys, source);
      scf::YieldOp::create(
          builder, loc, ValueRange{next.output, next.lse, nextKey, nextValue});
      state = {loop.getResult(0), loop.getResult(1)};
      key = loop.getResult(2);
      value = loop.getResult(3);
      builder.setInsertionPointAfter(loop);
      state = attendLast(state, key, value, rank, ranks);
      return finalize(state);
    }
    return finalize(attendLast(state, key, value, rank, ranks));
  }

  State attendLast(State state, Value key, Value value, Value rank,
                   int64_t ranks) {
    AffineExpr r = builder.getAffineDimExpr(0);
    Value source = affine::AffineApplyOp::create(
        builder, loc, AffineMap::get(1, 0, (r + 1) % ranks), ValueRange{rank});
    return attend(state, attention.query, key, value, attention.queries,
                  attention.keys, source);
  }

  State attend(State state, Value q, Value k, Value v, LayoutAttr queries,
               LayoutAttr keys, Value source = Value(),
               LayoutAttr heads = LayoutAttr()) {
    auto type = cast<RankedTensorType>(q.getType());
    Type element = type.getElementType().isF64() ? builder.getF64Type()
                                                 : Type(builder.getF32Type());
    SmallVector<int64_t> shape(type.getShape().drop_back());
    auto lseType = RankedTensorType::get(shape, element);
    shape.push_back(cast<RankedTensorType>(v.getType()).getDimSize(3));
    auto outputType = RankedTensorType::get(shape, element);
    IntegerAttr kvHeads;
    if (heads)
      kvHeads = builder.getI64IntegerAttr(op.getKey().getType().getDimSize(2));
    auto partial = AttendOp::create(
        builder, loc, TypeRange{outputType, lseType}, q, k, v, state.output,
        state.lse, source, queries, keys, heads, kvHeads, op.getBands(),
        op.getScaleAttr(), op.getNameAttr());
    return {partial.getOutput(), partial.getLse()};
  }

  std::pair<Value, Value> shift(Value key, Value value, Value source) {
    auto moved =
        ShiftOp::create(builder, loc, TypeRange{key.getType(), value.getType()},
                        ValueRange{key, value}, source, 1, attention.keys);
    return {moved.getResult(0), moved.getResult(1)};
  }

  Value gatherRows(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = attention.keys.getLength();
    return AllGatherOp::create(builder, loc, type.clone(shape), value, 1,
                               attention.keys);
  }

  Value toHeads(Value value, LayoutAttr rows, LayoutAttr heads,
                int64_t headCount) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = rows.getLength();
    shape[2] = getMaxHeads(heads, headCount);
    return AllToAllOp::create(builder, loc, type.clone(shape), value, rows,
                              heads, headCount, /*to_rows=*/false);
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
  const LocalAttention &attention;
  AttentionOp op;
  Location loc;
};

} // namespace

Value mlir::sp::emitAttention(OpBuilder &builder,
                              const LocalAttention &attention) {
  return AttentionEmitter(builder, attention).emit();
}
