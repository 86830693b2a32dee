//===- ScorePositions.cpp - Where a pair lies along axes ------------------===//
//
// What a score function reads of positions: the query, the key, parts of the
// head and the sequence, shifted and joined as slices and reshapes have them.
//
//===----------------------------------------------------------------------===//

#include "Scores/ScoreBuilder.h"

#include "sp/StableHLO/StableHLO.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

template <typename OpT> Element ScoreBuilder::binary(Element a, Element b) {
  Type i32 = builder.getI32Type();
  if (!a.isNumber() || !b.isNumber())
    return {OpT::create(builder, location, materialise(a, i32),
                        materialise(b, i32)),
            0};
  double number = std::is_same_v<OpT, stablehlo::AddOp>   ? a.number + b.number
                  : std::is_same_v<OpT, stablehlo::MulOp> ? a.number * b.number
                  : std::is_same_v<OpT, stablehlo::DivOp>
                      ? std::floor(a.number / b.number)
                      : std::fmod(a.number, b.number);
  return {Value(), number};
}

Element ScoreBuilder::clampTo(Element index, int64_t size) {
  if (index.isNumber())
    return {Value(), std::clamp(index.number, 0.0, double(size - 1))};
  Type type = getElementTypeOrSelf(index.value);
  return {stablehlo::ClampOp::create(builder, location, index.value.getType(),
                                     number(type, 0), index.value,
                                     number(type, double(size - 1))),
          0};
}

/// A term that counts sequences: no argument of the function says which it is.
Element ScoreBuilder::batchIndex(AxisId axis) {
  auto [known, isNew] = sequences.try_emplace(axis);
  if (isNew) {
    Type i32 = builder.getI32Type();
    OpBuilder outside(match.product);
    Value index = stablehlo::IotaOp::create(
        outside, location, RankedTensorType::get({labels.size(axis)}, i32), 0);
    known->second = {
        addArgument({ScoreTerm::Kind::PerHead, index, Labels{Axes{axis}}},
                    scalar(i32)),
        0};
  }
  return known->second;
}

std::optional<Element> ScoreBuilder::emitAxis(AxisId axis) {
  int64_t size = labels.size(axis);
  if (const AxisLabels::Derivation *derived = labels.derivation(axis)) {
    MaybeElement base = emitIndex(derived->base);
    if (!base)
      return std::nullopt;
    Element own = *base;
    if (derived->stride != 1)
      own = binary<stablehlo::MulOp>(own, {Value(), double(derived->stride)});
    if (derived->start != 0)
      own = binary<stablehlo::AddOp>(own, {Value(), double(derived->start)});
    return clampTo(own, size);
  }
  if (size == 1)
    return Element{};
  if (axis == match.axes.key)
    return Element{key, 0};
  if (axis == match.axes.query)
    return Element{query, 0};
  if (llvm::is_contained(labels.resolve(match.axes.batch), axis))
    return batchIndex(axis);
  Axes heads = labels.resolve(match.axes.sharedHeads);
  llvm::append_range(heads, labels.resolve(match.axes.groups));
  const auto *found = llvm::find(heads, axis);
  if (found == heads.end())
    return std::nullopt;
  int64_t inner = 1;
  for (AxisId other : ArrayRef<AxisId>(found + 1, heads.end()))
    inner *= labels.size(other);
  Element index{head, 0};
  if (inner > 1)
    index = binary<stablehlo::DivOp>(index, {Value(), double(inner)});
  if (found != heads.begin())
    index = binary<stablehlo::RemOp>(index, {Value(), double(size)});
  return index;
}

std::optional<Element> ScoreBuilder::emitIndex(ArrayRef<AxisId> dim) {
  Element index;
  bool isFirst = true;
  for (AxisId axis : labels.resolve(dim)) {
    MaybeElement own = emitAxis(axis);
    if (!own)
      return std::nullopt;
    if (isFirst) {
      index = *own;
      isFirst = false;
      continue;
    }
    index =
        binary<stablehlo::MulOp>(index, {Value(), double(labels.size(axis))});
    index = binary<stablehlo::AddOp>(index, *own);
  }
  return index;
}
