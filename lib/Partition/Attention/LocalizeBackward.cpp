//===- LocalizeBackward.cpp - Gradients of attention as their plan says ---===//
//
// The strategies of LocalizeAttention.cpp, with gradients on the way back:
//
//   gather   k, v = all_gather              one attend_backward, local q
//            dk, dv = reduce_scatter        x every key
//   heads    q, k, v, do, lse, delta = all_to_all
//            dq, dk, dv = all_to_all        kv heads of several ranks: sum
//   rings    k, v = shift, dk, dv follow    RingAttention.cpp
//            q, do, ... = shift, dq follows where queries travel
//   merge    q, do, lse, delta = all_gather one attend_backward, every q x own
//            dq = reduce_scatter            keys
//
// In turns, the gradients of one block of queries after another are made, onto
// those of the keys that turns before have left.
// delta = rowsum(do * o) - dlse is made before anything moves, so that o stays.
// Gradients are in the state's type until they are whole, and rounded once. Of
// terms those with rows go the way of dq, sums over queries stay until the end.
//
//===----------------------------------------------------------------------===//

#include "Attention/LocalAttention.h"
#include "Attention/QueryTurns.h"
#include "Attention/RingAttention.h"
#include "Attention/TermGradients.h"
#include "sp/StableHLO/TensorTypes.h"

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
        here{{{backward.query, backward.cotangent, backward.lse,
               deltaOf(builder, loc, backward.output, backward.cotangent,
                       backward.lseCotangent, stateType())},
              llvm::to_vector(backward.terms.of(TermKind::PerQuery)),
              {}},
             {{backward.key, backward.value},
              llvm::to_vector(backward.terms.of(TermKind::PerKey)),
              {}},
             {}},
        terms(backward.terms), headPart(backward.headPart),
        moves(builder, loc, plan, backward.query, backward.key),
        queryRows(backward.queries), keyRows(backward.keys),
        sums(builder, op, headPart) {
    here.heads = moves.allHeads();
  }

  Gradients emit() {
    Gradients whole = emitParts();
    sums.reduce(whole.terms, rowsAtHome);
    return whole;
  }

