//===- GatherAhead.cpp - Gathers of loops one turn ahead ------------------===//
//
//   before   for %i                              after   %a = all_gather (take
//   %w at 0)
//              %t = take %w at %i                        for %i, %x = %a
//              %x = all_gather %t                          %t = take %w at (%i
//              + 1) mod n
//              ... %x ...                                  %b = all_gather %t
//                                                          ... %x ...
//                                                          yield %b
//
// In time for what a turn reads, as nothing that the turns compute is gathered:
// one layer's weights are in use, those of the next one on their way. Both lie
// in two places that turns use alternately, as blocks that a ring hands on do.
//
//===----------------------------------------------------------------------===//

#include "sp/IR/Attributes.h"
#include "sp/IR/LoopTurns.h"
#include "sp/IR/SP.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_GATHERAHEADPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// The gathers of one loop that may go ahead.
class LoopGathers {
public:
  explicit LoopGathers(scf::ForOp loop) : loop(loop) {}

  void moveAhead();

private:
  bool collect(Value value, SetVector<Operation *> &made, bool &isByTurn);
  void find();
  bool hasOthers(Operation *launch) const;
  SmallVector<Value> cloneAll(OpBuilder &builder, IRMapping &mapping);

  scf::ForOp loop;
  SmallVector<Operation *> gathers;
  /// What the gathered values are made of in a turn, in order.
  SetVector<Operation *> made;
};

} // namespace

/// Adds what makes `value` in a turn; false where that is not by the counter
/// and what the turns do not change.
bool LoopGathers::collect(Value value, SetVector<Operation *> &made,
                          bool &isByTurn) {
  if (value == loop.getInductionVar())
    return isByTurn = true;
  Block *body = loop.getBody();
  if (value.getParentBlock() != body)
    return true;
  Operation *op = value.getDefiningOp();
  bool isMade = op && (isa<TakeOp, LaunchOp>(op) || isLayout(op) ||
                       isa<affine::AffineApplyOp, arith::ConstantOp>(op));
  if (!isMade)
    return false;
  for (Value operand : op->getOperands())
    if (!collect(operand, made, isByTurn))
      return false;
  made.insert(op);
  return true;
}

/// Whether something else reads what a kernel makes, which would run twice.
bool LoopGathers::hasOthers(Operation *launch) const {
  return llvm::any_of(launch->getUsers(), [&](Operation *user) {
    return !made.contains(user) && !llvm::is_contained(gathers, user);
  });
}

void LoopGathers::find() {
  DenseMap<Operation *, SetVector<Operation *>> makers;
  for (auto gather : loop.getBody()->getOps<sp::AllGatherOp>()) {
    bool isByTurn = false;
    auto isMadeAhead = [&](Value operand) {
      return collect(operand, makers[gather], isByTurn);
    };
    // What all turns gather alike is no layer's, and may be large.
    if (llvm::all_of(gather->getOperands(), isMadeAhead) && isByTurn)
      gathers.push_back(gather);
  }
  auto isShared = [&](Operation *gather) {
    return llvm::any_of(makers[gather], [&](Operation *op) {
      return isa<LaunchOp>(op) && hasOthers(op);
    });
  };
  for (;;) {
    made.clear();
    for (Operation *gather : gathers)
      made.insert(makers[gather].begin(), makers[gather].end());
    auto shared = llvm::find_if(gathers, isShared);
    if (shared == gathers.end())
      return;
    gathers.erase(shared);
  }
}

/// The gathers, and what they are made of, where the mapping has the counter.
SmallVector<Value> LoopGathers::cloneAll(OpBuilder &builder,
                                         IRMapping &mapping) {
  for (Operation *op : made)
    builder.clone(*op, mapping);
  SmallVector<Value> results;
  for (Operation *gather : gathers)
    llvm::append_range(results, builder.clone(*gather, mapping)->getResults());
  return results;
}

void LoopGathers::moveAhead() {
  std::optional<Turns> turns = sp::turnsOf(loop);
  if (!turns || turns->count == 1)
    return;
  find();
  if (gathers.empty())
    return;
  IRRewriter builder(loop);
  IRMapping mapping;
  mapping.map(
      loop.getInductionVar(),
      arith::ConstantIndexOp::create(builder, loop.getLoc(), turns->first));
  SmallVector<Value> first = cloneAll(builder, mapping);
  scf::ForOp wider = makeAhead(builder, loop, first, [&](IRMapping &next) {
    SmallVector<Value> following = cloneAll(builder, next);
    for (Value value : following)
      value.getDefiningOp()->setAttr(kAhead, builder.getUnitAttr());
    return following;
  });
  auto carried = wider.getRegionIterArgs().take_back(first.size()).begin();
  for (Operation *gather : gathers) {
    for (Value result : gather->getResults())
      result.replaceAllUsesWith(*carried++);
    gather->erase();
  }
  for (Operation *op : llvm::reverse(made.getArrayRef()))
    if (op->use_empty())
      op->erase();
}

namespace {

struct GatherAheadPass : mlir::sp::impl::GatherAheadPassBase<GatherAheadPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      LoopGathers(loop).moveAhead();
  }
};

} // namespace
