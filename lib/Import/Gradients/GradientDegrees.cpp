//===- GradientDegrees.cpp - What gradients are linear in -----------------===//
//
//   p * (dP - rowsum(p * dP))                  linear in dP, and in each weight
//   dS * (1 + e / (dS * dS + e))               not, though equal wherever dS is
//   p * (1 + e / (p + e))                      far from sqrt(e), or p from e
//
//===----------------------------------------------------------------------===//

#include "Gradients/GradientCheck.h"
#include "Samples/Readings.h"
#include "Scores/Score.h"
#include "Scores/WeightStructure.h"

#include "sp/StableHLO/StableHLO.h"

#include <set>

using namespace mlir;
using namespace mlir::sp;

namespace {

/// How many factors of a kind each term of a node has.
struct Degrees {
  unsigned cotangents = 0;
  unsigned weights = 0; ///< of the node's own pair
  unsigned scores = 0;  ///< likewise, or fewer
  /// Whether it is 0, or a row's value at the pairs that are its maximum, which
  /// may be added to anything.
  bool isChosen = false;
  unsigned values = 0; ///< values, and results of the forward
};

class GradientDegrees {
public:
  GradientDegrees(const AttentionMatch &match, const GradientParts &parts)
      : component(*match.component), key(match.axes.key), parts(parts),
        readings(component, match.axes.key, {}) {
    std::optional<Exponential> exponential =
        match.score ? findExponential(component, key) : std::nullopt;
    if (exponential)
      noteTerms(exponential->exponent(), Path::Added);
    if (parts.by)
      for (const Node *node : below(parts.by))
        if (auto found = terms.find(node->value);
            found != terms.end() && found->second == Path::Function)
          terms.erase(found);
    isScaled =
        !exponential || !findNonlinear(component, key, /*asFunction=*/false);
    if (isScaled)
      return;
    exponent = readings.identity(withoutRows(exponential->exponent()));
    for (const Node *node : below(exponential->exponent()))
      if (runsOverPairs(node)) {
        function.insert(readings.identity(node));
        mostScores += isCurved(node) ? 2 : 0;
      }
  }

  /// The operation that makes more than a gradient of its operands; null
  /// without one.
  const Node *find(const Node *node, Gradient kind) {
    std::optional<Degrees> degrees = of(node);
    if (!degrees)
      return odd;
    // Of a term's gradient the term may be a factor of scores.
    bool mayHaveScores = kind == Gradient::Term || !isScaled;
    return degrees->scores > 0 && !mayHaveScores ? node : nullptr;
  }

private:
  using Maybe = std::optional<Degrees>;
  /// How exponents read data: they add it, a function of it, or do more with
  /// it.
  enum class Path { Added, Function, Other };

  void noteTerms(const Node *node, Path path);
  bool readsTerms(const Node *node);

  Maybe of(const Node *node);
  Maybe ofOperation(const Node *node);
  Maybe ofProduct(const Node *node);
  Maybe ofSum(ArrayRef<Node *> operands);
  Maybe ofReduction(const Node *node);
  const Node *withoutRows(const Node *node);
  bool isPower(const Node *node);
  bool isCurved(const Node *node);
  bool isFunction(const Node *node);
  bool isOfFunction(const Node *node);
  bool isOfMaximum(const Node *node);
  bool isPlain(const Node *node) {
    Maybe degrees = of(node);
    return degrees &&
           degrees->cotangents + degrees->weights + degrees->values == 0;
  }
  bool runsOverPairs(const Node *node) {
    return node->scored && !readings.isOfRow(node);
  }

  const Component &component;
  AxisId key;
  GradientParts parts;
  Readings readings;
  unsigned exponent = 0;
  bool isScaled; ///< exponents are scores, scaled, masked and shifted
  /// How many factors of a term may be made of scores: few, so that powers of
  /// these which act where scores are 1e4 act on samples too.
  unsigned mostScores = 1;
  /// Elsewhere what exponents are made of, by identity, each of degree 1.
  DenseSet<unsigned> function;
  DenseMap<const Node *, Maybe> known;
  /// Of data, the path that says most. What exponents only add is no factor of
  /// a gradient, but of that by what functions are made of.
  DenseMap<Value, Path> terms;
  std::set<std::pair<const Node *, Path>> noted;
  DenseMap<const Node *, bool> readers; ///< of such
  const Node *odd = nullptr;
};

} // namespace

/// An exponent without what it adds and subtracts of rows.
const Node *GradientDegrees::withoutRows(const Node *node) {
  while (true) {
    node = readings.source(node);
    bool isShift =
        isa_and_nonnull<stablehlo::AddOp, stablehlo::SubtractOp>(node->op) &&
        node->role == Role::None && node->operands[0]->scored &&
        readings.isOfRow(node->operands[1]);
    if (!isShift)
      return node;
    node = node->operands[0];
  }
}

