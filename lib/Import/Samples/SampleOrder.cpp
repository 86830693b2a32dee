//===- SampleOrder.cpp - Orders that samples do not decide ----------------===//

#include "Samples/SampleOrder.h"

#include "sp/StableHLO/ElementFunctions.h"
#include "sp/StableHLO/StableHLO.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

Projection::Projection(const SamplePositions &positions, const Node *from,
                       ArrayRef<AxisId> to) {
  DenseMap<AxisId, int64_t> strideOf;
  int64_t stride = 1;
  for (AxisId axis : llvm::reverse(to)) {
    strideOf[axis] = stride;
    stride *= positions.count(axis);
  }
  Axes own = positions.labels.resolve(flatten(from->labels));
  for (AxisId axis : llvm::reverse(own))
    strides.push_back({positions.count(axis), strideOf.lookup(axis)});
}

int64_t Projection::at(size_t element) const {
  int64_t rest = int64_t(element), offset = 0;
  for (auto [count, stride] : strides) {
    offset += rest % count * stride;
    rest /= count;
  }
  return offset;
}

/// The axes of some nodes, in an order of their own.
static Axes axesOf(const AxisLabels &labels, ArrayRef<const Node *> nodes) {
  Axes axes;
  for (const Node *node : nodes)
    for (AxisId axis : labels.resolve(flatten(node->labels)))
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
  llvm::sort(axes);
  return axes;
}

ElementDraw::ElementDraw(const SamplePositions &positions, const Node *at,
                         ArrayRef<const Node *> of, uint64_t identity,
                         uint64_t seed)
    : projection(positions, at, axesOf(positions.labels, of)),
      seed(mixBits(mixBits(seed) + identity)) {}

