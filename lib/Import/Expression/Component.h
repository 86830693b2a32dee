#ifndef SP_LIB_IMPORT_COMPONENT_H
#define SP_LIB_IMPORT_COMPONENT_H

#include "Expression/Node.h"
#include "sp/StableHLO/Operations.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mlir::sp {

/// Why something was not taken, and what stopped it.
struct Refusal {
  std::string reason;
  Location location;
};

/// What may stand for an operand of a contraction: the chain of layout
/// operations and widening conversions from the operand itself (first) to its
/// root (last), each with the axes of its dimensions.
struct SourceChain {
  struct Link {
    mlir::Value value;
    Labels labels;
  };
  SmallVector<Link, 4> links;
};

/// Which values a component may depend on besides the three operands: none, or
/// any that do not depend on the scores, as leaves of their own (Role::Data).
enum class Inputs { Operands, Any };

/// A contraction whose axes all requests of a component are unified with. Of
/// its operands some are leaves, the others are made of what the component
/// computes.
struct Anchor {
  Operation *op;
  /// Of each operand: the role of the leaf that it is, or none.
  Role roles[2];
  /// Axes of the operands and of the result.
  Labels labels[3];
  Axes bound;
  /// Leaves that have all these axes, whatever they were broadcast from.
  bool keepsAxes[2] = {};
  // Of the last request:
  Node *node = nullptr;
  Node *leaves[2] = {};
  SourceChain chains[2];
};

/// The expression between contractions: scores = left x right, and the product
/// of something made of the scores with a value operand; for gradients there
/// are more. Everything is asked for from the result back (see AxisLabels).
class Component {
public:
  Component(Operation *scores, Operation *product, unsigned valueOperand,
            Inputs inputs);

  /// One more contraction of pairs with a leaf, or of two leaves to pairs. A
  /// constant factor of a leaf is no part of it.
  void addProduct(Operation *product, unsigned leafOperand);
  void addPairs(Operation *pairs);
  /// Gives a leaf all the axes that its contraction reads, also where it is a
  /// number or a row that was broadcast, and forgets nodes.
  void keepAxes(Operation *contraction, unsigned leafOperand);
  /// The anchor of a contraction, or null.
  const Anchor *anchor(Operation *op) const;
  /// Makes a value a leaf wherever it is met.
  void stopAt(mlir::Value root) { stops.insert(root); }
  /// Leaves an operand of contractions its factors.
  void keepWhole(mlir::Value root) { wholes.insert(root); }

  /// The node of `value` over axes of its own, or null (see `refusal`).
  Node *request(mlir::Value value);

  /// Forgets nodes but keeps what is known of axes, so that the next request
  /// gives a graph in which equal values are one node.
  void restart();

  /// What is known of axes; `restore` also restarts.
  struct Snapshot {
    AxisLabels labels;
    size_t reductions, requests;
  };
  Snapshot save() const { return {labels, reductions.size(), requests.size()}; }
  void restore(const Snapshot &snapshot);

  const std::optional<Refusal> &refusal() const { return why; }
  /// Every node of the last request.
  ArrayRef<std::unique_ptr<Node>> all() const { return nodes; }
  Node *productNode() const { return anchors[1].node; }
  Node *scoresNode() const { return anchors[0].node; }
  /// The product's operand that is made of the scores.
  Node *weights() const {
    return productNode()->operands[1 - operandOf(Role::Value)];
  }

  /// The chain of an operand of the scores, or of the value operand.
  const SourceChain &chain(Role role) const {
    return anchors[role == Role::Value].chains[operandOf(role)];
  }
  Node *leaf(Role role) const {
    return anchors[role == Role::Value].leaves[operandOf(role)];
  }

  AxisLabels labels;

private:
  Node *build(mlir::Value value, ArrayRef<Axes> wanted);
  Node *buildKnown(mlir::Value value, ArrayRef<Axes> wanted);
  Node *buildData(mlir::Value value, ArrayRef<Axes> wanted);
  bool dependsOnScores(mlir::Value value) const;
  using Key = std::pair<void *, std::vector<AxisId>>;
  Key keyOf(mlir::Value value, ArrayRef<Axes> wanted) const;
  unsigned operandOf(Role role) const {
    return role == Role::Value ? anchors[1].roles[1] == role
                               : role == Role::Right;
  }
  Anchor makeAnchor(Operation *op, Role left, Role right);
  Node *createLeaf(mlir::Value value, ArrayRef<Axes> wanted, Role role);
  Node *peelFactor(mlir::Value value, ArrayRef<Axes> wanted, Anchor &anchor,
                   unsigned index);
  Node *buildAnchor(Anchor &anchor, ArrayRef<Axes> wanted);
  Node *buildReduce(Node *node);
  Node *buildConcatenate(Node *node);
  Node *buildPad(Node *node);
  Node *buildFreeProduct(Node *node);
  Node *buildLookup(Node *node);
  Node *buildLayout(Node *node);
  Node *peel(mlir::Value value, ArrayRef<Axes> wanted, Anchor &anchor,
             unsigned index);
  Node *operand(Node *node, unsigned index, ArrayRef<Axes> wanted);
  Node *create(mlir::Value value, ArrayRef<Axes> wanted);
  Node *refuse(Location loc, const Twine &reason);

  /// The scores, the product, and what was added.
  std::vector<Anchor> anchors;
  Inputs inputs;
  /// With any inputs, the operations that depend on the scores.
  llvm::SmallPtrSet<Operation *, 32> scoredOps;
  std::vector<std::unique_ptr<Node>> nodes;
  std::map<Key, Node *> known;
  llvm::SmallPtrSet<mlir::Value, 2> stops;
  llvm::SmallPtrSet<mlir::Value, 4> wholes;
  /// Numbers of leaves: equal for one value over the same axes.
  std::map<Key, unsigned> leafNumbers;
  /// What reductions sum over, kept across restarts.
  struct Reduction {
    mlir::Value value;
    Labels labels;
    Labels inner;
  };
  std::vector<Reduction> reductions;
  /// Axes of what was asked for, kept across restarts: what is met before a
  /// contraction is then over the same axes as what is met behind it.
  std::vector<SourceChain::Link> requests;
  std::optional<Refusal> why;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_COMPONENT_H
