//===- SplitConcatenations.cpp - Softmax over joined parts ----------------===//
//
//   softmax(concatenate(scores, sink))[:, :keys]
//
// becomes exp(scores - m) / (sum exp(scores - m) + exp(sink - m)): operations
// on what a concatenation joins are done on its parts, reductions over the
// joined dimension combine those of the parts, and slices take one part. The
// gradient pads what a slice took, which is one part beside a number.
//
//===----------------------------------------------------------------------===//

#include "sp/Import/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "sp/StableHLO/TensorTypes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SPLITCONCATENATIONSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// One concatenation and everything that is computed of it, element by element,
/// together with pads of its parts.
class Split {
public:
  explicit Split(stablehlo::ConcatenateOp root)
      : root(root), dim(root.getDimension()) {}

  /// Whether all of it can be done on the parts.
  bool collect();
  void rewrite();

private:
  bool join(Operation *op, unsigned depth = 16);
  bool canBroadcast(Value value) const;
  bool canReduce(Operation *op) const;
  std::optional<unsigned> sliced(Operation *op);
  std::optional<unsigned> padded(Operation *op);
  Value partOf(OpBuilder &builder, Value value, unsigned part);
  void splitReduction(stablehlo::ReduceOp op);
  void splitPad(stablehlo::PadOp op);

  stablehlo::ConcatenateOp root;
  int64_t dim;
  /// The root and element-wise operations on it, then what ends them.
  llvm::SetVector<Operation *> joined;
  SmallVector<Operation *> ends;
  DenseMap<Value, SmallVector<Value>> parts;
};

struct SplitConcatenationsPass
    : sp::impl::SplitConcatenationsPassBase<SplitConcatenationsPass> {
  void runOnOperation() override;
};

} // namespace

/// Whether an operand beside a joined one is the same along the dimension.
bool Split::canBroadcast(Value value) const {
  if (isUniform(value))
    return true;
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast)
    return false;
  for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
    if (to == dim && shapeOf(broadcast.getOperand())[from] != 1)
      return false;
  return true;
}

bool Split::canReduce(Operation *op) const {
  return llvm::is_contained(cast<stablehlo::ReduceOp>(op).getDimensions(),
                            dim) &&
         reducesBy<stablehlo::AddOp, stablehlo::MaxOp>(op);
}

/// The part that a slice takes whole.
std::optional<unsigned> Split::sliced(Operation *op) {
  auto slice = cast<stablehlo::SliceOp>(op);
  int64_t start = 0;
  for (auto [number, part] : llvm::enumerate(root.getInputs())) {
    int64_t size = shapeOf(part)[dim];
    bool isPart = slice.getStartIndices()[dim] == start &&
                  slice.getLimitIndices()[dim] == start + size &&
                  shapeOf(slice.getResult()) == shapeOf(part);
    if (isPart)
      return number;
    start += size;
  }
  return std::nullopt;
}

/// The part that a pad puts beside a number, in the place it has when joined.
std::optional<unsigned> Split::padded(Operation *op) {
  auto pad = cast<stablehlo::PadOp>(op);
  auto isNone = [](int64_t padding) { return padding == 0; };
  if (!llvm::all_of(pad.getInteriorPadding(), isNone) ||
      shapeOf(pad.getResult()) != shapeOf(root.getResult()))
    return std::nullopt;
  int64_t start = 0;
  for (auto [number, part] : llvm::enumerate(root.getInputs())) {
    if (pad.getEdgePaddingLow()[dim] == start &&
        shapeOf(pad.getOperand()) == shapeOf(part))
      return number;
    start += shapeOf(part)[dim];
  }
  return std::nullopt;
}

/// Joins an operation if it and what it is made of can be done on the parts.
bool Split::join(Operation *op, unsigned depth) {
  if (joined.contains(op))
    return true;
  if (depth == 0 || op->getBlock() != root->getBlock() ||
      op->getNumResults() != 1)
    return false;
  bool isPad = isa<stablehlo::PadOp>(op) && padded(op);
  bool isDone =
      isPad || ((isElementwise(op) || isIdentity(op)) &&
                llvm::all_of(op->getOperands(), [&](Value operand) {
                  if (shapeOf(operand).empty() || canBroadcast(operand))
                    return true;
                  Operation *made = operand.getDefiningOp();
                  return made && join(made, depth - 1);
                }));
  if (isDone)
    joined.insert(op);
  return isDone;
}

