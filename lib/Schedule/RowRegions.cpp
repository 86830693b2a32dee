//===- RowRegions.cpp - Regions in which rows do not meet -----------------===//

#include "RowRegions.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sp;

/// The axis of blocks. Two stand for any number: all dimensions that are dealt
/// by it are cut alike.
static constexpr llvm::StringLiteral kRows = "rows";
static constexpr int64_t kBlocks = 2;

//===----------------------------------------------------------------------===//
// Where rows are
//===----------------------------------------------------------------------===//

RowRegions::RowRegions(func::FuncOp func) : propagation(func) {
  func.walk([&](Operation *op) { seed(op); });
  propagation.run();
  func.walk([&](stablehlo::IotaOp op) { splitIota(op); });
}

/// Attention says where rows are: tokens, in dimension 1, or where there are
/// several sequences, which lie behind each other, these.
void RowRegions::seed(Operation *op) {
  MLIRContext *context = op->getContext();
  auto ofTensor = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() < 3)
      return;
    unsigned dim = type.getDimSize(0) == 1 ? 1 : 0;
    int64_t length = type.getDimSize(dim);
    if (length < kBlocks)
      return;
    auto rows = LayoutAttr::get(context, LayoutKind::Contiguous, length,
                                AxisAttr::get(context, kRows), kBlocks);
    int64_t &ofRow = tokens[rows];
    ofRow = std::max(ofRow, dim == 0 ? type.getDimSize(1) : 1);
    propagation.deal(value, dim, dealtDim(rows));
  };
  if (auto attend = dyn_cast<AttendOp>(op))
    for (Value value : {attend.getQuery(), attend.getKey(), attend.getValue(),
                        attend.getOutput(), attend.getLse()})
      ofTensor(value);
  if (auto backward = dyn_cast<AttendBackwardOp>(op))
    for (Value value :
         {backward.getQuery(), backward.getKey(), backward.getValue(),
          backward.getDQuery(), backward.getDKey(), backward.getDValue()})
      ofTensor(value);
  if (auto exchange = dyn_cast<AllToAllOp>(op))
    ofTensor(exchange.getToRows() ? exchange.getResult() : exchange.getInput());
  if (!op->getParentOp()->hasAttr(kTurns))
    return;
  if (auto take = dyn_cast<TakeOp>(op); take && take.getDim() == 1)
    ofTensor(take.getWhole());
  if (auto put = dyn_cast<PutOp>(op); put && put.getDim() == 1)
    ofTensor(put.getResult());
}

void RowRegions::splitIota(stablehlo::IotaOp op) {
  std::optional<RowPlace> place = rowsOf(op.getResult());
  if (!place || place->dim != op.getIotaDimension() || rankOf(op) == 1)
    return;
  OpBuilder builder(op);
  RankedTensorType type = typeOf(op);
  auto numbers = stablehlo::IotaOp::create(
      builder, op.getLoc(), type.clone({type.getDimSize(place->dim)}), 0);
  auto spread = stablehlo::BroadcastInDimOp::create(
      builder, op.getLoc(), type, numbers, {static_cast<int64_t>(place->dim)});
  propagation.deal(numbers.getResult(), 0,
                   propagation.dimsOf(op.getResult())[place->dim]);
  replace(op.getResult(), spread.getResult());
  op.erase();
}

void RowRegions::discard(Operation *op) {
  op->dropAllReferences();
  discarded.push_back(op);
}

void RowRegions::eraseDiscarded() {
  for (Operation *op : discarded)
    op->erase();
  discarded.clear();
}

void RowRegions::dealAlike(Value value, Value like) {
  SmallVector<DimAttr> dims(propagation.dimsOf(like));
  for (auto [dim, dealt] : llvm::enumerate(dims))
    propagation.deal(value, dim, dealt);
}

void RowRegions::replace(Value value, Value by) {
  dealAlike(by, value);
  value.replaceAllUsesWith(by);
}

std::optional<RowPlace> RowRegions::rowsOf(Value value) {
  int64_t before = 1;
  for (auto [index, dim] : llvm::enumerate(propagation.dimsOf(value))) {
    ArrayRef<AtomAttr> atoms = dim.getAtoms();
    for (auto [number, atom] : llvm::enumerate(atoms)) {
      LayoutAttr layout = atom.getLayout();
      if (!layout) {
        before *= atom.getSize();
        continue;
      }
      if (layout != layout.getWhole())
        return std::nullopt;
      int64_t inner = 1;
      for (AtomAttr behind : atoms.drop_front(number + 1))
        inner *= behind.getSize();
      return RowPlace{layout, static_cast<unsigned>(index), inner, before == 1};
    }
  }
  return std::nullopt;
}

