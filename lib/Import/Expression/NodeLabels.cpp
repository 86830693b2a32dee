//===- NodeLabels.cpp - Labels through operations that move data ------===//

#include "Expression/NodeBuilder.h"

#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

Node *NodeBuilder::buildReduce(Node *node) {
  auto reduce = cast<stablehlo::ReduceOp>(node->op);
  if (!combinerOf(reduce))
    return refuse(reduce.getLoc(), "it reduces by more than one operation");
  auto type = cast<RankedTensorType>(reduce.getInputs()[0].getType());
  Labels inner;
  for (const Reduction &known : reductions)
    if (known.value == node->value &&
        labels.resolveDims(known.labels) == labels.resolveDims(node->labels))
      inner = known.inner;
  if (inner.empty()) {
    inner = labels.fresh(type.getShape());
    reductions.push_back({node->value, node->labels, inner});
  }
  unsigned next = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (llvm::is_contained(reduce.getDimensions(), dim))
      llvm::append_range(node->bound, inner[dim]);
    else
      inner[dim] = node->labels[next++];
  }
  Node *done = operand(node, 0, inner);
  return done ? operand(node, 1, {}) : nullptr;
}

Node *NodeBuilder::buildConcatenate(Node *node) {
  auto concatenate = cast<stablehlo::ConcatenateOp>(node->op);
  int64_t along = concatenate.getDimension(), offset = 0;
  for (unsigned i = 0; i < node->op->getNumOperands(); ++i) {
    auto type = cast<RankedTensorType>(node->op->getOperand(i).getType());
    int64_t size = type.getDimSize(along);
    Labels inner = node->labels;
    inner[along] = Axes();
    if (size != 1)
      inner[along] = {labels.derive(node->labels[along], -offset, 1, size)};
    offset += size;
    if (!operand(node, i, inner))
      return nullptr;
  }
  return node;
}

Node *NodeBuilder::buildPad(Node *node) {
  auto pad = cast<stablehlo::PadOp>(node->op);
  auto type = cast<RankedTensorType>(pad.getOperand().getType());
  Labels inner = node->labels;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (pad.getInteriorPadding()[dim] != 0)
      return refuse(pad.getLoc(), "it pads between elements");
    int64_t low = pad.getEdgePaddingLow()[dim];
    if (low != 0 || pad.getEdgePaddingHigh()[dim] != 0)
      inner[dim] = {
          labels.derive(node->labels[dim], -low, 1, type.getDimSize(dim))};
  }
  Node *done = operand(node, 0, inner);
  return done ? operand(node, 1, {}) : nullptr;
}

Node *NodeBuilder::buildFreeProduct(Node *node) {
  ContractionDims dims = contractionDims(node->op);
  auto left = cast<RankedTensorType>(node->op->getOperand(0).getType());
  auto right = cast<RankedTensorType>(node->op->getOperand(1).getType());
  Labels leftLabels(left.getRank()), rightLabels(right.getRank());
  unsigned next = 0;
  for (auto [l, r] : llvm::zip_equal(dims.lhsBatch, dims.rhsBatch)) {
    leftLabels[l] = rightLabels[r] = node->labels[next];
    ++next;
  }
  for (int64_t l = 0; l < left.getRank(); ++l)
    if (!llvm::is_contained(dims.lhsBatch, l))
      leftLabels[l] = node->labels[next++];
  for (int64_t r = 0; r < right.getRank(); ++r)
    if (!llvm::is_contained(dims.rhsBatch, r))
      rightLabels[r] = node->labels[next++];
  return operand(node, 0, leftLabels) ? operand(node, 1, rightLabels) : nullptr;
}

Node *NodeBuilder::buildLookup(Node *node) {
  auto gather = cast<stablehlo::GatherOp>(node->op);
  bool isKnown =
      inputs == Inputs::Any
          ? readsRows(gather) && !dependsOnScores(gather.getOperand())
          : static_cast<bool>(lookupTable(gather));
  if (!isKnown)
    return refuse(gather.getLoc(), "its weights depend on 'stablehlo.gather'");
  stablehlo::GatherDimensionNumbersAttr dims = gather.getDimensionNumbers();
  Labels inner;
  for (auto [dim, names] : llvm::enumerate(node->labels))
    if (!llvm::is_contained(dims.getOffsetDims(), static_cast<int64_t>(dim)))
      inner.push_back(names);
  int64_t vector = dims.getIndexVectorDim();
  auto indices = cast<RankedTensorType>(gather.getStartIndices().getType());
  if (vector < indices.getRank())
    inner.insert(inner.begin() + vector, Axes());
  return operand(node, 1, inner);
}

/// Start and stride of each dimension of a slice, or nothing.
static std::optional<SmallVector<std::pair<int64_t, int64_t>>>
sliceSteps(Operation *op) {
  SmallVector<std::pair<int64_t, int64_t>> steps;
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
    for (auto [start, stride] :
         llvm::zip_equal(slice.getStartIndices(), slice.getStrides()))
      steps.push_back({start, stride});
    return steps;
  }
  auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op);
  if (!slice)
    return std::nullopt;
  auto type = cast<RankedTensorType>(slice.getOperand().getType());
  for (auto [dim, index] : llvm::enumerate(slice.getStartIndices())) {
    std::optional<int64_t> start = constantInteger(index);
    if (!start)
      return std::nullopt;
    int64_t last = type.getDimSize(dim) - slice.getSliceSizes()[dim];
    steps.push_back({std::clamp<int64_t>(*start, 0, last), 1});
  }
  return steps;
}

Node *NodeBuilder::buildLayout(Node *node) {
  Operation *op = node->op;
  if (op->getNumOperands() == 0 ||
      !isa<RankedTensorType>(op->getOperand(0).getType()))
    return refuse(op->getLoc(), "its weights depend on '" +
                                    op->getName().getStringRef() + "'");
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  if (isa<stablehlo::ReshapeOp>(op)) {
    std::optional<Labels> inner =
        labels.regroup(flatten(node->labels), type.getShape());
    if (!inner)
      return refuse(op->getLoc(), "a reshape mixes its axes");
    return operand(node, 0, *inner);
  }
  Labels inner(type.getRank());
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
      inner[dim] = node->labels[i];
    return operand(node, 0, inner);
  }
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (type.getDimSize(i) == node->shape()[dim])
        inner[i] = node->labels[dim];
    return operand(node, 0, inner);
  }
  if (auto reverse = dyn_cast<stablehlo::ReverseOp>(op)) {
    inner = node->labels;
    for (int64_t dim : reverse.getDimensions())
      if (type.getDimSize(dim) != 1)
        inner[dim] = {labels.derive(node->labels[dim], type.getDimSize(dim) - 1,
                                    -1, type.getDimSize(dim))};
    return operand(node, 0, inner);
  }
  std::optional<SmallVector<std::pair<int64_t, int64_t>>> steps =
      sliceSteps(op);
  if (!steps)
    return refuse(op->getLoc(), "its weights depend on '" +
                                    op->getName().getStringRef() + "'");
  for (auto [dim, step] : llvm::enumerate(*steps)) {
    bool whole = type.getDimSize(dim) == node->shape()[dim];
    if (whole)
      inner[dim] = node->labels[dim];
    else
      inner[dim] = {labels.derive(node->labels[dim], step.first, step.second,
                                  type.getDimSize(dim))};
  }
  return operand(node, 0, inner);
}
