//===- Component.cpp - The expression between two contractions ------------===//

#include "Component.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

static constexpr unsigned maxNodes = 2048;

/// What depends on `op`, as operations of its block.
static void collectUsers(Operation *op,
                         llvm::SmallPtrSet<Operation *, 32> &users) {
  SmallVector<Operation *> open = {op};
  users.insert(op);
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers())
      if (Operation *own = op->getBlock()->findAncestorOpInBlock(*user);
          own && users.insert(own).second)
        open.push_back(own);
}

Component::Component(Operation *scores, Operation *product,
                     unsigned valueOperand, Inputs inputs)
    : scoresOp(scores), productOp(product), valueOperand(valueOperand),
      inputs(inputs) {
  if (inputs == Inputs::Any)
    collectUsers(scores, scoredOps);
  auto label = [&](Operation *op, Labels *out, Axes &bound) {
    auto left = cast<RankedTensorType>(op->getOperand(0).getType());
    auto right = cast<RankedTensorType>(op->getOperand(1).getType());
    ContractionDims dims = contractionDims(op);
    out[0] = labels.fresh(left.getShape());
    out[1] = labels.fresh(right.getShape());
    for (auto [l, r] : llvm::zip_equal(dims.lhsBatch, dims.rhsBatch))
      out[1][r] = out[0][l];
    for (auto [l, r] :
         llvm::zip_equal(dims.lhsContracting, dims.rhsContracting)) {
      out[1][r] = out[0][l];
      llvm::append_range(bound, out[0][l]);
    }
    for (int64_t l : dims.lhsBatch)
      out[2].push_back(out[0][l]);
    for (int64_t l = 0; l < left.getRank(); ++l)
      if (!llvm::is_contained(dims.lhsBatch, l) &&
          !llvm::is_contained(dims.lhsContracting, l))
        out[2].push_back(out[0][l]);
    for (int64_t r = 0; r < right.getRank(); ++r)
      if (!llvm::is_contained(dims.rhsBatch, r) &&
          !llvm::is_contained(dims.rhsContracting, r))
        out[2].push_back(out[1][r]);
  };
  auto values =
      cast<RankedTensorType>(product->getOperand(valueOperand).getType());
  ContractionDims dims = contractionDims(product);
  if (llvm::all_of(valueOperand == 0 ? dims.lhsContracting
                                     : dims.rhsContracting,
                   [&](int64_t dim) { return values.getDimSize(dim) == 1; }))
    labels.keepUnits();
  label(scoresOp, scoresLabels, scoresBound);
  label(productOp, productLabels, productBound);
}

static unsigned indexOf(Role role) {
  return unsigned(role) - unsigned(Role::Left);
}

const SourceChain &Component::chain(Role role) const {
  return chains[indexOf(role)];
}

Node *Component::leaf(Role role) const { return leaves[indexOf(role)]; }

void Component::restart() {
  nodes.clear();
  known.clear();
  scores = product = nullptr;
  for (unsigned i = 0; i < 3; ++i) {
    chains[i].links.clear();
    leaves[i] = nullptr;
  }
  why.reset();
}

void Component::restore(const Snapshot &snapshot) {
  restart();
  labels = snapshot.labels;
  reductions.resize(snapshot.reductions);
}

Node *Component::request(Value value) {
  return build(
      value, labels.fresh(cast<RankedTensorType>(value.getType()).getShape()));
}

Node *Component::refuse(Location loc, const Twine &reason) {
  if (!why)
    why = Refusal{reason.str(), loc};
  return nullptr;
}

Node *Component::create(Value value, ArrayRef<Axes> wanted) {
  nodes.push_back(std::make_unique<Node>());
  Node *node = nodes.back().get();
  node->value = value;
  node->op = value.getDefiningOp();
  node->labels = labels.resolveDims(wanted);
  node->number = nodes.size();
  return node;
}

Component::Key Component::keyOf(Value value, ArrayRef<Axes> wanted) const {
  std::vector<AxisId> flat;
  for (const Axes &dim : labels.resolveDims(wanted)) {
    flat.insert(flat.end(), dim.begin(), dim.end());
    flat.push_back(~AxisId(0));
  }
  return {value.getAsOpaquePointer(), flat};
}

