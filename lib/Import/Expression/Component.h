#ifndef SP_LIB_IMPORT_COMPONENT_H
#define SP_LIB_IMPORT_COMPONENT_H

#include "Expression/NodeBuilder.h"
#include "sp/StableHLO/Operations.h"

namespace mlir::sp {

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

  /// The node of `value` over axes of its own, or null (see `nodes.refusal`).
  Node *request(mlir::Value value);

  /// What is known of axes, and of which contractions; `restore` also forgets
  /// nodes.
  struct Snapshot {
    AxisLabels labels;
    size_t anchors, reductions, requests;
  };
  Snapshot save() const {
    return {labels, anchors.size(), nodes.countReductions(), requests.size()};
  }
  void restore(const Snapshot &snapshot);

  Node *productNode() const { return anchors[1].node; }
  Node *scoresNode() const { return anchors[0].node; }
  /// The product's operand that is made of the scores.
  Node *weights() const {
    return productNode()->operands[1 - anchors[1].operandOf(Role::Value)];
  }

  /// The chain of an operand of the scores, or of the value operand.
  const SourceChain &chain(Role role) const {
    const Anchor &of = anchors[role == Role::Value];
    return of.chains[of.operandOf(role)];
  }
  Node *leaf(Role role) const {
    const Anchor &of = anchors[role == Role::Value];
    return of.leaves[of.operandOf(role)];
  }

  AxisLabels labels;
  /// Every node of the last request.
  NodeBuilder nodes;

private:
  /// The scores, the product, and what was added.
  std::vector<Anchor> anchors;
  /// Axes of what was asked for, kept when nodes are forgotten: what is met
  /// before a contraction is then over the same axes as what is met behind it.
  std::vector<SourceChain::Link> requests;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_COMPONENT_H
