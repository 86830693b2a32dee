//===- RingAttention.cpp - Blocks of rows that ranks hand on --------------===//
//
// Ring of W, rank r at step t, holds the block of rank (r - t) mod W:
//
//   step 0        shift own block out       attend own
//   step t        shift block on            attend block (r - t) mod W
//   step W - 1                              attend block (r + 1) mod W
//
// Where it turns both ways at once, a block goes W / 2 hops on and the other
// (W - 1) / 2 back, so that all have been everywhere after half as many steps:
//
//   step 0        shift own block on, back  attend own
//   step t        shift both on, back       attend (r - t), (r + t) mod W
//   step W / 2                              attend (r - W / 2) mod W and, where
//                                           W is odd, (r + W / 2) mod W
//
// A double ring (LoongTrain, arXiv:2406.18485) hands each window's first block
// to the next window while the window turns.
//
// Of a batch of documents each rank has a group, of which nobody knows how many
// it has before the batch is there: a ring of n among them, in a loop that all
// of its steps but the first are in.
//
//   step 0           shift own block on       attend own
//   steps 1 to n-1   shift block on           attend block (r - t) mod n
//
// Where few ranks see a block, as in a window, it goes straight to each of
// them, with the rows that are seen there, and its gradients straight back:
//
//   own block to r + d, for each d          attend own
//   for each d                              attend block r - d, gradients home
//
// Blocks are keys and values or, of gradients, queries with what belongs to
// them. Gradients of what travels follow their block: once it is attended, they
// go where it is attended next, and from the last rank home, which is one hop
// more than the block went.
//
//   step 0        attend own                          gradients on
//   step t        attend block (r - t) mod W          gradients on
//   step W - 1    attend block (r + 1) mod W          gradients on: home
//
// In a double ring they go home in each window, and from there to the next one,
// from the last to the first. Of a ring that turns both ways three sums come
// together at home: the rank's own part, and what each way ends with.
//
//===----------------------------------------------------------------------===//

#include "Attention/RingAttention.h"
#include "sp/IR/Attributes.h"

#include "Sharding/Resharding.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;

RingAttention::RingAttention(OpBuilder &builder, Location loc,
                             const Dealt &dealt, Attend attend)
    : builder(builder), loc(loc), dealt(dealt), plan(dealt.plan),
      attend(attend) {
  rank =
      RankOp::create(builder, loc, builder.getIndexType(), plan.getRingAxis());
}

RingAttention::Result RingAttention::emit(const State &state,
                                          const RingBlock &own) {
  int64_t windows = plan.getOuter();
  OpFoldResult zero = builder.getIndexAttr(0),
               last = builder.getIndexAttr(windows - 1);
  AxisAttr outer = plan.getOuterAxis();
  if (dealt.rows.isOfBatch())
    return turnInGroup(state, own);
  if (plan.getDirect())
    return goStraight(state, own);
  if (windows == 1)
    return turn(state, own, zero);
  auto window = [&](OpFoldResult number, const State &state,
                    const RingBlock &first) -> Step {
    Value from = source(number, zero, 1);
    RingBlock next = shift(first, from, outer);
    Result turned = turn(state, first, number);
    next.gradients = shiftGradients(turned.gradients, from, outer);
    return {turned.state, {next, {}}};
  };
  Step here = window(zero, state, own);
  here = loop(1, windows - 1, here,
              [&](Value number, const State &state, const Blocks &here) {
                return window(number, state, here.on);
              });
  Result turned = turn(here.first, here.second.on, last);
  if (!turned.gradients.empty())
    turned.gradients =
        shiftGradients(turned.gradients, source(last, zero, 1), outer);
  return turned;
}