bool Component::dependsOnScores(Value value) const {
  Operation *op = value.getDefiningOp();
  Operation *own =
      op ? scoresOp->getBlock()->findAncestorOpInBlock(*op) : nullptr;
  return own && scoredOps.contains(own);
}

Node *Component::buildData(Value value, ArrayRef<Axes> wanted) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() ||
      llvm::is_contained(type.getShape(), 0) ||
      !type.getElementType().isIntOrFloat())
    return refuse(value.getLoc(),
                  "a value of it has no static, non-empty shape of numbers");
  Node *&node = known[keyOf(value, wanted)];
  if (!node) {
    why.reset();
    node = create(value, wanted);
    node->op = nullptr;
    node->role = Role::Data;
    node->random = true;
  }
  return node;
}

Node *Component::build(Value value, ArrayRef<Axes> wanted) {
  value = lookThroughLoops(value);
  Node *node = buildKnown(value, wanted);
  if (node || inputs == Inputs::Operands || dependsOnScores(value))
    return node;
  return buildData(value, wanted);
}

Node *Component::operand(Node *node, unsigned index, ArrayRef<Axes> wanted) {
  Node *operand = build(node->op->getOperand(index), wanted);
  if (!operand)
    return nullptr;
  node->operands.push_back(operand);
  node->scored |= operand->scored;
  return node;
}

Node *Component::buildKnown(Value value, ArrayRef<Axes> wanted) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    if (isa<stablehlo::WhileOp>(value.getParentBlock()->getParentOp()))
      return refuse(value.getLoc(),
                    "its weights depend on a value that a loop carries");
    return refuse(value.getLoc(),
                  "its weights depend on argument " +
                      Twine(cast<BlockArgument>(value).getArgNumber()) +
                      " besides queries and keys");
  }
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || llvm::is_contained(type.getShape(), 0))
    return refuse(op->getLoc(), "a value of it has no static, non-empty shape");
  if (op == scoresOp)
    return buildScores(wanted);
  if (op == productOp)
    return buildProduct(wanted);
  if (nodes.size() > maxNodes)
    return refuse(op->getLoc(), "its expression is too large to be evaluated");

  Key key = keyOf(value, wanted);
  auto [entry, added] = known.try_emplace(key, nullptr);
  if (!added)
    return entry->second ? entry->second
                         : refuse(op->getLoc(), "its expression is cyclic");

  Node *node = create(value, wanted);
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    if (!isa<DenseElementsAttr>(constant.getValue()))
      node =
          refuse(op->getLoc(), "it reads a constant whose value is not known");
  } else if (isElementwise(op)) {
    for (unsigned i = 0; node && i < op->getNumOperands(); ++i) {
      bool scalar =
          cast<RankedTensorType>(op->getOperand(i).getType()).getRank() == 0;
      node = operand(node, i, scalar ? ArrayRef<Axes>() : wanted);
    }
  } else if (isIdentity(op)) {
    node = operand(node, cast<OpResult>(value).getResultNumber(), wanted);
  } else if (isa<stablehlo::ReduceOp>(op)) {
    node = buildReduce(node);
  } else if (isa<stablehlo::ConcatenateOp>(op)) {
    node = buildConcatenate(node);
  } else if (isa<stablehlo::PadOp>(op)) {
    node = buildPad(node);
  } else if (isContraction(op)) {
    node = contracts(op)
               ? refuse(op->getLoc(), "its weights depend on a second "
                                      "contraction")
               : buildFreeProduct(node);
  } else if (isa<stablehlo::GatherOp>(op)) {
    node = buildLookup(node);
  } else if (!isa<stablehlo::IotaOp>(op)) {
    node = buildLayout(node);
  }
  if (node)
    known[key] = node;
  else
    known.erase(key);
  return node;
}

