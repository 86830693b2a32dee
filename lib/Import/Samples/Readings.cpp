//===- Readings.cpp - What samples may decide of a node -------------------===//

#include "Samples/Readings.h"
#include "Samples/SampleEvaluator.h"

#include "sp/StableHLO/ScalarForms.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

static bool
isAnalytic(Operation *op,
           stablehlo::Analytic where = stablehlo::Analytic::Everywhere) {
  const stablehlo::ScalarForm *form = stablehlo::scalarFormOf(op);
  return form && form->analytic == where;
}

static bool isLogical(Operation *op) {
  return isa<stablehlo::AndOp, stablehlo::OrOp, stablehlo::XorOp,
             stablehlo::NotOp>(op);
}

/// Whether a reduction is over single elements, each of which it leaves.
static bool isOfSingles(const AxisLabels &labels, const Node *node) {
  return reducesBy<stablehlo::AddOp, stablehlo::MaxOp, stablehlo::MinOp>(
             node->op) &&
         llvm::all_of(labels.resolve(node->bound),
                      [&](AxisId axis) { return labels.size(axis) == 1; });
}

Readings::Readings(const Component &component, AxisId keys,
                   llvm::SmallPtrSet<const Node *, 8> settled,
                   ArrayRef<const Node *> opened)
    : labels(component.labels), keys(keys), settled(std::move(settled)),
      opened(opened.begin(), opened.end()) {
  for (Role role : {Role::Left, Role::Right, Role::Value})
    if (const Node *leaf = component.leaf(role))
      if (auto type = dyn_cast<FloatType>(leaf->elementType()))
        operandTypes.push_back(type);
}

bool Readings::keepsPrecision(Type type) const {
  auto real = dyn_cast<FloatType>(type);
  // Softmax in f32 is how libraries compute it, of f64 too.
  if (!real || real.isF32())
    return bool(real);
  return llvm::any_of(operandTypes, [&](FloatType operand) {
    const llvm::fltSemantics &own = real.getFloatSemantics(),
                             &other = operand.getFloatSemantics();
    return real.getFPMantissaWidth() >= operand.getFPMantissaWidth() &&
           llvm::APFloat::semanticsMaxExponent(own) >=
               llvm::APFloat::semanticsMaxExponent(other);
  });
}

bool Readings::rounds(const Node *node) const {
  auto real = dyn_cast<FloatType>(node->elementType());
  // Mantissas have a bit that is not stored.
  unsigned mantissa = real ? real.getFPMantissaWidth() - 1 : 0;
  if (auto reduce = dyn_cast<stablehlo::ReducePrecisionOp>(node->op))
    return reduce.getMantissaBits() < mantissa ||
           reduce.getExponentBits() < real.getWidth() - mantissa - 1;
  return real && narrows(node->op) && !keepsPrecision(real) &&
         isa<FloatType>(node->operands[0]->elementType());
}

/// Whether a node or one that it is made of is such.
static bool hasBelow(const Node *node, DenseMap<const Node *, bool> &found,
                     llvm::function_ref<bool(const Node *)> is) {
  auto [entry, isNew] = found.try_emplace(node, false);
  if (!isNew)
    return entry->second;
  bool has = is(node);
  for (const Node *operand : node->operands)
    has = hasBelow(operand, found, is) || has;
  return found[node] = has;
}

/// Whether all that is asked of a sum of truths is whether it is 0.
static bool isCounted(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(user))
      return isCounted(user->getResult(0));
    auto compare = dyn_cast<stablehlo::CompareOp>(user);
    if (!compare)
      return false;
    Value other =
        compare.getLhs() == value ? compare.getRhs() : compare.getLhs();
    if (auto broadcast = other.getDefiningOp<stablehlo::BroadcastInDimOp>())
      other = broadcast.getOperand();
    auto constant = other.getDefiningOp<stablehlo::ConstantOp>();
    if (!constant)
      return false;
    Attribute zero =
        Builder(user->getContext())
            .getZeroAttr(cast<ShapedType>(constant.getType()).getElementType());
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    return splat && splat.getSplatValue<Attribute>() == zero;
  });
}

