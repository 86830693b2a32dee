//===- LocalizeAttention.cpp - Attention as its plan says -----------------===//
//
// Strategies are compositions of the same few moves:
//
//   gather   k, v = all_gather              one attend, local q x every key
//   heads    q, k, v = all_to_all           rows of the ring owner x own heads,
//                                           and back with the result
//   inner    k, v = shift, W - 1 times      W attends onto one state
//   outer    k, v = shift along windows     a turn of the inner ring each
//   merge    q = all_gather                 one attend, every q x own keys,
//                                           and the state of all ranks
//
// Gathered or exchanged heads may come in groups, of which two are there at
// once:
//
//   k0 = gather   k1 = gather   attend k0   k2 = gather   attend k1   ...
//
// In turns, queries are one block after another, exchanged when it is their
// turn, onto which keys that have come once are attended, or a ring for each
// (QueryTurns.cpp). Rings are RingAttention.cpp.
//
//===----------------------------------------------------------------------===//

#include "Attention/LocalAttention.h"
#include "Attention/QueryTurns.h"
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
        terms(attention.terms), headPart(attention.headPart),
        moves(builder, loc, plan, attention.query, attention.key),
        states(builder, op, plan && (plan.getRing() > 1 || plan.getMerge() > 1),
               attention.sink, attention.mean),
        queries(attention.queries), keys(attention.keys),
        heads(moves.allHeads()) {}

  State emit() {
    if (plan && plan.getGather() > 1)
      return emitGathered();
    if (plan && plan.getHeads() > 1)
      return emitHeads();
    if (plan && plan.getMerge() > 1)
      return emitMerged();
    if (moves.isInTurns())
      queries = queries.getByTurn();
    return emitQueries(query);
  }

private:
  /// What a rank attends of a group of heads.
  struct HeldGroup {
    Value query;
    RingBlock own;
    HeadGroup heads;
  };

  /// Attends the groups of heads that `bring` brings, and joins their results.
  State emitGroups(function_ref<HeldGroup(int64_t group)> bring) {
    SmallVector<Value> results, sums;
    forEachGroup(plan.getGroups(), bring, [&](const HeldGroup &here) {
      std::tie(own, heads) = std::tie(here.own, here.heads);
      State state = emitQueries(here.query);
      results.push_back(state.output);
      if (op.getLse())
        sums.push_back(state.lse);
    });
    return {moves.joinHeads(results),
            op.getLse() ? moves.joinHeads(sums) : Value()};
  }

  /// Attends all queries at once, or those of one turn after another.
  State emitQueries(Value all) {
    if (!moves.isInTurns()) {
      query = all;
      State state = emitRing();
      done = state.lse;
      return giveBack(finalize(state));
    }
    QueryTurns turns(builder, loc, queries);
    AttentionTerms ofAll = terms;
    SmallVector<RowsOfTurns> rows = turns.rowsOf(terms);
    rows.insert(rows.begin(), {all});
    auto attendTurn = [&](Value turn, ArrayRef<Value> parts,
                          ValueRange) -> QueryTurns::Made {
      query = parts.front();
      turns.replaceRows(terms, parts.drop_front());
      querySource = turns.owner(turn);
      if (moves.isExchanged()) {
        query = moves.toHeads(query, heads.query, exchanged);
        moves.toHeads(terms.of(TermKind::PerQuery), exchanged);
      }
      State state = giveBack(finalize(emitRing()));
      SmallVector<Value> made = {state.output};
      if (op.getLse())
        made.push_back(state.lse);
      return {made, {}};
    };
    SmallVector<Value> made = turns.run(rows, {}, attendTurn).rows;
    terms = ofAll;
    done = made.back();
    return {made.front(), made.back()};
  }

  /// What was exchanged, to the rows that it came from.
  State giveBack(State state) {
    if (!moves.isExchanged())
      return state;
    auto toRows = [&](Value value) {
      return moves.toRows(value, heads.query, exchanged);
    };
    return {toRows(state.output), op.getLse() ? toRows(state.lse) : Value()};
  }

  /// Gathers keys and values, a group of heads after another; what is said of
  /// keys serves all heads and comes with the first ones.
  State emitGathered() {
    HeldGroup whole = {query, own, {}};
    LayoutAttr rows = keys;
    keys = denseLayout(keys);
    if (moves.isInTurns())
      queries = queries.getByTurn();
    return emitGroups(
        [&](int64_t number) { return gather(whole, number, rows); });
  }

  HeldGroup gather(HeldGroup &whole, int64_t number, LayoutAttr rows) {
    HeadGroup group = moves.group(number);
    SmallVector<Value> held = whole.own.operands;
    moves.takeHeads(held, group.kv);
    Value q = moves.takeHeads(whole.query, group.query);
    moves.gatherRows(number, held, whole.own.terms, rows, done);
    return {q, {held, whole.own.terms, {}}, group};
  }

  /// Exchanges rows for heads, attends, and goes back.
  State emitHeads() {
    HeldGroup whole = {query, own, {}};
    ExchangedRows keyRows = moves.exchangedRows(keys);
    exchanged = moves.exchangedQueries(queries);
    if (!moves.isInTurns())
      moves.toHeads(terms.of(TermKind::PerQuery), exchanged);
    queries = moves.attendedRows(queries);
    keys = keyRows.joined;
    moves.toHeads(whole.own.terms, keyRows);
    // Exchanges keep their order: the next one follows that of the result.
    return emitGroups([&](int64_t number) -> HeldGroup {
      HeadGroup group = moves.group(number);
      Value q = moves.isInTurns()
                    ? moves.takeHeads(whole.query, group.query)
                    : moves.toHeads(whole.query, group.query, exchanged);
      RingBlock held = whole.own;
      moves.toHeads(held.operands, group.kv, keyRows);
      return {q, held, group};
    });
  }

  /// Attends all queries to the keys that are here, and merges what the ranks
  /// make of them.
  State emitMerged() {
    LayoutAttr rows = queries;
    if (!rows.isDense()) {
      queries = denseLayout(rows);
      moves.gatherRows(0, query, terms.of(TermKind::PerQuery), rows, Value());
    }
    return finalize(states.merge(attend(begin(), own), moves, rows));
  }

  State emitRing() {
    if (!plan || plan.getRing() == 1)
      return attend(begin(), own);
    auto attendHere = [&](RingAttention::State state, RingBlock &block,
                          Value source) -> RingAttention::State {
      State next = attend({state[0], state[1]}, block, source);
      return {next.output, next.lse};
    };
    RingAttention ring(
        builder, loc,
        {plan, keys, heads.kv.dealt, dealtKvHeads(),
         readersOf(queries, op.getBands(), op.getDocumentsAttr())},
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
                           heads.query.first,
                           headPart};
    blocks.terms.replace(TermKind::PerKey, block.terms);
    blocks.querySource = querySource;
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
  HeadPartAttr headPart;
  AttentionMoves moves;
  AttentionState states;
  LayoutAttr queries, keys;
  ExchangedRows exchanged; ///< of queries at once, or of those of a turn
  Value querySource;       ///< in turns
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
