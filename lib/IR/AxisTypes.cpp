//===- AxisTypes.cpp - Types along axes, through loops and branches -------===//

#include "sp/IR/AxisTypes.h"
#include "AxisTransfer.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"

using namespace mlir;
using namespace mlir::sp;

AxisTypes::AxisTypes(func::FuncOp func, MeshOp meshOp)
    : func(func), mesh(meshOp, func) {
  unknown.varying = mesh.all();
  for (BlockArgument argument : func.getArguments()) {
    auto sharding =
        func.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kSharding);
    set(argument,
        sharding ? typeOfDims(sharding.getDims(), mesh) : AxisType(unknown));
  }
  do {
    changed = false;
    visit(func.getBody().front());
  } while (changed);
}

const AxisType &AxisTypes::of(Value value) const {
  auto known = types.find(value);
  return known == types.end() ? unknown : known->second;
}

void AxisTypes::visit(Block &block) {
  for (Operation &op : block.without_terminator())
    visit(&op);
}

void AxisTypes::visit(Operation *op) {
  if (isLoop(op))
    return visitLoop(op);
  if (op->hasTrait<stablehlo::ControlFlow>())
    return visitBranches(op);
  auto known = [&](Value value) -> const AxisType & { return of(value); };
  AxisTransfer transfer(mesh, known, reports);
  SmallVector<AxisType> made = transfer.apply(op);
  faulty |= transfer.isFaulty();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), made))
    set(result, std::move(type));
}

/// What ranks leave a loop, or a branch, with that not all go through alike.
static AxisType diverged(AxisType type, AxisSet diverging) {
  type.varying |= diverging & ~type.unequal();
  type.counted &= ~type.varying;
  return type;
}

void AxisTypes::visitLoop(Operation *loop) {
  AxisSet diverging = 0;
  unsigned first = loop->getNumOperands() - loop->getNumResults();
  for (Value bound : loop->getOperands().take_front(first))
    diverging |= of(bound).unequal();
  if (auto counted = dyn_cast<scf::ForOp>(loop))
    set(counted.getInductionVar(), diverged(AxisType(), diverging));
  // With what it was before, so that types only become less.
  auto joined = [&](Carried carried) {
    AxisType type = of(carried.init());
    for (Value value : {carried.yielded().get(), carried.argument()})
      if (auto known = types.find(value); known != types.end())
        type = join(type, known->second, mesh);
    return type;
  };
  for (unsigned index = 0; index < loop->getNumResults(); ++index) {
    Carried carried{loop, index};
    AxisType type = joined(carried);
    if (loop->getNumRegions() == 2)
      set(loop->getRegion(0).getArgument(index), type);
    set(carried.argument(), std::move(type));
  }
  for (Region &region : loop->getRegions())
    visit(region.front());
  if (loop->getNumRegions() == 2)
    for (Value again :
         loop->getRegion(0).front().getTerminator()->getOperands())
      diverging |= of(again).unequal();
  for (unsigned index = 0; index < loop->getNumResults(); ++index) {
    Carried carried{loop, index};
    AxisType type = joined(carried);
    changed |= !(type == of(carried.argument()));
    set(carried.result(), diverged(std::move(type), diverging));
  }
}

void AxisTypes::visitBranches(Operation *op) {
  AxisSet diverging = of(op->getOperand(0)).unequal();
  for (Region &region : op->getRegions())
    visit(region.front());
  for (OpResult result : op->getResults()) {
    std::optional<AxisType> type;
    for (Region &region : op->getRegions()) {
      Operation *end = region.front().getTerminator();
      const AxisType &one = of(end->getOperand(result.getResultNumber()));
      type = type ? join(*type, one, mesh) : one;
    }
    set(result, diverged(std::move(*type), diverging));
  }
}

LogicalResult AxisTypes::check() {
  reports = true;
  faulty = false;
  visit(func.getBody().front());
  reports = false;
  // What is wrong already is not wrong once more where it ends.
  for (unsigned i = 0; i < func.getNumResults() && !faulty; ++i)
    if (failed(checkResult(i)))
      return failure();
  return failure(faulty);
}

LogicalResult AxisTypes::checkResult(unsigned number) {
  auto sharding = func.getResultAttrOfType<ShardingAttr>(number, kSharding);
  if (!sharding)
    return success();
  Operation *end = func.getBody().front().getTerminator();
  Value value = end->getOperand(number);
  const AxisType &type = of(value);
  AxisType promised = typeOfDims(sharding.getDims(), mesh);
  if (type.isZero)
    return success();
  auto fail = [&](AxisSet axis, StringRef expected,
                  StringRef wayOut) -> LogicalResult {
    InFlightDiagnostic diagnostic =
        end->emitOpError() << "expected result " << number << " to be "
                           << expected << " along axis \""
                           << mesh.axisOf(axis).getText() << "\" but it is "
                           << describe(type, axis, mesh) << wayOut;
    diagnostic.attachNote(value.getLoc()) << "it is made here";
    return diagnostic;
  };
  if (AxisSet wrong = type.unequal() & ~promised.dealt)
    return fail(wrong, "equal",
                type.partial & wrong & -wrong ? "; it is never reduced"
                                              : "; gather or reduce it");
  for (const DealtRows &rows : promised.rows) {
    AxisSet axes = mesh.of(rows.layout);
    std::string expected = describe(promised, axes, mesh);
    bool isUniform = type.uniform >> rows.dim & 1;
    if (AxisSet parts = type.partial & axes)
      return fail(parts, expected, "; it is never reduced");
    if (AxisSet equal = axes & ~type.unequal() & ~type.counted;
        equal && !isUniform)
      return fail(equal, expected, "; take the rows of each rank");
    bool agrees = llvm::any_of(
        type.rows, [&](const DealtRows &own) { return own.agreesWith(rows); });
    if ((type.dealt & axes) && !agrees)
      return fail(axes, expected, "; deal it anew");
  }
  return success();
}
