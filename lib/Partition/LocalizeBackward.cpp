//===- LocalizeBackward.cpp - Gradients of attention as their plan says ---===//
//
// The strategies of LocalizeAttention.cpp, with gradients on the way back:
//
//   gather   k, v = all_gather              one attend_backward, local q x
//   every
//            dk, dv = reduce_scatter        key
//   heads    q, k, v, do, lse, delta = all_to_all
//            dq, dk, dv = all_to_all        kv heads that several ranks hold:
//            sum
//   rings    k, v = shift, dk, dv follow    RingAttention.cpp
//
// delta = rowsum(do * o) is made of local rows before anything moves, so that o
// stays. Gradients are in the state's type until they are whole, and rounded
// once.
//
//===----------------------------------------------------------------------===//

#include "AttentionMoves.h"
#include "Localizer.h"
#include "RingAttention.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// A part of the gradients, or all of them: dk and dv of a rank's own keys, or
/// of every key where these are gathered.
using Gradients = AttentionGradients;

class BackwardEmitter {
public:
  BackwardEmitter(OpBuilder &builder, const LocalBackward &backward)
      : builder(builder), op(backward.op), loc(op.getLoc()),
        plan(op.getPlan().value_or(PlanAttr())),
        here{backward.query,
             backward.cotangent,
             backward.lse,
             Value(),
             {backward.key, backward.value, backward.terms.perKey, {}},
             {}},
        terms(backward.terms),
        moves(builder, loc, plan, op.getQuery().getType().getDimSize(2),
              op.getKey().getType().getDimSize(2)),
        queries(backward.queries), keys(backward.keys) {
    here.heads = moves.allHeads();
    here.delta = makeDelta(backward.output, backward.cotangent);
  }

  Gradients emit() {
    if (!plan || plan.getRanks() == 1)
      return round(attend(here.own));
    if (plan.getGather() > 1)
      return emitGathered();
    if (plan.getHeads() > 1)
      return emitHeads();
    return round(emitRing());
  }

private:
  /// What a rank attends of a group of heads.
  struct HeldGroup {
    Value query, cotangent, lse, delta;
    KeyBlock own;
    HeadGroup heads;
  };

  Type stateType() {
    return cast<RankedTensorType>(op.getLse().getType()).getElementType();
  }

  Value convert(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    return stablehlo::ConvertOp::create(builder, loc, type.clone(element),
                                        value);
  }

  Value roundQuery(Value gradient) {
    return convert(gradient, op.getDQuery().getType().getElementType());
  }
  Value roundKey(Value gradient) {
    return convert(gradient, op.getDKey().getType().getElementType());
  }
  Value roundValue(Value gradient) {
    return convert(gradient, op.getDValue().getType().getElementType());
  }
  Gradients round(const Gradients &whole) {
    return {roundQuery(whole.query), roundKey(whole.key),
            roundValue(whole.value)};
  }

  /// One number a query and head.
  Value makeDelta(Value output, Value cotangent) {
    Value left = convert(cotangent, stateType()),
          right = convert(output, stateType());
    Value product = stablehlo::MulOp::create(builder, loc, left, right);
    return sumDim(builder, loc, product, 3);
  }

  /// Attends the groups of heads that `bring` brings, and joins what `giveBack`
  /// makes of each group's gradients.
  Gradients emitGroups(function_ref<HeldGroup(int64_t group)> bring,
                       function_ref<Gradients(const Gradients &)> giveBack) {
    SmallVector<Value> query, key, value;
    forEachGroup(plan.getGroups(), bring, [&](const HeldGroup &group) {
      here = group;
      Gradients parts = emitRing();
      done = parts.query;
      parts = giveBack(parts);
      query.push_back(parts.query);
      key.push_back(parts.key);
      value.push_back(parts.value);
    });
    return {moves.joinHeads(query), moves.joinHeads(key),
            moves.joinHeads(value)};
  }

  /// Gathers keys and values, a group of heads after another, and adds up what
  /// the ranks' queries make of each key where it is at home.
  Gradients emitGathered() {
    HeldGroup whole = here;
    LayoutAttr rows = keys;
    keys = denseLayout(keys);
    // Joined with those of the forward, gathered keys would lie in memory since
    // then.
    done = here.delta;
    moves.gatherRows(whole.own.perKey, rows, done);
    auto bring = [&](int64_t number) -> HeldGroup {
      HeadGroup group = moves.group(number);
      Value k = moves.takeHeads(whole.own.key, group.kv),
            v = moves.takeHeads(whole.own.value, group.kv);
      k = moves.gatherRows(k, rows, done);
      v = moves.gatherRows(v, rows, done);
      return {moves.takeHeads(whole.query, group.query),
              moves.takeHeads(whole.cotangent, group.query),
              moves.takeHeads(whole.lse, group.query),
              moves.takeHeads(whole.delta, group.query),
              {k, v, whole.own.perKey, {}},
              group};
    };
    return emitGroups(bring, [&](const Gradients &parts) {
      return round({parts.query, moves.scatterRows(parts.key, rows),
                    moves.scatterRows(parts.value, rows)});
    });
  }

