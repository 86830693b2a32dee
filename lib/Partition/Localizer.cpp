//===- Localizer.cpp - Operations with local shapes -----------------------===//

#include "Localizer.h"

#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "sp-localize"

using namespace mlir;
using namespace mlir::sp;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<DimAttr> Localizer::wholeDims(Value global) const {
  auto type = dyn_cast<RankedTensorType>(global.getType());
  if (!type)
    return {};
  return llvm::to_vector(
      ShardingAttr::getReplicated(builder.getContext(), type.getShape())
          .getDims());
}

SmallVector<DimAttr> Localizer::assignedDims(Operation *op,
                                             unsigned result) const {
  if (auto shardings = op->getAttrOfType<ArrayAttr>("sp.shardings"))
    return llvm::to_vector(cast<ShardingAttr>(shardings[result]).getDims());
  return wholeDims(op->getResult(result));
}

/// Whether a value is made of constants and iotas by cheap operations.
static bool isRecomputable(Value value, unsigned depth = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<stablehlo::ConstantOp, stablehlo::IotaOp>(op))
    return true;
  bool isCheap = isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
                     stablehlo::TransposeOp>(op) ||
                 op->hasTrait<OpTrait::SameOperandsAndResultType>() ||
                 isa<stablehlo::ConvertOp, stablehlo::CompareOp>(op);
  return isCheap && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         op->getNumOperands() > 0 && !isa<stablehlo::CollectivePermuteOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isRecomputable(operand, depth - 1);
         });
}

void Localizer::remarkMove(Operation *user, Value value, ArrayRef<DimAttr> dims,
                           unsigned index) {
  LayoutAttr layout;
  for (AtomAttr atom : dims[index].getAtoms())
    if (atom.getLayout())
      layout = atom.getLayout();
  remark::missed(user->getLoc(),
                 remark::RemarkOpts::name("Gathered").category(DEBUG_TYPE))
      << user->getName().getStringRef() << " needs dimension "
      << remark::metric("dimension", index)
      << " whole: it is gathered over axis \"" << layout.getAxis()
      << "\", a rank sends "
      << remark::metric("bytes", gatherBytes(value, dims, index)) << " bytes";
}

Value Localizer::require(Value global, ArrayRef<DimAttr> dims,
                         Operation *user) {
  const LocalValue &local = locals.at(global);
  if (ArrayRef<DimAttr>(local.dims) == dims)
    return local.value;
  std::pair<Value, Attribute> key(
      global, ShardingAttr::get(builder.getContext(), dims));
  if (Value done = resharded.lookup(key))
    return done;
  Value value;
  if (isRecomputable(global)) {
    FailureOr<Value> again = emit(global.getDefiningOp(), dims);
    if (succeeded(again))
      value = *again;
  }
  if (!value) {
    value = local.value;
    SmallVector<DimAttr> current(local.dims);
    for (unsigned index = 0; index < dims.size(); ++index)
      if (current[index] != dims[index] && isDealt(current[index])) {
        remarkMove(user, value, current, index);
        value = gatherDim(builder, user->getLoc(), value, current, index);
        current[index] = wholeDim(current[index]);
      }
    for (unsigned index = 0; index < dims.size(); ++index)
      if (isDealt(dims[index]) && current[index] != dims[index]) {
        value = takeDim(builder, user->getLoc(), value, current, index,
                        dims[index]);
        current[index] = dims[index];
      }
  }
  resharded[key] = value;
  return value;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Value Localizer::emitConstant(Operation *op, ArrayRef<DimAttr> dims) {
  auto constant = cast<stablehlo::ConstantOp>(op);
  RankedTensorType type = localType(constant.getType().getElementType(), dims);
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      dense && dense.isSplat())
    return stablehlo::ConstantOp::create(builder, op->getLoc(),
                                         dense.resizeSplat(type));
  Value value = builder.clone(*op)->getResult(0);
  for (unsigned index = 0; index < dims.size(); ++index)
    if (isDealt(dims[index]))
      value = takeDim(builder, op->getLoc(), value, {}, index, dims[index]);
  return value;
}

