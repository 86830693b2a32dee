//===- JoinedTrips.cpp - A loop over chunks as one pass over all ----------===//
//
//   before   %p = reshape %x : 4096xW -> 4x1024xW
//            while (%i < 4) { %y = f(%p[%i]) ... %o[%i] = %y }
//            reshape %o : 4x1024xV -> 4096xV
//   after    f(%x)
//
//===----------------------------------------------------------------------===//

#include "Loops/JoinedTrips.h"
#include "Loops/StackMoves.h"
#include "Sharding/Resharding.h"
#include "sp/IR/Linearity.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sp;

using Kind = ScanValue::Kind;

JoinedTrips::JoinedTrips(ScanLoop &scan, int64_t tokens)
    : scan(scan), tokens(tokens), builder(scan.loop), loc(scan.loop.getLoc()) {}

RankedTensorType JoinedTrips::grown(Type type, unsigned dim) {
  auto ranked = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(ranked.getShape());
  shape[dim] *= scan.trips;
  return ranked.clone(shape);
}

JoinedTrips::Joined JoinedTrips::joinedOf(Value value) {
  if (auto known = made.find(value); known != made.end())
    return known->second;
  Value outer = scan.outside(value);
  return {outer};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Where a factor has an operand or a result of that number, or null.
static const std::pair<unsigned, unsigned> *
placeAt(ArrayRef<std::pair<unsigned, unsigned>> places, unsigned number) {
  auto *place =
      llvm::find_if(places, [&](auto at) { return at.first == number; });
  return place == places.end() ? nullptr : place;
}

/// A broadcast to another length of a dimension; null where it has own numbers
/// along that.
static Value spreadBroadcast(OpBuilder &builder, Value value,
                             RankedTensorType type, unsigned dim) {
  if (!areAlike(value, dim))
    return {};
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  return stablehlo::BroadcastInDimOp::create(
      builder, broadcast.getLoc(), type, broadcast.getOperand(),
      broadcast.getBroadcastDimensions());
}

Value JoinedTrips::spread(Value value, unsigned dim, unsigned depth) {
  Joined same = joinedOf(value);
  if (isa<BlockArgument>(value) && same.value && same.value != value)
    return spread(same.value, dim, depth);
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || same.role != Role::Same)
    return {};
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return spread(op->getOperand(cast<OpResult>(value).getResultNumber()), dim,
                  depth - 1);
  RankedTensorType type = grown(value.getType(), dim);
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op)) {
    std::optional<StackRows> rows = scan.rowsOf(slice);
    Value stack = rows ? scan.outside(slice.getOperand()) : Value();
    return rows && areAlike(stack, rows->dim)
               ? spreadBroadcast(builder, stack, type, dim)
               : Value();
  }
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.isSplat()
               ? stablehlo::ConstantOp::create(builder, op->getLoc(),
                                               constant.resizeSplat(type))
                     .getResult()
               : Value();
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
    return iota.getIotaDimension() == dim
               ? Value()
               : stablehlo::IotaOp::create(builder, op->getLoc(), type,
                                           iota.getIotaDimension())
                     .getResult();
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op)) {
    std::optional<unsigned> from =
        dimBehindReshape(shapeOf(value), dim, shapeOf(reshape.getOperand()));
    Value wide =
        from ? spread(reshape.getOperand(), *from, depth - 1) : Value();
    return wide ? reshapeTo(builder, op->getLoc(), wide, type.getShape())
                : Value();
  }
  SmallVector<Factor> factors = getFactors(op);
  const Factor *factor = llvm::find_if(factors, [&](const Factor &each) {
    return llvm::is_contained(each.results, std::pair(0u, dim));
  });
  bool isBroadcast = isa<stablehlo::BroadcastInDimOp>(op);
  bool isOfRows =
      factor != factors.end() && !factor->moves && !factor->pickedBy;
  if (op->getNumResults() != 1 || (!isBroadcast && !isOfRows))
    return {};
  // The dimension of each operand that is the same one, if any is.
  auto dimOf = [&](unsigned operand) -> std::optional<unsigned> {
    if (!isBroadcast) {
      const auto *place = placeAt(factor->operands, operand);
      return place ? std::optional(place->second) : std::nullopt;
    }
    auto dims = cast<stablehlo::BroadcastInDimOp>(op).getBroadcastDimensions();
    for (auto [from, to] : llvm::enumerate(dims))
      if (to == dim && shapeOf(op->getOperand(0))[from] != 1)
        return from;
    return std::nullopt;
  };
  IRMapping mapping;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    std::optional<unsigned> own = dimOf(number);
    Value wide =
        own ? spread(operand, *own, depth - 1) : joinedOf(operand).value;
    if (!wide)
      return {};
    mapping.map(operand, wide);
  }
  Operation *wide = builder.clone(*op, mapping);
  wide->getResult(0).setType(type);
  fitAttributes(wide);
  return wide->getResult(0);
}

