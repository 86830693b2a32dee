//===- Component.cpp - The expression between two contractions ------------===//

#include "Expression/Component.h"

using namespace mlir;
using namespace mlir::sp;

static Anchor makeAnchor(AxisLabels &labels, Operation *op, Role left,
                         Role right) {
  Anchor anchor;
  anchor.op = op;
  anchor.roles[0] = left;
  anchor.roles[1] = right;
  auto leftType = cast<RankedTensorType>(op->getOperand(0).getType());
  auto rightType = cast<RankedTensorType>(op->getOperand(1).getType());
  ContractionDims dims = contractionDims(op);
  Labels *out = anchor.labels;
  out[0] = labels.fresh(leftType.getShape());
  out[1] = labels.fresh(rightType.getShape());
  for (auto [l, r] : llvm::zip_equal(dims.lhsBatch, dims.rhsBatch))
    out[1][r] = out[0][l];
  for (auto [l, r] :
       llvm::zip_equal(dims.lhsContracting, dims.rhsContracting)) {
    out[1][r] = out[0][l];
    llvm::append_range(anchor.bound, out[0][l]);
  }
  for (int64_t l : dims.lhsBatch)
    out[2].push_back(out[0][l]);
  for (int64_t l = 0; l < leftType.getRank(); ++l)
    if (!llvm::is_contained(dims.lhsBatch, l) &&
        !llvm::is_contained(dims.lhsContracting, l))
      out[2].push_back(out[0][l]);
  for (int64_t r = 0; r < rightType.getRank(); ++r)
    if (!llvm::is_contained(dims.rhsBatch, r) &&
        !llvm::is_contained(dims.rhsContracting, r))
      out[2].push_back(out[1][r]);
  return anchor;
}

Component::Component(Operation *scores, Operation *product,
                     unsigned valueOperand, Inputs inputs)
    : nodes(labels, anchors, scores, inputs) {
  auto values =
      cast<RankedTensorType>(product->getOperand(valueOperand).getType());
  ContractionDims dims = contractionDims(product);
  if (llvm::all_of(valueOperand == 0 ? dims.lhsContracting
                                     : dims.rhsContracting,
                   [&](int64_t dim) { return values.getDimSize(dim) == 1; }))
    labels.keepUnits();
  anchors.push_back(makeAnchor(labels, scores, Role::Left, Role::Right));
  anchors.push_back(makeAnchor(labels, product,
                               valueOperand == 0 ? Role::Value : Role::None,
                               valueOperand == 0 ? Role::None : Role::Value));
}

void Component::addProduct(Operation *product, unsigned leafOperand) {
  anchors.push_back(makeAnchor(labels, product,
                               leafOperand == 0 ? Role::Factor : Role::None,
                               leafOperand == 0 ? Role::None : Role::Factor));
}

void Component::addPairs(Operation *pairs) {
  anchors.push_back(makeAnchor(labels, pairs, Role::Factor, Role::Factor));
}

void Component::keepAxes(Operation *contraction, unsigned leafOperand) {
  for (Anchor &anchor : anchors)
    if (anchor.op == contraction)
      anchor.keepsAxes[leafOperand] = true;
  nodes.clear();
}

const Anchor *Component::anchor(Operation *op) const {
  auto found = llvm::find_if(
      anchors, [&](const Anchor &anchor) { return anchor.op == op; });
  return found == anchors.end() ? nullptr : &*found;
}

void Component::restore(const Snapshot &snapshot) {
  nodes.clear();
  labels = snapshot.labels;
  anchors.erase(anchors.begin() + snapshot.anchors, anchors.end());
  nodes.forgetReductions(snapshot.reductions);
  requests.resize(snapshot.requests);
}

Node *Component::request(Value value) {
  auto known = llvm::find_if(requests, [&](const SourceChain::Link &request) {
    return request.value == value;
  });
  if (known == requests.end()) {
    auto type = cast<RankedTensorType>(value.getType());
    requests.push_back({value, labels.fresh(type.getShape())});
    known = std::prev(requests.end());
  }
  return nodes.build(value, Labels(known->labels));
}
