//===- ScoreElements.cpp - Operations of a score function -----------------===//

#include "Scores/ScoreBuilder.h"

#include "Samples/SampleOperations.h"

#include "sp/StableHLO/StableHLO.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

Type ScoreBuilder::typeOf(const Node *node) const {
  Type type = node->elementType();
  return node->scored && isa<FloatType>(type) ? element : type;
}

Value ScoreBuilder::number(Type type, double value) {
  Attribute attribute;
  if (auto real = dyn_cast<FloatType>(type)) {
    APFloat exact(value);
    bool isLost = false;
    exact.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &isLost);
    attribute = FloatAttr::get(real, exact);
  } else {
    attribute = IntegerAttr::get(
        type, APInt(type.getIntOrFloatBitWidth(), int64_t(value), true, true));
  }
  return stablehlo::ConstantOp::create(
      builder, location, DenseElementsAttr::get(scalar(type), attribute));
}

Value ScoreBuilder::materialise(const Element &from, Type type) {
  if (from.isNumber())
    return number(type, from.number);
  if (getElementTypeOrSelf(from.value) == type)
    return from.value;
  return stablehlo::ConvertOp::create(builder, location, scalar(type),
                                      from.value);
}

std::optional<Element> ScoreBuilder::fold(const Node *node,
                                          ArrayRef<Element> operands) {
  if (llvm::all_of(operands, [](const Element &e) { return e.isNumber(); })) {
    ElementFunction function = sampledFunction(node->op);
    if (!function)
      return std::nullopt;
    std::vector<double> result = {function(llvm::map_to_vector(
        operands, [](const Element &e) { return e.number; }))};
    if (!node->scored)
      roundTo(node->elementType(), result);
    return Element{Value(), result[0]};
  }
  auto isThe = [&](unsigned index, double number) {
    return operands[index].isNumber() && operands[index].number == number;
  };
  if (isa<stablehlo::SelectOp>(node->op) && operands[0].isNumber())
    return operands[0].number != 0 ? operands[1] : operands[2];
  bool isBool = node->elementType().isInteger(1);
  for (unsigned index : {0U, 1U}) {
    if (operands.size() != 2)
      break;
    Element other = operands[1 - index];
    if (isa<stablehlo::AndOp>(node->op) && isBool && isThe(index, 1))
      return other;
    if (isa<stablehlo::AndOp>(node->op) && isThe(index, 0))
      return operands[index];
    if (isa<stablehlo::OrOp>(node->op) && isThe(index, 0))
      return other;
    if (isa<stablehlo::OrOp>(node->op) && isBool && isThe(index, 1))
      return operands[index];
    if (isa<stablehlo::MulOp>(node->op) && !isBool && isThe(index, 1))
      return other;
    if (isa<stablehlo::AddOp>(node->op) && !isBool && isThe(index, 0))
      return other;
  }
  if (isa<stablehlo::DivOp>(node->op) && isThe(1, 1))
    return operands[0];
  if (isa<stablehlo::SubtractOp>(node->op) && isThe(1, 0))
    return operands[0];
  return std::nullopt;
}

/// Whether an operation on f16 or bf16 may have a result between two numbers of
/// the type, or beyond them.
static bool isRounded(const Node *node) {
  Type type = node->elementType();
  return (type.isF16() || type.isBF16()) &&
         !isa<stablehlo::AbsOp, stablehlo::CeilOp, stablehlo::ClampOp,
              stablehlo::ConvertOp, stablehlo::FloorOp, stablehlo::MaxOp,
              stablehlo::MinOp, stablehlo::NegOp, stablehlo::ReducePrecisionOp,
              stablehlo::RoundNearestEvenOp, stablehlo::RoundOp,
              stablehlo::SelectOp, stablehlo::SignOp>(node->op);
}

