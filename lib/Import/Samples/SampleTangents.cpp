//===- SampleTangents.cpp - How samples of a node change with another's ---===//
//
// Forward mode, an operation at a time: sums that lose a summand to another, as
// scores beside the fill of a mask, keep its derivative, which differences of
// whole expressions do not.
//
//===----------------------------------------------------------------------===//

#include "Samples/SampleTangents.h"

#include "Samples/SampleOperations.h"
#include "Samples/SampleOrder.h"

#include "sp/StableHLO/ScalarForms.h"

using namespace mlir;
using namespace mlir::sp;

/// Central differences of one, two and four steps, extrapolated to none.
static double difference(const ElementFunction &function,
                         ArrayRef<double> operands, ArrayRef<double> tangents) {
  constexpr double step = 1.0 / 128;
  auto along = [&](double by) {
    SmallVector<double, 3> moved(operands);
    for (auto [operand, tangent] : llvm::zip_equal(moved, tangents))
      operand += by * tangent;
    return function(moved);
  };
  double differences[3];
  for (auto [i, difference] : llvm::enumerate(differences)) {
    double by = step * double(1 << i);
    difference = (along(by) - along(-by)) / (2 * by);
  }
  return (64 * differences[0] - 20 * differences[1] + differences[2]) / 45;
}

/// The derivative of an operation's element where operands change so.
static double elementTangent(Operation *op, const ElementFunction &function,
                             ArrayRef<double> a, ArrayRef<double> t) {
  if (llvm::all_of(t, [](double tangent) { return tangent == 0; }))
    return 0;
  if (isa<stablehlo::ConvertOp>(op))
    return t[0];
  if (isa<stablehlo::SelectOp>(op))
    return a[0] != 0 ? t[1] : t[2];
  const stablehlo::ScalarForm *form = stablehlo::scalarFormOf(op);
  if (!form || !form->derivative)
    return difference(function, a, t);
  stablehlo::ScalarArithmetic arithmetic;
  SmallVector<stablehlo::ScalarTerm, 3> operands(a.begin(), a.end());
  double sum = 0, result = function(a);
  for (auto [number, tangent] : llvm::enumerate(t))
    if (tangent != 0)
      sum += form->derivative(
                     {arithmetic, operands, result, unsigned(number), tangent})
                 .number;
  return sum;
}

/// Operations whose derivative follows from what they give, so that this may
/// be any number: y (1 - y) and 1 - y^2.
static bool isSaturating(Operation *op) {
  return isa_and_nonnull<stablehlo::LogisticOp, stablehlo::TanhOp>(op);
}

/// Whether a node is made of another.
static bool isMadeOf(const Node *node, const Node *of,
                     DenseMap<const Node *, bool> &known) {
  auto [entry, isNew] = known.try_emplace(node, node == of);
  if (!isNew)
    return entry->second;
  bool isMade = node == of;
  for (const Node *operand : node->operands)
    isMade = isMadeOf(operand, of, known) || isMade;
  return known[node] = isMade;
}

const Samples *SampleTangents::of(const Node *node, const Node *by) {
  auto known = tangents.find({node, by});
  if (known != tangents.end())
    return known->second.get();
  const Samples *value = evaluator.evaluate(node);
  auto result = value ? std::make_unique<Samples>(*value) : nullptr;
  if (result && !compute(node, by, *result))
    result = nullptr;
  return (tangents[{node, by}] = std::move(result)).get();
}

bool SampleTangents::compute(const Node *node, const Node *by,
                             Samples &result) {
  Readings *readings = evaluator.readings.get();
  bool isAny = readings && readings->of(node) == Reading::Any;
  bool isGiven = evaluator.forced.count(node) || held.contains(node) ||
                 node->role != Role::None ||
                 (isAny && !isSaturating(node->op)) ||
                 !isa<FloatType>(node->elementType());
  DenseMap<const Node *, bool> made;
  if (node == by || isGiven || !isMadeOf(node, by, made)) {
    llvm::fill(result.data, node == by ? 1.0 : 0.0);
    return true;
  }
  auto operand = [&](const Node *each) { return of(each, by); };
  Operation *op = node->op;
  if (isElementwise(op))
    return computeElementwise(node, by, result);
  if (isa<stablehlo::ReduceOp>(op) && evaluator.dropRows && node->scored) {
    llvm::fill(result.data, 0.0);
    return true;
  }
  if (isa<stablehlo::ReduceOp, stablehlo::GatherOp>(op) || isContraction(op))
    return false;
  if (isa<stablehlo::ConcatenateOp, stablehlo::PadOp>(op))
    return joinSamples(evaluator.positions, node, operand, result);
  return moveSamples(node, operand, result);
}

bool SampleTangents::computeElementwise(const Node *node, const Node *by,
                                        Samples &result) {
  if (evaluator.isDroppedRow(node)) {
    llvm::fill(result.data, 0.0);
    return true;
  }
  if (evaluator.dropRows && evaluator.readings &&
      evaluator.readings->isShifted(node)) {
    const Samples *own = of(node->operands[0], by);
    if (own)
      result.data = own->data;
    return own != nullptr;
  }
  if (isOrdering(node->op))
    return computeOrdered(node, by, result);
  if (isSaturating(node->op)) {
    const Samples *own = evaluator.evaluate(node),
                  *change = of(node->operands[0], by);
    if (!own || !change)
      return false;
    const stablehlo::ScalarForm *form = stablehlo::scalarFormOf(node->op);
    stablehlo::ScalarArithmetic arithmetic;
    for (auto [element, y, t] :
         llvm::zip_equal(result.data, own->data, change->data))
      element = form->derivative({arithmetic, {}, y, 0, t}).number;
    return true;
  }
  ElementFunction function = sampledFunction(node->op);
  SmallVector<std::pair<const Samples *, const Samples *>, 3> operands;
  for (const Node *operand : node->operands) {
    operands.push_back({evaluator.evaluate(operand), of(operand, by)});
    if (!operands.back().first || !operands.back().second)
      return false;
  }
  SmallVector<double, 3> values(operands.size()), changes(operands.size());
  for (auto [i, element] : llvm::enumerate(result.data)) {
    for (auto [number, operand] : llvm::enumerate(operands)) {
      size_t at = operand.first->data.size() == 1 ? 0 : i;
      values[number] = operand.first->data[at];
      changes[number] = operand.second->data[at];
    }
    element = elementTangent(node->op, function, values, changes);
  }
  return true;
}

bool SampleTangents::computeOrdered(const Node *node, const Node *by,
                                    Samples &result) {
  SmallVector<const Samples *, 3> operands, changes;
  if (!evaluator.operandsOf(node, operands))
    return false;
  for (const Node *operand : node->operands) {
    changes.push_back(of(operand, by));
    if (!changes.back())
      return false;
  }
  chooseTangents(evaluator, node, operands, changes, result);
  return true;
}
