//===- NodeBuilder.cpp - Values asked for over axes -----------------------===//

#include "Expression/NodeBuilder.h"

#include "sp/StableHLO/Operations.h"
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

NodeBuilder::NodeBuilder(AxisLabels &labels, std::vector<Anchor> &anchors,
                         Operation *scores, Inputs inputs)
    : labels(labels), anchors(anchors), inputs(inputs) {
  if (inputs == Inputs::Any)
    collectUsers(scores, scoredOps);
}

void NodeBuilder::clear() {
  nodes.clear();
  known.clear();
  for (Anchor &anchor : anchors) {
    anchor.node = nullptr;
    for (unsigned i = 0; i < 2; ++i) {
      anchor.chains[i].links.clear();
      anchor.leaves[i] = nullptr;
    }
  }
  why.reset();
}

static std::pair<void *, std::vector<AxisId>>
wantedKey(const AxisLabels &labels, Value value, ArrayRef<Axes> wanted) {
  std::vector<AxisId> flat;
  for (const Axes &dim : labels.resolveDims(wanted)) {
    flat.insert(flat.end(), dim.begin(), dim.end());
    flat.push_back(~AxisId(0));
  }
  return {value.getAsOpaquePointer(), flat};
}

Node *NodeBuilder::refuse(Location loc, const Twine &reason) {
  if (!why)
    why = Refusal{reason.str(), loc};
  return nullptr;
}

Node *NodeBuilder::create(Value value, ArrayRef<Axes> wanted) {
  nodes.push_back(std::make_unique<Node>());
  Node *node = nodes.back().get();
  node->value = value;
  node->op = value.getDefiningOp();
  node->labels = labels.resolveDims(wanted);
  node->number = nodes.size();
  return node;
}

bool NodeBuilder::dependsOnScores(Value value) const {
  Operation *op = value.getDefiningOp();
  Operation *own =
      op ? anchors[0].op->getBlock()->findAncestorOpInBlock(*op) : nullptr;
  return own && scoredOps.contains(own);
}

Node *NodeBuilder::buildData(Value value, ArrayRef<Axes> wanted) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() ||
      llvm::is_contained(type.getShape(), 0) ||
      !type.getElementType().isIntOrFloat())
    return refuse(value.getLoc(),
                  "a value of it has no static, non-empty shape of numbers");
  why.reset();
  Node *&node = known[wantedKey(labels, value, wanted)];
  return node ? node : node = createLeaf(value, wanted, Role::Data);
}

Node *NodeBuilder::createLeaf(Value value, ArrayRef<Axes> wanted, Role role) {
  Node *node = create(value, wanted);
  node->op = nullptr;
  node->role = role;
  node->random = true;
  auto [entry, isNew] = leafNumbers.try_emplace(
      wantedKey(labels, value, wanted), maxNodes + 1 + leafNumbers.size());
  node->number = entry->second;
  return node;
}

Node *NodeBuilder::build(Value value, ArrayRef<Axes> wanted) {
  value = lookThroughLoops(value);
  if (stops.contains(value)) {
    Node *&node = known[wantedKey(labels, value, wanted)];
    return node ? node : node = createLeaf(value, wanted, Role::Factor);
  }
  Node *node = buildKnown(value, wanted);
  if (node || inputs == Inputs::Operands || dependsOnScores(value))
    return node;
  return buildData(value, wanted);
}

Node *NodeBuilder::operand(Node *node, unsigned index, ArrayRef<Axes> wanted) {
  Node *operand = build(node->op->getOperand(index), wanted);
  if (!operand)
    return nullptr;
  node->operands.push_back(operand);
  node->scored |= operand->scored;
  // Data is rounded as the program rounds it, operands of contractions are not.
  node->random |= operand->random && operand->role != Role::Data;
  return node;
}