std::optional<Element> ScoreBuilder::emitElementwise(const Node *node) {
  SmallVector<Element> operands;
  for (const Node *operand : node->operands) {
    MaybeElement one = emit(operand);
    if (!one)
      return std::nullopt;
    operands.push_back(*one);
  }
  if (MaybeElement folded = fold(node, operands)) {
    if (folded->isNumber())
      return folded;
    return Element{materialise(*folded, typeOf(node)), 0};
  }
  Type type = typeOf(node);
  if (isa<stablehlo::ConvertOp>(node->op) && node->scored &&
      isa<FloatType>(type)) {
    Element same{materialise(operands[0], type), 0};
    bool isExact = !isa<FloatType>(node->operands[0]->elementType()) ||
                   widens(node->op) ||
                   readings.keepsPrecision(node->elementType());
    if (isExact)
      return same;
    // Other types than bf16 have fewer exponents, too.
    if (!node->elementType().isBF16())
      return std::nullopt;
    return Element{stablehlo::ReducePrecisionOp::create(
                       builder, location, same.value, /*exponentBits=*/8,
                       /*mantissaBits=*/7),
                   0};
  }
  // Numbers that meet scores are computed as scores are. Others are rounded to
  // their type by each operation, which kernels do where one is converted.
  bool meetsScores = llvm::any_of(
      node->operands, [](const Node *operand) { return operand->scored; });
  Type wide = meetsScores       ? element
              : isRounded(node) ? Type(builder.getF32Type())
                                : Type();
  SmallVector<Value> values;
  for (auto [operand, from] : llvm::zip_equal(operands, node->operands)) {
    Type own = from->elementType();
    values.push_back(
        materialise(operand, wide && isa<FloatType>(own) ? wide : own));
  }
  Operation *clone = node->op->clone();
  clone->setOperands(values);
  clone->setLoc(location);
  clone->setDiscardableAttrs(DictionaryAttr::get(builder.getContext()));
  bool isWide = wide && !meetsScores;
  clone->getResult(0).setType(scalar(isWide ? wide : type));
  builder.insert(clone);
  return Element{materialise({clone->getResult(0)}, type), 0};
}

Element ScoreBuilder::select(Value condition, Element a, Element b, Type type) {
  return {stablehlo::SelectOp::create(builder, location, scalar(type),
                                      condition, materialise(a, type),
                                      materialise(b, type)),
          0};
}

/// The operand of a concatenation or a padding that holds the element.
std::optional<Element> ScoreBuilder::emitJoin(const Node *node) {
  Type type = typeOf(node);
  auto isBelow = [&](Element index, int64_t bound) -> Value {
    Type i32 = builder.getI32Type();
    return stablehlo::CompareOp::create(
        builder, location, materialise(index, i32), number(i32, double(bound)),
        stablehlo::ComparisonDirection::LT);
  };
  if (auto pad = dyn_cast<stablehlo::PadOp>(node->op)) {
    MaybeElement inner = emit(node->operands[0]),
                 fill = emit(node->operands[1]);
    if (!inner || !fill)
      return std::nullopt;
    Element result = *inner;
    for (auto [dim, size] : llvm::enumerate(node->operands[0]->shape())) {
      int64_t low = pad.getEdgePaddingLow()[dim];
      if (low == 0 && size == node->shape()[dim])
        continue;
      MaybeElement index = emitIndex(node->labels[dim]);
      if (!index)
        return std::nullopt;
      result = select(isBelow(*index, low), *fill, result, type);
      result = select(isBelow(*index, low + size), result, *fill, type);
    }
    return result;
  }
  int64_t along = cast<stablehlo::ConcatenateOp>(node->op).getDimension();
  MaybeElement index = emitIndex(node->labels[along]);
  if (!index)
    return std::nullopt;
  int64_t end = node->shape()[along];
  Element result;
  for (const Node *operand : llvm::reverse(node->operands)) {
    MaybeElement own = emit(operand);
    if (!own)
      return std::nullopt;
    bool isLast = end == node->shape()[along];
    result = isLast ? Element{materialise(*own, type), 0}
                    : select(isBelow(*index, end), *own, result, type);
    end -= operand->shape()[along];
  }
  return result;
}

std::optional<Element> ScoreBuilder::emitLookup(const Node *node) {
  auto gather = cast<stablehlo::GatherOp>(node->op);
  Value table = lookThroughLoops(gather.getOperand());
  auto type = cast<RankedTensorType>(table.getType());
  int64_t rows = type.getDimSize(0), columns = type.getNumElements() / rows;
  MaybeElement row = emit(node->operands[0]);
  Axes offsets;
  for (int64_t dim : gather.getDimensionNumbers().getOffsetDims())
    llvm::append_range(offsets, node->labels[dim]);
  MaybeElement column = emitIndex(offsets);
  if (!row || !column)
    return std::nullopt;
  Type i32 = builder.getI32Type();
  auto shape = RankedTensorType::get({rows, columns}, type.getElementType());
  Value argument =
      addArgument({ScoreTerm::Kind::Table, table, Labels()}, shape);
  Value at[] = {materialise(clampTo(*row, rows), i32),
                materialise(*column, i32)};
  Value slice = stablehlo::DynamicSliceOp::create(
      builder, location, RankedTensorType::get({1, 1}, type.getElementType()),
      argument, at, ArrayRef<int64_t>{1, 1});
  return Element{stablehlo::ReshapeOp::create(
                     builder, location, scalar(type.getElementType()), slice),
                 0};
}

