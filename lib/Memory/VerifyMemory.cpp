//===- VerifyMemory.cpp - The guard of Memory -----------------------------===//
//
// Runs the program on places instead of numbers: every read must find what was
// written for it, communication from its start to its wait. Loops run as often
// as slots take to come round, branches one after the other. Where a `while`
// repeats its body, those inside run once: places do not depend on their
// iterations, so all that a second one can meet was met the first time.
//
//===----------------------------------------------------------------------===//

#include "Arena.h"
#include "Overwriting.h"
#include "sp/IR/Program.h"
#include "sp/IR/Storage.h"
#include "sp/Memory/Passes.h"

#include "llvm/Support/SaveAndRestore.h"

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYMEMORYPASS
#include "sp/Memory/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

constexpr int64_t kAlignment = 64;

class PlaceRun {
public:
  explicit PlaceRun(func::FuncOp func) : func(func) {}

  LogicalResult run();

private:
  LogicalResult runBlock(Block &block);
  LogicalResult runOperation(Operation *op);
  LogicalResult runFor(scf::ForOp loop);
  LogicalResult runWhile(stablehlo::WhileOp loop);
  LogicalResult runBranches(Operation *op);
  LogicalResult runReshape(stablehlo::ReshapeOp op);

  /// The offset of the value that attribute `name` of `op` places `index`th.
  FailureOr<int64_t> offsetOf(Operation *op, StringRef name, unsigned index);
  FailureOr<Held> place(Operation *op, StringRef name, unsigned index,
                        Value value);
  LogicalResult writeResults(Operation *op);
  LogicalResult checkHeld(Operation *op, Value value);
  LogicalResult checkReads(Operation *op);
  /// Binds carried values, which must lie where the loop expects them.
  LogicalResult bind(Operation *loop, StringRef name, ValueRange targets,
                     ArrayRef<Held> sources);
  SmallVector<Held> lookup(ValueRange values) const;

  func::FuncOp func;
  int64_t arenaBytes = 0, constantBytes = 0;
  Arena arena;
  DenseMap<Value, Held> held;
  /// Counters of the `scf.for` loops around, outermost first.
  SmallVector<int64_t> counters;
  /// Whether a `while` around has run its body before.
  bool isRepeated = false;
};

FailureOr<int64_t> PlaceRun::offsetOf(Operation *op, StringRef name,
                                      unsigned index) {
  auto offsets = op->getAttrOfType<ArrayAttr>(name);
  auto map = offsets && index < offsets.size()
                 ? dyn_cast<AffineMapAttr>(offsets[index])
                 : AffineMapAttr();
  if (!map || map.getAffineMap().getNumResults() != 1 ||
      map.getAffineMap().getNumSymbols() != 0 ||
      map.getAffineMap().getNumDims() != counters.size())
    return op->emitOpError()
           << "expected '" << name << "' to place value " << index
           << " by the counters of " << counters.size() << " loops";
  SmallVector<Attribute> values;
  Builder builder(op->getContext());
  for (int64_t counter : counters)
    values.push_back(builder.getIndexAttr(counter));
  SmallVector<Attribute> result;
  if (failed(map.getAffineMap().constantFold(values, result)))
    return op->emitOpError()
           << "expected '" << name << "' to be computable but got " << map;
  return cast<IntegerAttr>(result[0]).getInt();
}

FailureOr<Held> PlaceRun::place(Operation *op, StringRef name, unsigned index,
                                Value value) {
  FailureOr<int64_t> offset = offsetOf(op, name, index);
  if (failed(offset))
    return failure();
  int64_t bytes = storageBytes(value.getType());
  bool isConstant =
      isa_and_present<stablehlo::ConstantOp>(value.getDefiningOp());
  int64_t size = isConstant ? constantBytes : arenaBytes;
  if (*offset < 0 || *offset % kAlignment != 0 || *offset + bytes > size)
    return op->emitOpError()
           << "expected " << bytes << " bytes at a multiple of " << kAlignment
           << " within " << size << " but got offset " << *offset;
  Held made = arena.make(*offset, bytes, op);
  made.isConstant = isConstant;
  return made;
}

LogicalResult PlaceRun::checkHeld(Operation *op, Value value) {
  const Held &wanted = held.at(value);
  std::optional<Operation *> damage = arena.findDamage(wanted);
  if (!damage)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "expected " << wanted.bytes << " bytes of a "
                        << value.getType() << " at offset " << wanted.offset
                        << ", which something else has overwritten";
  if (*damage)
    diagnostic.attachNote((*damage)->getLoc()) << "written here";
  return diagnostic;
}

LogicalResult PlaceRun::checkReads(Operation *op) {
  for (Value operand : op->getOperands())
    if (isTensor(operand) && failed(checkHeld(op, operand)))
      return failure();
  return success();
}

/// Writes results, which may only meet operands that `op` writes over.
LogicalResult PlaceRun::writeResults(Operation *op) {
  unsigned index = 0;
  for (Value result : op->getResults()) {
    if (!isTensor(result))
      continue;
    FailureOr<Held> made = place(op, "sp.offsets", index++, result);
    if (failed(made))
      return failure();
    held[result] = *made;
    arena.put(*made);
  }
  for (auto [onto, result] : continuedBy(op))
    if (held[result].offset != held[onto->get()].offset)
      return op->emitOpError()
             << "expected the "
             << cast<ContinuationOpInterface>(op).nameContinued()
             << " to be continued in place";
  for (Value result : op->getResults())
    if (isTensor(result) && failed(checkHeld(op, result)))
      return failure();
  for (OpOperand &operand : op->getOpOperands())
    if (isTensor(operand.get()) && !isOverwritten(operand) &&
        failed(checkHeld(op, operand.get())))
      return failure();
  return success();
}

