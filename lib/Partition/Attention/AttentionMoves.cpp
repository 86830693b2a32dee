//===- AttentionMoves.cpp - What strategies are composed of ---------------===//

#include "Attention/AttentionMoves.h"

using namespace mlir;
using namespace mlir::sp;

LayoutAttr mlir::sp::denseLayout(LayoutAttr layout) {
  return LayoutAttr::get(layout.getContext(), LayoutKind::Contiguous,
                         layout.getLength(), layout.getAxis(), 1);
}

ReadersAttr mlir::sp::readersOf(LayoutAttr rows, ArrayAttr bands,
                                DocumentsAttr documents) {
  return ReadersAttr::get(rows.getContext(), rows.getOfAllTurns(), bands,
                          documents);
}

HeadGroup AttentionMoves::group(int64_t number) const {
  auto [first, count] = plan.getKvGroup(number, kvHeads);
  HeadGroup group = {
      {first * heads / kvHeads, count * heads / kvHeads, LayoutAttr()},
      {first, count, LayoutAttr()}};
  if (plan.getHeads() > 1)
    group.query.dealt = group.kv.dealt = plan.getHeadsLayout(group.query.count);
  return group;
}

HeadGroup AttentionMoves::allHeads() const {
  return {{0, heads, LayoutAttr()}, {0, kvHeads, LayoutAttr()}};
}

Value AttentionMoves::takeHeads(Value value, const HeadRange &range) const {
  return sliceDim(builder, loc, value, 2, range.first, range.count);
}

void AttentionMoves::takeHeads(MutableArrayRef<Value> values,
                               const HeadRange &range) const {
  for (Value &value : values)
    value = takeHeads(value, range);
}

Value AttentionMoves::joinHeads(ArrayRef<Value> groups) const {
  if (groups.size() == 1)
    return groups.front();
  auto type = cast<RankedTensorType>(groups.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[2] = 0;
  for (Value group : groups)
    shape[2] += cast<RankedTensorType>(group.getType()).getDimSize(2);
  return stablehlo::ConcatenateOp::create(builder, loc, type.clone(shape),
                                          groups, 2);
}

void AttentionMoves::gatherRows(int64_t group, MutableArrayRef<Value> operands,
                                MutableArrayRef<Value> terms, LayoutAttr rows,
                                Value after) const {
  if (group > 0)
    terms = {};
  SmallVector<Value> sent(operands.begin(), operands.end());
  llvm::append_range(sent, terms);
  ResultRange gathered =
      AllGatherOp::create(builder, loc, sent,
                          SmallVector<int64_t>(sent.size(), 1),
                          SmallVector<LayoutAttr>(sent.size(), rows), after)
          .getResults();
  llvm::copy(gathered.take_front(operands.size()), operands.begin());
  llvm::copy(gathered.drop_front(operands.size()), terms.begin());
}

SmallVector<Value> AttentionMoves::scatterRows(ValueRange values,
                                               LayoutAttr rows) const {
  return llvm::to_vector_of<Value>(
      ReduceScatterOp::create(builder, loc, values, Reduction::Sum,
                              SmallVector<int64_t>(values.size(), 1),
                              SmallVector<LayoutAttr>(values.size(), rows))
          .getResults());
}

SmallVector<Value> AttentionMoves::sumRows(ValueRange values,
                                           LayoutAttr rows) const {
  return rows.isDense() ? reduce(values, Reduction::Sum)
                        : scatterRows(values, rows);
}

SmallVector<Value> AttentionMoves::reduce(ValueRange values,
                                          Reduction kind) const {
  return llvm::to_vector_of<Value>(
      AllReduceOp::create(
          builder, loc, values.getTypes(), values, kind,
          AxisListAttr::get(builder.getContext(), plan.getAxis()),
          plan.getRanks())
          .getResults());
}

Value AttentionMoves::exchange(Value value, const HeadRange &range,
                               const ExchangedRows &rows, bool toRows) const {
  auto type = cast<RankedTensorType>(value.getType());
  bool isFlat = type.getRank() == 3;
  SmallVector<int64_t> shape(type.getShape());
  if (isFlat) {
    shape.push_back(1);
    value =
        stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), value);
  }
  shape[1] = (toRows ? rows.rows : rows.joined).getMaxCount();
  shape[2] = toRows ? range.count : getMaxHeads(range.dealt, range.count);
  value = AllToAllOp::create(builder, loc, type.clone(shape), value, rows.rows,
                             rows.joined.isDense() ? LayoutAttr() : rows.joined,
                             range.dealt, range.count, toRows);
  if (!isFlat)
    return value;
  shape.pop_back();
  return stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), value);
}

