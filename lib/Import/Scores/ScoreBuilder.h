#ifndef SP_LIB_IMPORT_SCOREBUILDER_H
#define SP_LIB_IMPORT_SCOREBUILDER_H

#include "Scores/ScoreFunction.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// A value of the function, or a number known here.
struct Element {
  Value value;
  double number = 0;

  bool isNumber() const { return !value; }
};

/// Builds the function of single pairs that a component's exponents are, node
/// by node from the exponent down.
class ScoreBuilder {
public:
  ScoreBuilder(const AttentionMatch &match, Type element)
      : match(match), component(*match.component), labels(component.labels),
        readings(component, match.axes.key, {}), element(element),
        builder(match.product->getContext()),
        location(match.product->getLoc()) {}

  std::optional<ScoreFunction> build();

private:
  using MaybeElement = std::optional<Element>;

  /// Nothing where the node has no form pair by pair.
  MaybeElement emit(const Node *node);
  MaybeElement emitScored(const Node *node);
  MaybeElement emitReduction(const Node *node);
  MaybeElement emitInput(const Node *node);
  MaybeElement emitOperation(const Node *node);
  MaybeElement emitElementwise(const Node *node);
  MaybeElement emitJoin(const Node *node);
  MaybeElement emitLookup(const Node *node);
  std::optional<Element> fold(const Node *node, ArrayRef<Element> operands);
  MaybeElement emitIndex(ArrayRef<AxisId> dim);
  MaybeElement emitAxis(AxisId axis);
  Element batchIndex(AxisId axis);
  MaybeElement addTerm(const Node *node, ScoreTerm::Kind kind);
  Value addArgument(ScoreTerm term, Type type);

  bool readsData(const Node *node);
  Type typeOf(const Node *node) const;
  RankedTensorType scalar(Type type) const {
    return RankedTensorType::get({}, type);
  }
  Value materialise(const Element &from, Type type);
  Value number(Type type, double value);
  template <typename OpT> Element binary(Element a, Element b);
  Element clampTo(Element index, int64_t size);
  Element select(Value condition, Element a, Element b, Type type);
  func::FuncOp finish(ModuleOp module, ArrayRef<Value> results);

  const AttentionMatch &match;
  const Component &component;
  const AxisLabels &labels;
  Readings readings;
  Type element;
  OpBuilder builder;
  Location location;
  std::unique_ptr<Block> block = std::make_unique<Block>();
  Value score, head, query, key;
  SmallVector<std::pair<ScoreTerm, Value>> terms;
  DenseMap<const Node *, Element> made;
  DenseMap<AxisId, Element> sequences; ///< numbers along axes of the batch
  DenseMap<const Node *, bool> dataful;
  /// What the exponential is taken for while weights are built.
  const Node *one = nullptr;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SCOREBUILDER_H
