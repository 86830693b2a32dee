//===- RingAttention.cpp - Blocks of keys that ranks hand on --------------===//
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
//===----------------------------------------------------------------------===//

#include "RingAttention.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;

using State = SoftmaxState;

RingAttention::RingAttention(OpBuilder &builder, Location loc,
                             const Dealt &dealt, Attend attend)
    : builder(builder), loc(loc), dealt(dealt), plan(dealt.plan),
      attend(attend) {
  rank =
      RankOp::create(builder, loc, builder.getIndexType(), plan.getRingAxis());
}

State RingAttention::emit(State state, const KeyBlock &own) {
  int64_t windows = plan.getOuter();
  OpFoldResult zero = builder.getIndexAttr(0),
               last = builder.getIndexAttr(windows - 1);
  if (windows == 1)
    return turn(state, own, zero);
  auto handOn = [&](const KeyBlock &first, OpFoldResult window) -> Blocks {
    return {shift(first, source(window, zero, 1), plan.getOuterAxis()), {}};
  };
  Blocks next = handOn(own, zero);
  state = turn(state, own, zero);
  if (windows > 2)
    std::tie(state, next) =
        loop(windows - 1, state, next,
             [&](Value window, State state, const Blocks &here) {
               Blocks next = handOn(here.on, window);
               return Step(turn(state, here.on, window), next);
             });
  return turn(state, next.on, last);
}

/// One turn of the inner ring, from the block that a window begins with.
State RingAttention::turn(State state, const KeyBlock &first,
                          OpFoldResult window) {
  int64_t hopsOn = plan.getHopsOn(), hopsBack = plan.getHopsBack();
  OpFoldResult zero = builder.getIndexAttr(0);
  Value own = source(window, zero, 1);
  if (hopsOn == 0)
    return attend(state, first, own);
  Blocks here = {shift(first, own, plan.getInnerAxis(), 1, hopsOn), {}};
  if (hopsBack > 0)
    here.back = shift(first, own, plan.getInnerAxis(), -1, hopsBack);
  state = attend(state, first, own);

  // The steps after which every block that is here goes further.
  int64_t steps = hopsBack > 0 ? hopsBack : hopsOn;
  if (steps > 1)
    std::tie(state, here) = loop(
        steps, state, here, [&](Value number, State state, const Blocks &here) {
          return step(state, here, window, number);
        });
  OpFoldResult last = builder.getIndexAttr(steps);
  Value from = source(window, last, 1);
  if (!here.back)
    return attend(state, here.on, from);
  if (hopsOn == hopsBack) {
    state = attend(state, here.on, from);
    return attend(state, *here.back, source(window, last, -1));
  }
  // Of an even number of ranks the one opposite is a hop further on.
  KeyBlock opposite = shift(here.on, from, plan.getInnerAxis(), 1, hopsOn);
  state = attend(state, here.on, from);
  state = attend(state, *here.back, source(window, last, -1));
  return attend(state, opposite,
                source(window, builder.getIndexAttr(hopsOn), 1));
}

/// Shifts what is here further before it is attended.
RingAttention::Step RingAttention::step(State state, const Blocks &here,
                                        OpFoldResult window,
                                        OpFoldResult number) {
  Value from = source(window, number, 1);
  Blocks next = {shift(here.on, from, plan.getInnerAxis(), 1, plan.getHopsOn()),
                 {}};
  if (!here.back)
    return {attend(state, here.on, from), next};
  Value behind = source(window, number, -1);
  next.back =
      shift(*here.back, behind, plan.getInnerAxis(), -1, plan.getHopsBack());
  state = attend(state, here.on, from);
  return {attend(state, *here.back, behind), next};
}

RingAttention::Step
RingAttention::loop(int64_t end, State state, const Blocks &blocks,
                    function_ref<Step(Value, State, const Blocks &)> body) {
  auto bound = [&](int64_t n) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, n);
  };
  auto listed = [](const State &state, const Blocks &blocks) {
    SmallVector<Value> values = {state.output, state.lse};
    auto append = [&](const KeyBlock &block) {
      llvm::append_values(values, block.key, block.value);
      llvm::append_range(values, block.perKey);
    };
    append(blocks.on);
    if (blocks.back)
      append(*blocks.back);
    return values;
  };
  size_t size = 2 + blocks.on.perKey.size();
  bool isBothWays = blocks.back.has_value();
  auto read = [&](ValueRange values) -> Step {
    auto blockAt = [&](size_t first) -> KeyBlock {
      ValueRange block = values.slice(first, size);
      return {block[0], block[1], llvm::to_vector(block.drop_front(2))};
    };
    Blocks carried = {blockAt(2), {}};
    if (isBothWays)
      carried.back = blockAt(2 + size);
    return {{values[0], values[1]}, carried};
  };
  auto loop = scf::ForOp::create(builder, loc, bound(1), bound(end), bound(1),
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

KeyBlock RingAttention::shift(const KeyBlock &block, Value source,
                              StringRef axis, int64_t distance, int64_t hops) {
  StringAttr along;
  if (axis != dealt.keys.getAxis())
    along = builder.getStringAttr(axis);
  // A whole turn needs no number.
  IntegerAttr most;
  if (hops > 0 && hops + 1 < plan.getInner())
    most = builder.getI64IntegerAttr(hops);
  auto move = [&](ValueRange values, LayoutAttr heads, IntegerAttr kvHeads) {
    return ShiftOp::create(builder, loc, values.getTypes(), values, source,
                           distance, dealt.keys, most, along, heads, kvHeads);
  };
  ShiftOp moved = move({block.key, block.value}, dealt.heads, dealt.kvHeads);
  KeyBlock next = {moved.getResult(0), moved.getResult(1), {}};
  if (!block.perKey.empty())
    next.perKey =
        llvm::to_vector(ValueRange(move(block.perKey, {}, {}).getResults()));
  return next;
}