uint64_t mlir::sp::mixBits(uint64_t bits) {
  bits += 0x9E3779B97F4A7C15;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

uint64_t ElementDraw::bits(size_t element) const {
  return mixBits(seed + uint64_t(projection.at(element)));
}

double ElementDraw::number(size_t element) const {
  uint64_t drawn = bits(element);
  double size = 0.25 + 1.5 * std::ldexp(double(drawn >> 12), -52);
  return drawn & 1 ? size : -size;
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

SampleOrder::SampleOrder(SampleEvaluator &evaluator, const Node *at, Side a,
                         Side b)
    : evaluator(evaluator), at(at) {
  if (evaluator.readings && !evaluator.isRow(at) &&
      evaluator.readings->of(at) == Reading::Ordered)
    read(a, b);
}

void SampleOrder::read(Side a, Side b) {
  if (readOneSide(a, b))
    return;
  isFlipped = true;
  if (readOneSide(b, a))
    return;
  isFlipped = false;
  Readings &readings = *evaluator.readings;
  auto identityOf = [&](const Side &side) {
    return side.node ? readings.identity(side.node)
                     : readings.identity(side.number);
  };
  uint64_t first = identityOf(a), second = identityOf(b);
  if (first == second)
    return;
  isFlipped = first > second;
  kind = Kind::Drawn;
  isBounded = !readings.isOfValues(at);
  drawFor(a, b);
}

/// Draws what is the same wherever the two are ordered.
void SampleOrder::drawFor(Side a, Side b) {
  Readings &readings = *evaluator.readings;
  SmallVector<const Node *, 2> nodes;
  SmallVector<uint64_t, 2> identities;
  for (const Side &side : {a, b}) {
    if (side.node)
      nodes.push_back(readings.source(side.node));
    identities.push_back(side.node ? readings.identity(side.node)
                                   : readings.identity(side.number));
  }
  llvm::sort(identities);
  draw.emplace(evaluator.positions, at, nodes,
               (identities[0] << 32) + identities[1] + 1,
               /*seed=*/0);
}

/// The reduction to the greatest or least of the values `of` that a node is, or
/// that it may choose; null without one.
static const Node *extremeIn(Readings &readings, const Node *node, uint64_t of,
                             bool isLeast) {
  node = readings.source(node);
  if (!node->op || node->role != Role::None)
    return nullptr;
  if (isLeast ? reducesBy<stablehlo::MinOp>(node->op)
              : reducesBy<stablehlo::MaxOp>(node->op))
    return readings.identity(node->operands[0]) == of ? node : nullptr;
  bool chooses = isLeast ? isa<stablehlo::MinOp>(node->op)
                         : isa<stablehlo::MaxOp>(node->op);
  for (const Node *operand : node->operands)
    if (chooses)
      if (const Node *found = extremeIn(readings, operand, of, isLeast))
        return found;
  return nullptr;
}

/// What follows from what one side is of the other.
bool SampleOrder::readOneSide(Side a, Side b) {
  Readings &readings = *evaluator.readings;
  if (!a.node)
    return false;
  std::optional<double> number =
      b.node ? readings.number(b.node) : std::optional(b.number);
  if (number && readings.isSumFromOne(a.node) && *number > 0 && *number <= 1) {
    kind = Kind::SumFromOne;
    // A row of one key, or of scores far apart, has a sum of 1.
    if (*number == 1)
      drawFor(a, b);
    return true;
  }
  if (number && *number == 0 && readings.isNonNegative(a.node)) {
    // Sums of rows are 0 where the row is empty.
    kind = readings.runsOverKeys(at) ? Kind::NotBelow : Kind::Numeric;
    draw.emplace(evaluator.positions, at, readings.source(a.node),
                 readings.identity(a.node), /*seed=*/0);
    return true;
  }
  if (!b.node)
    return false;
  const Node *other = readings.source(b.node);
  if (!other->op || other->role != Role::None)
    return false;
  uint64_t own = readings.identity(a.node);
  for (bool isLeast : {false, true}) {
    const Node *extreme = extremeIn(readings, other, own, isLeast);
    auto known = evaluator.extremes.find(extreme);
    if (known == evaluator.extremes.end())
      continue;
    kind = Kind::Extreme;
    sense = isLeast ? -1 : 1;
    extremes = known->second.get();
    shifted = evaluator.evaluate(extreme);
    row.emplace(evaluator.positions, at,
                evaluator.labels.resolve(flatten(extreme->labels)));
    return true;
  }
  if (!isa<stablehlo::MaxOp, stablehlo::MinOp>(other->op))
    return false;
  for (unsigned i : {0U, 1U}) {
    if (readings.identity(other->operands[i]) != own)
      continue;
    SampleOrder inner(evaluator, other, {other->operands[0]},
                      {other->operands[1]});
    kind = Kind::Choice;
    sense = isa<stablehlo::MaxOp>(other->op) ? 1 : -1;
    if (inner.kind == Kind::Drawn ||
        (inner.kind == Kind::SumFromOne && inner.draw))
      drawFor({other->operands[0]}, {other->operands[1]});
    return true;
  }
  return false;
}

int SampleOrder::drawn(size_t element) const {
  // Any six seeds in a row give an element every order.
  static constexpr int orders[] = {-1, 1, 0, 1, -1, 1};
  uint64_t bits = draw->bits(element), step = bits & 1 ? 1 : 5;
  return orders[((bits >> 1) % 6 + step * (evaluator.seed % 6)) % 6];
}

int SampleOrder::of(size_t element, double a, double b) const {
  if (isFlipped)
    std::swap(a, b);
  int numeric = a < b ? -1 : a > b ? 1 : 0;
  auto isBeyond = [&](double number) {
    return !(std::fabs(number) < (isBounded ? -largestFill : HUGE_VAL));
  };
  int order = numeric;
  switch (kind) {
  case Kind::Numeric:
    break;
  case Kind::SumFromOne:
    order = a == 0 ? -1 : draw && drawn(element) == 0 ? 0 : 1;
    break;
  case Kind::Extreme:
    order = a == extremes->data[row->at(element)] &&
                    b == shifted->data[row->at(element)]
                ? 0
                : -sense;
    break;
  case Kind::Choice:
    if (a == b || isBeyond(a) || isBeyond(b))
      break;
    order = draw && drawn(element) == 0 ? 0 : -sense;
    break;
  case Kind::NotBelow:
    if (!isBeyond(a) && a != 0)
      order = drawn(element) == 0 ? 0 : 1;
    break;
  case Kind::Drawn:
    if (!isBeyond(a) && !isBeyond(b))
      order = drawn(element);
    break;
  }
  return isFlipped ? -order : order;
}

//===----------------------------------------------------------------------===//
// Operations that choose
//===----------------------------------------------------------------------===//

static bool holds(stablehlo::ComparisonDirection direction, int order) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return order == 0;
  case stablehlo::ComparisonDirection::NE:
    return order != 0;
  case stablehlo::ComparisonDirection::GE:
    return order >= 0;
  case stablehlo::ComparisonDirection::GT:
    return order > 0;
  case stablehlo::ComparisonDirection::LE:
    return order <= 0;
  case stablehlo::ComparisonDirection::LT:
    return order < 0;
  }
  return false;
}