Value Localizer::emitIota(Operation *op, ArrayRef<DimAttr> dims) {
  auto iota = cast<stablehlo::IotaOp>(op);
  Type element = cast<RankedTensorType>(iota.getType()).getElementType();
  unsigned dim = iota.getIotaDimension();
  RankedTensorType type = localType(element, dims);
  if (!isDealt(dims[dim]))
    return stablehlo::IotaOp::create(builder, op->getLoc(), type, dim);
  // Along the dealt dimension: the positions of the rank's rows.
  int64_t length = cast<RankedTensorType>(iota.getType()).getDimSize(dim);
  auto lineType = RankedTensorType::get({length}, element);
  Value line = stablehlo::IotaOp::create(builder, op->getLoc(), lineType, 0);
  if (dims[dim].getAtoms().size() == 1) {
    LayoutAttr layout = dims[dim].getAtoms()[0].getLayout();
    auto positionType =
        RankedTensorType::get({layout.getMaxCount()}, builder.getI32Type());
    line.getDefiningOp()->erase();
    line = PositionsOp::create(builder, op->getLoc(), positionType, layout);
    if (element != builder.getI32Type())
      line = stablehlo::ConvertOp::create(builder, op->getLoc(),
                                          positionType.clone(element), line);
  }
  if (dims[dim].getAtoms().size() > 1)
    line = takeDim(builder, op->getLoc(), line, {}, 0, dims[dim]);
  return stablehlo::BroadcastInDimOp::create(
      builder, op->getLoc(), type, line,
      ArrayRef<int64_t>{static_cast<int64_t>(dim)});
}

FailureOr<Value> Localizer::emitReshape(Operation *op, ArrayRef<DimAttr> dims) {
  Value operand = op->getOperand(0);
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(operand.getType()).getShape();
  FailureOr<SmallVector<DimAttr>> operandDims = reshapeDims(dims, shape);
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (succeeded(operandDims)) {
    Value input = require(operand, *operandDims, op);
    return Value(stablehlo::ReshapeOp::create(builder, op->getLoc(),
                                              localType(element, dims), input));
  }
  Value input = require(operand, wholeDims(operand), op);
  Value value = stablehlo::ReshapeOp::create(builder, op->getLoc(),
                                             op->getResult(0).getType(), input);
  for (unsigned index = 0; index < dims.size(); ++index)
    if (isDealt(dims[index]))
      value = takeDim(builder, op->getLoc(), value, {}, index, dims[index]);
  return value;
}

/// Adapts attributes that repeat the operand's shape.
static void localizeAttributes(Operation *op) {
  auto fullDims = [](Value before, Value after, ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> local(sizes);
    for (auto [dim, size] : llvm::enumerate(local))
      if (size != cast<RankedTensorType>(after.getType()).getDimSize(dim))
        size = std::min(
            size, cast<RankedTensorType>(before.getType()).getDimSize(dim));
    return local;
  };
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
    auto limits = llvm::to_vector(slice.getLimitIndices());
    for (auto [dim, limit] : llvm::enumerate(limits)) {
      int64_t size =
          cast<RankedTensorType>(slice.getOperand().getType()).getDimSize(dim);
      limit = std::min(limit, size);
    }
    slice.setLimitIndices(limits);
  }
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op))
    slice.setSliceSizes(
        fullDims(slice.getOperand(), slice.getResult(), slice.getSliceSizes()));
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op)) {
    auto sizes = llvm::to_vector(gather.getSliceSizes());
    for (auto [dim, size] : llvm::enumerate(sizes))
      size =
          std::min(size, cast<RankedTensorType>(gather.getOperand().getType())
                             .getDimSize(dim));
    gather.setSliceSizes(sizes);
  }
}

