//===- Localizer.cpp - Values and control flow with local shapes ----------===//

#include "Localizer.h"
#include "LocalizeAttentions.h"
#include "LocalizeRows.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/Loops.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "Sharding/Seeds.h"

using namespace mlir;
using namespace mlir::sp;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<DimAttr> Localizer::wholeDims(Value global) const {
  auto type = cast<RankedTensorType>(global.getType());
  return llvm::to_vector(
      ShardingAttr::getReplicated(builder.getContext(), type.getShape())
          .getDims());
}

SmallVector<DimAttr> Localizer::assignedDims(Operation *op,
                                             unsigned result) const {
  if (auto shardings = op->getAttrOfType<ArrayAttr>(kShardings))
    return llvm::to_vector(cast<ShardingAttr>(shardings[result]).getDims());
  return wholeDims(op->getResult(result));
}

bool mlir::sp::isRecomputable(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<stablehlo::IotaOp>(op))
    return true;
  bool isCheap = op->hasTrait<stablehlo::Elementwise>() ||
                 op->hasTrait<stablehlo::Spread>() ||
                 op->hasTrait<OpTrait::SameOperandsAndResultType>() ||
                 isa<stablehlo::TransposeOp>(op);
  return isCheap && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         op->getNumOperands() > 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isRecomputable(operand, depth - 1);
         });
}