RankedTensorType RowRegions::typeOfRows(Value value, int64_t rows) {
  RankedTensorType type = typeOf(value);
  std::optional<RowPlace> place = rowsOf(value);
  if (!place)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[place->dim] = shape[place->dim] / place->rows.getLength() * rows;
  return type.clone(shape);
}

//===----------------------------------------------------------------------===//
// What rows compute by themselves
//===----------------------------------------------------------------------===//

std::optional<Reduction> mlir::sp::sumOf(Operation *op) {
  for (const Factor &factor : getFactors(op))
    if (factor.reduction && !factor.pickedBy)
      return factor.reduction;
  return std::nullopt;
}

bool RowRegions::isLocal(Operation *op, LayoutAttr rows) {
  auto lies = [&](Value value, unsigned dim) {
    std::optional<RowPlace> place = rowsOf(value);
    return place && place->rows == rows && place->dim == dim;
  };
  // What differs from row to row has to be there.
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
    return !lies(iota.getResult(), iota.getIotaDimension());
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
    return constant.getValue().isSplat();
  if (isa<stablehlo::ReshapeOp>(op)) {
    FailureOr<SmallVector<DimAttr>> dims = reshapeDims(
        propagation.dimsOf(op->getOperand(0)), shapeOf(op->getResult(0)));
    std::optional<RowPlace> before = rowsOf(op->getOperand(0));
    return succeeded(dims) && before && before->rows == rows &&
           ArrayRef(*dims) == propagation.dimsOf(op->getResult(0));
  }
  for (const Factor &factor : getFactors(op)) {
    bool isOfRows = !factor.reduction && !factor.moves && !factor.pickedBy &&
                    factor.results.size() == op->getNumResults();
    for (auto [number, dim] : factor.results)
      isOfRows &= lies(op->getResult(number), dim);
    if (!isOfRows)
      continue;
    SmallVector<bool> isRow(op->getNumOperands(), false);
    for (auto [number, dim] : factor.operands) {
      isRow[number] = true;
      isOfRows &= lies(op->getOperand(number), dim);
    }
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      isOfRows &= isRow[number] || !rowsOf(operand);
    return isOfRows;
  }
  return false;
}

/// Whether a dot product or a reduction over nothing but rows, or over rows and
/// more, leaves a sum that blocks can add to.
bool RowRegions::isSum(Operation *op) {
  if ((!isContraction(op) && !isa<stablehlo::ReduceOp>(op)) ||
      op->getNumResults() != 1)
    return false;
  for (const Factor &factor : getFactors(op)) {
    if (!factor.reduction)
      continue;
    bool isOfRows = true;
    LayoutAttr rows;
    SmallVector<bool> isRow(op->getNumOperands(), false);
    for (auto [number, dim] : factor.operands) {
      std::optional<RowPlace> place = rowsOf(op->getOperand(number));
      isRow[number] = true;
      isOfRows &= place && place->dim == dim && (!rows || place->rows == rows);
      rows = place ? place->rows : rows;
    }
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      isOfRows &= isRow[number] || !rowsOf(operand);
    if (!isOfRows)
      continue;
    auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
    return !reduce || isNeutral(reduce.getInitValues()[0], *factor.reduction);
  }
  return false;
}

/// Whether an operation adds to gradients on their way round a ring.
static bool isOnTheWay(Operation *op) {
  return llvm::any_of(op->getUsers(),
                      [](Operation *user) { return isa<ShiftOp>(user); }) &&
         llvm::any_of(op->getOperands(), [](Value operand) {
           return operand.getDefiningOp<ShiftOp>() != nullptr;
         });
}

LayoutAttr RowRegions::memberRows(Operation *op) {
  bool isInput =
      isa_and_present<stablehlo::StablehloDialect>(op->getDialect()) ||
      isa_and_present<chlo::ChloDialect>(op->getDialect());
  if (!isInput || excluded.contains(op) || op->getNumResults() == 0 ||
      op->hasTrait<stablehlo::ControlFlow>() || !isMemoryEffectFree(op) ||
      isa<stablehlo::OptimizationBarrierOp>(op) || isOnTheWay(op))
    return {};
  if (std::optional<RowPlace> place = rowsOf(op->getResult(0)))
    return isLocal(op, place->rows) ? place->rows : LayoutAttr();
  if (!isSum(op))
    return {};
  for (Value operand : op->getOperands())
    if (std::optional<RowPlace> place = rowsOf(operand))
      return place->rows;
  return {};
}

