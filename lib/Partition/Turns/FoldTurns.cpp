//===- FoldTurns.cpp - A loop over the ranks of a folded mesh -------------===//
//
//   before   func @main(%x: tensor<2x64xf32> {sp.sharding = <[[8 by <striped 8
//                           on "turns" of 4>], [64]]>}, %w)
//              %p = dot %x, %x            : 64x64
//              %s = sp.all_reduce %p sum over ["turns"] of 4
//   after    func @main(%x: tensor<8x64xf32>, %w)
//              %s = while(%turn = 0, %sum = 0) cond { %turn < 4 } do {
//                %part = dynamic_slice of %x    : 2x64
//                %p = dot %part, %part
//                return %turn + 1, %sum + %p
//              }
//
//===----------------------------------------------------------------------===//

#include "Turns/TurnLevels.h"
#include "Turns/TurnRows.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/AxisTypes.h"
#include "sp/IR/LocalForms.h"
#include "sp/IR/Program.h"
#include "sp/IR/ShardingRules.h"
#include "sp/Partition/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::sp {
#define GEN_PASS_DEF_FOLDTURNSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Whether a turn has one sequence of each attention, and documents in it.
static bool haveOneRow(func::FuncOp func) {
  bool haveOne = true, haveDocuments = false;
  auto look = [&](auto op) {
    haveOne &= op.getQuery().getType().getDimSize(0) == 1;
    haveDocuments |= op.getDocumentsAttr() != nullptr;
  };
  func.walk([&](AttentionOp op) { look(op); });
  func.walk([&](AttentionBackwardOp op) { look(op); });
  return haveOne && haveDocuments;
}

namespace {

class TurnsFolding {
public:
  TurnsFolding(func::FuncOp func, int64_t turns, const TurnLevels &levels)
      : func(func), body(func.getBody().front()), turns(turns), levels(levels),
        builder(func.getContext()), areRows(haveOneRow(func)) {}

  void run();

private:
  /// What a loop carries from turn to turn, and what becomes of it.
  struct CarriedValue {
    Value init;
    OpResult combined; ///< of an all-reduce that it is the result of, or
    Value stacked;     ///< what each turn leaves a row of
  };

  void emitLoop(unsigned number);
  std::vector<CarriedValue> findCarried(unsigned number);
  void emitTurn(unsigned number, ArrayRef<CarriedValue> carried,
                ValueRange before, SmallVectorImpl<Value> &next);
  void readInTurn(Operation *op, unsigned number, Value turn,
                  IRMapping &mapping);
  bool leaves(Value value, unsigned number);
  void gather(AllGatherOp all);
  Value stackOf(Value value);
  /// A result of all turns, of what one makes.
  Value joinResult(Value value, ShardingAttr sharding);
  void restoreArguments();
  void restoreResults();
  Value indexOf(Location loc, int64_t number) {
    return splat(builder, loc, RankedTensorType::get({}, builder.getI32Type()),
                 builder.getI32IntegerAttr(number));
  }

  func::FuncOp func;
  Block &body;
  int64_t turns;
  const TurnLevels &levels;
  OpBuilder builder;
  bool areRows; ///< turns are those of the batch
  DenseMap<Value, Value> stacks;
};

} // namespace

/// Whether something behind the loop reads what each turn makes.
bool TurnsFolding::leaves(Value value, unsigned number) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *reader = body.findAncestorOpInBlock(*user);
    return reader == body.getTerminator() || isa<AllGatherOp>(reader) ||
           (levels.isInLoop(reader) && levels.placeOf(reader) != number);
  });
}

