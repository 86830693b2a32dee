//===- Timeline.cpp - When operations run -------------------------------===//

#include "Timeline.h"

#include "sp/IR/Flops.h"
#include "sp/IR/SP.h"
#include "sp/IR/Views.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::sp;

Timeline::Timeline(Block &block) : block(block) {
  double time = 0;
  for (Operation &op : block) {
    numbers[&op] = static_cast<int>(operations.size());
    operations.push_back(&op);
    times.push_back(time);
    time += flopsOf(&op);
  }
}

int Timeline::numberOf(Operation *op) const {
  return numbers.at(block.findAncestorOpInBlock(*op));
}

int Timeline::endOf(Operation *op) const {
  int end = numberOf(op);
  for (Value result : op->getResults())
    if (isa<TokenType>(result.getType()))
      for (Operation *wait : result.getUsers())
        end = std::max(end, numberOf(wait));
  return end;
}

void Timeline::forEachUse(Value value,
                          function_ref<void(OpOperand &, int)> visit) const {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isView(user) && user->getBlock() == &block)
      forEachUse(user->getResult(0), visit);
    else
      visit(use, numberOf(user));
  }
}

Value Timeline::viewOf(Value view, Views &views, OpBuilder &builder) const {
  if (view == views.before)
    return views.after;
  if (Value made = views.made.lookup(view))
    return made;
  Operation *op = view.getDefiningOp();
  Value whole = viewOf(op->getOperand(0), views, builder);
  OpBuilder::InsertionGuard guard(builder);
  if (numberOf(op) >= views.first)
    builder.setInsertionPoint(op);
  IRMapping mapping;
  mapping.map(op->getOperand(0), whole);
  return views.made[view] = builder.clone(*op, mapping)->getResult(0);
}

void Timeline::delay(int number, double time) {
  for (double &each : MutableArrayRef(times).drop_front(number + 1))
    each += time;
}

int Timeline::firstAfter(double time, int least, int most) const {
  while (times[least] < time && least < most)
    ++least;
  return least;
}

int Timeline::lastBefore(double time) const {
  int number = static_cast<int>(times.size()) - 1;
  while (number > 0 && times[number] > time)
    --number;
  return number;
}