private:
  /// The operands of blocks.
  enum OfQueries { kQuery, kCotangent, kLse, kDelta };
  enum OfKeys { kKey, kValue };

  /// What a rank attends of a group of heads.
  struct HeldGroup {
    RingBlock queries, keys;
    HeadGroup heads;
  };

  Gradients emitParts() {
    if (plan && plan.getGather() > 1)
      return emitGathered();
    if (plan && plan.getHeads() > 1)
      return emitHeads();
    if (plan && plan.getMerge() > 1)
      return emitMerged();
    if (moves.isInTurns())
      queryRows = queryRows.getByTurn();
    return roundKeys(emitQueries());
  }

  Type stateType() {
    return cast<RankedTensorType>(op.getLse().getType()).getElementType();
  }

  Value convert(Value value, RankedTensorType like) {
    return convertType(builder, loc, value,
                       typeOf(value).clone(like.getElementType()));
  }

  Value roundQuery(Value gradient) {
    return convert(gradient, op.getDQuery().getType());
  }
  Value roundKey(Value gradient) {
    return convert(gradient, op.getDKey().getType());
  }
  Value roundValue(Value gradient) {
    return convert(gradient, op.getDValue().getType());
  }
  Gradients roundKeys(const Gradients &whole) {
    return {whole.query, roundKey(whole.key), roundValue(whole.value),
            whole.terms};
  }

  /// Attends the groups of heads that `bring` brings, and joins what
  /// `giveKeysBack` makes of each group's gradients.
  Gradients
  emitGroups(function_ref<HeldGroup(int64_t group)> bring,
             function_ref<Gradients(const Gradients &)> giveKeysBack) {
    SmallVector<Value> query, key, value;
    SmallVector<SmallVector<Value>> terms(op.getDTerms().size());
    forEachGroup(plan.getGroups(), bring, [&](const HeldGroup &group) {
      here = group;
      Gradients parts = giveKeysBack(emitQueries());
      query.push_back(parts.query);
      key.push_back(parts.key);
      value.push_back(parts.value);
      for (auto [groups, part] : llvm::zip_equal(terms, parts.terms))
        groups.push_back(part);
    });
    Gradients whole = {moves.joinHeads(query), moves.joinHeads(key),
                       moves.joinHeads(value)};
    for (auto [number, groups] : llvm::enumerate(terms))
      whole.terms.push_back(sums.isSum(number) ? groups.back()
                                               : moves.joinHeads(groups));
    return whole;
  }

  /// Gathers keys and values, a group of heads after another, and adds up what
  /// the ranks' queries make of each key where it is at home.
  Gradients emitGathered() {
    HeldGroup whole = here;
    LayoutAttr rows = keyRows;
    keyRows = denseLayout(keyRows);
    if (moves.isInTurns())
      queryRows = queryRows.getByTurn();
    // With those of the forward gathered keys would lie there since then.
    done = here.queries.operands[kDelta];
    auto bring = [&](int64_t number) -> HeldGroup {
      HeldGroup group = {whole.queries, whole.keys, moves.group(number)};
      moves.takeHeads(group.keys.operands, group.heads.kv);
      moves.gatherRows(number, group.keys.operands, whole.keys.terms, rows,
                       done);
      group.keys.terms = whole.keys.terms;
      moves.takeHeads(group.queries.operands, group.heads.query);
      return group;
    };
    return emitGroups(bring, [&](const Gradients &parts) {
      SmallVector<Value> own =
          moves.scatterRows({parts.key, parts.value}, rows);
      return roundKeys({parts.query, own[0], own[1], parts.terms});
    });
  }

  /// Brings all queries to the keys that are here, and adds up what the ranks'
  /// keys make of each query where it is at home.
  Gradients emitMerged() {
    LayoutAttr rows = queryRows;
    // Sums over queries are then parts by what a rank has of the keys.
    rowsAtHome = keyRows;
    if (!rows.isDense()) {
      queryRows = denseLayout(rows);
      moves.gatherRows(0, here.queries.operands, here.queries.terms, rows,
                       Value());
    }
    Gradients whole = emitRing();
    SmallVector<Value> ofRows = {whole.query};
    for (auto [number, term] : llvm::enumerate(whole.terms))
      if (!sums.isSum(number))
        ofRows.push_back(term);
    ofRows = moves.sumRows(ofRows, rows);
    whole.query = roundQuery(ofRows.front());
    whole.terms = sums.joined(ArrayRef(ofRows).drop_front());
    return roundKeys(whole);
  }

  /// Exchanges rows for heads, attends, and goes back. Exchanges keep their
  /// order: those of the next group follow those of the gradients.
  Gradients emitHeads() {
    HeldGroup whole = here;
    ExchangedRows ofKeys = moves.exchangedRows(keyRows);
    exchanged = moves.exchangedQueries(queryRows);
    if (!moves.isInTurns())
      moves.toHeads(whole.queries.terms, exchanged);
    queryRows = moves.attendedRows(queryRows);
    keyRows = ofKeys.joined;
    moves.toHeads(whole.keys.terms, ofKeys);
    auto bring = [&](int64_t number) -> HeldGroup {
      HeldGroup group = {whole.queries, whole.keys, moves.group(number)};
      const HeadGroup &heads = group.heads;
      if (moves.isInTurns())
        moves.takeHeads(group.queries.operands, heads.query);
      else
        moves.toHeads(group.queries.operands, heads.query, exchanged);
      moves.toHeads(group.keys.operands, heads.kv, ofKeys);
      return group;
    };
    return emitGroups(bring, [&](const Gradients &parts) -> Gradients {
      Gradients whole = parts;
      // What is whole already travels in the type of the result.
      if (moves.isShared(here.heads.kv)) {
        whole.key = roundKey(moves.sumToRows(parts.key, here.heads.kv, ofKeys));
        whole.value =
            roundValue(moves.sumToRows(parts.value, here.heads.kv, ofKeys));
      } else {
        whole.key = moves.toRows(roundKey(parts.key), here.heads.kv, ofKeys);
        whole.value =
            moves.toRows(roundValue(parts.value), here.heads.kv, ofKeys);
      }
      return whole;
    });
  }

  /// Gradients of what is here, all queries at once or those of one turn after
  /// another; rows of queries are given back.
  Gradients emitQueries() {
    if (!moves.isInTurns()) {
      Gradients whole = emitRing();
      done = whole.query;
      return giveBack(whole);
    }
    QueryTurns turns(builder, loc, queryRows);
    AttentionTerms ofAll = terms;
    terms.replace(TermKind::PerQuery, here.queries.terms);
    SmallVector<RowsOfTurns> rows = turns.rowsOf(terms);
    unsigned numOperands = here.queries.operands.size();
    for (Value operand : llvm::reverse(here.queries.operands))
      rows.insert(rows.begin(), {operand});
    SmallVector<Value> carried = firstKeys();
    llvm::append_range(carried,
                       sums.soFar(typeOf(rows.front().whole).getDimSize(0)));
    auto attendTurn = [&](Value turn, ArrayRef<Value> parts,
                          ValueRange before) -> QueryTurns::Made {
      RingBlock &queries = here.queries;
      queries.operands = llvm::to_vector(parts.take_front(numOperands));
      turns.replaceRows(terms, parts.drop_front(numOperands));
      queries.terms = llvm::to_vector(terms.of(TermKind::PerQuery));
      if (moves.isExchanged()) {
        moves.toHeads(queries.operands, here.heads.query, exchanged);
        moves.toHeads(queries.terms, exchanged);
      }
      here.keys.gradients = llvm::to_vector(before.take_front(2));
      sums.set(before.drop_front(2));
      turnOwner = turns.owner(turn);
      Gradients made = giveBack(emitRing());
      QueryTurns::Made results = {{made.query}, {made.key, made.value}};
      for (auto [number, term] : llvm::enumerate(made.terms))
        (sums.isSum(number) ? results.carried : results.rows).push_back(term);
      return results;
    };
    QueryTurns::Made made = turns.run(rows, carried, attendTurn);
    terms = ofAll;
    sums.set(ArrayRef(made.carried).drop_front(2));
    done = made.rows.front();
    Gradients whole = {made.rows.front(), made.carried[0], made.carried[1]};
    whole.terms = sums.joined(ArrayRef(made.rows).drop_front());
    return whole;
  }

  /// Zeros for gradients of keys and values.
  SmallVector<Value> firstKeys() {
    SmallVector<Value> first;
    for (Value operand : here.keys.operands)
      first.push_back(neutralBroadcast(
          builder, loc, typeOf(operand).clone(stateType()), Reduction::Sum));
    return first;
  }

  /// Gradients with rows of queries as these were before anything was
  /// exchanged, rounded.
  Gradients giveBack(const Gradients &parts) {
    Gradients whole = parts;
    auto home = [&](Value part) {
      return moves.isExchanged()
                 ? moves.toRows(part, here.heads.query, exchanged)
                 : part;
    };
    whole.query = home(roundQuery(parts.query));
    for (auto [number, term] : llvm::enumerate(whole.terms))
      if (!sums.isSum(number))
        term = home(term);
    return whole;
  }

  Gradients emitRing() {
    RingBlock queries = here.queries, keys = here.keys;
    DocumentsAttr documents = op.getDocumentsAttr(),
                  seenByKeys =
                      documents ? documents.getTransposed() : documents;
    if (!plan || plan.getRing() == 1)
      attend(queries, keys);
    else if (plan.getQueriesTravel())
      turn(queries, keys,
           {plan, queryRows, here.heads.query.dealt,
            dealtCount(here.heads.query),
            readersOf(keyRows, transposed(op.getBands()), seenByKeys),
            /*isBackward=*/true});
    else
      turn(keys, queries,
           {plan, keyRows, here.heads.kv.dealt, dealtCount(here.heads.kv),
            readersOf(queryRows, op.getBands(), op.getDocumentsAttr()),
            /*isBackward=*/true});
    Gradients parts = {queries.gradients[0], keys.gradients[0],
                       keys.gradients[1]};
    parts.terms = llvm::to_vector(ArrayRef(queries.gradients).drop_front());
    sums.goOn(parts.terms);
    return parts;
  }

  /// Hands on the blocks of one side while the other stays, each with what
  /// comes together of its gradients.
  void turn(RingBlock &travelling, RingBlock &staying,
            const RingAttention::Dealt &dealt) {
    auto attendBlock = [&](const RingAttention::State &state, RingBlock &block,
                           Value source) -> RingAttention::State {
      staying.gradients = state;
      if (plan.getQueriesTravel())
        attend(block, staying, source);
      else
        attend(staying, block, Value(), source);
      return staying.gradients;
    };
    RingAttention ring(builder, loc, dealt, attendBlock);
    auto [state, gradients] = ring.emit({}, travelling);
    staying.gradients = state;
    travelling.gradients = gradients;
  }

  /// Adds to the gradients of both blocks, or begins them. One of them may be
  /// that of a ring owner.
  void attend(RingBlock &queries, RingBlock &keys, Value querySource = Value(),
              Value keySource = Value()) {
    auto onto = [](const RingBlock &block, unsigned number) {
      return block.gradients.empty() ? Value() : block.gradients[number];
    };
    ArrayRef<Value> ofQueries = queries.operands, ofKeys = keys.operands;
    SmallVector<Value> ontoTerms =
        queries.gradients.empty()
            ? sums.first(typeOf(ofQueries[kQuery]).getShape())
            : llvm::to_vector(ArrayRef(queries.gradients).drop_front());
    const HeadRange &heads = here.heads.query;
    AttendBlocks blocks = {ofQueries[kQuery],
                           ofKeys[kKey],
                           ofKeys[kValue],
                           terms,
                           queryRows,
                           keyRows,
                           heads.dealt,
                           dealtCount(here.heads.kv),
                           heads.first,
                           headPart,
                           querySource ? querySource : turnOwner,
                           keySource};
    blocks.terms.replace(TermKind::PerQuery, queries.terms);
    blocks.terms.replace(TermKind::PerKey, keys.terms);
    auto partial = AttendBackwardOp::create(
        builder, loc, blocks,
        BackwardRows{ofQueries[kCotangent], ofQueries[kLse], ofQueries[kDelta]},
        AttentionGradients{onto(queries, 0), onto(keys, 0), onto(keys, 1),
                           ontoTerms},
        PairScores::of(op));
    queries.gradients = {partial.getDQuery()};
    llvm::append_range(queries.gradients, partial.getDTerms());
    keys.gradients = {partial.getDKey(), partial.getDValue()};
  }

  IntegerAttr dealtCount(const HeadRange &heads) {
    return heads.dealt ? builder.getI64IntegerAttr(heads.count) : IntegerAttr();
  }

  OpBuilder &builder;
  AttentionBackwardOp op;
  Location loc;
  PlanAttr plan;
  /// Local operands, at first with all heads.
  HeldGroup here;
  AttentionTerms terms;
  HeadPartAttr headPart;
  AttentionMoves moves;
  /// How their rows are dealt, before or after heads are exchanged.
  LayoutAttr queryRows, keyRows, rowsAtHome = queryRows;
  ExchangedRows exchanged; ///< of queries at once, or of those of a turn
  Value turnOwner;         ///< of the queries of a turn
  TermGradients sums;
  /// There once the group before is attended.
  Value done;
};

} // namespace

AttentionGradients
mlir::sp::emitAttentionBackward(OpBuilder &builder,
                                const LocalBackward &backward) {
  return BackwardEmitter(builder, backward).emit();
}
