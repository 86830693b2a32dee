//===- Softmaxes.cpp - What is made of which exponentials -----------------===//

#include "Normalize/Softmaxes.h"

#include "sp/IR/SP.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "llvm/ADT/SetVector.h"

#include <deque>

using namespace mlir;
using namespace mlir::sp;

static bool hasPairs(Operation *contraction) {
  ContractionDims dims = contractionDims(contraction);
  return typeOf(contraction->getOperand(0)).getRank() >
             int64_t(dims.lhsBatch.size() + dims.lhsContracting.size()) &&
         typeOf(contraction->getOperand(1)).getRank() >
             int64_t(dims.rhsBatch.size() + dims.rhsContracting.size());
}

/// The one dimension that the powers are summed over first.
static std::optional<int64_t> summedDim(Operation *exponential) {
  static constexpr size_t maxOperations = 32;
  llvm::SetVector<Operation *> open;
  open.insert(exponential);
  ArrayRef<int64_t> shape = typeOf(exponential->getResult(0)).getShape();
  for (size_t i = 0; i < open.size() && i < maxOperations; ++i)
    for (Operation *user : open[i]->getUsers()) {
      if (reducesBy<stablehlo::AddOp>(user)) {
        SmallVector<int64_t> dims;
        for (int64_t dim : cast<stablehlo::ReduceOp>(user).getDimensions())
          if (shape[dim] != 1)
            dims.push_back(dim);
        if (dims.size() == 1)
          return dims[0];
      }
      if (isElementwise(user) && typeOf(user->getResult(0)).getShape() == shape)
        open.insert(user);
    }
  return std::nullopt;
}

Operation *mlir::sp::findScores(Operation *exponential) {
  std::deque<Operation *> open = {exponential};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!open.empty()) {
    Operation *op = open.front();
    open.pop_front();
    if (contracts(op))
      return op;
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      // What is made of logarithms of sums is no softmax of their scores.
      if (source && !isa<LogSumExpOp>(source) &&
          source->getBlock() == exponential->getBlock() &&
          source->getNumRegions() <= 1 && seen.insert(source).second)
        open.push_back(source);
    }
  }
  return nullptr;
}

/// Whether softmaxes pass through an operation.
static bool passesSoftmaxes(Operation *op) {
  return op && !contracts(op) &&
         (!op->getNumRegions() || isa<stablehlo::ReduceOp>(op));
}

static bool beginsSoftmax(Operation *op) {
  if (!isa<stablehlo::ExpOp>(op))
    return false;
  Operation *scores = findScores(op);
  return scores && hasPairs(scores) && summedDim(op);
}

ArrayRef<Operation *> Softmaxes::of(Value value) {
  Operation *last = value.getDefiningOp();
  if (!passesSoftmaxes(last))
    return {};
  struct Visit {
    Operation *op;
    bool hasOperands;
  };
  SmallVector<Visit> open{{last, false}};
  while (!open.empty()) {
    auto [op, hasOperands] = open.back();
    if (known.count(op)) {
      open.pop_back();
    } else if (hasOperands) {
      llvm::SmallSetVector<Operation *, 2> all;
      for (Value operand : op->getOperands())
        if (auto found = known.find(operand.getDefiningOp());
            found != known.end())
          all.insert_range(found->second);
      enter(op, all.getArrayRef());
    } else if (beginsSoftmax(op)) {
      enter(op, op);
    } else {
      open.back().hasOperands = true;
      for (Value operand : op->getOperands())
        if (passesSoftmaxes(operand.getDefiningOp()))
          open.push_back({operand.getDefiningOp(), false});
    }
  }
  return known[last];
}

/// Keeps the exponentials that an operation is made of, once its operands'
/// are known.
void Softmaxes::enter(Operation *op, ArrayRef<Operation *> exponentials) {
  if (!exponentials.empty())
    knownKeys[op] = readKeys(op, exponentials[0]);
  known[op] = llvm::to_vector<2>(exponentials);
}

std::optional<int64_t> mlir::sp::reshapedDim(RankedTensorType from,
                                             RankedTensorType to, int64_t dim) {
  auto before = [](RankedTensorType type, int64_t dim) {
    int64_t product = 1;
    for (int64_t size : type.getShape().take_front(dim))
      product *= size;
    return product;
  };
  for (int64_t other = 0; other < to.getRank(); ++other)
    if (to.getDimSize(other) == from.getDimSize(dim) &&
        before(to, other) == before(from, dim))
      return other;
  return std::nullopt;
}

std::optional<int64_t> Softmaxes::keys(Value value) {
  if (of(value).empty())
    return std::nullopt;
  return knownKeys[value.getDefiningOp()];
}

/// The dimension of keys of what is made of softmaxes, of which one is
/// `exponential`.
std::optional<int64_t> Softmaxes::readKeys(Operation *op,
                                           Operation *exponential) {
  if (op == exponential)
    return summedDim(op);
  if (isElementwise(op)) {
    for (Value operand : op->getOperands())
      if (std::optional<int64_t> dim = keys(operand))
        return dim;
    return std::nullopt;
  }
  if (!isLayout(op) && !isa<stablehlo::SliceOp>(op))
    return std::nullopt;
  std::optional<int64_t> dim = keys(op->getOperand(0));
  if (!dim)
    return std::nullopt;
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return llvm::find(transpose.getPermutation(), *dim) -
           transpose.getPermutation().begin();
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return broadcast.getBroadcastDimensions()[*dim];
  if (isa<stablehlo::ReshapeOp>(op))
    return reshapedDim(typeOf(op->getOperand(0)), typeOf(op->getResult(0)),
                       *dim);
  return dim;
}