FailureOr<SmallVector<Value>>
Localizer::emitByFactors(Operation *op,
                         ArrayRef<SmallVector<DimAttr>> resultDims) {
  SmallVector<SmallVector<DimAttr>> operandDims, dims;
  for (Value operand : op->getOperands())
    operandDims.push_back(wholeDims(operand));
  for (Value result : op->getResults())
    dims.push_back(wholeDims(result));
  SmallVector<std::pair<const Factor *, DimAttr>> reductions;
  SmallVector<Factor> factors = getFactors(op);
  for (const Factor &factor : factors) {
    DimAttr dim;
    if (!factor.results.empty())
      dim = resultDims[factor.results[0].first][factor.results[0].second];
    if (factor.results.empty())
      for (auto [operand, index] : factor.operands)
        if (DimAttr own = locals.at(op->getOperand(operand)).dims[index];
            isDealt(own) && !dim)
          dim = own;
    if (!dim || !isDealt(dim))
      continue;
    for (auto [operand, index] : factor.operands)
      operandDims[operand][index] = dim;
    for (auto [result, index] : factor.results)
      dims[result][index] = dim;
    if (factor.reduction)
      reductions.push_back({&factor, dim});
  }

  IRMapping mapping;
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    operands.push_back(require(operand, operandDims[index], op));
  for (auto [factor, dim] : reductions)
    for (auto [operand, index] : factor->operands)
      operands[operand] = maskPadding(builder, op->getLoc(), operands[operand],
                                      dim, index, *factor->reduction);
  // Values that scalar regions read from outside are whole there.
  op->walk([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value value : inner->getOperands())
      if (locals.contains(value))
        mapping.map(value, require(value, wholeDims(value), op));
  });
  Operation *clone = builder.clone(*op, mapping);
  clone->setOperands(operands);
  clone->removeAttr("sp.shardings");
  for (auto [index, result] : llvm::enumerate(clone->getResults()))
    result.setType(
        localType(getElementTypeOrSelf(result.getType()), dims[index]));
  localizeAttributes(clone);

  SmallVector<Value> results(clone->getResults());
  for (auto [factor, dim] : reductions)
    for (AtomAttr atom : dim.getAtoms()) {
      LayoutAttr layout = atom.getLayout();
      if (!layout)
        continue;
      for (Value &result : results)
        result = AllReduceOp::create(
            builder, op->getLoc(), result.getType(), result, *factor->reduction,
            builder.getStringAttr(layout.getAxis()), layout.getRanks());
      remark::analysis(op->getLoc(),
                       remark::RemarkOpts::name("Reduced").category(DEBUG_TYPE))
          << op->getName().getStringRef() << " is reduced over axis \""
          << layout.getAxis() << "\" of "
          << remark::metric("ranks", layout.getRanks());
    }
  // What the operation could not deal is taken from the whole.
  for (auto [index, result] : llvm::enumerate(results))
    for (unsigned dim = 0; dim < dims[index].size(); ++dim)
      if (dims[index][dim] != resultDims[index][dim])
        result = takeDim(builder, op->getLoc(), result, {}, dim,
                         resultDims[index][dim]);
  return results;
}

FailureOr<Value> Localizer::emit(Operation *op, ArrayRef<DimAttr> dims) {
  if (isa<stablehlo::ConstantOp>(op))
    return emitConstant(op, dims);
  if (isa<stablehlo::IotaOp>(op))
    return emitIota(op, dims);
  if (isa<stablehlo::ReshapeOp>(op))
    return emitReshape(op, dims);
  FailureOr<SmallVector<Value>> results =
      emitByFactors(op, SmallVector<DimAttr>(dims));
  if (failed(results))
    return failure();
  return results->front();
}