std::vector<TurnsFolding::CarriedValue>
TurnsFolding::findCarried(unsigned number) {
  std::vector<CarriedValue> carried;
  for (Operation &op : body.without_terminator()) {
    if (!levels.isInLoop(&op) || levels.placeOf(&op) != number ||
        TurnLevels::isSource(&op))
      continue;
    Location loc = op.getLoc();
    if (auto reduce = dyn_cast<AllReduceOp>(op)) {
      for (OpResult result : op.getResults())
        carried.push_back(
            {neutralBroadcast(builder, loc, typeOf(result), reduce.getKind()),
             result, Value()});
      continue;
    }
    for (OpResult result : op.getResults()) {
      if (!levels.varies(result) || !leaves(result, number))
        continue;
      RankedTensorType type = typeOf(result);
      SmallVector<int64_t> shape{turns};
      llvm::append_range(shape, type.getShape());
      carried.push_back(
          {neutralBroadcast(builder, loc, type.clone(shape), Reduction::Sum),
           OpResult(), result});
    }
  }
  return carried;
}

/// Whether a value repeats what is smaller, at no cost: every turn does it, so
/// that none of it is kept for the next.
static bool isSpread(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<stablehlo::IotaOp>(op) ||
      op->hasTrait<stablehlo::Spread>())
    return true;
  return op->hasTrait<stablehlo::Elementwise>() &&
         !op->hasTrait<stablehlo::Costly>() &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           Operation *def = operand.getDefiningOp();
           return rankOf(operand) == 0 || (def && isSpread(def));
         });
}

/// Has an operation of a turn read what that turn has.
void TurnsFolding::readInTurn(Operation *op, unsigned number, Value turn,
                              IRMapping &mapping) {
  forEachRead(op, [&](Value value) {
    if (mapping.contains(value))
      return;
    if (!levels.varies(value)) {
      Operation *def = value.getDefiningOp();
      if (!def || def->getBlock() != &body || !isSpread(def) ||
          llvm::any_of(def->getOperands(),
                       [&](Value operand) { return levels.varies(operand); }))
        return;
      readInTurn(def, number, turn, mapping);
      builder.clone(*def, mapping);
      return;
    }
    Location loc = value.getDefiningOp() ? value.getLoc() : op->getLoc();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto sharding = func.getArgAttrOfType<ShardingAttr>(
          argument.getArgNumber(), kSharding);
      mapping.map(value, takeTurn(builder, loc, value,
                                  *TurnRows::find(sharding.getDims()), turn));
      return;
    }
    Operation *def = value.getDefiningOp();
    if (auto positions = dyn_cast<PositionsOp>(def))
      mapping.map(value, positionsOfTurn(builder, positions, turn));
    else if (auto count = dyn_cast<RowCountOp>(def))
      mapping.map(value, rowCountOfTurn(builder, count, turn));
    else if (levels.placeOf(def) != number)
      mapping.map(value, takeRow(builder, loc, stacks.at(value), turn));
  });
}

void TurnsFolding::emitTurn(unsigned number, ArrayRef<CarriedValue> carried,
                            ValueRange before, SmallVectorImpl<Value> &next) {
  Value turn = before[0];
  IRMapping mapping;
  DenseMap<Value, Value> combined;
  for (Operation &op : body.without_terminator()) {
    if (!levels.isInLoop(&op) || levels.placeOf(&op) != number ||
        TurnLevels::isSource(&op) || isa<AllGatherOp>(op))
      continue;
    readInTurn(&op, number, turn, mapping);
    if (auto reduce = dyn_cast<AllReduceOp>(op)) {
      for (auto [operand, result] :
           llvm::zip_equal(op.getOperands(), op.getResults()))
        combined[result] = mapping.lookupOrDefault(operand);
      continue;
    }
    builder.clone(op, mapping);
  }
  for (auto [value, old] : llvm::zip_equal(carried, before.drop_front())) {
    if (!value.combined) {
      next.push_back(putRow(builder, value.stacked.getLoc(), old,
                            mapping.lookup(value.stacked), turn));
      continue;
    }
    auto reduce = cast<AllReduceOp>(value.combined.getOwner());
    next.push_back(combine(builder, reduce.getLoc(), old,
                           combined.at(value.combined), reduce.getKind()));
  }
}

