//===- DealLoops.cpp - Loops over rows that ranks share -------------------===//
//
//   before   while (%i < 4096) { %x[%i] ... }        %x: 4096 by L
//   after    %p = reshape %x : 4096 -> 4x1024        4 by L
//            while (%i < 1024) { %p[:, %i] ... }
//
// Each rank has the trips of its own rows, one after the other.
//
//===----------------------------------------------------------------------===//

#include "Loops/CumulativeWindow.h"
#include "Loops/DealtLoop.h"
#include "Loops/JoinedTrips.h"
#include "Loops/StackMoves.h"
#include "Sharding/CheckInput.h"
#include "Sharding/Seeds.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/Program.h"
#include "sp/IR/SourceLines.h"
#include "sp/Partition/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "sp-deal-loops"

namespace mlir::sp {
#define GEN_PASS_DEF_DEALLOOPSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Takes states, and what is made of them, around barriers: behind one all that
/// passes it would depend on them, such as what a checkpoint round a step makes
/// again for its gradients.
static void passStatesAround(ScanLoop &scan) {
  DenseSet<Value> dependent;
  for (auto [number, carried] : llvm::enumerate(scan.carried))
    if (carried.kind == ScanValue::Kind::State)
      dependent.insert(scan.body().getArgument(number));
  for (Operation &op : llvm::make_early_inc_range(scan.body())) {
    bool depends = false;
    forEachRead(&op, [&](Value read) { depends |= dependent.contains(read); });
    if (!depends)
      continue;
    if (!isa<stablehlo::OptimizationBarrierOp>(op)) {
      dependent.insert(op.result_begin(), op.result_end());
      continue;
    }
    SmallVector<Value> others, results;
    for (auto [operand, result] :
         llvm::zip_equal(op.getOperands(), op.getResults()))
      if (dependent.contains(operand)) {
        result.replaceAllUsesWith(operand);
      } else {
        others.push_back(operand);
        results.push_back(result);
      }
    if (!others.empty()) {
      OpBuilder builder(&op);
      auto barrier = stablehlo::OptimizationBarrierOp::create(
          builder, op.getLoc(), ValueRange(others).getTypes(), others);
      for (auto [before, after] :
           llvm::zip_equal(results, barrier->getResults()))
        before.replaceAllUsesWith(after);
    }
    op.erase();
  }
}

namespace {

struct DealLoopsPass : mlir::sp::impl::DealLoopsPassBase<DealLoopsPass> {
  using DealLoopsPassBase::DealLoopsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (!mesh || failed(func) || failed(checkInput(*func)))
      return signalPassFailure();
    bool hasLoops = false;
    func->walk([&](Operation *op) {
      hasLoops |= isa<stablehlo::WhileOp, stablehlo::ReduceWindowOp>(op);
    });
    if (!hasLoops)
      return;
    separateUses(*func);
    ShardingPropagation propagation(*func);
    if (failed(Seeds(*func, mesh).spread(shard, propagation)))
      return signalPassFailure();
    // All are known before values are replaced, of which nothing is.
    SmallVector<std::pair<Operation *, Parts>> found;
    func->walk([&](Operation *op) {
      if (std::optional<Parts> parts = partsOf(op, propagation))
        found.push_back({op, std::move(*parts)});
    });
    for (auto &[op, parts] : found)
      if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
        deal(*ScanLoop::find(loop), parts);
      else
        deal(cast<stablehlo::ReduceWindowOp>(op), parts.count);
    cancelMoves(*func);
    eraseDead(*func);
  }

private:
  /// In how many parts of consecutive rows ranks hold the rows that trips take
  /// and leave.
  struct Parts {
    int64_t count = 0;
    std::string reason; ///< why trips cannot be dealt so, or ""
    /// Rows of a trip, where stacks are made of rows that ranks share.
    llvm::SmallSetVector<int64_t, 2> tokens;
  };