/// The orders that an operation chooses by: of its operands, of what is clamped
/// and each bound, or of the operand and 0.
static std::vector<SampleOrder> ordersOf(SampleEvaluator &evaluator,
                                         const Node *node) {
  std::vector<SampleOrder> orders;
  auto add = [&](SampleOrder::Side a, SampleOrder::Side b) {
    orders.emplace_back(evaluator, node, a, b);
  };
  ArrayRef<Node *> operands = node->operands;
  if (isa<stablehlo::ClampOp>(node->op)) {
    add({operands[1]}, {operands[0]});
    add({operands[1]}, {operands[2]});
  } else if (operands.size() == 1) {
    add({operands[0]}, {nullptr, 0.0});
  } else {
    add({operands[0]}, {operands[1]});
  }
  return orders;
}

void mlir::sp::choose(SampleEvaluator &evaluator, const Node *node,
                      ArrayRef<const Samples *> operands, Samples &result) {
  std::vector<SampleOrder> orders = ordersOf(evaluator, node);
  Operation *op = node->op;
  auto compare = dyn_cast<stablehlo::CompareOp>(op);
  ElementFunction function = elementFunction(op);
  for (auto [i, value] : llvm::enumerate(result.data)) {
    SmallVector<double, 3> a;
    for (const Samples *operand : operands)
      a.push_back(operand->data[operand->data.size() == 1 ? 0 : i]);
    if (llvm::any_of(a, [](double x) { return std::isnan(x); })) {
      value = function(a);
      continue;
    }
    if (isa<stablehlo::ClampOp>(op)) {
      value = orders[0].of(i, a[1], a[0]) < 0   ? a[0]
              : orders[1].of(i, a[1], a[2]) > 0 ? a[2]
                                                : a[1];
      continue;
    }
    int order = orders[0].of(i, a[0], a.size() > 1 ? a[1] : 0);
    if (compare)
      value = holds(compare.getComparisonDirection(), order);
    else if (isa<stablehlo::MaxOp>(op))
      value = a[order >= 0 ? 0 : 1];
    else if (isa<stablehlo::MinOp>(op))
      value = a[order <= 0 ? 0 : 1];
    else if (isa<stablehlo::AbsOp>(op))
      value = order < 0 ? -a[0] : a[0];
    else
      value = order;
  }
}

void mlir::sp::chooseTangents(SampleEvaluator &evaluator, const Node *node,
                              ArrayRef<const Samples *> operands,
                              ArrayRef<const Samples *> changes,
                              Samples &result) {
  std::vector<SampleOrder> orders = ordersOf(evaluator, node);
  Operation *op = node->op;
  for (auto [i, value] : llvm::enumerate(result.data)) {
    SmallVector<double, 3> a, t;
    for (auto [operand, change] : llvm::zip_equal(operands, changes)) {
      size_t at = operand->data.size() == 1 ? 0 : i;
      a.push_back(operand->data[at]);
      t.push_back(change->data[at]);
    }
    value = 0;
    if (isa<stablehlo::ClampOp>(op)) {
      int low = orders[0].of(i, a[1], a[0]), high = orders[1].of(i, a[1], a[2]);
      value = low < 0 ? t[0] : high > 0 ? t[2] : low > 0 && high < 0 ? t[1] : 0;
      continue;
    }
    int order = orders[0].of(i, a[0], a.size() > 1 ? a[1] : 0);
    if (isa<stablehlo::MaxOp, stablehlo::MinOp>(op)) {
      int sense = isa<stablehlo::MaxOp>(op) ? order : -order;
      value = sense == 0 ? (t[0] + t[1]) / 2 : t[sense > 0 ? 0 : 1];
    } else if (isa<stablehlo::AbsOp>(op)) {
      value = order * t[0];
    }
  }
}