std::optional<Element> ScoreBuilder::emitOperation(const Node *node) {
  Operation *op = node->op;
  if (!op)
    return std::nullopt;
  if (isElementwise(op) || isa<stablehlo::ReducePrecisionOp>(op))
    return emitElementwise(node);
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    MaybeElement index = emitIndex(node->labels[iota.getIotaDimension()]);
    if (!index || index->isNumber())
      return index;
    return Element{materialise(*index, node->elementType()), 0};
  }
  if (isa<stablehlo::ConcatenateOp, stablehlo::PadOp>(op))
    return emitJoin(node);
  if (isa<stablehlo::GatherOp>(op))
    return emitLookup(node);
  bool moves = isIdentity(op) || isRearrangement(op);
  return moves ? emit(node->operands[0]) : std::nullopt;
}

/// Whether a truth says that a pair is visible (or hidden), as its score is not
/// (or is) -inf; nothing where it says something else.
static std::optional<bool> saysVisible(Readings &readings, const Node *node) {
  node = readings.source(node);
  if (isa_and_nonnull<stablehlo::NotOp>(node->op)) {
    std::optional<bool> inner = saysVisible(readings, node->operands[0]);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  auto compare = dyn_cast_or_null<stablehlo::CompareOp>(node->op);
  double none = -std::numeric_limits<double>::infinity();
  if (!compare || readings.number(node->operands[1]) != none)
    return std::nullopt;
  using Direction = stablehlo::ComparisonDirection;
  Direction direction = compare.getComparisonDirection();
  if (direction == Direction::EQ)
    return false;
  return direction == Direction::NE || direction == Direction::GT
             ? std::optional(true)
             : std::nullopt;
}

/// What a reduction over a row is in rows that see a key: extremes and what
/// shifts are dropped, sums are what weights are divided by.
std::optional<Element> ScoreBuilder::emitReduction(const Node *node) {
  if (node->hasTruths()) {
    std::optional<bool> visible = saysVisible(readings, node->operands[0]);
    if (visible == true && reducesBy<stablehlo::OrOp>(node->op))
      return Element{Value(), 1.0};
    if (visible == false && reducesBy<stablehlo::AndOp>(node->op))
      return Element{Value(), 0.0};
    return std::nullopt;
  }
  if (!isa<FloatType>(node->elementType()))
    return std::nullopt;
  Axes inner = labels.resolve(flatten(node->operands[0]->labels));
  bool sums = reducesBy<stablehlo::AddOp>(node->op) &&
              llvm::is_contained(inner, match.axes.key);
  return Element{Value(), sums ? 1.0 : 0.0};
}

std::optional<Element> ScoreBuilder::emitScored(const Node *node) {
  bool hasKeys = runsOver(labels, node, match.axes.key);
  if (node == component.scoresNode())
    return Element{score, 0};
  if (node == one)
    return Element{Value(), 1.0};
  // As row values are dropped in SampleEvaluator.
  if (isa<stablehlo::ReduceOp>(node->op))
    return emitReduction(node);
  if (const Node *sum = sumBesidePower(labels, node, match.axes.key))
    return emit(sum);
  if (isa<stablehlo::ExpOp>(node->op) && !hasKeys)
    return Element{Value(), 0.0};
  if (readings.isShifted(node))
    return emit(node->operands[0]);
  if (isa<stablehlo::MaxOp, stablehlo::MinOp>(node->op) && !hasKeys &&
      readings.keepsRange(node)) {
    bool isShift = true;
    for (const Node *operand : node->operands) {
      MaybeElement bound = operand->scored ? emit(operand) : Element{};
      isShift &= bound && bound->isNumber() && bound->number == 0;
    }
    if (isShift)
      return Element{};
  }
  return emitOperation(node);
}

std::optional<Element> ScoreBuilder::emit(const Node *node) {
  auto known = made.find(node);
  if (known != made.end())
    return known->second;
  auto settled = match.score->constants.find(keyOf(labels, node));
  MaybeElement result;
  if (settled != match.score->constants.end())
    result = Element{Value(), settled->second};
  else
    result = node->scored ? emitScored(node) : emitInput(node);
  if (result)
    made[node] = *result;
  return result;
}