  static void deal(ScanLoop scan, const Parts &parts) {
    Location loc = scan.loop.getLoc();
    std::string reason =
        parts.reason.empty() ? dealInParts(scan, parts.count) : parts.reason;
    if (reason.empty()) {
      remark::analysis(loc,
                       remark::RemarkOpts::name("Dealt").category(DEBUG_TYPE))
          << "the trips of a loop are dealt in "
          << remark::metric("parts", parts.count) << " parts";
      return;
    }
    for (int64_t tokens : parts.tokens)
      if (succeeded(JoinedTrips(scan, tokens).replace())) {
        remark::analysis(
            loc, remark::RemarkOpts::name("MadeAtOnce").category(DEBUG_TYPE))
            << "the trips of a loop are made at once, "
            << remark::metric("tokens", tokens) << " rows of each";
        return;
      }
    scan.loop->setAttr(kNotDealt,
                       StringAttr::get(scan.loop.getContext(), reason));
  }

  /// What keeps a loop from being dealt so, or "".
  static std::string dealInParts(ScanLoop &scan, int64_t parts) {
    passStatesAround(scan);
    DealtLoop dealt(scan, parts);
    std::string reason = dealt.check();
    if (!reason.empty() || succeeded(dealt.replace()))
      return reason;
    Operation *op = dealt.getLast();
    std::string line = describeSourceLine(op->getLoc());
    return "'" + op->getName().getStringRef().str() + "'" +
           (line.empty() ? "" : " at " + line) +
           " has no form for several trips at once";
  }

  static void deal(stablehlo::ReduceWindowOp op, int64_t parts) {
    remark::analysis(op.getLoc(),
                     remark::RemarkOpts::name("Dealt").category(DEBUG_TYPE))
        << "a cumulative window is dealt in " << remark::metric("parts", parts)
        << " parts";
    cutWindow(op, *CumulativeWindow::find(op), parts);
  }

  std::optional<Parts> partsOf(Operation *op,
                               ShardingPropagation &propagation) {
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
      std::optional<ScanLoop> scan = ScanLoop::find(loop);
      return scan ? partsOf(*scan, propagation) : std::nullopt;
    }
    auto reduce = dyn_cast<stablehlo::ReduceWindowOp>(op);
    std::optional<CumulativeWindow> window;
    if (reduce)
      window = CumulativeWindow::find(reduce);
    if (!window)
      return std::nullopt;
    for (Value value : {reduce.getInputs()[0], reduce.getResult(0)}) {
      LayoutAttr layout = onlyLayout(propagation.dimsOf(value)[window->dim]);
      int64_t parts = layout ? runsOf(layout) : 0;
      if (parts > 1 && shapeOf(value)[window->dim] % parts == 0)
        return Parts{parts, "", {}};
    }
    return std::nullopt;
  }

  /// Why ranks that hold rows by `layout` do not hold those of whole trips, in
  /// as many parts as `others`, if any; or "".
  static std::string checkParts(LayoutAttr layout, int64_t trips,
                                std::optional<Parts> others) {
    int64_t own = runsOf(layout);
    if (own <= 1)
      return "ranks hold its rows by a " +
             stringifyLayoutKind(layout.getKind()).str() + " layout of " +
             std::to_string(layout.getLength()) + " over " +
             std::to_string(layout.getRanks()) +
             ", which is no equal runs of rows";
    if (trips % own != 0)
      return "ranks hold its rows in " + std::to_string(own) +
             " runs, of which none has whole trips of its " +
             std::to_string(trips);
    if (others && others->count != own)
      return "ranks hold some of its rows in " + std::to_string(own) +
             " runs and others in " + std::to_string(others->count);
    return "";
  }