LogicalResult JoinedTrips::emitReshape(stablehlo::ReshapeOp op) {
  Joined operand = joinedOf(op.getOperand());
  std::optional<unsigned> dim =
      dimBehindReshape(shapeOf(op.getOperand()), operand.dim, shapeOf(op));
  if (!dim)
    return failure();
  RankedTensorType type = grown(op.getType(), *dim);
  made[op.getResult()] = {
      reshapeTo(builder, op.getLoc(), operand.value, type.getShape()),
      Role::Rows, *dim};
  return success();
}

LogicalResult JoinedTrips::emitBarrier(Operation *op) {
  auto operands = llvm::map_to_vector(
      op->getOperands(), [&](Value value) { return joinedOf(value).value; });
  auto barrier = stablehlo::OptimizationBarrierOp::create(
      builder, op->getLoc(), ValueRange(operands).getTypes(), operands);
  for (auto [operand, result, joined] : llvm::zip_equal(
           op->getOperands(), op->getResults(), barrier->getResults())) {
    Joined own = joinedOf(operand);
    made[result] = {joined, own.role, own.dim};
  }
  return success();
}

/// A sum of parts is what an operation makes of the sum of what it reads.
LogicalResult JoinedTrips::emitParts(Operation *op) {
  std::optional<Linearity> linearity = linearityOf(op);
  if (!linearity || (op->getNumRegions() > 0 && !isa<stablehlo::ReduceOp>(op)))
    return failure();
  IRMapping mapping;
  unsigned parts = 0;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    Joined joined = joinedOf(operand);
    bool isData = llvm::is_contained(linearity->data, number);
    bool isPart = joined.role == Role::Part;
    if (joined.role == Role::Rows || (isPart && !isData) ||
        (!isPart && isData && linearity->together &&
         !isNeutral(operand, Reduction::Sum)))
      return failure();
    parts += isPart;
    mapping.map(operand, joined.value);
  }
  if (!linearity->together && parts != 1)
    return failure();
  Operation *sum = builder.clone(*op, mapping);
  for (auto [result, own] :
       llvm::zip_equal(op->getResults(), sum->getResults()))
    made[result] = {own, Role::Part};
  return success();
}

/// The factor that the tokens of an operation's operands are.
static const Factor *factorOf(ArrayRef<Factor> factors, unsigned operand,
                              unsigned dim) {
  auto *found = llvm::find_if(factors, [&](const Factor &factor) {
    return llvm::is_contained(factor.operands, std::pair(operand, dim));
  });
  return found == factors.end() || found->moves || found->pickedBy ? nullptr
                                                                   : found;
}

LogicalResult JoinedTrips::emitRows(Operation *op) {
  SmallVector<Factor> factors = getFactors(op);
  const Factor *factor = nullptr;
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (Joined joined = joinedOf(operand); joined.role == Role::Rows) {
      const Factor *own = factorOf(factors, number, joined.dim);
      if (!own || (factor && factor != own))
        return failure();
      factor = own;
    }
  bool isSum = factor->results.empty();
  if (isSum && factor->reduction != Reduction::Sum)
    return failure();
  IRMapping mapping;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    Joined joined = joinedOf(operand);
    const auto *place = placeAt(factor->operands, number);
    if (place && joined.role == Role::Same)
      joined.value = spread(operand, place->second);
    if (!joined.value || joined.role == Role::Part ||
        (joined.role == Role::Rows && !place))
      return failure();
    // Once, not in each trip.
    bool isStart =
        isSum && !place && isa<stablehlo::ReduceOp, stablehlo::ScatterOp>(op);
    if (isStart && !isNeutral(operand, Reduction::Sum))
      return failure();
    mapping.map(operand, joined.value);
  }
  op->walk([&](Operation *inner) {
    if (inner != op)
      for (Value read : inner->getOperands())
        if (!mapping.contains(read) && read.getParentBlock() == &scan.body())
          mapping.map(read, joinedOf(read).value);
  });
  Operation *joined = builder.clone(*op, mapping);
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    Value own = joined->getResult(number);
    if (isSum) {
      made[result] = {own, Role::Part};
      continue;
    }
    const auto *place = placeAt(factor->results, number);
    if (!place)
      return failure();
    own.setType(grown(result.getType(), place->second));
    made[result] = {own, Role::Rows, place->second};
  }
  fitAttributes(joined);
  return success();
}