/// One turn of the inner ring, from the block that a window begins with.
RingAttention::Result RingAttention::turn(State state, RingBlock own,
                                          OpFoldResult window) {
  int64_t hopsOn = plan.getHopsOn(), hopsBack = plan.getHopsBack();
  AxisAttr inner = plan.getInnerAxis();
  Value owner = source(window, builder.getIndexAttr(0), 1);
  if (hopsOn == 0) {
    state = attend(state, own, owner);
    return {state, own.gradients};
  }
  Blocks here = {shift(own, owner, inner, 1, hopsOn), {}};
  if (hopsBack > 0)
    here.back = shift(own, owner, inner, -1, hopsBack);
  state = attend(state, own, owner);
  if (here.back)
    return turnBothWays({state, here}, window, own.gradients);
  here.on.gradients = shiftGradients(own.gradients, owner, inner);
  std::tie(state, here) =
      loop(1, hopsOn, {state, here},
           [&](Value number, const State &state, const Blocks &here) {
             return step(number, state, here, window);
           });
  Value from = source(window, builder.getIndexAttr(hopsOn), 1);
  state = attend(state, here.on, from);
  return {state, shiftGradients(here.on.gradients, from, inner)};
}

/// Each block goes from its owner to all that see rows of it, all at once, and
/// what these make of its gradients comes back the same way.
RingAttention::Result RingAttention::goStraight(State state, RingBlock own) {
  AxisAttr ring = plan.getInnerAxis();
  int64_t ranks = plan.getInner();
  SmallVector<std::pair<int64_t, RingBlock>> blocks;
  std::optional<std::vector<int64_t>> distances =
      toAlgebra(dealt.readers.getBands())
          .readerDistances(toAlgebra(dealt.readers.getRows()),
                           toAlgebra(dealt.rows), ranks);
  for (int64_t distance : *distances) {
    int64_t way = 2 * distance > ranks ? distance - ranks : distance;
    blocks.emplace_back(way, shift(own, rank, ring, way));
  }
  state = attend(state, own, rank);
  SmallVector<Value> sums = own.gradients;
  for (auto &[way, block] : blocks) {
    Value from = source(builder.getIndexAttr(0),
                        builder.getIndexAttr((way + ranks) % ranks), 1);
    state = attend(state, block, from);
    for (auto [sum, home] :
         llvm::zip(sums, shiftGradients(block.gradients, from, ring, -way)))
      sum = stablehlo::AddOp::create(builder, loc, sum, home);
  }
  return {state, sums};
}

/// What comes after the last step, a turn further, nobody needs.
RingAttention::Result RingAttention::turnInGroup(State state, RingBlock own) {
  AxisAttr ring = plan.getInnerAxis();
  Value size =
      GroupSizeOp::create(builder, loc, builder.getIndexType(), dealt.rows);
  Blocks here = {shift(own, rank, ring), {}};
  state = attend(state, own, rank);
  here.on.gradients = shiftGradients(own.gradients, rank, ring);
  auto inGroup = [&](Value number, const State &before,
                     const Blocks &blocks) -> Step {
    Value from = GroupSourceOp::create(builder, loc, builder.getIndexType(),
                                       number, dealt.rows);
    RingBlock block = blocks.on;
    Blocks next = {shift(block, from, ring), {}};
    State after = attend(before, block, from);
    next.on.gradients = shiftGradients(block.gradients, from, ring);
    return {after, next};
  };
  std::tie(state, here) = loop(1, size, {state, here}, inGroup);
  return {state, here.on.gradients};
}

