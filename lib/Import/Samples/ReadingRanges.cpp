//===- ReadingRanges.cpp - What is known of numbers without samples -------===//
//
//   exp(s - max(s))             in [0, 1], and 1 somewhere in each row
//   reduce add of these         0 in rows without keys, and from 1 on elsewhere
//
// which decides guards (`sum == 0`, `maximum(sum, 1e-9)`, `sum + 1e-9`).
//
//===----------------------------------------------------------------------===//

#include "Samples/Readings.h"

#include "sp/StableHLO/StableHLO.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

bool Readings::isNonNegative(const Node *node) {
  auto [entry, isNew] = nonNegative.try_emplace(node, false);
  if (!isNew)
    return entry->second;
  std::optional<double> uniform = number(node);
  bool result =
      uniform ? *uniform >= 0 : node->hasTruths() || makesNonNegative(node);
  return nonNegative[node] = result;
}

bool Readings::makesNonNegative(const Node *node) {
  Operation *op = node->op;
  ArrayRef<Node *> operands = node->operands;
  if (!op || node->role != Role::None || operands.empty())
    return false;
  auto all = [&](ArrayRef<Node *> numbers) {
    return llvm::all_of(
        numbers, [&](const Node *operand) { return isNonNegative(operand); });
  };
  if (isa<stablehlo::ExpOp>(op))
    return true;
  if (isa<stablehlo::AbsOp>(op))
    return of(node) == Reading::Any || all(operands);
  if (isa<stablehlo::MulOp>(op))
    return operands[0] == operands[1] || all(operands);
  if (isa<stablehlo::SelectOp>(op))
    return all(operands.drop_front());
  if (isa<stablehlo::ReduceOp>(op))
    return combinerOf(op) && of(node) == Reading::Computed && all(operands);
  return (isa<stablehlo::AddOp, stablehlo::DivOp, stablehlo::ConvertOp,
              stablehlo::SqrtOp>(op) ||
          isMove(op)) &&
         all(operands);
}

/// Whether a truth of a row tells infinity or a fill from scores.
static bool asksForFills(Readings &readings, const Node *of) {
  const Node *node = readings.source(of);
  if (!node->op || node->role != Role::None)
    return false;
  if (isa<stablehlo::IsFiniteOp>(node->op))
    return true;
  auto isFill = [&](const Node *operand) {
    std::optional<double> number = readings.number(operand);
    return number && std::fabs(*number) >= -largestFill;
  };
  if (isa<stablehlo::CompareOp>(node->op))
    return llvm::any_of(node->operands, isFill);
  return isa<stablehlo::AndOp, stablehlo::OrOp, stablehlo::NotOp>(node->op) &&
         llvm::all_of(node->operands, [&](const Node *operand) {
           return asksForFills(readings, operand);
         });
}

/// The row that a value is the maximum of, behind guards for rows without keys;
/// null if it is none.
static const Node *rowOfMaximum(Readings &readings, const Node *node) {
  for (node = readings.source(node); node->op && node->role == Role::None;
       node = readings.source(node)) {
    if (reducesBy<stablehlo::MaxOp>(node->op))
      return node;
    bool chooses = isa<stablehlo::SelectOp>(node->op) &&
                   asksForFills(readings, node->operands[0]),
         bounds = isa<stablehlo::MaxOp>(node->op);
    if (!chooses && !bounds)
      return nullptr;
    ArrayRef<Node *> branches = ArrayRef(node->operands).take_back(2);
    unsigned own = branches[0]->scored ? 0 : 1;
    std::optional<double> other = readings.number(branches[1 - own]);
    if (bounds && !(other && *other <= largestFill))
      return nullptr;
    node = branches[own];
  }
  return nullptr;
}

bool Readings::isSumFromOne(const Node *node) {
  node = source(node);
  if (!node->op || !reducesBy<stablehlo::AddOp>(node->op))
    return false;
  const Node *power = source(node->operands[0]);
  if (!isa_and_nonnull<stablehlo::ExpOp>(power->op))
    return false;
  const Node *difference = source(power->operands[0]);
  if (!isa_and_nonnull<stablehlo::SubtractOp>(difference->op))
    return false;
  const Node *maximum = rowOfMaximum(*this, difference->operands[1]);
  if (!maximum)
    return false;
  auto sorted = [&](const Node *reduce) {
    Axes axes = labels.resolve(reduce->bound);
    llvm::sort(axes);
    return axes;
  };
  return identity(maximum->operands[0]) == identity(difference->operands[0]) &&
         sorted(maximum) == sorted(node);
}

/// Whether powers of scores less a value stay numbers of f32, where the value
/// is what an operation makes of a row's maximum and a constant.
static bool isHarmless(Operation *op, double constant) {
  constexpr double farthest = 64;
  if (isa<stablehlo::MaxOp>(op))
    return constant <= farthest;
  if (isa<stablehlo::MinOp>(op))
    return constant >= -farthest;
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp>(op))
    return std::abs(constant) <= farthest;
  return !std::isnan(constant);
}

bool Readings::keepsRange(const Node *shift) {
  SmallVector<const Node *> open = {shift};
  llvm::SmallPtrSet<const Node *, 8> seen;
  while (!open.empty()) {
    const Node *node = source(open.pop_back_val());
    if (!seen.insert(node).second || !node->op || node->role != Role::None ||
        isa<stablehlo::ReduceOp>(node->op))
      continue;
    for (const Node *operand : node->operands) {
      if (operand->scored) {
        open.push_back(operand);
      } else if (!operand->hasTruths() && isMadeOfConstants(operand->value)) {
        std::optional<double> constant = number(operand);
        if (!constant || !isHarmless(node->op, *constant))
          return false;
      }
    }
  }
  return true;
}

const Node *mlir::sp::sumBesidePower(const AxisLabels &labels, const Node *node,
                                     AxisId keys) {
  auto isOverKeys = [&](const Node *other) {
    return runsOver(labels, other, keys);
  };
  if (!isa_and_nonnull<stablehlo::AddOp>(node->op) || !node->scored ||
      isOverKeys(node))
    return nullptr;
  for (unsigned i : {0U, 1U}) {
    const Node *sum = narrowest(node->operands[i]);
    while (isa_and_nonnull<stablehlo::ConvertOp>(sum->op))
      sum = narrowest(sum->operands[0]);
    if (!node->operands[1 - i]->scored && sum->scored &&
        reducesBy<stablehlo::AddOp>(sum->op) && isOverKeys(sum->operands[0]))
      return node->operands[i];
  }
  return nullptr;
}