/// Whether a value is a floating-point argument that is donated, a part of one
/// or one in another order or precision: more than a layer further on it is
/// gathered again, rather than kept.
static bool isOfParameter(Value global) {
  if (!isa<FloatType>(getElementTypeOrSelf(global.getType())))
    return false;
  while (Operation *op = global.getDefiningOp()) {
    if (op->getNumOperands() != 1)
      return false;
    global = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(global);
  auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return func && donatedTo(func, argument.getArgNumber()) &&
         !func.getArgAttr(argument.getArgNumber(), kCache);
}

/// Whether a value is one, or a part of one that a loop takes.
static bool isOfParameters(Value global) {
  auto argument = dyn_cast<BlockArgument>(originOf(global));
  return argument && isOfParameter(argument);
}

Value Localizer::reshard(Value value, ArrayRef<DimAttr> from,
                         ArrayRef<DimAttr> to, Operation *user, Value global) {
  SmallVector<DimAttr> current(from);
  for (unsigned index = 0; index < to.size(); ++index)
    if (current[index] != to[index] && isDealt(to[index]) &&
        canRedeal(current[index], to[index])) {
      if (!isOfTurns)
        remarkMoved(user,
                    movedBytes(value, index, current[index], to[index], 0),
                    index);
      value = moveRows(builder, user->getLoc(), value, index, current[index],
                       to[index], 0);
      current[index] = to[index];
    }
  for (unsigned index = 0; index < to.size(); ++index)
    if (current[index] != to[index] && isDealt(current[index])) {
      if (!isOfTurns)
        losses.gather(user, current, index, gatherBytes(value, current, index),
                      builder.getBlock(),
                      takesWhole || (global && isOfParameters(global)));
      value = gatherDim(builder, user->getLoc(), value, current, index);
      current[index] = wholeDim(current[index]);
    }
  for (unsigned index = 0; index < to.size(); ++index)
    if (current[index] != to[index] && isDealt(to[index])) {
      if (!isOfTurns && !takesWhole && !sharesAxis(to[index], from))
        losses.take(user, global, index, to[index],
                    storageBytes(typeOf(value)));
      value =
          takeDim(builder, user->getLoc(), value, index, to[index], current);
      current[index] = to[index];
    }
  return value;
}

/// The outermost loop around a block that a value is not made in, or null.
static Operation *loopToLeave(Block *block, Value value) {
  Operation *loop = nullptr;
  while (block != value.getParentBlock() &&
         isa<stablehlo::WhileOp>(block->getParentOp())) {
    loop = block->getParentOp();
    block = loop->getBlock();
  }
  return loop;
}

Value Localizer::require(Value global, ArrayRef<DimAttr> dims,
                         Operation *user) {
  LocalValue local = locals.at(global);
  if (ArrayRef<DimAttr>(local.dims) == dims)
    return local.value;
  // Once, not in every trip of a loop; turns, and rows that are dealt by their
  // documents, have parts of their own.
  bool leavesLoops = !isOfTurns && !takesWhole &&
                     llvm::none_of(dims, isOfBatch) &&
                     llvm::none_of(local.dims, isOfBatch);
  if (leavesLoops) {
    global = lookThroughLoops(global);
    local = locals.at(global);
  }
  if (ArrayRef<DimAttr>(local.dims) == dims)
    return local.value;
  std::pair<Value, Attribute> key(
      global, ShardingAttr::get(builder.getContext(), dims));
  if (Resharded &done = resharded[key]; done.value) {
    int64_t between = attentions - done.attentions;
    bool isFar =
        takesWhole ? between > 0 : between > 1 && isOfParameter(global);
    if (!isFar) {
      done.attentions = attentions;
      return done.value;
    }
    // Which keeps both apart.
    local.value =
        stablehlo::OptimizationBarrierOp::create(
            builder, user->getLoc(), local.value.getType(), local.value)
            .getResult()[0];
  }
  OpBuilder::InsertionGuard guard(builder);
  Value value;
  if (isRecomputable(global)) {
    value = emit(global.getDefiningOp(), {llvm::to_vector(dims)})[0];
  } else {
    if (Operation *loop = loopToLeave(builder.getBlock(), local.value);
        loop && leavesLoops)
      builder.setInsertionPoint(loop);
    value = reshard(local.value, local.dims, dims, user, global);
  }
  resharded[key] = {value, attentions};
  return value;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void Localizer::localizeWhatStays(Operation *op) {
  DimAttr batch = op->getNumResults() > 0 ? assignedDims(op, 0)[0] : DimAttr();
  bool isAttention = isa<AttentionOp, AttentionBackwardOp>(op);
  // Sinks and tables, of which every sequence reads the same, have fewer
  // dimensions.
  auto dimsOf = [&](Value value) {
    SmallVector<DimAttr> dims = wholeDims(value);
    if (dims.size() >= 3 && dims[0] == wholeDim(batch))
      dims[0] = batch;
    return dims;
  };
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isAttention ? require(operand, dimsOf(operand), op)
                                   : require(operand, assignedDims(op, 0), op));
  Operation *local = builder.clone(*op);
  local->setOperands(operands);
  local->removeAttr(kShardings);
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    SmallVector<DimAttr> assigned = assignedDims(op, index),
                         dims = isAttention ? dimsOf(result) : assigned;
    Value value = local->getResult(index);
    value.setType(localType(elementOf(value), dims));
    define(result, {reshard(value, dims, assigned, op), assigned});
  }
}

LogicalResult Localizer::localizeBranch(Operation *op, Region &region,
                                        Region &localRegion,
                                        ArrayRef<SmallVector<DimAttr>> dims) {
  OpBuilder::InsertionGuard guard(builder);
  ReshardedValues outer;
  std::swap(outer, resharded);
  Block &from = region.front(), *to = builder.createBlock(&localRegion);
  for (auto [number, argument] : llvm::enumerate(from.getArguments())) {
    Type type = localType(getElementTypeOrSelf(argument), dims[number]);
    define(argument, {to->addArgument(type, argument.getLoc()), dims[number]});
  }
  if (failed(localizeBody(from)))
    return failure();
  Operation *terminator = from.getTerminator();
  bool isCondition =
      isa<stablehlo::WhileOp>(op) && region.getRegionNumber() == 0;
  SmallVector<Value> yielded;
  for (auto [number, value] : llvm::enumerate(terminator->getOperands()))
    yielded.push_back(
        require(value, isCondition ? wholeDims(value) : dims[number], op));
  stablehlo::ReturnOp::create(builder, terminator->getLoc(), yielded);
  std::swap(outer, resharded);
  return success();
}

