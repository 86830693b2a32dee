/// Nodes from values, from results back.
#ifndef SP_LIB_IMPORT_NODEBUILDER_H
#define SP_LIB_IMPORT_NODEBUILDER_H

#include "Expression/Anchor.h"

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

/// Which values a component may depend on besides the three operands: none, or
/// any that do not depend on the scores, as leaves of their own (Role::Data).
enum class Inputs { Operands, Any };

/// Builds the nodes that values are made of, down to the leaves of anchors,
/// whose axes they are unified with. A value over the same axes is one node.
class NodeBuilder {
public:
  /// `anchors` may grow between calls; the first is that of `scores`.
  NodeBuilder(AxisLabels &labels, std::vector<Anchor> &anchors,
              Operation *scores, Inputs inputs);
  NodeBuilder(const NodeBuilder &) = delete;

  /// The node of `value` over the axes wanted, or null (see `refusal`).
  Node *build(mlir::Value value, ArrayRef<Axes> wanted);
  /// Makes a value a leaf wherever it is met.
  void stopAt(mlir::Value root) { stops.insert(root); }
  /// Leaves an operand of contractions its factors.
  void keepWhole(mlir::Value root) { wholes.insert(root); }

  /// Why there is no node, of the first value without one since nodes were
  /// forgotten.
  const std::optional<Refusal> &refusal() const { return why; }
  ArrayRef<std::unique_ptr<Node>> all() const { return nodes; }
  /// Forgets nodes but keeps what is known of axes, so that the next request
  /// gives a graph in which equal values are one node.
  void clear();
  /// What reductions sum over is kept; those from `number` on are forgotten.
  size_t countReductions() const { return reductions.size(); }
  void forgetReductions(size_t number) { reductions.resize(number); }

private:
  using Key = std::pair<void *, std::vector<AxisId>>;
  Node *buildKnown(mlir::Value value, ArrayRef<Axes> wanted);
  Node *buildData(mlir::Value value, ArrayRef<Axes> wanted);
  bool dependsOnScores(mlir::Value value) const;
  Node *buildAnchor(Anchor &anchor, ArrayRef<Axes> wanted);
  Node *peel(mlir::Value value, ArrayRef<Axes> wanted, Anchor &anchor,
             unsigned index);
  Node *peelFactor(mlir::Value value, ArrayRef<Axes> wanted, Anchor &anchor,
                   unsigned index);
  Node *buildReduce(Node *node);
  Node *buildConcatenate(Node *node);
  Node *buildPad(Node *node);
  Node *buildFreeProduct(Node *node);
  Node *buildLookup(Node *node);
  Node *buildLayout(Node *node);
  Node *operand(Node *node, unsigned index, ArrayRef<Axes> wanted);
  Node *create(mlir::Value value, ArrayRef<Axes> wanted);
  Node *createLeaf(mlir::Value value, ArrayRef<Axes> wanted, Role role);
  Node *refuse(Location loc, const Twine &reason);

  AxisLabels &labels;
  std::vector<Anchor> &anchors;
  Inputs inputs;
  /// With any inputs, the operations that depend on the scores.
  llvm::SmallPtrSet<Operation *, 32> scoredOps;
  std::vector<std::unique_ptr<Node>> nodes;
  std::map<Key, Node *> known;
  llvm::SmallPtrSet<mlir::Value, 2> stops;
  llvm::SmallPtrSet<mlir::Value, 4> wholes;
  /// Numbers of leaves: equal for one value over the same axes.
  std::map<Key, unsigned> leafNumbers;
  /// What reductions sum over, kept when nodes are forgotten.
  struct Reduction {
    mlir::Value value;
    Labels labels;
    Labels inner;
  };
  std::vector<Reduction> reductions;
  std::optional<Refusal> why;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_NODEBUILDER_H