Node *NodeBuilder::buildKnown(Value value, ArrayRef<Axes> wanted) {
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
  for (Anchor &anchor : anchors)
    if (anchor.op == op)
      return buildAnchor(anchor, wanted);
  if (nodes.size() > maxNodes)
    return refuse(op->getLoc(), "its expression is too large to be evaluated");

  Key key = wantedKey(labels, value, wanted);
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

Node *NodeBuilder::buildAnchor(Anchor &anchor, ArrayRef<Axes> wanted) {
  if (failed(labels.unify(flatten(anchor.labels[2]), flatten(wanted))))
    return refuse(anchor.op->getLoc(), &anchor == anchors.data()
                                           ? "it reads a part of its scores"
                                           : "a part of its result is taken");
  if (anchor.node)
    return anchor.node;
  Node *node = anchor.node = create(anchor.op->getResult(0), anchor.labels[2]);
  node->scored = true;
  node->bound = anchor.bound;
  // What a product is made of tells the axes of its leaf.
  for (bool wantsLeaf : {false, true})
    for (unsigned i = 0; i < 2; ++i) {
      bool isLeaf = anchor.roles[i] != Role::None;
      if (isLeaf != wantsLeaf)
        continue;
      Value value = anchor.op->getOperand(i);
      Node *operand = isLeaf ? peel(value, anchor.labels[i], anchor, i)
                             : build(value, anchor.labels[i]);
      if (!operand)
        return anchor.node = nullptr;
      node->operands.push_back(operand);
    }
  if (anchor.roles[0] != Role::None && anchor.roles[1] == Role::None)
    std::swap(node->operands[0], node->operands[1]);
  return node;
}

/// Whether an operation repeats what it is made of.
static bool repeats(Operation *op) {
  auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
  return broadcast &&
         cast<RankedTensorType>(broadcast.getOperand().getType())
                 .getNumElements() <
             cast<RankedTensorType>(broadcast.getType()).getNumElements();
}

/// Whether a reshape takes away that a row of an array is one of many, as loops
/// read what they are over: the row is what the model means.
static bool isRow(Operation *op) {
  return isa<stablehlo::ReshapeOp>(op) &&
         op->getOperand(0).getDefiningOp<stablehlo::DynamicSliceOp>();
}

/// The inner part of a product or quotient with a number that belongs to the
/// scale or, beside the scores, with what they make of each row, as a sum of
/// powers is; null without one.
Node *NodeBuilder::peelFactor(Value value, ArrayRef<Axes> wanted,
                              Anchor &anchor, unsigned index) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<stablehlo::MulOp, stablehlo::DivOp>(op) ||
      anchor.roles[index] == Role::Value)
    return nullptr;
  auto isOfScores = [&](Value side) {
    const Node *node = build(side, wanted);
    return node && node->scored;
  };
  auto isFactor = [&](Value side) {
    return isUniform(side) ||
           (anchor.roles[index] == Role::Factor &&
            side.getDefiningOp<stablehlo::BroadcastInDimOp>() &&
            isOfScores(side));
  };
  unsigned inner = 0;
  if (!isFactor(op->getOperand(1))) {
    if (isa<stablehlo::DivOp>(op) || !isFactor(op->getOperand(0)))
      return why.reset(), nullptr;
    inner = 1;
  }
  anchor.chains[index].links.clear();
  Node *node = create(value, wanted);
  node->random = true;
  node->operands = {peel(op->getOperand(inner), wanted, anchor, index),
                    build(op->getOperand(1 - inner), wanted)};
  if (!node->operands[0] || !node->operands[1])
    return nullptr;
  node->scored = node->operands[0]->scored || node->operands[1]->scored;
  if (inner == 1)
    std::swap(node->operands[0], node->operands[1]);
  return node;
}

Node *NodeBuilder::peel(Value value, ArrayRef<Axes> wanted, Anchor &anchor,
                        unsigned index) {
  Operation *op = value.getDefiningOp();
  SourceChain &chain = anchor.chains[index];
  Role role = anchor.roles[index];
  chain.links.push_back({value, Labels(wanted)});
  // A source may be taken in any form of it, so that one with many is cut off.
  bool isLong = nodes.size() + chain.links.size() > maxNodes;
  if (!isLong && !stops.contains(value) && !wholes.contains(value))
    if (Node *scaled = peelFactor(value, wanted, anchor, index); scaled || why)
      return scaled;
  bool follow = op && !isLong && !isRow(op) && !stops.contains(value) &&
                !(anchor.keepsAxes[index] && repeats(op)) &&
                (isLayout(op) || isa<sdy::ShardingConstraintOp>(op) ||
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
  if (!inner)
    return anchor.leaves[index] = createLeaf(value, wanted, role);
  Node *source = peel(op->getOperand(0), *inner, anchor, index);
  if (!source)
    return nullptr;
  Node *node = create(value, wanted);
  node->random = true;
  node->scored = source->scored;
  node->operands.push_back(source);
  return node;
}
