//===- VerifyStacks.cpp - Rows are put once, before they are read ------===//
//
//   %e = sp.empty                               no row is there
//   %r = scf.for %i = 0 to 2 iter_args(%s = %e) {
//     yield sp.put %b into %s at %i * 4         rows 0 to 8, turn by turn
//   }
//   %t = sp.put %c into %r at 8                 all of 10: it may be read
//
//===----------------------------------------------------------------------===//

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/RankIndices.h"
#include "sp/StableHLO/TensorTypes.h"
#include "sp/Verify/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <map>

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYSTACKSPASS
#include "sp/Verify/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// One stack from the time when none of its rows is there.
class StackRun {
public:
  explicit StackRun(EmptyOp op)
      : empty(op), indices(getMesh(op->getParentOfType<ModuleOp>()), 0) {}

  LogicalResult run() {
    Value value = empty.getResult();
    return follow(value);
  }

private:
  /// Follows the stack from `value` on, in the block of that, which becomes the
  /// last one there.
  LogicalResult follow(Value &value);
  /// What goes on with the stack, or null; others must find it whole.
  FailureOr<OpOperand *> findNext(Value value);
  template <typename OpT> LogicalResult put(OpT op);
  LogicalResult turn(scf::ForOp loop, const Carried &carried);
  bool isWhole() const {
    return rows.size() == 1 && rows.begin()->first == 0 &&
           rows.begin()->second == length;
  }
  bool isKnown(Value index) const;

  EmptyOp empty;
  RankIndices indices;
  DenseSet<Value> counters; ///< of loops that run now
  /// From the first row to behind the last one, of rows that are there.
  std::map<int64_t, int64_t> rows;
  std::optional<int64_t> dim;
  int64_t length = -1;
};

} // namespace

FailureOr<OpOperand *> StackRun::findNext(Value value) {
  OpOperand *next = nullptr;
  SmallVector<Operation *> readers;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    std::optional<Carried> carried = startedBy(use);
    bool goesOn =
        (isa<PutOp, EvictRowsStartOp>(user) && use.getOperandNumber() == 1) ||
        isa<CopyOp>(user) ||
        (isa<scf::ForOp>(user) && carried && !carried->isUnchanged());
    if (isa<scf::YieldOp>(user) && isa<scf::ForOp>(user->getParentOp()))
      continue;
    if (!goesOn)
      readers.push_back(user);
    else if (next && !isWhole())
      return use.getOwner()->emitOpError()
             << "goes on with a stack of which rows are missing, as another "
                "operation does";
    else
      next = &use;
  }
  if (readers.empty() || isWhole())
    return next;
  InFlightDiagnostic error =
      readers.back()->emitOpError()
      << "reads a stack of which rows are missing: there are ";
  int64_t there = 0;
  for (auto [begin, end] : rows)
    there += end - begin;
  error << there;
  if (length >= 0)
    error << " of " << length;
  error.attachNote(empty.getLoc()) << "which is this one";
  return failure();
}

bool StackRun::isKnown(Value index) const {
  if (counters.contains(index))
    return true;
  Operation *op = index.getDefiningOp();
  return op && (isa<arith::ConstantIndexOp>(op) ||
                (isa<affine::AffineApplyOp>(op) &&
                 llvm::all_of(op->getOperands(), [&](Value operand) {
                   return isKnown(operand);
                 })));
}

template <typename OpT> LogicalResult StackRun::put(OpT op) {
  if (!isKnown(op.getAt()))
    return op.emitOpError() << "expected rows by counters of loops that go on "
                               "with the stack";
  int64_t own = op.getDim();
  if (dim && *dim != own)
    return op.emitOpError() << "puts rows of dimension " << own
                            << " into a stack of rows of dimension " << *dim;
  dim = own;
  length = shapeOf(op.getWhole())[*dim];
  int64_t begin = indices.evaluate(op.getAt()),
          end = begin + shapeOf(op.getBlock())[*dim];
  auto behind = rows.lower_bound(begin);
  bool meets = behind != rows.end() && behind->first < end;
  if (behind != rows.begin()) {
    auto before = std::prev(behind);
    meets |= before->second > begin;
    if (before->second == begin) {
      begin = before->first;
      rows.erase(before);
    }
  }
  if (meets) {
    InFlightDiagnostic error = op.emitOpError()
                               << "puts rows a second time: up to " << end;
    error.attachNote(empty.getLoc()) << "which begin here";
    return error;
  }
  if (behind != rows.end() && behind->first == end) {
    end = behind->second;
    rows.erase(behind);
  }
  rows[begin] = end;
  return success();
}