/// The steps of a turn after that of a rank's own block.
RingAttention::Result
RingAttention::turnBothWays(Step here, OpFoldResult window,
                            ArrayRef<Value> ownGradients) {
  int64_t hopsOn = plan.getHopsOn(), steps = plan.getHopsBack();
  AxisAttr inner = plan.getInnerAxis();
  // The steps after which every block that is here goes further. Gradients of
  // both ways begin in the first, which no loop can do.
  int64_t first = 1;
  if (!ownGradients.empty() && steps > 1)
    here = step(builder.getIndexAttr(first++), here.first, here.second, window);
  here = loop(first, steps, here,
              [&](Value number, const State &state, const Blocks &here) {
                return step(number, state, here, window);
              });
  auto &[state, blocks] = here;
  RingBlock &on = blocks.on, &back = *blocks.back;
  OpFoldResult last = builder.getIndexAttr(steps);
  Value from = source(window, last, 1), behind = source(window, last, -1);
  // Of an even number of ranks the one opposite is a hop further on.
  std::optional<RingBlock> opposite;
  if (hopsOn > steps)
    opposite = shift(on, from, inner, 1, hopsOn);
  state = attend(state, on, from);
  if (opposite)
    opposite->gradients = shiftGradients(on.gradients, from, inner);
  state = attend(state, back, behind);
  SmallVector<Value> home =
      shiftGradients(back.gradients, behind, inner, steps);
  if (opposite) {
    from = source(window, builder.getIndexAttr(hopsOn), 1);
    state = attend(state, *opposite, from);
    on.gradients = opposite->gradients;
  }
  SmallVector<Value> others =
      shiftGradients(on.gradients, from, inner, -hopsOn);
  for (auto [sum, own, other] : llvm::zip(home, ownGradients, others)) {
    Value both = stablehlo::AddOp::create(builder, loc, own, other);
    sum = stablehlo::AddOp::create(builder, loc, both, sum);
  }
  return {state, home};
}

/// Shifts what is here further before it is attended, gradients after it.
RingAttention::Step RingAttention::step(OpFoldResult number, State state,
                                        Blocks here, OpFoldResult window) {
  AxisAttr inner = plan.getInnerAxis();
  Value from = source(window, number, 1), behind;
  Blocks next = {shift(here.on, from, inner, 1, plan.getHopsOn()), {}};
  if (here.back) {
    behind = source(window, number, -1);
    next.back = shift(*here.back, behind, inner, -1, plan.getHopsBack());
  }
  state = attend(state, here.on, from);
  next.on.gradients = shiftGradients(here.on.gradients, from, inner);
  if (here.back) {
    state = attend(state, *here.back, behind);
    next.back->gradients =
        shiftGradients(here.back->gradients, behind, inner, -1);
  }
  return {state, next};
}

Value RingAttention::index(int64_t number) {
  return arith::ConstantIndexOp::create(builder, loc, number);
}

RingAttention::Step RingAttention::loop(int64_t first, int64_t end,
                                        const Step &start, Body body) {
  return first < end ? loop(first, index(end), start, body) : start;
}

RingAttention::Step RingAttention::loop(int64_t first, Value end,
                                        const Step &start, Body body) {
  const State &state = start.first;
  const Blocks &blocks = start.second;
  auto listed = [](const State &state, const Blocks &blocks) {
    SmallVector<Value> values = llvm::to_vector(state);
    auto append = [&](const RingBlock &block) {
      for (ArrayRef<Value> part :
           {ArrayRef(block.operands), ArrayRef(block.terms),
            ArrayRef(block.gradients)})
        llvm::append_range(values, part);
    };
    append(blocks.on);
    if (blocks.back)
      append(*blocks.back);
    return values;
  };
  auto read = [&](ValueRange values) -> Step {
    auto take = [&](ArrayRef<Value> like) {
      ValueRange taken = values.take_front(like.size());
      values = values.drop_front(like.size());
      return SmallVector<Value>(taken);
    };
    auto takeLike = [&](const RingBlock &like) {
      RingBlock block;
      block.operands = take(like.operands);
      block.terms = take(like.terms);
      block.gradients = take(like.gradients);
      return block;
    };
    State carried(take(state));
    Blocks here = {takeLike(blocks.on), {}};
    if (blocks.back)
      here.back = takeLike(*blocks.back);
    return {carried, here};
  };
  auto loop = scf::ForOp::create(builder, loc, index(first), end, index(1),
                                 listed(state, blocks));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  auto [here, carried] = read(loop.getRegionIterArgs());
  auto [next, following] = body(loop.getInductionVar(), here, carried);
  scf::YieldOp::create(builder, loc, listed(next, following));
  return read(loop.getResults());
}

