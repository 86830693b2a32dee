//===- SinkReductions.cpp - One reduction behind a loop -------------------===//
//
//   before   while(%sum = 0) { %p = ...; %r = sp.all_reduce %p
//                              return add %sum, %r }
//   after    while(%sum = 0) { %p = ...; return add %sum, %p }
//            sp.all_reduce of its result
//
// and so with rows of a stack that is zero before the loop. Between reduction
// and sum there may be what is linear. Narrow numbers are carried in f32: they
// are rounded once, behind the reduction.
//
//===----------------------------------------------------------------------===//

#include "Turns/RankInvariance.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/LocalForms.h"
#include "sp/IR/Program.h"
#include "sp/Partition/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/Matchers.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SINKREDUCTIONSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

static bool isOfFloats(Value value) { return isa<FloatType>(elementOf(value)); }

/// Whether every element is one number, which is finite and not 0.
static bool isPlainFactor(Value value) {
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat() ||
      !isa<FloatType>(constant.getElementType()))
    return false;
  APFloat number = constant.getSplatValue<APFloat>();
  return number.isFinite() && !number.isZero();
}

namespace {

/// A value that is made of reductions so that it would be the reduction of what
/// the same operations make of each rank's values, but for rounding; nothing
/// else reads what lies between.
class PendingReduction {
public:
  /// With `factors` products with what all ranks have alike are linear, though
  /// it may be 0 or infinite; without, those with a plain constant.
  PendingReduction(Block &body, const RankInvariance &ranks, bool factors)
      : body(body), ranks(ranks), factors(factors) {}

  bool reach(Value value);
  /// Whether numbers of such a type may be computed as the reductions' are:
  /// they are the same, or narrow ones that are made in f32.
  bool fits(Type type) const {
    Type own = elementOf(AllReduceOp(first())->getResult(0));
    return getElementTypeOrSelf(type) == own || (isNarrow(type) && own.isF32());
  }
  /// Whether nothing but `last` reads what lies between, which is linear.
  bool endsIn(Operation *last) const;
  AllReduceOp first() const { return reductions.front(); }
  Reduction kind() const { return AllReduceOp(first()).getKind(); }
  /// Has the operations compute what a rank has, with such elements, and erases
  /// the reductions.
  void release(Type element);

private:
  bool reach(Operation *op, Value value);
  bool isFactor(Value value) const {
    return factors ? ranks.isAlike(value) : isPlainFactor(value);
  }
  bool reachProduct(Operation *op);

  Block &body;
  const RankInvariance &ranks;
  bool factors;
  SmallVector<AllReduceOp> reductions;
  SmallVector<Operation *> between; ///< in an order of the program
};

} // namespace

bool PendingReduction::reach(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getBlock() != &body)
    return false;
  if (llvm::is_contained(between, op) || llvm::is_contained(reductions, op))
    return true;
  if (auto reduce = dyn_cast<AllReduceOp>(op)) {
    if (!reductions.empty() &&
        reduce->getAttrDictionary() != first()->getAttrDictionary())
      return false;
    reductions.push_back(reduce);
    return true;
  }
  if (!reach(op, value))
    return false;
  between.push_back(op);
  return true;
}

bool PendingReduction::endsIn(Operation *last) const {
  auto isRead = [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return user == last || llvm::is_contained(between, user);
    });
  };
  auto isPending = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return llvm::is_contained(between, op) ||
           llvm::is_contained(reductions, op);
  };
  // A product of two that are pending is not linear.
  auto isLinear = [&](Operation *op) {
    return isa<stablehlo::AddOp, stablehlo::SubtractOp>(op) ||
           llvm::count_if(op->getOperands(), isPending) == 1;
  };
  return llvm::all_of(between, isRead) && llvm::all_of(reductions, isRead) &&
         llvm::all_of(between, isLinear);
}

/// A product of something pending with what all ranks have alike.
bool PendingReduction::reachProduct(Operation *op) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  size_t known = reductions.size(), knownBetween = between.size();
  if (isFactor(rhs) && reach(lhs))
    return true;
  reductions.truncate(known);
  between.truncate(knownBetween);
  return isFactor(lhs) && reach(rhs);
}