LogicalResult StackRun::turn(scf::ForOp loop, const Carried &carried) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound()),
                         step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return loop.emitOpError() << "expected constant bounds";
  Value counter = loop.getInductionVar();
  counters.insert(counter);
  for (int64_t at = *lower; at < *upper; at += *step) {
    if (isWhole())
      return loop.emitOpError() << "goes on to put rows into a stack in turn "
                                << at << ", before which all are there";
    indices.setCounter(counter, at);
    Value value = carried.argument();
    if (failed(follow(value)))
      return failure();
    if (!isWhole() && value != carried.yielded().get())
      return loop.emitOpError()
             << "does not hand on the stack that it is given as carried value "
             << carried.index;
  }
  counters.erase(counter);
  return success();
}

LogicalResult StackRun::follow(Value &value) {
  for (;;) {
    FailureOr<OpOperand *> next = findNext(value);
    if (failed(next))
      return failure();
    // What is whole is like any other value.
    if (!*next || isWhole())
      return success();
    Operation *user = (*next)->getOwner();
    if (auto op = dyn_cast<PutOp>(user)) {
      if (failed(put(op)))
        return failure();
      value = op.getResult();
    } else if (auto op = dyn_cast<EvictRowsStartOp>(user)) {
      if (failed(put(op)))
        return failure();
      value = op.getResult();
    } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
      Carried carried = *startedBy(**next);
      if (failed(turn(loop, carried)))
        return failure();
      value = carried.result();
    } else {
      value = user->getResult(0);
    }
  }
}

//===----------------------------------------------------------------------===//
// Blocks of rows
//===----------------------------------------------------------------------===//

static bool isBy(Value index, Value counter) {
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  return index == counter ||
         (apply && llvm::any_of(apply.getMapOperands(), [&](Value operand) {
            return isBy(operand, counter);
          }));
}

/// Whether `op` reads or writes the rows of its own block in every turn.
template <typename OpT>
static LogicalResult checkOwnRows(OpT op, Value part, scf::ForOp loop) {
  Value counter = loop.getInductionVar();
  if (!isBy(op.getAt(), counter))
    return success();
  int64_t rows = shapeOf(part)[op.getDim()];
  auto apply = op.getAt().template getDefiningOp<affine::AffineApplyOp>();
  AffineExpr turn = getAffineDimExpr(0, op.getContext());
  bool isOwn = apply ? apply.getMapOperands().size() == 1 &&
                           apply.getMapOperands()[0] == counter &&
                           apply.getAffineMap().getResult(0) == turn * rows
                     : rows == 1;
  if (isOwn)
    return success();
  return op.emitOpError() << "expected the rows of its own block, from turn * "
                          << rows << " on";
}

/// Rows do not meet: a block has its own of everything, and adds to sums.
static LogicalResult checkBlocks(scf::ForOp loop) {
  if (!loop->hasAttr(kRowBlocks))
    return success();
  for (BlockArgument carried : loop.getRegionIterArgs())
    if (carried.use_empty())
      return loop.emitOpError()
             << "forgets what earlier blocks left of carried value "
             << carried.getArgNumber() - 1;
  for (Operation &op : *loop.getBody()) {
    if (auto take = dyn_cast<TakeOp>(op))
      if (failed(checkOwnRows(take, take.getResult(), loop)))
        return failure();
    if (auto put = dyn_cast<PutOp>(op))
      if (failed(checkOwnRows(put, put.getBlock(), loop)))
        return failure();
  }
  return success();
}

namespace {

struct VerifyStacksPass
    : mlir::sp::impl::VerifyStacksPassBase<VerifyStacksPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    WalkResult result = func->walk([](Operation *op) -> WalkResult {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        return checkBlocks(loop);
      if (auto empty = dyn_cast<EmptyOp>(op))
        return StackRun(empty).run();
      return success();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