bool RowRegions::isFree(Operation *op) {
  auto [entry, isNew] = free.try_emplace(op, false);
  if (!isNew)
    return entry->second;
  std::optional<RowPlace> place =
      op->getNumResults() == 1 && isTensor(op->getResult(0))
          ? rowsOf(op->getResult(0))
          : std::nullopt;
  if (!place)
    return false;
  bool isCheap = (op->hasTrait<stablehlo::Elementwise>() &&
                  !op->hasTrait<stablehlo::Costly>()) ||
                 op->hasTrait<stablehlo::Spread>() ||
                 isa<stablehlo::ConstantOp, stablehlo::IotaOp>(op);
  bool result = isCheap && isLocal(op, place->rows) &&
                llvm::all_of(op->getOperands(), [&](Value operand) {
                  return !rowsOf(operand) || isFree(operand);
                });
  return free[op] = result;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

SmallVector<OpResult> RowRegion::carried() const {
  SmallVector<OpResult> all(results);
  llvm::append_range(all, sums);
  return all;
}

bool RowRegions::settle(RowRegion &region) {
  DenseSet<Operation *> inside(region.members.begin(), region.members.end());
  size_t known = excluded.size();
  for (Operation *op : region.members) {
    for (Value operand : op->getOperands()) {
      std::optional<RowPlace> place = rowsOf(operand);
      if (place && !place->isDense && !isFree(operand) &&
          !inside.contains(operand.getDefiningOp()))
        excluded.insert(op);
    }
  }
  findResults(region);
  for (OpResult result : region.results)
    if (!rowsOf(result)->isDense)
      excluded.insert(result.getOwner());
  return excluded.size() == known;
}

void RowRegions::shareReshaped(const RowRegion &region) {
  DenseSet<Operation *> inside(region.members.begin(), region.members.end());
  for (Operation *op : llvm::reverse(region.members)) {
    auto reshape = dyn_cast<stablehlo::ReshapeOp>(op);
    auto isOther = [&](OpOperand &use) {
      return !inside.contains(use.getOwner());
    };
    if (!reshape || !rowsOf(reshape.getOperand())->isDense ||
        llvm::none_of(reshape.getResult().getUses(), isOther))
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Value other = builder.clone(*op)->getResult(0);
    dealAlike(other, reshape.getResult());
    reshape.getResult().replaceUsesWithIf(other, isOther);
  }
}

void RowRegions::findResults(RowRegion &region) {
  DenseSet<Operation *> inside(region.members.begin(), region.members.end());
  region.results.clear();
  region.sums.clear();
  for (Operation *op : region.members)
    for (OpResult result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !inside.contains(user); }))
        (rowsOf(result) ? region.results : region.sums).push_back(result);
}

bool RowRegion::storesInside() const {
  return llvm::any_of(members, [](Operation *op) {
    return !op->hasTrait<stablehlo::Elementwise>() &&
           !op->hasTrait<stablehlo::Spread>() &&
           !isa<stablehlo::ConstantOp, stablehlo::IotaOp>(op);
  });
}

/// Reshapes join rows to what is behind them, or take them apart: these are as
/// many tokens in rows of another size.
int64_t RowRegions::tokensOf(LayoutAttr rows) const {
  if (auto known = tokens.find(rows); known != tokens.end())
    return known->second;
  int64_t length = rows.getLength(), all = 0;
  for (auto [seeded, ofRow] : tokens)
    if (length % seeded.getLength() == 0 || seeded.getLength() % length == 0)
      all = std::max(all, seeded.getLength() * ofRow);
  return std::max<int64_t>(all / length, 1);
}

std::vector<RowRegion> RowRegions::findIn(Block &block) {
  std::vector<RowRegion> regions;
  DenseSet<Value> inside, behind;
  for (Operation &op : block.without_terminator()) {
    bool readsInside = false, readsBehind = false;
    forEachRead(&op, [&](Value value) {
      readsInside |= inside.contains(value);
      readsBehind |= behind.contains(value);
    });
    // Sums are there once all blocks are.
    LayoutAttr rows = isFree(&op) ? LayoutAttr() : memberRows(&op);
    if (!rows) {
      if (readsInside || readsBehind)
        behind.insert_range(op.getResults());
      continue;
    }
    if (regions.empty() || readsBehind || regions.back().rows != rows) {
      regions.push_back({rows, {}, {}, {}, tokensOf(rows)});
      inside.clear();
      behind.clear();
    }
    regions.back().members.push_back(&op);
    (rowsOf(op.getResult(0)) ? inside : behind).insert_range(op.getResults());
  }
  bool isSettled = true;
  for (RowRegion &region : regions)
    isSettled &= settle(region);
  if (!isSettled)
    return findIn(block);
  for (const RowRegion &region : regions)
    shareReshaped(region);
  return regions;
}