void TurnsFolding::emitLoop(unsigned number) {
  builder.setInsertionPoint(body.getTerminator());
  Location loc = levels.locOf(number);
  std::vector<CarriedValue> carried = findCarried(number);
  SmallVector<Value> inits{indexOf(loc, 0)};
  for (const CarriedValue &value : carried)
    inits.push_back(value.init);
  SmallVector<Location> locs(inits.size(), loc);
  auto loop = stablehlo::WhileOp::create(builder, loc,
                                         ValueRange(inits).getTypes(), inits);
  if (areRows)
    loop->setAttr(kRowsOfBatch, builder.getUnitAttr());
  Block *condition = builder.createBlock(&loop.getCond(), {},
                                         ValueRange(inits).getTypes(), locs);
  Value isLeft = stablehlo::CompareOp::create(
      builder, loc, condition->getArgument(0), indexOf(loc, turns),
      stablehlo::ComparisonDirection::LT);
  stablehlo::ReturnOp::create(builder, loc, isLeft);
  Block *inside = builder.createBlock(&loop.getBody(), {},
                                      ValueRange(inits).getTypes(), locs);
  SmallVector<Value> next{Value()};
  emitTurn(number, carried, inside->getArguments(), next);
  next[0] = stablehlo::AddOp::create(builder, loc, inside->getArgument(0),
                                     indexOf(loc, 1));
  stablehlo::ReturnOp::create(builder, loc, next);
  builder.setInsertionPoint(body.getTerminator());
  for (auto [value, result] :
       llvm::zip_equal(carried, loop->getResults().drop_front())) {
    if (value.combined)
      value.combined.replaceAllUsesWith(result);
    else
      stacks[value.stacked] = result;
  }
}

/// What is gathered of all turns lies in a stack.
void TurnsFolding::gather(AllGatherOp all) {
  Location loc = all.getLoc();
  builder.setInsertionPoint(body.getTerminator());
  for (auto [number, input] : llvm::enumerate(all.getInputs())) {
    Value result = all.getResult(number), whole;
    TurnRows rows{static_cast<unsigned>(all.getDims()[number]), 1, 1,
                  all.getLayout(number)};
    // Of which a turn that reads it has no part.
    if (isa<BlockArgument>(input) && levels.varies(input))
      whole = stablehlo::ReshapeOp::create(builder, loc, typeOf(result), input);
    else if (input.getDefiningOp<PositionsOp>())
      whole = stablehlo::IotaOp::create(builder, loc, typeOf(result), 0);
    else
      whole = joinTurns(builder, loc, stackOf(input), rows, typeOf(result));
    result.replaceAllUsesWith(whole);
  }
}

/// A row for each turn, which all turns may have alike.
Value TurnsFolding::stackOf(Value value) {
  if (Value known = stacks.lookup(value))
    return known;
  SmallVector<int64_t> shape{turns};
  llvm::append_range(shape, typeOf(value).getShape());
  return stablehlo::BroadcastInDimOp::create(
      builder, value.getLoc(), typeOf(value).clone(shape), value,
      llvm::to_vector(llvm::seq<int64_t>(1, shape.size())));
}

static RankedTensorType wholeOf(Value value, ShardingAttr sharding) {
  SmallVector<int64_t> shape;
  for (DimAttr dim : sharding.getDims())
    shape.push_back(lengthOf(dim));
  return typeOf(value).clone(shape);
}

Value TurnsFolding::joinResult(Value value, ShardingAttr sharding) {
  Location loc = value.getLoc();
  if (value.getDefiningOp<PositionsOp>())
    return stablehlo::IotaOp::create(builder, loc, wholeOf(value, sharding), 0);
  Value stack = stackOf(value);
  if (std::optional<TurnRows> rows = TurnRows::find(sharding.getDims()))
    return joinTurns(builder, loc, stack, *rows, wholeOf(value, sharding));
  // All turns make the same.
  return takeRow(builder, loc, stack, indexOf(loc, 0));
}