void Localizer::localizeAttention(AttentionOp op) {
  SmallVector<DimAttr> dims = assignedDims(op, 0);
  auto layoutOf = [&](DimAttr dim) {
    if (isDealt(dim))
      return dim.getAtoms()[0].getLayout();
    return LayoutAttr::get(builder.getContext(), LayoutKind::Contiguous,
                           wholeDim(dim).getAtoms()[0].getSize(), "", 1);
  };
  SmallVector<DimAttr> queryDims = wholeDims(op.getQuery()),
                       keyDims = wholeDims(op.getKey()),
                       valueDims = wholeDims(op.getValue());
  queryDims[0] = keyDims[0] = valueDims[0] = dims[0];
  queryDims[1] = dims[1];
  bool isSpread = op.getPlan() && op.getPlan()->getRanks() > 1;
  if (isSpread)
    keyDims[1] = valueDims[1] = lookup(op.getKey()).dims[1];
  LocalAttention local{op,
                       require(op.getQuery(), queryDims, op),
                       require(op.getKey(), keyDims, op),
                       require(op.getValue(), valueDims, op),
                       layoutOf(queryDims[1]),
                       layoutOf(keyDims[1])};
  define(op.getResult(), {emitAttention(builder, local), dims});
}

LogicalResult Localizer::localizeRegions(Operation *op) {
  SmallVector<SmallVector<DimAttr>> dims;
  SmallVector<Type> types;
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    dims.push_back(assignedDims(op, index));
    types.push_back(
        localType(getElementTypeOrSelf(result.getType()), dims.back()));
  }
  bool isLoop = isa<stablehlo::WhileOp>(op);
  OperationState state(op->getLoc(), op->getName());
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    state.operands.push_back(
        require(operand, isLoop ? dims[index] : wholeDims(operand), op));
  state.addTypes(types);
  state.attributes = op->getAttrs();
  state.attributes.erase("sp.shardings");
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *local = builder.create(state);
  for (auto [index, region] : llvm::enumerate(op->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    DenseMap<std::pair<Value, Attribute>, Value> outer;
    std::swap(outer, resharded);
    Block &from = region.front();
    Block *to = builder.createBlock(&local->getRegion(index));
    for (auto [number, argument] : llvm::enumerate(from.getArguments()))
      define(argument,
             {to->addArgument(types[number], argument.getLoc()), dims[number]});
    if (failed(localizeBody(from)))
      return failure();
    Operation *terminator = from.getTerminator();
    bool isCondition = isLoop && index == 0;
    SmallVector<Value> yielded;
    for (auto [number, value] : llvm::enumerate(terminator->getOperands()))
      yielded.push_back(
          require(value, isCondition ? wholeDims(value) : dims[number], op));
    stablehlo::ReturnOp::create(builder, terminator->getLoc(), yielded);
    resharded = std::move(outer);
  }
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    define(result, {local->getResult(index), dims[index]});
  return success();
}

LogicalResult Localizer::localize(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    localizeAttention(attention);
    return success();
  }
  if (isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op))
    return localizeRegions(op);
  if (isa<sdy::ManualComputationOp>(op))
    return op->emitOpError() << "is already partitioned by hand; expected the "
                                "program as one device would run it, "
                                "without shard_map";
  if (op->getNumResults() == 1) {
    SmallVector<DimAttr> dims = assignedDims(op, 0);
    FailureOr<Value> value = emit(op, dims);
    if (failed(value))
      return failure();
    define(op->getResult(0), {*value, dims});
    return success();
  }
  SmallVector<SmallVector<DimAttr>> dims;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    dims.push_back(assignedDims(op, i));
  if (isa<stablehlo::OptimizationBarrierOp>(op)) {
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      define(result,
             {require(op->getOperand(index), dims[index], op), dims[index]});
    return success();
  }
  FailureOr<SmallVector<Value>> values = emitByFactors(op, dims);
  if (failed(values))
    return failure();
  for (auto [index, value] : llvm::enumerate(*values))
    define(op->getResult(index), {value, dims[index]});
  return success();
}

LogicalResult Localizer::localizeBody(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(localize(&op)))
      return failure();
  return success();
}
