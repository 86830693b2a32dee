/// How samples of a node change with another's.
#ifndef SP_LIB_IMPORT_SAMPLETANGENTS_H
#define SP_LIB_IMPORT_SAMPLETANGENTS_H

#include "Samples/SampleEvaluator.h"

namespace mlir::sp {

/// Derivatives of what an evaluator gives.
class SampleTangents {
public:
  explicit SampleTangents(SampleEvaluator &evaluator) : evaluator(evaluator) {}

  /// A node that stays as it is whatever a tangent is by.
  void hold(const Node *node) { held.insert(node); }
  /// The derivative of every sample where those of `by` grow alike. Null if
  /// something in the node has none that is known.
  const Samples *of(const Node *node, const Node *by);

private:
  bool compute(const Node *node, const Node *by, Samples &result);
  bool computeElementwise(const Node *node, const Node *by, Samples &result);
  bool computeOrdered(const Node *node, const Node *by, Samples &result);

  SampleEvaluator &evaluator;
  llvm::SmallPtrSet<const Node *, 4> held;
  llvm::DenseMap<std::pair<const Node *, const Node *>,
                 std::unique_ptr<Samples>>
      tangents;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SAMPLETANGENTS_H
