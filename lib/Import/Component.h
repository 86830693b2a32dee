#ifndef SP_LIB_IMPORT_COMPONENT_H
#define SP_LIB_IMPORT_COMPONENT_H

#include "AxisLabels.h"
#include "Operations.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mlir::sp {

/// Where the values of a component come from that it does not compute.
enum class Role { None, Left, Right, Value, Data };

/// One value, asked for over given axes.
struct Node {
  mlir::Value value;
  /// Null for a leaf: a random tensor over its axes.
  Operation *op = nullptr;
  Role role = Role::None;
  Labels labels;
  SmallVector<Node *, 3> operands;
  /// Axes that a reduction or contraction sums over.
  Axes bound;
  /// Depends on the score contraction.
  bool scored = false;
  /// A leaf, or made of one.
  bool random = false;
  /// Counts the nodes of a request.
  unsigned number = 0;

  ArrayRef<int64_t> shape() const {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  Type elementType() const {
    return cast<RankedTensorType>(value.getType()).getElementType();
  }
};

/// What a node repeats by broadcasts only, or the node itself.
const Node *narrowest(const Node *node);

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

/// The expression between two contractions: scores = left x right, and the
/// product of something made of the scores with a value operand. Everything is
/// asked for from the result back (see AxisLabels); the two contractions are
/// the anchors whose axes all requests are unified with.
class Component {
public:
  Component(Operation *scores, Operation *product, unsigned valueOperand,
            Inputs inputs);

  /// The node of `value` over fresh axes, or null (see `refusal`).
  Node *request(mlir::Value value);

  /// Forgets nodes but keeps what is known of axes, so that the next request
  /// gives a graph in which equal values are one node.
  void restart();

  /// What is known of axes; `restore` also restarts.
  struct Snapshot {
    AxisLabels labels;
    size_t reductions;
  };
  Snapshot save() const { return {labels, reductions.size()}; }
  void restore(const Snapshot &snapshot);

  const std::optional<Refusal> &refusal() const { return why; }
  /// Every node of the last request.
  ArrayRef<std::unique_ptr<Node>> all() const { return nodes; }
  Node *productNode() const { return product; }
  Node *scoresNode() const { return scores; }
  /// The product's operand that is made of the scores.
  Node *weights() const { return product->operands[1 - valueOperand]; }

  /// The chain of operand `index` of the scores, or of the value operand.
  const SourceChain &chain(Role role) const;
  Node *leaf(Role role) const;

  AxisLabels labels;

private:
  Node *build(mlir::Value value, ArrayRef<Axes> wanted);
  Node *buildKnown(mlir::Value value, ArrayRef<Axes> wanted);
  Node *buildData(mlir::Value value, ArrayRef<Axes> wanted);
  bool dependsOnScores(mlir::Value value) const;
  using Key = std::pair<void *, std::vector<AxisId>>;
  Key keyOf(mlir::Value value, ArrayRef<Axes> wanted) const;
  Node *buildScores(ArrayRef<Axes> wanted);
  Node *buildProduct(ArrayRef<Axes> wanted);
  Node *buildReduce(Node *node);
  Node *buildConcatenate(Node *node);
  Node *buildPad(Node *node);
  Node *buildFreeProduct(Node *node);
  Node *buildLookup(Node *node);
  Node *buildLayout(Node *node);
  Node *peel(mlir::Value value, ArrayRef<Axes> wanted, Role role);
  Node *operand(Node *node, unsigned index, ArrayRef<Axes> wanted);
  Node *create(mlir::Value value, ArrayRef<Axes> wanted);
  Node *refuse(Location loc, const Twine &reason);

  Operation *scoresOp, *productOp;
  unsigned valueOperand;
  Inputs inputs;
  /// With any inputs, the operations that depend on the scores.
  llvm::SmallPtrSet<Operation *, 32> scoredOps;
  Labels scoresLabels[3], productLabels[3];
  Node *scores = nullptr, *product = nullptr;
  Axes scoresBound, productBound;
  SourceChain chains[3];
  Node *leaves[3] = {};
  std::vector<std::unique_ptr<Node>> nodes;
  std::map<Key, Node *> known;
  /// What reductions sum over, kept across restarts.
  struct Reduction {
    mlir::Value value;
    Labels labels;
    Labels inner;
  };
  std::vector<Reduction> reductions;
  std::optional<Refusal> why;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_COMPONENT_H
