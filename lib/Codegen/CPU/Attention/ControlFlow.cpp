#include "CPU/Attention/ControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

SmallVector<Value> attention::loop(ImplicitLocOpBuilder &b, Value from,
                                   Value to, int64_t step, ValueRange initial,
                                   CarriedBody body) {
  auto loop = scf::ForOp::create(
      b, from, to, arith::ConstantIntOp::create(b, step, 64), initial);
  OpBuilder::InsertionGuard guard(b);
  // Without carried values the builder has already put the yield.
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(b, next);
  return llvm::to_vector(ValueRange(loop.getResults()));
}

void attention::loop(ImplicitLocOpBuilder &b, Value from, Value to,
                     int64_t step, Body body) {
  loop(b, from, to, step, ValueRange(), [&](Value counter, ValueRange) {
    body(counter);
    return SmallVector<Value>();
  });
}

SmallVector<Value>
attention::ifElse(ImplicitLocOpBuilder &b, Value condition, TypeRange types,
                  function_ref<SmallVector<Value>()> thenBody,
                  function_ref<SmallVector<Value>()> elseBody) {
  auto branch = scf::IfOp::create(b, types, condition,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, thenBody());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, elseBody());
  return llvm::to_vector(ValueRange(branch.getResults()));
}

void attention::ifThen(ImplicitLocOpBuilder &b, Value condition,
                       function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, TypeRange(), condition,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
  scf::YieldOp::create(b);
}