void GradientDegrees::noteTerms(const Node *node, Path path) {
  bool isValueOfRow = node->scored && readings.isOfRow(node);
  if (node == component.scoresNode() || node->hasTruths() || isValueOfRow ||
      readings.number(node) || !noted.insert({node, path}).second)
    return;
  if (!node->op || node->role != Role::None) {
    Path &most = terms.try_emplace(node->value, path).first->second;
    most = std::max(most, path);
    return;
  }
  Operation *op = node->op;
  ArrayRef<Node *> operands = node->operands;
  if (isa<stablehlo::SelectOp>(op))
    operands = operands.drop_front();
  bool adds = isMove(op) || isIdentity(op) || isAdditive(op);
  bool scales = isa<stablehlo::MulOp, stablehlo::DivOp>(op);
  for (const Node *operand : operands) {
    bool isWhole =
        adds ||
        (scales &&
         (operand->scored ||
          (!node->scored && llvm::any_of(operands, [&](const Node *other) {
            return readings.number(other).has_value();
          }))));
    noteTerms(operand, isWhole        ? path
                       : node->scored ? Path::Other
                                      : std::max(path, Path::Function));
  }
}

/// Whether a number is made of what exponents only add, not by truths alone.
bool GradientDegrees::readsTerms(const Node *node) {
  if (node->scored || node->hasTruths())
    return false;
  auto [entry, isNew] = readers.try_emplace(node, false);
  if (!isNew)
    return entry->second;
  auto found = terms.find(node->value);
  bool isTerm = found != terms.end() && found->second != Path::Other;
  bool reads = isTerm || llvm::any_of(node->operands, [&](const Node *operand) {
                 return readsTerms(operand);
               });
  return readers[node] = reads;
}

/// Whether an exponential is of the attention's exponents.
bool GradientDegrees::isPower(const Node *node) {
  return runsOverPairs(node) &&
         (isScaled ||
          readings.identity(withoutRows(node->operands[0])) == exponent);
}

/// Whether the derivative of a node of pairs by its operands is made of these.
bool GradientDegrees::isCurved(const Node *node) {
  if (!node->op || node->role != Role::None || !isElementwise(node->op))
    return false;
  if (isa<stablehlo::MulOp>(node->op))
    return runsOverPairs(node->operands[0]) && runsOverPairs(node->operands[1]);
  if (isa<stablehlo::DivOp>(node->op))
    return runsOverPairs(node->operands[1]);
  return !isAdditive(node->op) &&
         !isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::ClampOp,
              stablehlo::AbsOp, stablehlo::CompareOp>(node->op);
}

bool GradientDegrees::isFunction(const Node *node) {
  return !function.empty() && runsOverPairs(node) &&
         function.contains(readings.identity(node));
}

/// Whether an operation is on what exponents are made of, and no other number:
/// a derivative of one of these operations.
bool GradientDegrees::isOfFunction(const Node *node) {
  ArrayRef<Node *> operands = node->operands;
  if (isa<stablehlo::PowOp>(node->op))
    operands = operands.take_front();
  return !function.empty() && llvm::all_of(operands, [&](const Node *operand) {
    const Node *source = readings.source(operand);
    return isFunction(source) ||
           (isa_and_nonnull<stablehlo::AddOp, stablehlo::SubtractOp,
                            stablehlo::MulOp, stablehlo::NegOp>(source->op) &&
            source->role == Role::None && isOfFunction(source));
  });
}

/// Whether a node tells which pairs of a row are its maximum.
bool GradientDegrees::isOfMaximum(const Node *of) {
  const Node *node = readings.source(of);
  while (isa_and_nonnull<stablehlo::ConvertOp>(node->op))
    node = readings.source(node->operands[0]);
  auto compare = dyn_cast_or_null<stablehlo::CompareOp>(node->op);
  return compare && node->scored &&
         compare.getComparisonDirection() == stablehlo::ComparisonDirection::EQ;
}

GradientDegrees::Maybe GradientDegrees::of(const Node *node) {
  auto found = known.find(node);
  if (found != known.end())
    return found->second;
  Maybe degrees = ofOperation(node);
  if (!degrees && !odd)
    odd = node;
  if (degrees && !runsOverPairs(node))
    degrees->weights = 0;
  return known[node] = degrees;
}