Value AttentionMoves::toHeads(Value value, const HeadRange &range,
                              const ExchangedRows &rows) const {
  return exchange(takeHeads(value, range), range, rows, /*toRows=*/false);
}

void AttentionMoves::toHeads(MutableArrayRef<Value> values,
                             const HeadRange &range,
                             const ExchangedRows &rows) const {
  for (Value &value : values)
    value = toHeads(value, range, rows);
}

void AttentionMoves::toHeads(MutableArrayRef<Value> terms,
                             const ExchangedRows &rows) const {
  int64_t members = plan.getHeads();
  for (Value &term : terms) {
    auto type = cast<RankedTensorType>(term.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[2] = members;
    Value spread = stablehlo::BroadcastInDimOp::create(
        builder, loc, type.clone(shape), term, ArrayRef<int64_t>{0, 1, 2, 3});
    term = toHeads(spread, {0, members, plan.getHeadsLayout(members)}, rows);
  }
}

Value AttentionMoves::toRows(Value value, const HeadRange &range,
                             const ExchangedRows &rows) const {
  return exchange(value, range, rows, /*toRows=*/true);
}

/// Where each kv head of a range lies when the ranks' kv heads stand one rank
/// after another, each with room for as many as any of them holds:
///
///     9 query heads, 4 kv heads on 5 ranks
///     rank            0     1     2     3     4
///     kv heads held   0 -   0 1   1 2   2 3   3 -
///     slot            0 1   2 3   4 5   6 7   8 9
SmallVector<SmallVector<int64_t>>
AttentionMoves::slotsOf(const HeadRange &kv) const {
  SmallVector<SmallVector<int64_t>> slots(kv.count);
  sprt::algebra::Layout layout = toAlgebra(kv.dealt);
  int64_t most = getMaxHeads(kv.dealt, kv.count);
  for (int64_t rank = 0; rank < kv.dealt.getRanks(); ++rank) {
    sprt::algebra::Interval held =
        sprt::algebra::heldHeads(layout, rank, kv.count);
    for (int64_t head = held.begin; head < held.end; ++head)
      slots[head].push_back(rank * most + head - held.begin);
  }
  return slots;
}

bool AttentionMoves::isShared(const HeadRange &kv) const {
  return kv.dealt && llvm::any_of(slotsOf(kv), [](const auto &slots) {
           return slots.size() > 1;
         });
}

Value AttentionMoves::sumToRows(Value value, const HeadRange &range,
                                const ExchangedRows &rows) const {
  if (!isShared(range))
    return toRows(value, range, rows);
  SmallVector<SmallVector<int64_t>> slots = slotsOf(range);
  int64_t count = plan.getHeads() * getMaxHeads(range.dealt, range.count);
  value = toRows(value, {0, count, plan.getHeadsLayout(count)}, rows);

  // Each kv head's slots side by side; heads with fewer of them get zeros.
  size_t most = 0;
  for (const SmallVector<int64_t> &own : slots)
    most = std::max(most, own.size());
  SmallVector<int32_t> order;
  SmallVector<bool> isHeld;
  for (const SmallVector<int64_t> &own : slots)
    for (size_t i = 0; i < most; ++i) {
      order.push_back(static_cast<int32_t>(own[i < own.size() ? i : 0]));
      isHeld.push_back(i < own.size());
    }
  auto size = static_cast<int64_t>(order.size());
  bool isInOrder = size == count && llvm::is_sorted(order) &&
                   !llvm::is_contained(isHeld, false);
  if (!isInOrder) {
    auto lineOf = [&](Type element) {
      return RankedTensorType::get({size}, element);
    };
    Value numbers = stablehlo::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(lineOf(builder.getI32Type()),
                               ArrayRef<int32_t>(order)));
    value = takeIndices(builder, loc, value, 2, numbers);
    auto type = cast<RankedTensorType>(value.getType());
    if (llvm::is_contained(isHeld, false)) {
      Value held = stablehlo::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(lineOf(builder.getI1Type()),
                                 ArrayRef<bool>(isHeld)));
      Value mask = stablehlo::BroadcastInDimOp::create(
          builder, loc,
          RankedTensorType::get(type.getShape(), builder.getI1Type()), held,
          ArrayRef<int64_t>{2});
      Value zero = neutralSplat(builder, loc, type, Reduction::Sum);
      value = stablehlo::SelectOp::create(builder, loc, mask, value, zero);
    }
  }
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> apart(type.getShape());
  apart[2] = range.count;
  apart.insert(apart.begin() + 3, static_cast<int64_t>(most));
  value = stablehlo::ReshapeOp::create(builder, loc, type.clone(apart), value);
  return sumDim(builder, loc, value, 3);
}
