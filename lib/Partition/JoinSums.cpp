//===- JoinSums.cpp - One reduction of a sum ------------------------------===//
//
//   before   %r = sp.all_reduce %p     %s = sp.all_reduce %q
//            %d = add (add %x, %r), %s
//   after    %s = sp.all_reduce (add %p, %q)
//            %d = add %x, %s
//
// So come together gradients of what several weights read, each of which a
// tensor axis deals. Between reductions and sum there may be what is linear.
//
//===----------------------------------------------------------------------===//

#include "Turns/PendingReduction.h"
#include "sp/IR/LocalForms.h"
#include "sp/IR/Program.h"
#include "sp/Partition/Passes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_JOINSUMSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Adds parts of what several reductions give before one reduction.
static void joinSum(stablehlo::AddOp last, AxisTypes &ranks) {
  PendingReduction pending(*last->getBlock(), ranks, /*factors=*/false);
  if (!pending.reach(last.getLhs()) || !pending.reach(last.getRhs()) ||
      pending.count() < 2 || pending.kind() != Reduction::Sum)
    return;
  auto type = cast<RankedTensorType>(last.getType());
  if (!pending.fits(type) || !pending.isLinear() ||
      !pending.isReadBy([&](Operation *user) { return user == last; }))
    return;
  AllReduceOp first = pending.first();
  AxisListAttr axes = first.getAxes();
  int64_t count = first.getRanks();
  Type wide = elementOf(first->getResult(0));
  pending.release(wide);
  last.getResult().setType(type.clone(wide));
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  Value sum = last.getResult();
  auto whole =
      AllReduceOp::create(builder, last.getLoc(), TypeRange{sum.getType()},
                          ValueRange{sum}, Reduction::Sum, axes, count);
  Value result = convertType(builder, last.getLoc(), whole->getResult(0), type);
  sum.replaceUsesWithIf(
      result, [&](OpOperand &use) { return use.getOwner() != whole; });
}

/// The terms of a sum, and the sums that it is made of, in order.
static void termsOf(stablehlo::AddOp sum, SmallVectorImpl<Value> &terms,
                    SmallVectorImpl<Operation *> &sums) {
  for (Value operand : sum->getOperands()) {
    auto inner = operand.getDefiningOp<stablehlo::AddOp>();
    if (inner && operand.hasOneUse() && inner->getBlock() == sum->getBlock())
      termsOf(inner, terms, sums);
    else
      terms.push_back(operand);
  }
  sums.push_back(sum);
}

/// Adds up by themselves the terms of a sum that reductions make, so that they
/// can be joined; gives that sum, or null where there are not several.
static stablehlo::AddOp sumReduced(stablehlo::AddOp sum, AxisTypes &ranks) {
  SmallVector<Value> terms, reduced, others;
  SmallVector<Operation *> sums;
  termsOf(sum, terms, sums);
  for (Value term : terms) {
    PendingReduction pending(*sum->getBlock(), ranks, /*factors=*/false);
    bool isReduced = term.hasOneUse() && pending.reach(term) &&
                     pending.kind() == Reduction::Sum;
    (isReduced ? reduced : others).push_back(term);
  }
  if (reduced.size() < 2)
    return {};
  OpBuilder builder(sum);
  auto addAll = [&](ArrayRef<Value> values) {
    Value all = values.front();
    for (Value value : values.drop_front())
      all = stablehlo::AddOp::create(builder, sum.getLoc(), all, value);
    return all;
  };
  Value all = addAll(reduced);
  auto last = all.getDefiningOp<stablehlo::AddOp>();
  if (!others.empty())
    all = stablehlo::AddOp::create(builder, sum.getLoc(), addAll(others), all);
  sum.replaceAllUsesWith(all);
  for (Operation *dead : llvm::reverse(sums))
    dead->erase();
  return last;
}

namespace {

struct JoinSumsPass : mlir::sp::impl::JoinSumsPassBase<JoinSumsPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    MeshOp mesh = getMesh(getOperation());
    if (failed(func))
      return signalPassFailure();
    if (!mesh)
      return;
    AxisTypes ranks(*func, mesh);
    SmallVector<stablehlo::AddOp> sums;
    func->walk([&](stablehlo::AddOp op) {
      bool isTerm = op->hasOneUse() &&
                    isa<stablehlo::AddOp>(*op->user_begin()) &&
                    op->user_begin()->getBlock() == op->getBlock();
      if (isa<FloatType>(elementOf(op)) && !isTerm)
        sums.push_back(op);
    });
    for (stablehlo::AddOp op : sums)
      if (stablehlo::AddOp last = sumReduced(op, ranks))
        joinSum(last, ranks);
  }
};

} // namespace
