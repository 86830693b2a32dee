//===- CountMemory.cpp - What a rank touches of its arena -----------------===//
//
// An upper bound, close where it matters: a rank that gets no rows, no heads or
// no more blocks of its ring leaves their memory alone.
//
//===----------------------------------------------------------------------===//

#include "Counter.h"

#include "sp/IR/Storage.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// The place of `value` among the tensors of `values`.
static unsigned tensorNumber(ValueRange values, Value value) {
  unsigned number = 0;
  for (Value other : values) {
    if (other == value)
      break;
    number += isTensor(other);
  }
  return number;
}

int64_t Counter::offsetOf(Value value) {
  Operation *op = value.getDefiningOp();
  ArrayAttr maps;
  unsigned number = 0;
  Operation *inside = op;
  if (op) {
    maps = op->getAttrOfType<ArrayAttr>("sp.offsets");
    number = tensorNumber(op->getResults(), value);
  } else {
    auto argument = cast<BlockArgument>(value);
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == main)
      return main
          .getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "sp.offset")
          .getInt();
    maps = parent->getAttrOfType<ArrayAttr>("sp.arg_offsets");
    number = tensorNumber(argument.getOwner()->getArguments(), value);
    inside = argument.getOwner()->getTerminator();
  }
  Builder builder(value.getContext());
  SmallVector<Attribute> steps, results;
  for (Operation *parent = inside->getParentOp(); parent != main;
       parent = parent->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      steps.insert(steps.begin(), builder.getIndexAttr(indices.evaluate(
                                      loop.getInductionVar())));
  (void)cast<AffineMapAttr>(maps[number])
      .getValue()
      .constantFold(steps, results);
  return cast<IntegerAttr>(results.front()).getInt();
}

void Counter::touch(Value value) {
  if (isTensor(value) && !value.getDefiningOp<stablehlo::ConstantOp>())
    memory.touch(offsetOf(value), storageBytes(value.getType()));
}

void Counter::touchRows(Value value, int64_t dim, int64_t rows) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t blocks = ShapedType::getNumElements(type.getShape().take_front(dim));
  if (blocks == 0 || rows == 0)
    return;
  int64_t offset = offsetOf(value), block = storageBytes(type) / blocks;
  for (int64_t i = 0; i < blocks; ++i)
    memory.touch(offset + i * block, block / type.getDimSize(dim) * rows);
}

void Counter::touchAttend(AttendOp op) {
  int64_t rows = toAlgebra(op.getQueries()).count(owner(op.getQueries()));
  bool isSkipped = op.getState() && slicesOf(op).empty();
  if (headsOf(op) == 0 || isSkipped)
    return;
  touchRows(op.getOutput(), 1, rows);
  touchRows(op.getLse(), 1, rows);
}

void Counter::touchAttend(AttendBackwardOp op) {
  bool seesNone = slicesOf(op).empty();
  if (headsOf(op) == 0)
    return;
  if (!seesNone || !op.getOntoQuery())
    touchRows(op.getDQuery(), 1,
              toAlgebra(op.getQueries()).count(queryOwnerOf(op)));
  if (!seesNone || !op.getOntoKey())
    for (Value gradient : {Value(op.getDKey()), Value(op.getDValue())})
      touchRows(gradient, 1, toAlgebra(op.getKeys()).count(keyOwnerOf(op)));
  // What those of terms are added to was touched when it was written.
}

void Counter::touch(Operation *op) {
  // These only pass on what others wrote.
  if (isa<stablehlo::ReshapeOp, stablehlo::ConstantOp, stablehlo::WhileOp,
          stablehlo::CaseOp, stablehlo::IfOp, scf::ForOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return;
  if (auto attend = dyn_cast<AttendOp>(op))
    return touchAttend(attend);
  if (auto backward = dyn_cast<AttendBackwardOp>(op))
    return touchAttend(backward);
  if (auto shift = dyn_cast<ShiftStartOp>(op)) {
    LayoutAttr layout = shift.getLayout();
    int64_t source = sourceBehind(shift);
    if (dealtHeads(shift) != 0 && takesBlock(shift, source, owner(layout)))
      for (Value received : shift.getResults())
        touchRows(received, 1, toAlgebra(layout).count(source));
    return;
  }
  if (auto exchange = dyn_cast<AllToAllStartOp>(op)) {
    LayoutAttr rows = exchange.getRows(), heads = exchange.getHeads();
    bool hasHeads = toAlgebra(heads).count(owner(heads)) > 0;
    if (exchange.getToRows())
      touchRows(exchange.getResult(), 1, toAlgebra(rows).count(owner(rows)));
    // What a rank without a kv head of its own sends in place of gradients
    // nobody wrote.
    if (hasHeads)
      touch(exchange.getToRows() ? exchange.getInput() : exchange.getResult());
    return;
  }
  if (auto gather = dyn_cast<AllGatherStartOp>(op)) {
    touch(gather.getResult());
    touch(gather.getInput());
    return;
  }
  if (auto reduce = dyn_cast<ReduceScatterStartOp>(op)) {
    LayoutAttr layout = reduce.getLayout();
    touchRows(reduce.getResult(), reduce.getDim(),
              toAlgebra(layout).count(owner(layout)));
  } else {
    for (Value result : op->getResults())
      touch(result);
  }
  for (Value operand : op->getOperands())
    touch(operand);
}
