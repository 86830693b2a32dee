//===- ScatterOps.cpp - Updates combined into computed places -------------===//
#include "Combiner.h"
#include "ScalarProgram.h"
#include "Strided.h"

using namespace mlir;
using namespace mlir::interpreter;

/// Target of an update element that falls outside the operand.
static constexpr int64_t kOutside = -1;

namespace {
/// Where each update element lands.
class Targets {
public:
  Targets(stablehlo::ScatterDimensionNumbersAttr numbers,
          ArrayRef<int64_t> inputShape, const Tensor &indices,
          ArrayRef<int64_t> updateShape);

  /// Place in the input of update element i, row-major, or kOutside.
  std::vector<int64_t> places;

private:
  SmallVector<int64_t> startOf(ArrayRef<int64_t> batch) const;

  stablehlo::ScatterDimensionNumbersAttr numbers;
  ArrayRef<int64_t> inputShape;
  const Tensor &indices;
};
} // namespace

/// First place of the window of one batch index: what the indices say, and the
/// batch index itself in batching dimensions.
SmallVector<int64_t> Targets::startOf(ArrayRef<int64_t> batch) const {
  int64_t vectorDimension = numbers.getIndexVectorDim();
  SmallVector<int64_t> strides = stridesOf(indices.getShape());
  bool hasVector = vectorDimension < indices.getRank();
  int64_t vectorStride = hasVector ? strides[vectorDimension] : 0;
  if (hasVector)
    strides.erase(strides.begin() + vectorDimension);
  int64_t base = 0;
  for (auto [i, stride] : llvm::zip_equal(batch, strides))
    base += i * stride;
  SmallVector<int64_t> start(inputShape.size(), 0);
  for (auto [i, dimension] :
       llvm::enumerate(numbers.getScatterDimsToOperandDims()))
    start[dimension] = indices.integerAt(base + int64_t(i) * vectorStride);
  for (auto [dimension, indexDimension] :
       llvm::zip_equal(numbers.getInputBatchingDims(),
                       numbers.getScatterIndicesBatchingDims())) {
    bool behindVector = hasVector && indexDimension > vectorDimension;
    start[dimension] = batch[indexDimension - (behindVector ? 1 : 0)];
  }
  return start;
}

Targets::Targets(stablehlo::ScatterDimensionNumbersAttr numbers,
                 ArrayRef<int64_t> inputShape, const Tensor &indices,
                 ArrayRef<int64_t> updateShape)
    : numbers(numbers), inputShape(inputShape), indices(indices) {
  // The input dimension that each window dimension of the updates moves along.
  SmallVector<int64_t> windowTo;
  for (int64_t d = 0; d < int64_t(inputShape.size()); ++d)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), d) &&
        !llvm::is_contained(numbers.getInputBatchingDims(), d))
      windowTo.push_back(d);
  SmallVector<int64_t> strides = stridesOf(inputShape);
  // As XLA has it, a window that reaches outside is skipped as a whole.
  auto isInside = [&](ArrayRef<int64_t> start) {
    for (auto [i, dimension] : llvm::enumerate(windowTo)) {
      int64_t size = updateShape[numbers.getUpdateWindowDims()[i]];
      if (start[dimension] + size > inputShape[dimension])
        return false;
    }
    for (auto [i, size] : llvm::zip_equal(start, inputShape))
      if (i < 0 || i >= size)
        return false;
    return true;
  };
  SmallVector<int64_t> batch, previous, start;
  bool inside = false;
  forEachIndex(updateShape, [&](ArrayRef<int64_t> index) {
    batch.clear();
    SmallVector<int64_t> window;
    for (auto [d, i] : llvm::enumerate(index))
      (llvm::is_contained(numbers.getUpdateWindowDims(), int64_t(d)) ? window
                                                                     : batch)
          .push_back(i);
    if (places.empty() || batch != previous) {
      start = startOf(batch);
      inside = isInside(start);
      previous = batch;
    }
    if (!inside) {
      places.push_back(kOutside);
      return;
    }
    int64_t offset = 0;
    for (auto [i, stride] : llvm::zip_equal(start, strides))
      offset += i * stride;
    for (auto [i, dimension] : llvm::zip_equal(window, windowTo))
      offset += i * strides[dimension];
    places.push_back(offset);
  });
}

/// Updates element by element, in their order.
template <typename T, typename Fn>
static void updateEach(Tensor &input, const Tensor &updates,
                       ArrayRef<int64_t> places, Fn combine) {
  MutableArrayRef<T> out = input.mutableElements<T>();
  for (auto [place, update] : llvm::zip_equal(places, updates.elements<T>()))
    if (place != kOutside)
      out[place] = combine(out[place], update);
}

/// Runs the body on all updates whose places differ, then on those that came
/// second to their place, and so on.
static LogicalResult updateInRounds(Region &body, Tensors &inputs,
                                    const Tensors &updates,
                                    ArrayRef<int64_t> places,
                                    Evaluator &evaluator) {
  std::vector<int64_t> waiting;
  for (auto [i, place] : llvm::enumerate(places))
    if (place != kOutside)
      waiting.push_back(int64_t(i));
  while (!waiting.empty()) {
    std::vector<bool> taken(inputs.front().size(), false);
    std::vector<int64_t> now, targets, later;
    for (int64_t i : waiting) {
      if (taken[places[i]]) {
        later.push_back(i);
        continue;
      }
      taken[places[i]] = true;
      now.push_back(i);
      targets.push_back(places[i]);
    }
    Tensors columns;
    for (const Tensor &input : inputs)
      columns.push_back(collect(input, targets));
    for (const Tensor &update : updates)
      columns.push_back(collect(update, now));
    FailureOr<Tensors> values =
        runOnColumns(body, std::move(columns), evaluator);
    if (failed(values))
      return failure();
    for (size_t i = 0; i < inputs.size(); ++i)
      dispatch(inputs[i].getStorage(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        updateEach<T>(inputs[i], (*values)[i], targets,
                      [](T, T update) { return update; });
      });
    waiting = std::move(later);
  }
  return success();
}

static FailureOr<Tensors> scatterOp(stablehlo::ScatterOp op, Tensors &operands,
                                    Evaluator &evaluator) {
  size_t count = op.getInputs().size();
  Tensors inputs(operands.begin(), operands.begin() + count);
  Tensor indices = operands[count];
  Tensors updates(operands.begin() + count + 1, operands.end());
  operands.clear();
  Targets targets(op.getScatterDimensionNumbers(),
                  inputs[0].getType().getShape(), indices,
                  updates[0].getShape());

  Block &body = op.getUpdateComputation().front();
  bool replaces = count == 1 && body.getOperations().size() == 1 &&
                  body.getTerminator()->getOperand(0) == body.getArgument(1);
  Operation *combiner =
      count == 1 ? soleCombiner(op.getUpdateComputation()) : nullptr;
  if (!replaces && !combiner) {
    if (failed(updateInRounds(op.getUpdateComputation(), inputs, updates,
                              targets.places, evaluator)))
      return failure();
    return inputs;
  }
  dispatch(inputs[0].getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (replaces)
      return updateEach<T>(inputs[0], updates[0], targets.places,
                           [](T, T update) { return update; });
    withCombiner<T>(combiner, [&](auto combine) {
      updateEach<T>(inputs[0], updates[0], targets.places, combine);
    });
  });
  evaluator.rounderFor(inputs[0].getElementType()).apply(inputs[0]);
  return inputs;
}

void interpreter::addScatterOps(Handlers &handlers) {
  handlers.add<stablehlo::ScatterOp>(scatterOp);
}