  /// Exchanges rows for heads, attends, and goes back. Exchanges keep their
  /// order: those of the next group follow those of the gradients.
  Gradients emitHeads() {
    HeldGroup whole = here;
    ExchangedRows rows = moves.exchangedRows(queries),
                  keyRows = moves.exchangedRows(keys);
    queries = rows.joined;
    keys = keyRows.joined;
    moves.toHeads(terms.perQuery, rows);
    moves.toHeads(whole.own.perKey, keyRows);
    auto bring = [&](int64_t number) -> HeldGroup {
      HeadGroup group = moves.group(number);
      auto ofQueries = [&](Value value) {
        return moves.toHeads(value, group.query, rows);
      };
      Value q = ofQueries(whole.query),
            k = moves.toHeads(whole.own.key, group.kv, keyRows),
            v = moves.toHeads(whole.own.value, group.kv, keyRows),
            cotangent = ofQueries(whole.cotangent), lse = ofQueries(whole.lse),
            delta = ofQueries(whole.delta);
      return {q, cotangent, lse, delta, {k, v, whole.own.perKey, {}}, group};
    };
    return emitGroups(bring, [&](const Gradients &parts) -> Gradients {
      Value query =
          moves.toRows(roundQuery(parts.query), here.heads.query, rows);
      // What is whole already travels in the type of the result.
      if (!moves.isShared(here.heads.kv))
        return {query,
                moves.toRows(roundKey(parts.key), here.heads.kv, keyRows),
                moves.toRows(roundValue(parts.value), here.heads.kv, keyRows)};
      return {query,
              roundKey(moves.sumToRows(parts.key, here.heads.kv, keyRows)),
              roundValue(moves.sumToRows(parts.value, here.heads.kv, keyRows))};
    });
  }

  Gradients emitRing() {
    if (plan.getRing() == 1)
      return attend(here.own);
    auto attendBlock = [&](RingAttention::State state, KeyBlock &block,
                           Value source) -> RingAttention::State {
      auto [query, key, value] = attend(block, state[0], source);
      block.gradients = {key, value};
      return {query};
    };
    RingAttention ring(builder, loc,
                       {plan, keys, here.heads.kv.dealt, dealtKvHeads(),
                        /*isBackward=*/true},
                       attendBlock);
    auto [state, gradients] = ring.emit({Value()}, here.own);
    return {state[0], gradients[0], gradients[1]};
  }

  /// Adds to the gradients of the queries and to those of the block.
  Gradients attend(const KeyBlock &block, Value ontoQuery = Value(),
                   Value source = Value()) {
    auto typeOf = [&](Value value) -> Type {
      return cast<RankedTensorType>(value.getType()).clone(stateType());
    };
    bool continues = !block.gradients.empty();
    auto partial = AttendBackwardOp::create(
        builder, loc,
        TypeRange{typeOf(here.query), typeOf(block.key), typeOf(block.value)},
        here.query, block.key, block.value, here.cotangent, here.lse,
        here.delta, ontoQuery, continues ? block.gradients[0] : Value(),
        continues ? block.gradients[1] : Value(), source, terms.perQuery,
        block.perKey, terms.perHead, terms.pair, terms.table, queries, keys,
        here.heads.query.dealt, dealtKvHeads(),
        builder.getI64IntegerAttr(here.heads.query.first), op.getBands(),
        op.getScaleAttr(), op.getScoreAttr(), op.getNameAttr());
    return {partial.getDQuery(), partial.getDKey(), partial.getDValue()};
  }

  IntegerAttr dealtKvHeads() {
    return here.heads.kv.dealt ? builder.getI64IntegerAttr(here.heads.kv.count)
                               : IntegerAttr();
  }

  OpBuilder &builder;
  AttentionBackwardOp op;
  Location loc;
  PlanAttr plan;
  /// Local operands, at first with all heads.
  HeldGroup here;
  LocalTerms terms;
  AttentionMoves moves;
  /// How their rows are dealt, before or after heads are exchanged.
  LayoutAttr queries, keys;
  /// There once the group before is attended.
  Value done;
};

} // namespace

AttentionGradients
mlir::sp::emitAttentionBackward(OpBuilder &builder,
                                const LocalBackward &backward) {
  return BackwardEmitter(builder, backward).emit();
}
