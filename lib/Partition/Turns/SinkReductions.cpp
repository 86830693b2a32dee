//===- SinkReductions.cpp - One reduction behind a loop -------------------===//
//
//   before   while(%sum = 0) { %p = ...; %r = sp.all_reduce %p
//                              return add %sum, %r }
//   after    while(%sum = 0) { %p = ...; return add %sum, %p }
//            sp.all_reduce of its result
//
// and so with rows of a stack that is zero before the loop. Between reduction
// and sum there may be what is linear, made for each of several sums that it
// goes into. Narrow numbers are carried in f32: they are rounded once, behind
// the reduction.
//
//===----------------------------------------------------------------------===//

#include "Turns/PendingReduction.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/LocalForms.h"
#include "sp/IR/Program.h"
#include "sp/Partition/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SINKREDUCTIONSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Moves the reductions of what one loop carries behind it.
class LoopSinking {
public:
  LoopSinking(stablehlo::WhileOp loop, AxisTypes &ranks, bool areTurns)
      : loop(loop), ranks(ranks), areTurns(areTurns) {}

  /// Whether one was.
  bool run();

private:
  /// A carried value, and what adds to it.
  struct Sum {
    Carried carried;
    Operation *last;
    PendingReduction pending;
  };

  /// The rows of a stack are summed where they are made, but in a loop that may
  /// add up what the stacks are.
  bool sinksStacks() {
    return areTurns || loop->getParentOfType<stablehlo::WhileOp>();
  }
  std::optional<Sum> sumOf(Carried carried);
  void sink(Sum &sum);

  stablehlo::WhileOp loop;
  AxisTypes &ranks;
  bool areTurns;
};

} // namespace

bool LoopSinking::run() {
  SmallVector<Sum> sums;
  for (unsigned index = 0; index < loop->getNumOperands(); ++index)
    if (std::optional<Sum> sum = sumOf(Carried{loop, index}))
      sums.push_back(std::move(*sum));
  // What one that stays reads, stays.
  for (size_t known = sums.size() + 1; known > sums.size();) {
    known = sums.size();
    DenseSet<Operation *> readers;
    for (Sum &sum : sums) {
      readers.insert(sum.last);
      readers.insert_range(sum.pending.operations());
    }
    llvm::erase_if(sums, [&](Sum &sum) {
      return !sum.pending.isReadBy(
          [&](Operation *user) { return readers.contains(user); });
    });
  }
  for (Sum &sum : sums)
    sum.pending.separate(sum.last);
  for (Sum &sum : sums)
    sink(sum);
  return !sums.empty();
}

std::optional<LoopSinking::Sum> LoopSinking::sumOf(Carried carried) {
  Value argument = carried.argument(), next = carried.yielded().get();
  Operation *last = next.getDefiningOp();
  if (!last || last->getBlock() != &loop.getBody().front() ||
      !next.hasOneUse() || !argument.hasOneUse() ||
      *argument.user_begin() != last ||
      !loop.getCond().front().getArgument(carried.index).use_empty())
    return std::nullopt;
  PendingReduction pending(loop.getBody().front(), ranks, areTurns);
  auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(last);
  if (update) {
    if (!sinksStacks() || update.getOperand() != argument ||
        !isNeutral(carried.init(), Reduction::Sum) ||
        !llvm::all_of(update.getStartIndices(),
                      [&](Value start) { return ranks.isAlike(start); }) ||
        !pending.reach(update.getUpdate()) || pending.kind() != Reduction::Sum)
      return std::nullopt;
  } else if (last->getNumOperands() != 2 ||
             !pending.reach(otherOperand(last, argument)) ||
             !combinesBy(last, pending.kind())) {
    return std::nullopt;
  }
  if (!pending.isLinear() || !pending.fits(next.getType()))
    return std::nullopt;
  return Sum{carried, last, std::move(pending)};
}

void LoopSinking::sink(Sum &sum) {
  auto &[carried, last, pending] = sum;
  AllReduceOp reduce = pending.first();
  Reduction kind = reduce.getKind();
  AxisListAttr axes = reduce.getAxes();
  int64_t count = reduce.getRanks();
  Location loc = reduce.getLoc();
  OpBuilder builder(loop);
  Value init = carried.init();
  auto type = cast<RankedTensorType>(init.getType()), wide = type;
  if (isNarrow(type))
    wide = type.clone(elementOf(reduce->getResult(0)));
  bool isFromNeutral = isNeutral(init, kind);
  loop->setOperand(carried.index, neutralBroadcast(builder, loc, wide, kind));
  for (Region &region : loop->getRegions())
    region.front().getArgument(carried.index).setType(wide);
  Value result = carried.result();
  result.setType(wide);
  pending.release(wide.getElementType());
  last->getResult(0).setType(wide);

  builder.setInsertionPointAfter(loop);
  auto behind = AllReduceOp::create(builder, loc, TypeRange{wide},
                                    ValueRange{result}, kind, axes, count);
  Value whole = behind->getResult(0);
  if (!isFromNeutral)
    whole = combine(builder, loc, convertType(builder, loc, init, wide), whole,
                    kind);
  whole = convertType(builder, loc, whole, type);
  result.replaceUsesWithIf(
      whole, [&](OpOperand &use) { return use.getOwner() != behind; });
}

namespace {

struct SinkReductionsPass
    : mlir::sp::impl::SinkReductionsPassBase<SinkReductionsPass> {
  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    if (!mesh)
      return;
    // JAX converts what it takes for weakly typed to its own type.
    func->walk([](stablehlo::ConvertOp op) {
      if (op.getOperand().getType() != op.getType())
        return;
      op.getResult().replaceAllUsesWith(op.getOperand());
      op.erase();
    });
    bool hasLoops =
        func->walk([](stablehlo::WhileOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    for (bool changed = hasLoops; changed;) {
      changed = false;
      // What is sunk was alike, and is read nowhere else until it is behind.
      AxisTypes ranks(*func, mesh);
      func->walk([&](stablehlo::WhileOp loop) {
        changed |= LoopSinking(loop, ranks, mesh.getFolded()).run();
      });
    }
  }
};

} // namespace
