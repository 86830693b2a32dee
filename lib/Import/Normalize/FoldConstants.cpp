//===- FoldConstants.cpp - What is known of positions ---------------------===//
//
//   cumsum(position[i] - position[i - 1] != 1), with position = iota
//
// becomes constant 0: every token is of one document. Only what masks are not
// read through is evaluated: scans, sorts, lookups of integers and truths. What
// has no elements, as edges that pad nothing, is a constant too.
//
//===----------------------------------------------------------------------===//

#include "sp/IR/LocalForms.h"
#include "sp/Import/Passes.h"
#include "sp/Interpreter/Interpreter.h"
#include "sp/Interpreter/TensorBytes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Elements of a value that is evaluated, of one that is sorted, and additions
/// of windows' elements.
static constexpr int64_t maxElements = int64_t(1) << 20,
                         maxSorted = int64_t(1) << 14,
                         maxWork = int64_t(1) << 24;

static bool isSmall(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         tensor.getElementType().isInteger() &&
         tensor.getNumElements() <= maxElements;
}

/// Whether a window reaches over one dimension to its beginning or end, which
/// takes a single pass.
static bool isScan(stablehlo::ReduceWindowOp op) {
  auto type = cast<RankedTensorType>(op.getInputs()[0].getType());
  std::optional<DenseIntElementsAttr> padding = op.getPadding();
  if (!padding || op.getWindowStrides() || op.getWindowDilations() ||
      op.getBaseDilations())
    return false;
  auto edges = llvm::to_vector(padding->getValues<int64_t>());
  bool isFound = false;
  for (auto [dim, size] : llvm::enumerate(op.getWindowDimensions())) {
    int64_t low = edges[2 * dim], high = edges[2 * dim + 1];
    if (size == 1 && low == 0 && high == 0)
      continue;
    if (isFound || size != type.getDimSize(dim) || std::min(low, high) != 0 ||
        std::max(low, high) != size - 1)
      return false;
    isFound = true;
  }
  return isFound;
}

static bool isCheap(Operation *op) {
  auto elements = [&] {
    return cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  };
  if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op)) {
    int64_t most = maxWork / std::max<int64_t>(elements(), 1);
    for (int64_t size : window.getWindowDimensions())
      most /= std::max<int64_t>(size, 1);
    return most > 0 || isScan(window);
  }
  if (isa<stablehlo::SortOp>(op))
    return elements() <= maxSorted;
  return isElementwise(op) || isIdentity(op) ||
         isa<stablehlo::BroadcastInDimOp, stablehlo::ConcatenateOp,
             stablehlo::ConstantOp, stablehlo::GatherOp, stablehlo::IotaOp,
             stablehlo::PadOp, stablehlo::ReduceOp, stablehlo::ReshapeOp,
             stablehlo::ReverseOp, stablehlo::SliceOp, stablehlo::TransposeOp>(
             op);
}

/// What masks are not read through, as opposed to arithmetic on positions.
static bool isOpaque(Operation *op) {
  return isa<stablehlo::GatherOp, stablehlo::ReduceOp,
             stablehlo::ReduceWindowOp, stablehlo::SortOp>(op);
}

namespace {

/// Evaluates operations of one block that depend on no argument.
class Folder {
public:
  explicit Folder(Block &block) {
    for (Operation &op : block)
      if (isKnown(&op))
        known.insert(&op);
  }

  bool knows(Operation *op) const { return known.contains(op); }
  /// The results of a known operation; none if it cannot be evaluated.
  ArrayRef<interpreter::Tensor> evaluate(Operation *op);

private:
  bool isKnown(Operation *op) const {
    // Comparators and reducers are evaluated by themselves.
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    return captured.empty() && llvm::all_of(op->getResultTypes(), isSmall) &&
           isCheap(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
             return operand.getDefiningOp() && knows(operand.getDefiningOp());
           });
  }
  SmallVector<interpreter::Tensor> compute(Operation *op);

  llvm::DenseSet<Operation *> known;
  DenseMap<Operation *, SmallVector<interpreter::Tensor>> results;
};

struct FoldConstantsPass : sp::impl::FoldConstantsPassBase<FoldConstantsPass> {
  void runOnOperation() override;
};

} // namespace

SmallVector<interpreter::Tensor> Folder::compute(Operation *op) {
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    std::string reason;
    auto tensor = interpreter::tensorFromAttribute(constant.getValue(), reason);
    return succeeded(tensor) ? SmallVector<interpreter::Tensor>{*tensor}
                             : SmallVector<interpreter::Tensor>();
  }
  SmallVector<interpreter::Tensor> operands;
  for (Value operand : op->getOperands()) {
    ArrayRef<interpreter::Tensor> made = results[operand.getDefiningOp()];
    if (made.empty())
      return {};
    operands.push_back(made[cast<OpResult>(operand).getResultNumber()]);
  }
  auto evaluated = interpreter::evaluateOperation(
      op, operands, {interpreter::Precision::Program});
  return succeeded(evaluated) ? *evaluated : SmallVector<interpreter::Tensor>();
}

ArrayRef<interpreter::Tensor> Folder::evaluate(Operation *op) {
  llvm::SetVector<Operation *> sources;
  sources.insert(op);
  for (size_t i = 0; i < sources.size(); ++i)
    for (Value operand : sources[i]->getOperands())
      if (!results.contains(operand.getDefiningOp()))
        sources.insert(operand.getDefiningOp());
  SmallVector<Operation *> order = sources.takeVector();
  llvm::sort(order,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *source : order)
    results[source] = compute(source);
  return results[op];
}

static DenseElementsAttr attributeOf(const interpreter::Tensor &tensor) {
  Type type = tensor.getElementType();
  unsigned width = type.getIntOrFloatBitWidth();
  SmallVector<APInt> numbers;
  numbers.reserve(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i)
    numbers.push_back(APInt(width, uint64_t(tensor.integerAt(i)), false, true));
  return DenseElementsAttr::get(tensor.getType(), numbers);
}

static bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

/// Makes what has no elements of nothing, and joins without it.
static void foldEmpty(Operation *op) {
  if (auto joined = dyn_cast<stablehlo::ConcatenateOp>(op)) {
    SmallVector<Value> parts(
        llvm::make_filter_range(joined.getInputs(), std::not_fn(isEmpty)));
    if (parts.size() == 1)
      joined.getResult().replaceAllUsesWith(parts[0]);
    else if (!parts.empty())
      op->setOperands(parts);
  }
  if (op->getNumResults() != 1 || !isEmpty(op->getResult(0)) ||
      isa<stablehlo::ConstantOp>(op) || !isMemoryEffectFree(op))
    return;
  OpBuilder builder(op);
  RankedTensorType type = typeOf(op->getResult(0));
  op->getResult(0).replaceAllUsesWith(splat(
      builder, op->getLoc(), type, builder.getZeroAttr(type.getElementType())));
}

void FoldConstantsPass::runOnOperation() {
  if (getOperation().isExternal())
    return;
  getOperation().walk(foldEmpty);
  Block &block = getOperation().getBody().front();
  Folder folder(block);
  SmallVector<Operation *> opaque;
  for (Operation &op : block)
    if (isOpaque(&op) && folder.knows(&op))
      opaque.push_back(&op);
  for (Operation *op : opaque) {
    OpBuilder builder(op);
    for (auto [result, tensor] :
         llvm::zip(op->getResults(), folder.evaluate(op)))
      result.replaceAllUsesWith(stablehlo::ConstantOp::create(
          builder, op->getLoc(), attributeOf(tensor)));
  }
  eraseDead(getOperation());
}