  /// Nothing where no rows are dealt.
  std::optional<Parts> partsOf(ScanLoop &scan,
                               ShardingPropagation &propagation) {
    std::optional<Parts> parts;
    llvm::SmallSetVector<int64_t, 2> tokens;
    auto add = [&](Value stack, StackRows rows) {
      addTokens(stack, rows, scan.trips, propagation, tokens);
      LayoutAttr layout = onlyLayout(propagation.dimsOf(stack)[rows.dim]);
      if (!layout || (parts && !parts->reason.empty()))
        return;
      std::string reason = checkParts(layout, scan.trips, parts);
      parts = Parts{runsOf(layout), std::move(reason), {}};
    };
    for (auto slice : scan.body().getOps<stablehlo::DynamicSliceOp>())
      if (Value stack = scan.outside(slice.getOperand()))
        if (std::optional<StackRows> rows = scan.rowsOf(slice))
          add(stack, *rows);
    for (auto [number, carried] : llvm::enumerate(scan.carried))
      if (carried.kind == ScanValue::Kind::Written)
        add(scan.loop->getResult(number), carried.written);
    if (!parts && !tokens.empty())
      parts =
          Parts{0, "ranks hold its rows in other runs than its trips take", {}};
    tokensOf[scan.loop] = tokens;
    if (parts)
      parts->tokens = std::move(tokens);
    return parts;
  }

  /// Adds how many rows a trip takes, if ranks share the rows that a stack
  /// holds, or is made of by a reshape that takes its trips from among them, or
  /// becomes by one.
  void addTokens(Value stack, StackRows rows, int64_t trips,
                 ShardingPropagation &propagation,
                 llvm::SmallSetVector<int64_t, 2> &tokens) {
    auto add = [&](DimAttr dim) {
      if (int64_t length = lengthOf(dim);
          isDealt(dim) && length > trips && length % trips == 0)
        tokens.insert(length / trips);
    };
    if (rows.rows > 1)
      return add(propagation.dimsOf(stack)[rows.dim]);
    auto joins = [&](Operation *op, Value other) {
      if (isa<stablehlo::ReshapeOp>(op))
        llvm::for_each(propagation.dimsOf(other), add);
    };
    // What becomes of it.
    std::optional<unsigned> dim = rows.dim;
    for (Value value = stack; value.hasOneUse();) {
      Operation *user = *value.user_begin();
      dim = dimAcross(user, *dim, /*toResult=*/true);
      if (!dim && user->getNumResults() == 1)
        joins(user, user->getResult(0));
      if (!dim)
        break;
      value = user->getResult(0);
    }
    // What it is made of.
    dim = rows.dim;
    while (Operation *op = stack.getDefiningOp()) {
      if (isa<stablehlo::OptimizationBarrierOp>(op)) {
        stack = op->getOperand(cast<OpResult>(stack).getResultNumber());
        continue;
      }
      // What trips left is read by as many of another loop.
      if (auto before = tokensOf.find(op);
          before != tokensOf.end() && typeOf(stack).getDimSize(*dim) == trips)
        tokens.insert_range(before->second);
      dim = dimAcross(op, *dim, /*toResult=*/false);
      if (!dim && op->getNumOperands() == 1)
        joins(op, op->getOperand(0));
      if (!dim)
        return;
      stack = op->getOperand(0);
    }
  }

  /// The dimension of an operation's only result, or else of its only operand,
  /// that one of the other is.
  static std::optional<unsigned> dimAcross(Operation *op, unsigned dim,
                                           bool toResult) {
    if (op->getNumOperands() != 1 || op->getNumResults() != 1 ||
        op->getNumRegions() > 0)
      return std::nullopt;
    Value from = op->getOperand(0), to = op->getResult(0);
    if (isa<stablehlo::ReshapeOp>(op))
      return toResult ? dimBehindReshape(shapeOf(from), dim, shapeOf(to))
                      : dimBehindReshape(shapeOf(to), dim, shapeOf(from));
    for (const Factor &factor : getFactors(op)) {
      auto &known = toResult ? factor.operands : factor.results;
      auto &wanted = toResult ? factor.results : factor.operands;
      if (llvm::is_contained(known, std::pair(0u, dim)) && !wanted.empty() &&
          !factor.moves)
        return wanted.front().second;
    }
    return std::nullopt;
  }

  /// Of loops, how many rows their trips take.
  DenseMap<Operation *, llvm::SmallSetVector<int64_t, 2>> tokensOf;
};

} // namespace

#undef DEBUG_TYPE