/// Arguments are those of all turns.
void TurnsFolding::restoreArguments() {
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (auto sharding = func.getArgAttrOfType<ShardingAttr>(number, kSharding);
        sharding && levels.varies(argument))
      argument.setType(wholeOf(argument, sharding));
  }
}

void TurnsFolding::restoreResults() {
  Operation *terminator = body.getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    auto sharding = func.getResultAttrOfType<ShardingAttr>(number, kSharding);
    func.removeResultAttr(number, builder.getStringAttr(kSharding));
    Value value = operand.get();
    if (!levels.varies(value) || isa<BlockArgument>(value))
      continue;
    operand.set(joinResult(value, sharding));
  }
}

void TurnsFolding::run() {
  SmallVector<Operation *> old, fixed;
  for (Operation &op : body.without_terminator())
    (levels.isInLoop(&op) ? old : fixed).push_back(&op);
  restoreArguments();
  for (unsigned number = 0; number <= levels.loops(); ++number) {
    for (Operation *op : fixed)
      if (levels.placeOf(op) == number)
        op->moveBefore(body.getTerminator());
    if (number == levels.loops())
      break;
    emitLoop(number);
    for (Operation *op : old)
      if (auto all = dyn_cast<AllGatherOp>(op);
          all && levels.placeOf(op) == number)
        gather(all);
  }
  builder.setInsertionPoint(body.getTerminator());
  restoreResults();
  for (Operation *op : llvm::reverse(old))
    op->erase();
  Operation *terminator = body.getTerminator();
  for (BlockArgument argument : func.getArguments())
    func.removeArgAttr(argument.getArgNumber(), kSharding);
  func.setFunctionType(builder.getFunctionType(body.getArgumentTypes(),
                                               terminator->getOperandTypes()));
}

namespace {

/// Barriers of what turns have and of what they have alike become two: what is
/// made of all turns does not wait in one of them.
void splitBarriers(func::FuncOp func, MeshOp mesh) {
  AxisTypes ranks(func, mesh);
  SmallVector<stablehlo::OptimizationBarrierOp> barriers(
      func.getBody().front().getOps<stablehlo::OptimizationBarrierOp>());
  for (stablehlo::OptimizationBarrierOp op : barriers) {
    OpBuilder builder(op);
    for (bool alike : {true, false}) {
      SmallVector<Value> operands, results;
      for (auto [operand, result] :
           llvm::zip_equal(op->getOperands(), op->getResults()))
        if (ranks.isAlike(operand) == alike) {
          operands.push_back(operand);
          results.push_back(result);
        }
      if (operands.size() == op->getNumOperands() || operands.empty())
        continue;
      auto part = stablehlo::OptimizationBarrierOp::create(
          builder, op.getLoc(), ValueRange(operands).getTypes(), operands);
      for (auto [result, own] : llvm::zip_equal(results, part->getResults()))
        result.replaceAllUsesWith(own);
    }
    if (op->use_empty())
      op->erase();
  }
}

struct FoldTurnsPass : mlir::sp::impl::FoldTurnsPassBase<FoldTurnsPass> {
  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh || !mesh.getFolded())
      return;
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    splitBarriers(*func, mesh);
    // What is made of the turn's number is there before any loop.
    Block &body = func->getBody().front();
    func->walk([&](Operation *op) {
      if (TurnLevels::isSource(op))
        op->moveBefore(body.findAncestorOpInBlock(*op));
    });
    FailureOr<TurnLevels> levels = TurnLevels::find(*func);
    if (failed(levels))
      return signalPassFailure();
    TurnsFolding(*func, mesh.getRanks(), *levels).run();
    mesh.erase();
  }
};

} // namespace