bool Split::collect() {
  auto type = cast<RankedTensorType>(root.getType());
  // A column beside scores; concatenations of other kinds stay.
  bool isColumn = root.getInputs().size() == 2 && type.getRank() >= 3 &&
                  isa<FloatType>(type.getElementType()) &&
                  shapeOf(root.getInputs().back())[dim] == 1;
  if (!isColumn)
    return false;
  bool raises = false;
  joined.insert(root);
  for (size_t i = 0; i < joined.size(); ++i)
    for (Operation *user : joined[i]->getUsers()) {
      if (joined.contains(user) || llvm::is_contained(ends, user))
        continue;
      bool isEnd = (isa<stablehlo::ReduceOp>(user) && canReduce(user)) ||
                   (isa<stablehlo::SliceOp>(user) && sliced(user));
      if (isEnd && user->getBlock() == root->getBlock())
        ends.push_back(user);
      else if (!join(user))
        return false;
      raises |= isa<stablehlo::ExpOp>(user);
    }
  return raises;
}

/// What a value is along one part.
Value Split::partOf(OpBuilder &builder, Value value, unsigned part) {
  auto known = parts.find(value);
  if (known != parts.end())
    return known->second[part];
  if (shapeOf(value).empty())
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = shapeOf(root.getInputs()[part])[dim];
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
      broadcast && !isUniform(value))
    return stablehlo::BroadcastInDimOp::create(
        builder, value.getLoc(), type.clone(shape), broadcast.getOperand(),
        broadcast.getBroadcastDimensions());
  // The same number everywhere.
  SmallVector<int64_t> start(shape.size(), 0), stride(shape.size(), 1);
  return stablehlo::SliceOp::create(builder, value.getLoc(), type.clone(shape),
                                    value, start, shape, stride);
}

void Split::splitReduction(stablehlo::ReduceOp op) {
  OpBuilder builder(op);
  SmallVector<Value> reduced;
  for (unsigned part = 0; part < 2; ++part) {
    IRMapping mapping;
    mapping.map(op.getInputs()[0], parts[op.getInputs()[0]][part]);
    reduced.push_back(builder.clone(*op, mapping)->getResult(0));
  }
  Value both;
  if (reducesBy<stablehlo::AddOp>(op))
    both =
        stablehlo::AddOp::create(builder, op.getLoc(), reduced[0], reduced[1]);
  else
    both =
        stablehlo::MaxOp::create(builder, op.getLoc(), reduced[0], reduced[1]);
  op.getResult(0).replaceAllUsesWith(both);
  op.erase();
}

void Split::splitPad(stablehlo::PadOp op) {
  OpBuilder builder(op);
  unsigned number = *padded(op);
  SmallVector<Value> own(2, op.getOperand());
  auto type = cast<RankedTensorType>(op.getType());
  own[1 - number] = stablehlo::BroadcastInDimOp::create(
      builder, op.getLoc(), type.clone(shapeOf(root.getInputs()[1 - number])),
      op.getPaddingValue(), ArrayRef<int64_t>());
  parts[op.getResult()] = own;
}

void Split::rewrite() {
  parts[root.getResult()] = llvm::to_vector(root.getInputs());
  // Reductions come between what they reduce and what is made of them.
  SmallVector<Operation *> all(joined.begin() + 1, joined.end());
  llvm::append_range(all, ends);
  llvm::sort(all,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : all) {
    if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op)) {
      splitReduction(reduce);
      continue;
    }
    if (isa<stablehlo::SliceOp>(op)) {
      op->getResult(0).replaceAllUsesWith(
          parts[op->getOperand(0)][*sliced(op)]);
      continue;
    }
    if (auto pad = dyn_cast<stablehlo::PadOp>(op)) {
      splitPad(pad);
      continue;
    }
    OpBuilder builder(op);
    SmallVector<Value> own;
    for (unsigned part = 0; part < 2; ++part) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(partOf(builder, operand, part));
      Operation *clone = builder.clone(*op);
      clone->setOperands(operands);
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      SmallVector<int64_t> shape(type.getShape());
      shape[dim] = shapeOf(root.getInputs()[part])[dim];
      clone->getResult(0).setType(type.clone(shape));
      own.push_back(clone->getResult(0));
    }
    parts[op->getResult(0)] = own;
  }
}

void SplitConcatenationsPass::runOnOperation() {
  eraseDead(getOperation());
  SmallVector<stablehlo::ConcatenateOp> concatenations;
  getOperation().walk(
      [&](stablehlo::ConcatenateOp op) { concatenations.push_back(op); });
  for (stablehlo::ConcatenateOp op : concatenations) {
    Split split(op);
    if (split.collect())
      split.rewrite();
  }
  eraseDead(getOperation());
}
