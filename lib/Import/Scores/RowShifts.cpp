//===- RowShifts.cpp - What values of rows may do to weights --------------===//
//
//   exp(%s - %max) / sum(exp(%s - %max))      whatever the maximum is, it
//                                             cancels
//   exp(%s - %m1) * exp(%m1 - %max)           likewise, by steps
//   %weights * (1 + exp(%max - 400))          it does not, though equal on many
//                                             samples
//
// A value of a row, but for sums of powers, is a variable r. Each node is
// exp(sum of c_i r_i) times what no such variable is in, or the logarithm of
// such, and the c_i are what is counted here. What adds up terms of different
// c_i, or is more than a power of exp(r), tells one maximum from another.
//
//===----------------------------------------------------------------------===//

#include "Scores/WeightStructure.h"

#include "Samples/Readings.h"

#include "sp/StableHLO/StableHLO.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::sp;

namespace {

class RowShifts {
public:
  RowShifts(const Component &component, AxisId keys)
      : component(component), readings(component, keys, {}) {}

  /// What keeps a node from being the same for all values of rows; null without
  /// such. A power that is divided by its sum later is as its exponent is.
  const Node *find(const Node *node, const Node *power);

private:
  /// Factors of variables, and of the data that these are multiplied with.
  using Shifts = std::map<std::pair<unsigned, unsigned>, double>;
  using Maybe = std::optional<Shifts>;

  Maybe of(const Node *node, bool isExponent);
  Maybe ofPower(const Node *node);
  Maybe ofExponent(const Node *node);
  Maybe ofTerms(ArrayRef<Node *> operands, bool isExponent);
  Maybe ofFactor(const Node *node, const Node *operand, const Node *factor);
  Maybe sum(const Node *a, const Node *b, bool isExponent, double sign);
  bool isMade(const Node *node) const {
    return node->scored && node->op && node->role == Role::None &&
           node != component.scoresNode() && !node->hasTruths();
  }
  bool isExtreme(const Node *node) const {
    return reducesBy<stablehlo::MaxOp, stablehlo::MinOp>(node->op);
  }
  bool isSum(const Node *node);
  Shifts variable(const Node *node) {
    return {{{readings.identity(node), 0}, 1}};
  }

  const Component &component;
  Readings readings;
  std::map<std::pair<const Node *, bool>, Maybe> known;
  DenseMap<const Node *, bool> sums;
  const Node *odd = nullptr;
};

} // namespace

const Node *RowShifts::find(const Node *node, const Node *power) {
  Maybe shifts = of(node, false);
  if (!shifts)
    return odd;
  if (shifts->empty() || (power && shifts == of(power, false)))
    return nullptr;
  return node;
}

RowShifts::Maybe RowShifts::of(const Node *of, bool isExponent) {
  const Node *node = readings.source(of);
  if (!isMade(node))
    return Shifts();
  auto [entry, isNew] = known.try_emplace({node, isExponent}, Shifts());
  if (!isNew)
    return entry->second;
  Maybe shifts = isExponent ? ofExponent(node) : ofPower(node);
  if (!shifts && !odd)
    odd = node;
  for (auto each = shifts ? shifts->begin() : Shifts::iterator();
       shifts && each != shifts->end();)
    each = each->second == 0 ? shifts->erase(each) : std::next(each);
  return known[{node, isExponent}] = shifts;
}

RowShifts::Maybe RowShifts::sum(const Node *a, const Node *b, bool isExponent,
                                double sign) {
  Maybe left = of(a, isExponent), right = of(b, isExponent);
  if (!left || !right)
    return std::nullopt;
  for (auto [variable, factor] : *right)
    (*left)[variable] += sign * factor;
  return left;
}

/// Whether a value of a row is a sum over it, guarded or not.
bool RowShifts::isSum(const Node *of) {
  const Node *node = readings.source(of);
  auto [entry, isNew] = sums.try_emplace(node, false);
  if (!isNew || !isMade(node) ||
      isa<stablehlo::ExpOp, stablehlo::LogOp>(node->op))
    return entry->second;
  bool result = reducesBy<stablehlo::AddOp>(node->op) ||
                llvm::any_of(node->operands, [&](const Node *operand) {
                  return isSum(operand);
                });
  return sums[node] = result;
}

/// Terms of a sum, or what is chosen from.
RowShifts::Maybe RowShifts::ofTerms(ArrayRef<Node *> operands,
                                    bool isExponent) {
  Maybe common;
  bool hasSum = llvm::any_of(
      operands, [&](const Node *operand) { return isSum(operand); });
  for (const Node *operand : operands) {
    std::optional<double> number = readings.number(operand);
    // Fills and guards. Of a number beside a sum the sink's rules hold.
    if (number && (isExponent || hasSum || !(std::fabs(*number) > 0)))
      continue;
    Maybe shifts = of(operand, isExponent);
    if (!shifts || (common && *common != *shifts))
      return std::nullopt;
    common = shifts;
  }
  return common ? common : Shifts();
}