LogicalResult Localizer::localizeRegions(Operation *op) {
  SmallVector<SmallVector<DimAttr>> dims;
  OperationState state(op->getLoc(), op->getName());
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    dims.push_back(assignedDims(op, index));
    state.addTypes(localType(getElementTypeOrSelf(result), dims.back()));
  }
  bool isLoop = isa<stablehlo::WhileOp>(op);
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    state.operands.push_back(
        require(operand, isLoop ? dims[index] : wholeDims(operand), op));
  state.attributes = op->getAttrs();
  state.attributes.erase(kShardings);
  state.attributes.erase(kNotDealt);
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *local = builder.create(state);
  if (isLoop)
    losses.enter(local, countTrips(cast<stablehlo::WhileOp>(op)).value_or(1));
  for (auto [index, region] : llvm::enumerate(op->getRegions()))
    if (failed(localizeBranch(op, region, local->getRegion(index), dims)))
      return failure();
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    define(result, {local->getResult(index), dims[index]});
  return success();
}

bool Localizer::localizeSum(AllReduceOp op) {
  SmallVector<DimAttr> wanted = assignedDims(op, 0);
  auto *dealt = llvm::find_if(wanted, isDealt);
  if (op->getNumResults() != 1 || dealt == wanted.end())
    return false;
  LayoutAttr layout = onlyLayout(*dealt);
  if (!layout || op.getAxes().getAxes() != ArrayRef(layout.getAxis()))
    return false;
  Value part = require(op->getOperand(0), wholeDims(op->getOperand(0)), op);
  Value sum = ReduceScatterOp::create(builder, op.getLoc(), part, op.getKind(),
                                      dealt - wanted.begin(), layout)
                  .getResult(0);
  define(op->getResult(0), {sum, wanted});
  return true;
}

void Localizer::localizeWhole(Operation *op) {
  IRMapping mapping;
  op->walk([&](Operation *inner) {
    for (Value value : inner->getOperands()) {
      auto known = locals.find(value);
      if (known == locals.end() || mapping.contains(value))
        continue;
      mapping.map(value, isTensor(value) ? require(value, wholeDims(value), op)
                                         : known->second.value);
    }
  });
  Operation *local = builder.clone(*op, mapping);
  for (auto [global, result] :
       llvm::zip_equal(op->getResults(), local->getResults()))
    define(global, {result, isTensor(global) ? wholeDims(global)
                                             : SmallVector<DimAttr>()});
}

LogicalResult Localizer::localize(Operation *op) {
  attentions += isa<AttendOp, AttendBackwardOp>(op);
  if (auto reduce = dyn_cast<AllReduceOp>(op); reduce && localizeSum(reduce))
    return success();
  if (takesWhole && takesWhole(op)) {
    localizeWhole(op);
    return success();
  }
  if (isOfTurns && isa<AttentionOp, AttentionBackwardOp>(op)) {
    localizeWhatStays(op);
    return success();
  }
  if (isOfTurns && op->getNumResults() == 1 && isShardingAnnotation(op)) {
    localizeWhatStays(op);
    return success();
  }
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    ++attentions;
    losses.attend(op, builder.getBlock());
    localizeAttention(*this, builder, mesh, attention);
    return success();
  }
  if (auto backward = dyn_cast<AttentionBackwardOp>(op)) {
    losses.attend(op, builder.getBlock());
    localizeAttention(*this, builder, mesh, backward);
    return success();
  }
  if (op->hasTrait<stablehlo::ControlFlow>()) {
    int64_t before = attentions;
    LogicalResult result = localizeRegions(op);
    // A loop comes to those in it several times.
    attentions += isa<stablehlo::WhileOp>(op) && attentions > before;
    return result;
  }
  // Shardings are settled.
  if (isa<sdy::ShardingGroupOp>(op))
    return success();
  SmallVector<SmallVector<DimAttr>> dims;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    dims.push_back(assignedDims(op, i));
  for (auto [index, value] : llvm::enumerate(emit(op, dims)))
    define(op->getResult(index), {value, dims[index]});
  return success();
}

LogicalResult Localizer::localizeBody(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(localize(&op)))
      return failure();
  return success();
}