/// Whether a node has no more values than the truths that it is made of.
bool Readings::isOfTruths(const Node *node) {
  auto [entry, isNew] = ofTruths.try_emplace(node, false);
  if (!isNew)
    return entry->second;
  bool result = node->hasTruths() || settled.contains(node) || number(node);
  if (!result && node->op && node->role == Role::None && !node->scored &&
      !node->random && !node->operands.empty()) {
    bool keeps =
        isElementwise(node->op) || isMove(node->op) ||
        reducesBy<stablehlo::MaxOp, stablehlo::MinOp>(node->op) ||
        (reducesBy<stablehlo::AddOp>(node->op) && isCounted(node->value));
    result = keeps && llvm::all_of(node->operands, [&](const Node *operand) {
               return isOfTruths(operand);
             });
  }
  return ofTruths[node] = result;
}

/// Whether a node is a truth as a number, or bits of such.
bool Readings::isBit(const Node *node) {
  auto [entry, isNew] = bits.try_emplace(node, false);
  if (!isNew || node->role != Role::None || !node->op || node->operands.empty())
    return entry->second;
  Operation *op = node->op;
  bool isTruth =
      isa<stablehlo::ConvertOp>(op) && node->operands[0]->hasTruths();
  bool keeps = isMove(op) ||
               isa<stablehlo::AndOp, stablehlo::OrOp, stablehlo::MulOp>(op);
  bool result = isTruth || (keeps && llvm::all_of(node->operands,
                                                  [&](const Node *operand) {
                                                    return isBit(operand);
                                                  }));
  return bits[node] = result;
}

/// Whether a node joins bits and integers of data, of which 0 and the last bit
/// decide whether it is 0.
bool Readings::isFlags(const Node *node) {
  while (node->role == Role::None && node->op && node->operands.size() == 1 &&
         isMove(node->op))
    node = node->operands[0];
  return node->role == Role::None && !node->scored &&
         isa<IntegerType>(node->elementType()) && !node->hasTruths() &&
         isa_and_nonnull<stablehlo::AndOp, stablehlo::MulOp>(node->op) &&
         (isBit(node->operands[0]) || isBit(node->operands[1]));
}

Reading Readings::of(const Node *node) {
  auto found = readings.find(node);
  if (found != readings.end())
    return found->second;
  Reading reading = Reading::Computed;
  if (node->role != Role::None)
    reading = Reading::Computed; // drawn as what it is
  else if (settled.contains(node))
    reading = Reading::Exact;
  else if (opened.contains(node))
    reading = Reading::Any;
  else
    reading = node->scored || node->random ? ofScored(node) : ofInput(node);
  return readings[node] = reading;
}

Reading Readings::ofScored(const Node *node) {
  Operation *op = node->op;
  if (isMove(op) || isOfSingles(labels, node) || isAnalytic(op) ||
      isContraction(op))
    return Reading::Computed;
  if (isLogical(op) && node->hasTruths())
    return Reading::Computed;
  if (isa<stablehlo::SelectOp>(op))
    return Reading::Computed;
  if (isAnalytic(op, stablehlo::Analytic::OfPositive)) {
    // Whole powers are products.
    std::optional<double> power =
        isa<stablehlo::PowOp>(op) ? number(node->operands[1]) : std::nullopt;
    bool isProduct = power && *power == std::trunc(*power);
    return isProduct || isNonNegative(node->operands[0]) ? Reading::Computed
                                                         : Reading::Any;
  }
  // A row's maximum is infinite where the row is empty.
  if (isa<stablehlo::IsFiniteOp>(op) && !runsOverKeys(node))
    return Reading::Computed;
  if (isOrdering(op))
    return isa<FloatType>(node->operands.back()->elementType())
               ? Reading::Ordered
               : Reading::Any;
  if (isa<stablehlo::ConvertOp>(op)) {
    Type from = node->operands[0]->elementType(), to = node->elementType();
    bool isExact = isa<FloatType>(to) &&
                   (from.isInteger(1) || widens(op) || keepsPrecision(to));
    return isExact ? Reading::Computed : Reading::Any;
  }
  if (isa<stablehlo::ReduceOp>(op)) {
    bool isSum =
        reducesBy<stablehlo::AddOp>(op) && isa<FloatType>(node->elementType());
    bool isOfTruths =
        node->hasTruths() && reducesBy<stablehlo::AndOp, stablehlo::OrOp>(op);
    if (isSum || isOfTruths)
      return Reading::Computed;
    bool isExtreme = reducesBy<stablehlo::MaxOp, stablehlo::MinOp>(op);
    return isExtreme && isa<FloatType>(node->elementType()) ? Reading::Shifted
                                                            : Reading::Any;
  }
  return Reading::Any;
}

