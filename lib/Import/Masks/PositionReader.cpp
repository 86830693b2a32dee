//===- PositionReader.cpp - Comparisons of positions below the weights ----===//

#include "Masks/MaskAnalysis.h"

#include "sp/StableHLO/StableHLO.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

/// Elements of all that a table is made of.
static constexpr int64_t maxMaking = 16 * maxTable;

double LinearForm::coefficient(AxisId axis) const {
  for (const auto &[known, factor] : terms)
    if (known == axis)
      return factor;
  return 0;
}

void LinearForm::add(const LinearForm &other, double factor) {
  constant += factor * other.constant;
  for (const auto &[axis, slope] : other.terms) {
    auto known = llvm::find_if(
        terms, [axis = axis](const auto &term) { return term.first == axis; });
    if (known == terms.end())
      terms.push_back({axis, factor * slope});
    else
      known->second += factor * slope;
  }
  llvm::erase_if(terms, [](const auto &term) { return term.second == 0; });
}

/// Whether the type holds every value of the form exactly.
bool PositionReader::holds(const LinearForm &form, Type type) const {
  double low = form.constant, high = form.constant;
  for (const auto &[axis, slope] : form.terms) {
    double last = slope * double(labels.size(axis) - 1);
    (last < 0 ? low : high) += last;
  }
  if (auto real = dyn_cast<FloatType>(type))
    return std::max(-low, high) <= std::ldexp(1.0, real.getFPMantissaWidth());
  if (!type.isInteger() || type.isInteger(1))
    return false;
  unsigned width = type.getIntOrFloatBitWidth();
  if (type.isUnsignedInteger())
    return low >= 0 && high < std::ldexp(1.0, width);
  return low >= -std::ldexp(1.0, width - 1) &&
         high < std::ldexp(1.0, width - 1);
}

std::optional<LinearForm> PositionReader::linear(const Node *node) {
  auto known = forms.find(node);
  if (known != forms.end())
    return known->second;
  std::optional<LinearForm> form = linearOperation(node);
  if (form && !holds(*form, node->elementType()))
    form = std::nullopt;
  if (!form)
    form = linearTable(node);
  return forms[node] = form;
}

std::optional<LinearForm> PositionReader::linearAxes(ArrayRef<AxisId> dim) {
  LinearForm form;
  for (AxisId axis : labels.resolve(dim)) {
    LinearForm own;
    int64_t size = labels.size(axis);
    if (const AxisLabels::Derivation *derived = labels.derivation(axis)) {
      std::optional<LinearForm> base = linearAxes(derived->base);
      if (!base)
        return std::nullopt;
      own.constant = derived->start;
      own.add(*base, derived->stride);
      double low = own.constant, high = own.constant;
      for (const auto &[inner, slope] : own.terms) {
        double last = slope * double(labels.size(inner) - 1);
        (last < 0 ? low : high) += last;
      }
      // Held inside the size, which is not linear.
      if (low < 0 || high >= double(size))
        return std::nullopt;
    } else if (size > 1) {
      own.terms.push_back({axis, 1.0});
    }
    LinearForm wider;
    wider.add(form, double(size));
    wider.add(own, 1.0);
    form = wider;
  }
  return form;
}

std::optional<LinearForm> PositionReader::linearOperation(const Node *node) {
  Operation *op = node->op;
  if (node->scored || node->role != Role::None)
    return std::nullopt;
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
    return linearAxes(node->labels[iota.getIotaDimension()]);
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    if (!isUniform(node->value))
      return std::nullopt;
    SampleEvaluator evaluator(labels, 0);
    const Samples *number = evaluator.evaluate(node);
    if (!number || !std::isfinite(number->data[0]))
      return std::nullopt;
    return LinearForm{{}, number->data[0]};
  }
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp>(op)) {
    std::optional<LinearForm> a = linear(node->operands[0]);
    std::optional<LinearForm> b = linear(node->operands[1]);
    if (!a || !b)
      return std::nullopt;
    LinearForm sum;
    if (!isa<stablehlo::MulOp>(op)) {
      sum.add(*a, 1.0);
      sum.add(*b, isa<stablehlo::AddOp>(op) ? 1.0 : -1.0);
      return sum;
    }
    if (!a->terms.empty() && !b->terms.empty())
      return std::nullopt;
    const LinearForm &varying = a->terms.empty() ? *b : *a;
    sum.add(varying, a->terms.empty() ? a->constant : b->constant);
    return sum;
  }
  if (isa<stablehlo::NegOp>(op)) {
    std::optional<LinearForm> a = linear(node->operands[0]);
    if (!a)
      return std::nullopt;
    LinearForm negated;
    negated.add(*a, -1.0);
    return negated;
  }
  bool moves = isRearrangement(op) ||
               (isIdentity(op) && !isa<stablehlo::ReducePrecisionOp>(op));
  if (auto convert = dyn_cast<stablehlo::ConvertOp>(op)) {
    Type source = node->operands[0]->elementType();
    bool truncates =
        isa<FloatType>(source) && !isa<FloatType>(node->elementType());
    moves = !truncates;
  }
  return moves ? linear(node->operands[0]) : std::nullopt;
}