GradientDegrees::Maybe GradientDegrees::ofOperation(const Node *node) {
  Operation *op = node->op;
  if (node->value == parts.cotangent && node->role != Role::None)
    return Degrees{1};
  if (node->role == Role::Value || (parts.values && node->role != Role::None &&
                                    node->value == parts.values->value &&
                                    node->labels == parts.values->labels))
    return Degrees{0, 0, 0, false, 1};
  if (std::optional<double> number = readings.number(node))
    return Degrees{0, 0, 0, *number == 0};
  if (node == component.scoresNode())
    return Degrees{0, 0, 1};
  if (!op || node->role != Role::None || node->operands.empty() ||
      node->hasTruths())
    return Degrees();
  if (isFunction(node))
    return Degrees{0, 0, 1};
  ArrayRef<Node *> operands = node->operands;
  if (isa<stablehlo::ExpOp>(op) && isPower(node))
    return isPlain(operands[0]) ? Maybe(Degrees{0, 1}) : std::nullopt;
  if (isa<stablehlo::MulOp, stablehlo::DivOp>(op) || isContraction(op))
    return ofProduct(node);
  if (isa<stablehlo::SelectOp>(op)) {
    Maybe degrees = ofSum(operands.drop_front());
    if (degrees && isOfMaximum(operands[0]))
      degrees->isChosen |=
          llvm::all_of(operands.drop_front(), [&](const Node *operand) {
            return readings.isOfRow(operand);
          });
    return degrees;
  }
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::ConcatenateOp,
          stablehlo::PadOp>(op))
    return ofSum(operands);
  if (isa<stablehlo::ReduceOp>(op))
    return ofReduction(node);
  if (isMove(op) || isIdentity(op) ||
      isa<stablehlo::NegOp, stablehlo::ConvertOp>(op)) {
    Maybe degrees = of(operands[0]);
    bool isKept = degrees && (isPlain(operands[0]) || !readings.rounds(node));
    return isKept ? degrees : std::nullopt;
  }
  // Extremes choose one of their operands.
  if (isa<stablehlo::MaxOp, stablehlo::MinOp>(op))
    return ofSum(operands);
  bool isFree = llvm::all_of(
      operands, [&](const Node *operand) { return isPlain(operand); });
  if (!isFree)
    return std::nullopt;
  bool ofScores =
      runsOverPairs(node) && llvm::any_of(operands, [&](const Node *operand) {
        return of(operand)->scores > 0;
      });
  if (ofScores && !isOfFunction(node))
    return std::nullopt;
  // The logarithm of a row's sum is as large as scores.
  bool isLogarithm = isa<stablehlo::LogOp>(op) && node->scored;
  return Degrees{0, 0, ofScores || isLogarithm};
}

GradientDegrees::Maybe GradientDegrees::ofProduct(const Node *node) {
  const Node *left = node->operands[0], *right = node->operands[1];
  Maybe a = of(left), b = of(right);
  if (!a || !b)
    return std::nullopt;
  for (auto [factor, other] : {std::pair(left, right), {right, left}})
    if (readsTerms(factor) && (other->scored || of(other)->cotangents > 0))
      return std::nullopt;
  bool ofScores = b->scores > 0 && runsOverPairs(right);
  if (isa<stablehlo::DivOp>(node->op) &&
      (b->cotangents + b->weights + b->values > 0 || (ofScores && isScaled)))
    return std::nullopt;
  Degrees product = {a->cotangents + b->cotangents, a->weights + b->weights,
                     a->scores + b->scores, a->isChosen || b->isChosen,
                     a->values + b->values};
  for (auto [factor, other] : {std::pair(left, right), {right, left}})
    product.isChosen |= isOfMaximum(factor) && readings.isOfRow(other);
  if (product.cotangents > 1 || product.weights > 1 || product.values > 1 ||
      product.scores > mostScores)
    return std::nullopt;
  return product;
}

GradientDegrees::Maybe GradientDegrees::ofSum(ArrayRef<Node *> operands) {
  Maybe sum;
  unsigned scores = 0;
  for (const Node *operand : operands) {
    Maybe degrees = of(operand);
    if (!degrees)
      return std::nullopt;
    scores = std::max(scores, degrees->scores);
    if (!sum || sum->isChosen) {
      sum = degrees;
      continue;
    }
    if (degrees->isChosen)
      continue;
    if (degrees->cotangents != sum->cotangents ||
        degrees->weights != sum->weights || degrees->values != sum->values)
      return std::nullopt;
  }
  sum->scores = scores;
  return sum;
}

GradientDegrees::Maybe GradientDegrees::ofReduction(const Node *node) {
  Maybe degrees = of(node->operands[0]);
  if (!degrees)
    return std::nullopt;
  bool isSum = reducesBy<stablehlo::AddOp>(node->op);
  return isSum || degrees->cotangents == 0 ? degrees : std::nullopt;
}

const Node *mlir::sp::findNonlinear(const AttentionMatch &match,
                                    const Node *node, Gradient kind,
                                    const GradientParts &parts) {
  if (const Node *odd = GradientDegrees(match, parts).find(node, kind))
    return odd;
  return findUnbalanced(*match.component, match.axes.key, node);
}