SmallVector<Held> PlaceRun::lookup(ValueRange values) const {
  SmallVector<Held> found;
  for (Value value : values)
    if (isTensor(value))
      found.push_back(held.at(value));
  return found;
}

LogicalResult PlaceRun::bind(Operation *loop, StringRef name,
                             ValueRange targets, ArrayRef<Held> sources) {
  unsigned index = 0;
  for (Value target : targets) {
    if (!isTensor(target))
      continue;
    FailureOr<int64_t> offset = offsetOf(loop, name, index);
    if (failed(offset))
      return failure();
    const Held &source = sources[index];
    if (*offset != source.offset)
      return loop->emitOpError()
             << "expected carried value " << index << " at offset "
             << source.offset << ", where it was computed, but got " << *offset;
    held[target] = source;
    ++index;
    if (failed(checkHeld(loop, target)))
      return failure();
  }
  return success();
}

LogicalResult PlaceRun::runFor(scf::ForOp loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound());
  if (!trips || !first)
    return loop.emitOpError() << "expected constant bounds";
  // Two slots: as many iterations as tell the last slot.
  int64_t count = trips->getSExtValue();
  count = count > 3 ? 2 + count % 2 : count;
  SmallVector<Held> carried = lookup(loop.getInitArgs());
  Block &body = *loop.getBody();
  for (int64_t step = 0; step < count; ++step) {
    counters.push_back(*first + step);
    if (failed(bind(loop, "sp.arg_offsets", body.getArguments(), carried)) ||
        failed(runBlock(body)))
      return failure();
    counters.pop_back();
    carried = lookup(body.getTerminator()->getOperands());
  }
  return bind(loop, "sp.offsets", loop.getResults(), carried);
}

LogicalResult PlaceRun::runWhile(stablehlo::WhileOp loop) {
  SmallVector<Held> carried = lookup(loop->getOperands());
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  llvm::SaveAndRestore repeating(isRepeated, isRepeated);
  for (int64_t step = 0, steps = isRepeated ? 1 : 3; step < steps; ++step) {
    isRepeated |= step > 0;
    if (failed(bind(loop, "sp.arg_offsets", cond.getArguments(), carried)) ||
        failed(runBlock(cond)) ||
        failed(bind(loop, "sp.arg_offsets", body.getArguments(), carried)) ||
        failed(runBlock(body)))
      return failure();
    carried = lookup(body.getTerminator()->getOperands());
  }
  return bind(loop, "sp.offsets", loop->getResults(), carried);
}

LogicalResult PlaceRun::runBranches(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (failed(runBlock(region.front())) ||
        failed(bind(op, "sp.offsets", op->getResults(),
                    lookup(region.front().getTerminator()->getOperands()))))
      return failure();
  }
  return success();
}

LogicalResult PlaceRun::runReshape(stablehlo::ReshapeOp op) {
  FailureOr<int64_t> offset = offsetOf(op, "sp.offsets", 0);
  if (failed(offset))
    return failure();
  // A copy: the new entry may move the others.
  Held operand = held.at(op.getOperand());
  held[op.getResult()] = operand;
  if (*offset == operand.offset)
    return success();
  return op.emitOpError() << "expected the offset of its operand, "
                          << held[op.getResult()].offset << ", but got "
                          << *offset;
}

LogicalResult PlaceRun::runOperation(Operation *op) {
  if (failed(checkReads(op)))
    return failure();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return runWhile(loop);
  if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op))
    return runBranches(op);
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    return runReshape(reshape);
  auto wait = dyn_cast<WaitOp>(op);
  if (!wait)
    return writeResults(op);
  // What was started reads and writes until now.
  Operation *start = wait.getToken().getDefiningOp();
  if (!start)
    return op->emitOpError() << "expected the token of a started operation";
  for (Value result : start->getResults())
    if (isTensor(result) && failed(checkHeld(op, result)))
      return failure();
  for (OpOperand &operand : start->getOpOperands())
    if (isTensor(operand.get()) && !isOverwritten(operand) &&
        failed(checkHeld(op, operand.get())))
      return failure();
  return success();
}

LogicalResult PlaceRun::runBlock(Block &block) {
  for (Operation &op : block)
    if (failed(runOperation(&op)))
      return failure();
  return success();
}

LogicalResult PlaceRun::run() {
  auto arenaAttr = func->getAttrOfType<IntegerAttr>("sp.arena_bytes"),
       constantAttr = func->getAttrOfType<IntegerAttr>("sp.constant_bytes");
  if (!arenaAttr || !constantAttr)
    return func.emitOpError()
           << "expected the sizes of arena and constants after Memory";
  arenaBytes = arenaAttr.getInt();
  constantBytes = constantAttr.getInt();
  Block &body = func.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    auto offset = func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                     "sp.offset");
    if (!offset || !isTensor(argument))
      return func.emitOpError()
             << "expected an offset for argument " << argument.getArgNumber();
    held[argument] =
        arena.make(offset.getInt(), storageBytes(argument.getType()), func);
    arena.put(held[argument]);
  }
  if (failed(runBlock(body)))
    return failure();
  // The caller's arguments are still there, for the next run, but for those
  // that results replace.
  for (BlockArgument argument : body.getArguments())
    if (!donatedTo(func, argument.getArgNumber()) &&
        failed(checkHeld(func, argument)))
      return failure();
  return success();
}

struct VerifyMemoryPass
    : mlir::sp::impl::VerifyMemoryPassBase<VerifyMemoryPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func) || failed(PlaceRun(*func).run()))
      signalPassFailure();
  }
};

} // namespace