LogicalResult JoinedTrips::emit(Operation *op) {
  bool hasRows = false, hasParts = false, isKnown = true;
  forEachRead(op, [&](Value read) {
    if (read.getParentBlock() != &scan.body() &&
        scan.loop.getBody().isAncestor(read.getParentRegion()))
      return; // of a region of its own
    Joined joined = joinedOf(read);
    isKnown &= bool(joined.value);
    hasRows |= joined.role == Role::Rows;
    hasParts |= joined.role == Role::Part;
  });
  if (!isKnown)
    return failure();
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return emitBarrier(op);
  if (hasParts)
    return hasRows ? failure() : emitParts(op);
  if (hasRows && isa<stablehlo::ReshapeOp>(op))
    return emitReshape(cast<stablehlo::ReshapeOp>(op));
  if (hasRows)
    return emitRows(op);
  IRMapping mapping;
  forEachRead(op, [&](Value read) {
    if (Value own = made.contains(read) ? made[read].value : scan.outside(read))
      mapping.map(read, own);
  });
  Operation *same = builder.clone(*op, mapping);
  for (auto [result, own] :
       llvm::zip_equal(op->getResults(), same->getResults()))
    made[result] = {own};
  return success();
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

LogicalResult
JoinedTrips::emitWith(ArrayRef<std::pair<Operation *, unsigned>> tokenDims) {
  made.clear();
  for (auto slice : scan.body().getOps<stablehlo::DynamicSliceOp>())
    if (std::optional<StackRows> rows = scan.rowsOf(slice);
        rows && areAlike(scan.outside(slice.getOperand()), rows->dim))
      made[slice] = {sliceDim(builder, loc, scan.outside(slice.getOperand()),
                              rows->dim, 0, rows->rows)};
  for (auto [slice, dim] : tokenDims) {
    auto taken = cast<stablehlo::DynamicSliceOp>(slice);
    made[slice->getResult(0)] = {joinRows(builder, loc,
                                          scan.outside(taken.getOperand()),
                                          *scan.rowsOf(taken), dim),
                                 Role::Rows, dim};
  }
  // What nothing but counters and starts of slices read.
  DenseSet<Operation *> needed;
  SmallVector<Value> open;
  for (ScanValue &carried : scan.carried) {
    if (carried.kind == Kind::Written)
      open.push_back(carried.update.getUpdate());
    llvm::append_range(open, carried.terms());
  }
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == &scan.body() && !made.contains(value) &&
        needed.insert(op).second)
      forEachRead(op, [&](Value read) { open.push_back(read); });
  }
  for (Operation &op : scan.body())
    if (needed.contains(&op) && failed(emit(&op)))
      return failure();
  return emitResults();
}

LogicalResult JoinedTrips::replace() {
  // The dimensions that may be those of tokens, of what trips take.
  constexpr unsigned kMostTries = 64;
  SmallVector<Operation *> slices;
  SmallVector<SmallVector<unsigned>> choices;
  std::optional<bool> direction;
  for (auto slice : scan.body().getOps<stablehlo::DynamicSliceOp>()) {
    std::optional<StackRows> rows = scan.rowsOf(slice);
    if (!rows || areAlike(scan.outside(slice.getOperand()), rows->dim))
      continue;
    if (direction.value_or(rows->isReversed) != rows->isReversed)
      return failure();
    direction = rows->isReversed;
    slices.push_back(slice);
    choices.emplace_back();
    for (auto [dim, size] : llvm::enumerate(shapeOf(slice)))
      if (size == tokens && (rows->rows == 1 || rows->dim == dim))
        choices.back().push_back(dim);
    if (choices.back().empty())
      return failure();
  }
  for (ScanValue &carried : scan.carried)
    if (carried.kind == Kind::Written &&
        carried.written.isReversed != direction.value_or(false))
      return failure();
  unsigned tries = 1;
  for (ArrayRef<unsigned> dims : choices)
    tries *= dims.size();
  if (slices.empty() || tries > kMostTries)
    return failure();
  for (unsigned attempt = 0; attempt < tries; ++attempt) {
    Operation *before = scan.loop->getPrevNode();
    SmallVector<std::pair<Operation *, unsigned>> tokenDims;
    unsigned left = attempt;
    for (auto [slice, dims] : llvm::zip_equal(slices, choices)) {
      tokenDims.emplace_back(slice, dims[left % dims.size()]);
      left /= dims.size();
    }
    if (succeeded(emitWith(tokenDims))) {
      scan.loop->replaceAllUsesWith(results);
      scan.loop->erase();
      return success();
    }
    while (scan.loop->getPrevNode() != before)
      scan.loop->getPrevNode()->erase();
  }
  return failure();
}