RowShifts::Maybe RowShifts::ofPower(const Node *node) {
  Operation *op = node->op;
  ArrayRef<Node *> operands = node->operands;
  if (isExtreme(node))
    return std::nullopt;
  if (isa<stablehlo::ExpOp>(op))
    return of(operands[0], true);
  if (isa<stablehlo::MulOp>(op) || isContraction(op))
    return sum(operands[0], operands[1], false, 1);
  if (isa<stablehlo::DivOp>(op))
    return sum(operands[0], operands[1], false, -1);
  // The logarithm of a whole row's sum is no variable.
  bool isLogarithm =
      isa<stablehlo::LogOp, stablehlo::AddOp, stablehlo::SubtractOp>(op) &&
      readings.isOfRow(node) && !isSum(node);
  if (isLogarithm)
    if (Maybe shifts = of(node, true); shifts && shifts->empty())
      return shifts;
  if (isa<stablehlo::SelectOp>(op))
    return ofTerms(operands.drop_front(), false);
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MaxOp,
          stablehlo::MinOp, stablehlo::ConcatenateOp, stablehlo::PadOp>(op))
    return ofTerms(operands, false);
  if (isMove(op) || isIdentity(op) ||
      isa<stablehlo::NegOp, stablehlo::AbsOp, stablehlo::ConvertOp,
          stablehlo::ReduceOp>(op))
    return of(operands[0], false);
  bool isFree = llvm::all_of(operands, [&](const Node *operand) {
    Maybe shifts = of(operand, false);
    return shifts && shifts->empty();
  });
  return isFree ? Maybe(Shifts()) : std::nullopt;
}

/// An exponent, or a shift, times or over a factor.
RowShifts::Maybe RowShifts::ofFactor(const Node *node, const Node *operand,
                                     const Node *factor) {
  bool divides = isa<stablehlo::DivOp>(node->op);
  Maybe shifts = of(operand, true), others = of(factor, true);
  bool isOfRow = factor->scored && readings.isOfRow(factor);
  if (!shifts || !others || !others->empty() || isOfRow)
    return std::nullopt;
  Shifts scaled;
  std::optional<double> number = readings.number(factor);
  for (auto [variable, each] : *shifts)
    if (number)
      scaled[variable] = divides ? each / *number : each * *number;
    else if (!factor->scored && variable.second == 0)
      scaled[{variable.first, 2 * readings.identity(factor) + 1 + divides}] =
          each;
    else
      return std::nullopt;
  return scaled;
}

RowShifts::Maybe RowShifts::ofExponent(const Node *node) {
  Operation *op = node->op;
  ArrayRef<Node *> operands = node->operands;
  bool isOfRow = readings.isOfRow(node);
  if (isa<stablehlo::AddOp>(op))
    return sum(operands[0], operands[1], true, 1);
  if (isa<stablehlo::SubtractOp>(op))
    return sum(operands[0], operands[1], true, -1);
  if (isa<stablehlo::LogOp>(op) && isOfRow)
    return of(operands[0], false);
  if (isMove(op) || isIdentity(op) || isa<stablehlo::ConvertOp>(op))
    return of(operands[0], true);
  if (isa<stablehlo::NegOp>(op)) {
    Maybe shifts = of(operands[0], true);
    if (shifts)
      for (auto &each : *shifts)
        each.second = -each.second;
    return shifts;
  }
  if (isOfRow)
    return variable(node);
  if (isa<stablehlo::ReduceOp>(op))
    return std::nullopt;
  if (isa<stablehlo::MulOp, stablehlo::DivOp>(op)) {
    bool isRight = operands[0]->scored && !readings.isOfRow(operands[0]);
    return isRight || isa<stablehlo::DivOp>(op)
               ? ofFactor(node, operands[0], operands[1])
               : ofFactor(node, operands[1], operands[0]);
  }
  if (isa<stablehlo::SelectOp>(op))
    return ofTerms(operands.drop_front(), true);
  if (isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::ConcatenateOp,
          stablehlo::PadOp>(op))
    return ofTerms(operands, true);
  bool isFree = llvm::all_of(operands, [&](const Node *operand) {
    Maybe shifts = of(operand, true);
    return shifts && shifts->empty();
  });
  return isFree ? Maybe(Shifts()) : std::nullopt;
}

const Node *mlir::sp::findUnbalanced(const Component &component, AxisId keys,
                                     const Node *node, const Node *power) {
  return RowShifts(component, keys).find(node, power);
}
