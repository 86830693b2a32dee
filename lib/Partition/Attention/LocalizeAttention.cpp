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

#include "Attention/LocalAttention.h"
#include "Attention/RingAttention.h"

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
        own{{attention.key, attention.value},
            llvm::to_vector(attention.terms.of(TermKind::PerKey)),
            {}},
        terms(attention.terms),
        moves(builder, loc, plan, op.getQuery().getType().getDimSize(2),
              op.getKey().getType().getDimSize(2)),
        states(builder, op, plan && plan.getRing() > 1, attention.sink,
               attention.mean),
        queries(attention.queries), keys(attention.keys),
        heads(moves.allHeads()) {}

  State emit() {
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
  struct HeldGroup {
    Value query;
    RingBlock own;
    HeadGroup heads;
  };

  /// Attends the groups of heads that `bring` brings, and joins what `giveBack`
  /// makes of each result.
  State emitGroups(function_ref<HeldGroup(int64_t group)> bring,
                   function_ref<Value(Value)> giveBack) {
    SmallVector<Value> results, sums;
    forEachGroup(plan.getGroups(), bring, [&](const HeldGroup &here) {
      std::tie(query, own, heads) = std::tie(here.query, here.own, here.heads);
      State state = emitRing();
      done = state.lse;
      state = finalize(state);
      results.push_back(giveBack(state.output));
      if (op.getLse())
        sums.push_back(giveBack(state.lse));
    });
    return {moves.joinHeads(results),
            op.getLse() ? moves.joinHeads(sums) : Value()};
  }

  /// Gathers keys and values, a group of heads after another; what is said of
  /// keys serves all heads.
  State emitGathered() {
    HeldGroup whole = {query, own, {}};
    LayoutAttr rows = keys;
    keys = denseLayout(keys);
    moves.gatherRows(whole.own.terms, rows, Value());
    return emitGroups(
        [&](int64_t number) { return gather(whole, number, rows); },
        [](Value result) { return result; });
  }

  HeldGroup gather(const HeldGroup &whole, int64_t number, LayoutAttr rows) {
    HeadGroup group = moves.group(number);
    RingBlock all = whole.own;
    moves.takeHeads(all.operands, group.kv);
    Value q = moves.takeHeads(whole.query, group.query);
    moves.gatherRows(all.operands, rows, done);
    return {q, all, group};
  }

  /// Exchanges rows for heads, attends, and goes back.
  State emitHeads() {
    HeldGroup whole = {query, own, {}};
    ExchangedRows rows = moves.exchangedRows(queries),
                  keyRows = moves.exchangedRows(keys);
    queries = rows.joined;
    keys = keyRows.joined;
    moves.toHeads(terms.of(TermKind::PerQuery), rows);
    moves.toHeads(whole.own.terms, keyRows);
    // Exchanges keep their order: the next one follows that of the result.
    return emitGroups(
        [&](int64_t number) -> HeldGroup {
          HeadGroup group = moves.group(number);
          Value q = moves.toHeads(whole.query, group.query, rows);
          RingBlock held = whole.own;
          moves.toHeads(held.operands, group.kv, keyRows);
          return {q, held, group};
        },
        [&](Value result) { return moves.toRows(result, heads.query, rows); });
  }

  State emitRing() {
    if (plan.getRing() == 1)
      return attend(begin(), own);
    auto attendHere = [&](RingAttention::State state, RingBlock &block,
                          Value source) -> RingAttention::State {
      State next = attend({state[0], state[1]}, block, source);
      return {next.output, next.lse};
    };
    RingAttention ring(
        builder, loc,
        {plan, keys, heads.kv.dealt, dealtKvHeads(),
         ReadersAttr::get(builder.getContext(), queries, op.getBands())},
        attendHere);
    State start = begin();
    auto [state, gradients] = ring.emit({start.output, start.lse}, own);
    return {state[0], state[1]};
  }

  State begin() { return states.begin(query, heads.query); }
  State finalize(State state) { return states.finalize(state, heads.query); }

  State attend(State state, const RingBlock &block, Value source = Value()) {
    auto [outputType, lseType] = states.types(query);
    AttendBlocks blocks = {query,
                           block.operands[0],
                           block.operands[1],
                           terms,
                           queries,
                           keys,
                           heads.query.dealt,
                           dealtKvHeads(),
                           heads.query.first};
    blocks.terms.replace(TermKind::PerKey, block.terms);
    blocks.source = source;
    auto partial = AttendOp::create(builder, loc, outputType, lseType, blocks,
                                    state, states.form(), PairScores::of(op));
    return {partial.getOutput(), partial.getLse()};
  }

  IntegerAttr dealtKvHeads() {
    return heads.kv.dealt ? builder.getI64IntegerAttr(heads.kv.count)
                          : IntegerAttr();
  }

  OpBuilder &builder;
  AttentionOp op;
  Location loc;
  PlanAttr plan;
  /// Local operands and how their rows are dealt, before or after heads are
  /// exchanged.
  Value query;
  RingBlock own;
  AttentionTerms terms;
  AttentionMoves moves;
  AttentionState states;
  LayoutAttr queries, keys;
  /// The heads that are attended.
  HeadGroup heads;
  /// There once the group before is attended.
  Value done;
};

} // namespace

SoftmaxState mlir::sp::emitAttention(OpBuilder &builder,
                                     const LocalAttention &attention) {
  return AttentionEmitter(builder, attention).emit();
}