size_t mlir::sp::countTable(const Node *node) {
  SmallVector<const Node *> open = {node};
  llvm::SmallPtrSet<const Node *, 16> seen = {node};
  while (!open.empty()) {
    const Node *next = open.pop_back_val();
    if (next->scored || next->role != Role::None || !next->bound.empty())
      return 0;
    for (const Node *operand : next->operands)
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
  return seen.size();
}

std::optional<LinearForm> PositionReader::linearTable(const Node *node) {
  Axes over = axesOver(labels, node);
  if (over.size() > 1 || node->elementType().isInteger(1) ||
      countTable(node) == 0)
    return std::nullopt;
  SampleEvaluator evaluator(labels, 0);
  if (!over.empty()) {
    if (labels.derivation(over[0]) || labels.size(over[0]) > maxTable)
      return std::nullopt;
    std::vector<int64_t> all(labels.size(over[0]));
    for (auto [i, position] : llvm::enumerate(all))
      position = i;
    evaluator.positions.set(over[0], std::move(all));
  }
  const Samples *table = evaluator.evaluate(node);
  if (!table || !std::isfinite(table->data[0]))
    return std::nullopt;
  LinearForm form{{}, table->data[0]};
  if (table->data.size() == 1)
    return form;
  double slope = table->data[1] - table->data[0];
  for (auto [i, value] : llvm::enumerate(table->data))
    if (value != table->data[0] + slope * double(i))
      return std::nullopt;
  if (slope != 0)
    form.terms.push_back({over[0], slope});
  return form;
}

/// Takes a node that is made of positions and constants only, and small enough
/// to be looked at whole.
bool PositionReader::addTable(const Node *node) {
  Axes over = axesOver(labels, node);
  int64_t size = 1;
  for (AxisId axis : over) {
    if (labels.derivation(axis))
      return false;
    size *= labels.size(axis);
    if (size > maxTable)
      return false;
  }
  size_t nodes = countTable(node);
  if (nodes == 0 || int64_t(nodes) * size > maxMaking)
    return false;
  comparisons.push_back({node, over, std::nullopt});
  return true;
}

/// Takes a comparison of two tables of positions of at most one axis each.
bool PositionReader::addSteps(const Node *node) {
  Axes over;
  for (const Node *operand : node->operands) {
    // What is broadcast runs over what it is made of.
    const Node *narrow = narrowest(operand);
    Axes axes = axesOver(labels, narrow);
    if (axes.size() > 1 || countTable(narrow) == 0)
      return false;
    for (AxisId axis : axes)
      if (labels.derivation(axis))
        return false;
    llvm::append_range(over, axes);
  }
  comparisons.push_back({node, over, std::nullopt, /*isSteps=*/true});
  return true;
}

/// Whether the node is arithmetic on truths, as a mask of floats is: what
/// decides it are the comparisons below it.
bool PositionReader::isOfTruths(const Node *node) {
  auto [entry, isNew] = ofTruths.try_emplace(node, false);
  if (!isNew || node->scored || node->role != Role::None ||
      !node->bound.empty() || isa<stablehlo::IotaOp>(node->op))
    return entry->second;
  bool result = node->elementType().isInteger(1) || isUniform(node->value);
  if (!result && !node->operands.empty())
    result = llvm::all_of(node->operands, [&](const Node *operand) {
      return isOfTruths(operand);
    });
  return ofTruths[node] = result;
}

LogicalResult PositionReader::visit(const Node *node) {
  auto [entry, added] = visited.try_emplace(node, true);
  if (!added || node->role != Role::None)
    return success();
  bool table =
      isa<stablehlo::IotaOp>(node->op) ||
      (isa<stablehlo::ConstantOp>(node->op) && !isUniform(node->value));
  if (table && !axesOver(labels, node).empty()) {
    if (isa<stablehlo::ConstantOp>(node->op) && addTable(node))
      return success();
    if (inputs == Inputs::Any)
      return success();
    refusal = {isa<stablehlo::IotaOp>(node->op)
                   ? "its weights depend on positions in another way than "
                     "by linear comparisons"
                   : "its weights depend on a table of constants",
               node->value.getLoc()};
    return failure();
  }
  if (isa<stablehlo::CompareOp>(node->op) && !node->scored) {
    std::optional<LinearForm> a = linear(node->operands[0]);
    std::optional<LinearForm> b = linear(node->operands[1]);
    if (a && b) {
      LinearForm difference = *a;
      difference.add(*b, -1.0);
      Axes over;
      for (const auto &[axis, slope] : difference.terms)
        over.push_back(axis);
      comparisons.push_back({node, over, difference});
      return success();
    }
    bool isInner = llvm::all_of(node->operands, [&](const Node *operand) {
      return isOfTruths(operand);
    });
    if (!isInner && (addSteps(node) || addTable(node)))
      return success();
  }
  for (const Node *operand : node->operands)
    if (failed(visit(operand)))
      return failure();
  return success();
}

LogicalResult PositionReader::read(const Node *weights) {
  return visit(weights);
}