bool Softmaxes::isGradient(Value pairs) {
  llvm::SetVector<Operation *> open, contractions;
  if (Operation *op = pairs.getDefiningOp())
    open.insert(op);
  for (size_t i = 0; i < open.size(); ++i)
    for (Value operand : open[i]->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (op && contracts(op)) {
        if (hasPairs(op))
          contractions.insert(op);
      } else if (op) {
        open.insert(op);
      }
    }
  return contractions.size() > of(pairs).size();
}

namespace {

/// Each value is looked at once, however many make use of it.
class VaryingDims {
public:
  const llvm::SmallBitVector &of(Value value) {
    auto found = known.find(value.getAsOpaquePointer());
    if (found == known.end())
      found = known.emplace(value.getAsOpaquePointer(), read(value)).first;
    return found->second;
  }

private:
  llvm::SmallBitVector read(Value value);

  /// What `of` refers to stays where it is.
  std::map<void *, llvm::SmallBitVector> known;
};

/// A value over some dimensions, made once.
class Narrower {
public:
  explicit Narrower(ImplicitLocOpBuilder &b) : b(b) {}
  Value narrow(Value value, ArrayRef<int64_t> dims);

private:
  Value make(Value value, ArrayRef<int64_t> dims);

  ImplicitLocOpBuilder &b;
  std::map<std::pair<void *, std::vector<int64_t>>, Value> made;
};

} // namespace

llvm::SmallBitVector VaryingDims::read(Value value) {
  RankedTensorType type = typeOf(value);
  llvm::SmallBitVector dims(type.getRank());
  if (isUniform(value))
    return dims;
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<stablehlo::BroadcastInDimOp>(op)) {
    const llvm::SmallBitVector &own = of(broadcast.getOperand());
    for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (own[from])
        dims.set(to);
    return dims;
  }
  if (auto transpose = dyn_cast_or_null<stablehlo::TransposeOp>(op)) {
    const llvm::SmallBitVector &own = of(transpose.getOperand());
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      dims[to] = own[from];
    return dims;
  }
  if (op && isElementwise(op)) {
    for (Value operand : op->getOperands())
      if (typeOf(operand).getRank() == type.getRank())
        dims |= of(operand);
    return dims;
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    dims[dim] = type.getDimSize(dim) != 1;
  return dims;
}

llvm::SmallBitVector mlir::sp::varyingDims(Value value) {
  return VaryingDims().of(value);
}

Value Narrower::narrow(Value value, ArrayRef<int64_t> dims) {
  std::pair key(value.getAsOpaquePointer(), std::vector<int64_t>(dims));
  auto found = made.find(key);
  if (found == made.end())
    found = made.emplace(key, make(value, dims)).first;
  return found->second;
}

Value Narrower::make(Value value, ArrayRef<int64_t> dims) {
  RankedTensorType type = typeOf(value);
  RankedTensorType small = type.clone(llvm::map_to_vector(
      dims, [&](int64_t dim) { return type.getDimSize(dim); }));
  if (small == type)
    return value;
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<stablehlo::BroadcastInDimOp>(op)) {
    SmallVector<int64_t> own, places;
    for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (llvm::is_contained(dims, to)) {
        own.push_back(int64_t(from));
        places.push_back(llvm::find(dims, to) - dims.begin());
      }
    Value inner = narrow(broadcast.getOperand(), own);
    return stablehlo::BroadcastInDimOp::create(b, small, inner, places);
  }
  auto constant = dyn_cast_or_null<stablehlo::ConstantOp>(op);
  if (constant && constant.getValue().isSplat())
    return stablehlo::ConstantOp::create(
        b, cast<DenseElementsAttr>(constant.getValue()).resizeSplat(small));
  if (op && isElementwise(op)) {
    Operation *clone = b.clone(*op);
    for (OpOperand &operand : clone->getOpOperands())
      if (typeOf(operand.get()).getRank() == type.getRank())
        operand.set(narrow(operand.get(), dims));
    clone->getResult(0).setType(small);
    clone->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    return clone->getResult(0);
  }
  SmallVector<int64_t> start(type.getRank(), 0), stride(type.getRank(), 1),
      limit(type.getRank(), 1);
  for (int64_t dim : dims)
    limit[dim] = type.getDimSize(dim);
  Value first = stablehlo::SliceOp::create(b, type.clone(limit), value, start,
                                           limit, stride);
  return stablehlo::ReshapeOp::create(b, small, first);
}

Value mlir::sp::narrowTo(ImplicitLocOpBuilder &b, Value value,
                         ArrayRef<int64_t> dims) {
  return Narrower(b).narrow(value, dims);
}

Value mlir::sp::scale(ImplicitLocOpBuilder &b, Value value, Value factor,
                      ArrayRef<int64_t> dims, bool divides) {
  RankedTensorType type = typeOf(value);
  Type own = type.getElementType(), other = typeOf(factor).getElementType();
  bool isWider = other.getIntOrFloatBitWidth() > own.getIntOrFloatBitWidth();
  RankedTensorType wide = type.clone(isWider ? other : own);
  Value spread = factor;
  if (typeOf(factor).getShape() != type.getShape())
    spread =
        stablehlo::BroadcastInDimOp::create(b, type.clone(other), factor, dims);
  if (isWider)
    value = stablehlo::ConvertOp::create(b, wide, value);
  else if (other != own)
    spread = stablehlo::ConvertOp::create(b, wide, spread);
  Value scaled =
      divides ? stablehlo::DivOp::create(b, wide, value, spread).getResult()
              : stablehlo::MulOp::create(b, wide, value, spread).getResult();
  return isWider ? stablehlo::ConvertOp::create(b, type, scaled).getResult()
                 : scaled;
}