bool PendingReduction::reach(Operation *op, Value value) {
  if (isLayout(op))
    return reach(op->getOperand(0));
  if (!isOfFloats(value))
    return false;
  if (isa<stablehlo::ConvertOp>(op))
    return isOfFloats(op->getOperand(0)) && reach(op->getOperand(0)) &&
           fits(value.getType());
  // The rest is linear.
  auto zero = [](Value start) { return isNeutral(start, Reduction::Sum); };
  if (isa<stablehlo::NegOp, stablehlo::SliceOp>(op))
    return reach(op->getOperand(0)) && kind() == Reduction::Sum;
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp>(op))
    return reach(op->getOperand(0)) && reach(op->getOperand(1)) &&
           kind() == Reduction::Sum;
  if (isa<stablehlo::MulOp>(op))
    return reachProduct(op) && kind() == Reduction::Sum;
  if (isa<stablehlo::DivOp>(op))
    return isFactor(op->getOperand(1)) && reach(op->getOperand(0)) &&
           kind() == Reduction::Sum;
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
    return reducesBy<stablehlo::AddOp>(op) && zero(reduce.getInitValues()[0]) &&
           reach(op->getOperand(0)) && kind() == Reduction::Sum;
  // Their elements keep their type.
  if (isNarrow(value.getType()))
    return false;
  if (isContraction(op))
    return reachProduct(op) && kind() == Reduction::Sum;
  if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    return zero(pad.getPaddingValue()) && reach(pad.getOperand()) &&
           kind() == Reduction::Sum;
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
    return zero(update.getOperand()) && reach(update.getUpdate()) &&
           kind() == Reduction::Sum;
  return false;
}

void PendingReduction::release(Type element) {
  for (AllReduceOp reduce : reductions) {
    reduce->getResult(0).replaceAllUsesWith(reduce->getOperand(0));
    reduce->erase();
  }
  for (Operation *op : between) {
    if (isa<stablehlo::ConvertOp>(op)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
      continue;
    }
    OpBuilder builder(op);
    Value result = op->getResult(0);
    if (isa<stablehlo::ReduceOp>(op) && isNarrow(result.getType()))
      addInF32(builder, op);
    result.setType(typeOf(result).clone(element));
    // Factors, which are narrow where their products were.
    if (op->hasTrait<stablehlo::Elementwise>())
      for (OpOperand &operand : op->getOpOperands())
        operand.set(convertType(builder, op->getLoc(), operand.get(),
                                typeOf(operand.get()).clone(element)));
  }
}

namespace {

/// Moves the reductions of what one loop carries behind it.
class LoopSinking {
public:
  LoopSinking(stablehlo::WhileOp loop, const RankInvariance &ranks,
              bool areTurns)
      : loop(loop), ranks(ranks), areTurns(areTurns) {}

  /// Whether one was.
  bool run() {
    for (unsigned index = 0; index < loop->getNumOperands(); ++index)
      if (run(Carried{loop, index}))
        return true;
    return false;
  }

private:
  /// The rows of a stack are summed where they are made, but in a loop that may
  /// add up what the stacks are.
  bool sinksStacks() {
    return areTurns || loop->getParentOfType<stablehlo::WhileOp>();
  }
  bool run(Carried carried);
  void sink(Carried carried, Operation *last, PendingReduction &pending);

  stablehlo::WhileOp loop;
  const RankInvariance &ranks;
  bool areTurns;
};

} // namespace

bool LoopSinking::run(Carried carried) {
  Value argument = carried.argument(), next = carried.yielded().get();
  Operation *last = next.getDefiningOp();
  if (!last || last->getBlock() != &loop.getBody().front() ||
      !next.hasOneUse() || !argument.hasOneUse() ||
      *argument.user_begin() != last ||
      !loop.getCond().front().getArgument(carried.index).use_empty())
    return false;
  PendingReduction pending(loop.getBody().front(), ranks, areTurns);
  auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(last);
  if (update) {
    if (!sinksStacks() || update.getOperand() != argument ||
        !isNeutral(carried.init(), Reduction::Sum) ||
        !pending.reach(update.getUpdate()) || pending.kind() != Reduction::Sum)
      return false;
  } else if (last->getNumOperands() != 2 ||
             !pending.reach(otherOperand(last, argument)) ||
             !combinesBy(last, pending.kind())) {
    return false;
  }
  if (!pending.endsIn(last) || !pending.fits(next.getType()))
    return false;
  sink(carried, last, pending);
  return true;
}

void LoopSinking::sink(Carried carried, Operation *last,
                       PendingReduction &pending) {
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
    for (bool changed = true; changed;)
      changed = sinkOne(mesh.getFolded(), RankInvariance(*func));
  }

private:
  bool sinkOne(bool areTurns, const RankInvariance &ranks) {
    return getOperation()
        .walk([&](stablehlo::WhileOp loop) -> WalkResult {
          return WalkResult(failure(LoopSinking(loop, ranks, areTurns).run()));
        })
        .wasInterrupted();
  }
};

} // namespace