/// What does not depend on scores is a variable where it meets what does, but
/// for what decides which pairs are visible.
Reading Readings::ofInput(const Node *node) {
  Operation *op = node->op;
  bool isOfKnown = !node->operands.empty() &&
                   llvm::all_of(node->operands, [&](const Node *operand) {
                     return isOfTruths(operand);
                   });
  if (number(node))
    return Reading::Computed;
  if (node->hasTruths()) {
    bool combines = isLogical(op) || isMove(op) ||
                    isa<stablehlo::SelectOp>(op) ||
                    reducesBy<stablehlo::AndOp, stablehlo::OrOp>(op);
    bool asksFlags =
        isa<stablehlo::CompareOp>(op) &&
        ((isFlags(node->operands[0]) && number(node->operands[1]) == 0.0) ||
         (isFlags(node->operands[1]) && number(node->operands[0]) == 0.0));
    asksFlags |= isa<stablehlo::ConvertOp>(op) && isFlags(node->operands[0]);
    return combines || isOfKnown || asksFlags ? Reading::Computed
                                              : Reading::Any;
  }
  if (isOfTruths(node) || isFlags(node))
    return Reading::Computed;
  // What something is differentiated by is followed as scores are.
  auto isOpened = [&](const Node *below) { return opened.contains(below); };
  if (hasBelow(node, ofOpened, isOpened))
    return ofScored(node);
  auto decides = [&](const Node *below) {
    return settled.contains(below) || below->hasTruths();
  };
  if (isMove(op) || isOfSingles(labels, node))
    return Reading::Computed;
  bool follows =
      isAnalytic(op) || isa<stablehlo::SelectOp, stablehlo::ConvertOp>(op);
  return follows && hasBelow(node, decided, decides) ? Reading::Computed
                                                     : Reading::Any;
}

std::optional<double> Readings::number(const Node *node) {
  if (node->scored || node->random || !node->elementType().isIntOrFloat())
    return std::nullopt;
  auto [entry, isNew] = numbers.try_emplace(node, std::nullopt);
  if (!isNew || !isUniform(node->value))
    return entry->second;
  SampleEvaluator evaluator(labels, 0);
  if (const Samples *samples = evaluator.evaluate(node))
    entry->second = samples->data[0];
  return entry->second;
}

const Node *Readings::source(const Node *node) const {
  auto isPassed = [&](Operation *op) {
    if (isa<stablehlo::ConvertOp>(op))
      return isa<FloatType>(node->elementType()) &&
             isa<FloatType>(node->operands[0]->elementType()) &&
             (widens(op) || keepsPrecision(node->elementType()));
    return isLayout(op) || isOfSingles(labels, node) ||
           (isIdentity(op) && !isa<stablehlo::ReducePrecisionOp>(op));
  };
  while (node->role == Role::None && node->op && !node->operands.empty() &&
         !opened.contains(node) && isPassed(node->op))
    node = node->operands[0];
  return node;
}