/// The ring owner whose block is here in a step of a window: with o windows of
/// w ranks ((r / w - window) mod o) * w + (r - way * step) mod w, where `way`
/// is 1 for the block that travels on and -1 for the one that travels back.
Value RingAttention::source(OpFoldResult window, OpFoldResult step,
                            int64_t way) {
  int64_t o = plan.getOuter(), w = plan.getInner();
  SmallVector<Value> operands = {rank};
  // How far back the owner is, less than a turn, which is added.
  auto expression = [&](OpFoldResult value, int64_t turn,
                        int64_t way) -> AffineExpr {
    if (auto known = dyn_cast<Attribute>(value)) {
      int64_t number = cast<IntegerAttr>(known).getInt() * way;
      return builder.getAffineConstantExpr(number > 0 ? turn - number
                                                      : -number);
    }
    operands.push_back(cast<Value>(value));
    return builder.getAffineDimExpr(operands.size() - 1) * -way;
  };
  AffineExpr r = builder.getAffineDimExpr(0);
  AffineExpr back = expression(window, o, 1), steps = expression(step, w, way);
  AffineExpr owner = o == 1
                         ? (r + steps) % w
                         : ((r.floorDiv(w) + back) % o) * w + (r + steps) % w;
  if (o == 1 && steps == builder.getAffineConstantExpr(0))
    return rank;
  return affine::AffineApplyOp::create(
      builder, loc, AffineMap::get(operands.size(), 0, owner), operands);
}

RingBlock RingAttention::shift(const RingBlock &block, Value source,
                               AxisAttr axis, int64_t distance, int64_t hops) {
  // A whole turn needs no number.
  IntegerAttr most;
  if (hops > 0 && hops + 1 < plan.getInner())
    most = builder.getI64IntegerAttr(hops);
  SmallVector<Value> moved =
      shiftHeads(block.operands, source, axis, distance, most, dealt.readers);
  SmallVector<Value> terms =
      shiftHeads(block.terms, source, axis, distance, most, dealt.readers,
                 /*haveHeads=*/false);
  // Keys travel again for gradients: joined with the way of the forward, the
  // blocks of other ranks would lie in memory in between.
  if (dealt.isBackward)
    for (ArrayRef<Value> shifted : {ArrayRef(moved), ArrayRef(terms)})
      if (!shifted.empty())
        shifted[0].getDefiningOp()->setAttr(kBackward, builder.getUnitAttr());
  return {moved, terms, {}};
}

SmallVector<Value> RingAttention::shiftGradients(ValueRange gradients,
                                                 Value source, AxisAttr axis,
                                                 int64_t distance) {
  return shiftHeads(gradients, source, axis, distance, IntegerAttr(),
                    ReadersAttr());
}

SmallVector<Value> RingAttention::shiftHeads(ValueRange values, Value source,
                                             AxisAttr axis, int64_t distance,
                                             IntegerAttr hops,
                                             ReadersAttr readers,
                                             bool haveHeads) {
  if (values.empty())
    return {};
  AxisAttr along;
  if (axis != dealt.rows.getAxis())
    along = axis;
  ReadersAttr seenBy;
  if (plan.getDirect()) {
    seenBy = dealt.readers;
    readers = {};
  }
  auto moved = ShiftOp::create(
      builder, loc, values.getTypes(), values, source, distance, dealt.rows,
      hops, along, haveHeads ? dealt.heads : LayoutAttr(),
      haveHeads ? dealt.headCount : IntegerAttr(), readers, seenBy);
  return llvm::to_vector(ValueRange(moved.getResults()));
}