Node *Component::buildScores(ArrayRef<Axes> wanted) {
  if (failed(labels.unify(flatten(scoresLabels[2]), flatten(wanted))))
    return refuse(scoresOp->getLoc(), "it reads a part of its scores");
  if (scores)
    return scores;
  scores = create(scoresOp->getResult(0), scoresLabels[2]);
  scores->scored = true;
  scores->bound = scoresBound;
  for (unsigned i = 0; i < 2; ++i) {
    Node *side = peel(scoresOp->getOperand(i), scoresLabels[i],
                      i == 0 ? Role::Left : Role::Right);
    if (!side)
      return nullptr;
    scores->operands.push_back(side);
  }
  return scores;
}

Node *Component::buildProduct(ArrayRef<Axes> wanted) {
  if (failed(labels.unify(flatten(productLabels[2]), flatten(wanted))))
    return refuse(productOp->getLoc(), "a part of its result is taken");
  if (product)
    return product;
  product = create(productOp->getResult(0), productLabels[2]);
  product->scored = true;
  product->bound = productBound;
  Node *made = build(productOp->getOperand(1 - valueOperand),
                     productLabels[1 - valueOperand]);
  Node *values = peel(productOp->getOperand(valueOperand),
                      productLabels[valueOperand], Role::Value);
  if (!made || !values) {
    product = nullptr;
    return nullptr;
  }
  product->operands = {made, values};
  if (valueOperand == 0)
    std::swap(product->operands[0], product->operands[1]);
  return product;
}

/// Whether a conversion keeps every value of its operand.
static bool widens(Operation *op) {
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  auto source = dyn_cast<FloatType>(from.getElementType());
  auto target = dyn_cast<FloatType>(to.getElementType());
  return source && target &&
         source.getFPMantissaWidth() <= target.getFPMantissaWidth() &&
         (source == target || source.getWidth() < target.getWidth());
}

Node *Component::peel(Value value, ArrayRef<Axes> wanted, Role role) {
  Operation *op = value.getDefiningOp();
  SourceChain &chain = chains[indexOf(role)];
  chain.links.push_back({value, Labels(wanted)});
  Node *node = create(value, wanted);
  node->random = true;
  // A source may be taken in any form of it, so that one with many is cut off.
  bool isLong = nodes.size() > maxNodes;
  // Constant factors belong to the scale. Those of the values do not.
  if (op && role != Role::Value && !isLong &&
      isa<stablehlo::MulOp, stablehlo::DivOp>(op)) {
    bool right = isUniform(op->getOperand(1));
    bool left = isa<stablehlo::MulOp>(op) && isUniform(op->getOperand(0));
    if (right || left) {
      chain.links.clear();
      unsigned index = right ? 0 : 1;
      Node *inner = peel(op->getOperand(index), wanted, role);
      Node *factor = build(op->getOperand(1 - index), wanted);
      if (!inner || !factor)
        return nullptr;
      node->operands = {inner, factor};
      if (!right)
        std::swap(node->operands[0], node->operands[1]);
      return node;
    }
  }
  bool follow =
      op && !isLong &&
      (isa<stablehlo::ReshapeOp, stablehlo::TransposeOp,
           stablehlo::BroadcastInDimOp, sdy::ShardingConstraintOp>(op) ||
       (isa<stablehlo::CustomCallOp>(op) && isIdentity(op)) ||
       (isa<stablehlo::ConvertOp>(op) && widens(op)));
  std::optional<Labels> inner;
  if (follow) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    if (isa<stablehlo::ReshapeOp>(op)) {
      inner = labels.regroup(flatten(wanted), type.getShape());
    } else if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
      inner = Labels(wanted.size());
      for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
        (*inner)[dim] = wanted[i];
    } else if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
      inner = Labels();
      auto outer = cast<RankedTensorType>(value.getType());
      for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        inner->push_back(
            type.getDimSize(i) == outer.getDimSize(dim) ? wanted[dim] : Axes());
    } else {
      inner = Labels(wanted);
    }
  }
  if (!inner) {
    node->op = nullptr;
    node->role = role;
    leaves[indexOf(role)] = node;
    return node;
  }
  Node *source = peel(op->getOperand(0), *inner, role);
  if (!source)
    return nullptr;
  node->operands.push_back(source);
  return node;
}