unsigned Readings::identity(const Node *of) {
  const Node *node = source(of);
  auto found = identities.find(node);
  if (found != identities.end())
    return found->second;
  std::vector<uint64_t> key;
  auto add = [&](const void *pointer) { key.push_back(uintptr_t(pointer)); };
  if (std::optional<double> uniform = number(node))
    return identities[node] = identity(*uniform);
  if (node->role != Role::None || !node->op || opened.contains(node)) {
    key = {1, uint64_t(node->role), node->number};
  } else {
    add(node->op->getName().getAsOpaquePointer());
    add(node->op->getAttrDictionary().getAsOpaquePointer());
    add(node->elementType().getAsOpaquePointer());
    Operation *combiner = combinerOf(node->op);
    add(combiner ? combiner->getName().getAsOpaquePointer() : nullptr);
    auto addAxes = [&](const Axes &axes) {
      key.push_back(axes.size());
      key.insert(key.end(), axes.begin(), axes.end());
    };
    addAxes(labels.resolve(flatten(node->labels)));
    addAxes(labels.resolve(node->bound));
    for (const Node *operand : node->operands)
      key.push_back(identity(operand));
  }
  return identities[node] = numberOf(std::move(key));
}

unsigned Readings::identity(double number) {
  // Zeros are equal.
  return numberOf({0, llvm::bit_cast<uint64_t>(number + 0.0)});
}

unsigned Readings::numberOf(std::vector<uint64_t> key) {
  return numbersOfKeys.try_emplace(std::move(key), numbersOfKeys.size())
      .first->second;
}

bool Readings::isOfValues(const Node *node) {
  return hasBelow(node, ofValues, [](const Node *below) {
    return below->role == Role::Value || below->role == Role::Factor;
  });
}

bool Readings::isOfRow(const Node *of) {
  const Node *node = source(of);
  if (!runsOverKeys(node))
    return true;
  auto [entry, isNew] = ofRow.try_emplace(node, false);
  if (!isNew || !node->op || node->role != Role::None ||
      node->operands.empty() || !isElementwise(node->op))
    return entry->second;
  bool result = llvm::all_of(
      node->operands, [&](const Node *operand) { return isOfRow(operand); });
  return ofRow[node] = result;
}

bool Readings::isShifted(const Node *node) {
  return isa_and_nonnull<stablehlo::SubtractOp>(node->op) &&
         runsOverKeys(node) && node->operands[1]->scored &&
         isOfRow(node->operands[1]) && keepsRange(node->operands[1]);
}

bool Readings::isOfPairs(const Node *of, const Node *power) {
  auto isReplaced = [&](const Node *node) {
    return node == power ||
           (node->scored && (!runsOverKeys(node) ||
                             isa_and_nonnull<stablehlo::ReduceOp>(node->op)));
  };
  DenseMap<const Node *, bool> found;
  SmallVector<const Node *> open = {of};
  llvm::SmallPtrSet<const Node *, 16> seen;
  while (!open.empty()) {
    const Node *node = open.pop_back_val();
    if (!node->scored || isReplaced(node) || !seen.insert(node).second)
      continue;
    Reading reading = this->of(node);
    if ((reading == Reading::Any || reading == Reading::Ordered) &&
        hasBelow(node, found, isReplaced))
      return false;
    llvm::append_range(open, node->operands);
  }
  return true;
}

/// Whether a node is the greater of a row's value and a fill.
static bool isGuardOfMaximum(Readings &readings, const Node *node) {
  return isa<stablehlo::MaxOp>(node->op) &&
         llvm::any_of(node->operands, [&](const Node *operand) {
           std::optional<double> number = readings.number(operand);
           return number && *number <= largestFill;
         });
}

const Node *
Readings::findAny(const Node *of,
                  llvm::function_ref<bool(const Node *)> isLeftOut) {
  SmallVector<const Node *> open = {of};
  llvm::SmallPtrSet<const Node *, 16> seen;
  const Node *widest = nullptr;
  auto count = [](const Node *node) { return llvm::product_of(node->shape()); };
  for (size_t i = 0; i < open.size(); ++i) {
    const Node *node = open[i];
    if (!node->scored || !seen.insert(node).second ||
        (isLeftOut && isLeftOut(node)))
      continue;
    Reading reading = this->of(node);
    if ((reading == Reading::Any || reading == Reading::Ordered) &&
        !isGuardOfMaximum(*this, node) &&
        (!widest || count(node) > count(widest)))
      widest = node;
    llvm::append_range(open, node->operands);
  }
  return widest;
}
