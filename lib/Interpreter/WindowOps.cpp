//===- WindowOps.cpp - reduce_window --------------------------------------===//
#include "ScalarProgram.h"
#include "Strided.h"
#include "sp/StableHLO/StableHLO.h"
#include <cstring>

using namespace mlir;
using namespace mlir::interpreter;

namespace {
/// The window with defaults filled in.
struct Window {
  SmallVector<int64_t> sizes, strides, dilations;
  Padding padding;
};
} // namespace

static SmallVector<int64_t> orOnes(std::optional<ArrayRef<int64_t>> values,
                                   int64_t rank) {
  if (values)
    return SmallVector<int64_t>(*values);
  return SmallVector<int64_t>(rank, 1);
}

static Window windowOf(stablehlo::ReduceWindowOp op) {
  int64_t rank = op.getWindowDimensions().size();
  Window window;
  window.sizes.assign(op.getWindowDimensions().begin(),
                      op.getWindowDimensions().end());
  window.strides = orOnes(op.getWindowStrides(), rank);
  window.dilations = orOnes(op.getWindowDilations(), rank);
  for (int64_t dilation : orOnes(op.getBaseDilations(), rank))
    window.padding.interior.push_back(dilation - 1);
  window.padding.low.assign(rank, 0);
  window.padding.high.assign(rank, 0);
  if (std::optional<DenseIntElementsAttr> edges = op.getPadding())
    for (auto [i, edge] : llvm::enumerate(edges->getValues<APInt>()))
      (i % 2 ? window.padding.high : window.padding.low)[i / 2] =
          edge.getSExtValue();
  return window;
}

/// A cumulative reduction: the window reaches back to the beginning (or, with
/// `reverse`, on to the end) of one dimension.
static std::optional<std::pair<int64_t, bool>>
cumulativeDimension(const Window &window, ArrayRef<int64_t> shape) {
  std::optional<std::pair<int64_t, bool>> found;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d) {
    int64_t low = window.padding.low[d], high = window.padding.high[d];
    if (window.strides[d] != 1 || window.padding.interior[d] != 0)
      return std::nullopt;
    if (window.sizes[d] == 1 && low == 0 && high == 0)
      continue;
    if (found || window.dilations[d] != 1 || window.sizes[d] != shape[d] ||
        low + high != shape[d] - 1 || (low != 0 && high != 0))
      return std::nullopt;
    found = {d, low == 0};
  }
  return found;
}

static Tensors pairUp(Tensors lhs, Tensors rhs) {
  llvm::append_range(lhs, rhs);
  return lhs;
}

/// Whether padding leaves initial values as they are.
static FailureOr<bool> isNeutral(Region &body, const Tensors &inits,
                                 Evaluator &evaluator) {
  FailureOr<Tensors> twice = evaluator.run(body, pairUp(inits, inits));
  if (failed(twice))
    return failure();
  for (auto [init, value] : llvm::zip_equal(inits, *twice))
    if (std::memcmp(init.data(), value.data(), init.elementBytes()) != 0)
      return false;
  return true;
}

/// One pass over the dimension, all other elements at once.
static FailureOr<Tensors> scan(stablehlo::ReduceWindowOp op, Tensors inputs,
                               const Tensors &inits, int64_t dimension,
                               bool reverse, Evaluator &evaluator) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  int64_t length = shape[dimension];
  int64_t inner = stridesOf(shape)[dimension];
  int64_t outer = inputs.front().size() / (inner * length);
  Tensors results, running;
  for (const Tensor &input : inputs)
    results.emplace_back(input.getType());
  for (const Tensor &init : inits)
    running.push_back(repeatScalar(init, outer * inner));
  View packed{0, {inner, 1}};
  for (int64_t step = 0; step < length; ++step) {
    int64_t position = reverse ? length - 1 - step : step;
    View view{position * inner, {length * inner, 1}};
    Tensors lines;
    for (const Tensor &input : inputs) {
      lines.emplace_back(
          RankedTensorType::get({outer * inner}, input.getElementType()));
      copyView({outer, inner}, input, view, lines.back(), packed);
    }
    FailureOr<Tensors> next = runOnColumns(
        op.getBody(), pairUp(std::move(running), std::move(lines)), evaluator);
    if (failed(next))
      return failure();
    running = std::move(*next);
    for (auto [result, line] : llvm::zip_equal(results, running))
      copyView({outer, inner}, line, packed, result, view);
  }
  return results;
}

static FailureOr<Tensors> reduceWindowOp(stablehlo::ReduceWindowOp op,
                                         Tensors &operands,
                                         Evaluator &evaluator) {
  size_t count = op.getInputs().size();
  Tensors inputs(operands.begin(), operands.begin() + count);
  Tensors inits(operands.begin() + count, operands.end());
  operands.clear();
  Window window = windowOf(op);
  FailureOr<bool> neutral = isNeutral(op.getBody(), inits, evaluator);
  if (failed(neutral))
    return failure();
  auto dimension = cumulativeDimension(window, inputs[0].getShape());
  if (dimension && *neutral)
    return scan(op, std::move(inputs), inits, dimension->first,
                dimension->second, evaluator);

  // Padded once; then the element at each place of all windows is a strided
  // slice, combined in the window's order.
  for (auto [input, init] : llvm::zip_equal(inputs, inits))
    input = padTensor(input, init, window.padding);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  ArrayRef<int64_t> shape = type.getShape();
  Tensors running;
  for (const Tensor &init : inits)
    running.push_back(repeatScalar(init, type.getNumElements()));
  View slice = wholeView(inputs[0].getShape());
  SmallVector<int64_t> strides = slice.strides;
  for (auto [stride, step] : llvm::zip_equal(slice.strides, window.strides))
    stride *= step;
  LogicalResult status = success();
  forEachIndex(window.sizes, [&](ArrayRef<int64_t> place) {
    if (failed(status))
      return;
    slice.offset = 0;
    for (auto [i, dilation, stride] :
         llvm::zip_equal(place, window.dilations, strides))
      slice.offset += i * dilation * stride;
    Tensors elements;
    for (const Tensor &input : inputs) {
      elements.emplace_back(RankedTensorType::get({type.getNumElements()},
                                                  input.getElementType()));
      copyView(shape, input, slice, elements.back(), wholeView(shape));
    }
    FailureOr<Tensors> next = runOnColumns(
        op.getBody(), pairUp(std::move(running), std::move(elements)),
        evaluator);
    status = next;
    if (succeeded(next))
      running = std::move(*next);
  });
  if (failed(status))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), running))
    value = value.withType(cast<RankedTensorType>(result.getType()));
  return running;
}

void interpreter::addWindowOps(Handlers &handlers) {
  handlers.add<stablehlo::ReduceWindowOp>(reduceWindowOp);
}
