//===- ReductionOps.cpp - reduce and map ----------------------------------===//
#include "Combiner.h"
#include "ScalarProgram.h"
#include "Strided.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::interpreter;

static SmallVector<int64_t> keptDimensions(int64_t rank,
                                           ArrayRef<int64_t> reduced) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(reduced, d))
      kept.push_back(d);
  return kept;
}

//===----------------------------------------------------------------------===//
// One operation as body: folded in place, rounded once at the end
//===----------------------------------------------------------------------===//

/// Folds the last dimension of `rows` (rank 2) from `init`.
template <typename T, typename Fn>
static void foldRows(const Tensor &rows, T init, Tensor &result, Fn combine) {
  MutableArrayRef<T> out = result.mutableElements<T>();
  int64_t length = rows.getShape()[1];
  const T *in = rows.elements<T>().data();
  for (T &value : out) {
    T folded = init;
    for (int64_t i = 0; i < length; ++i)
      folded = combine(folded, in[i]);
    value = folded;
    in += length;
  }
}

/// Folds the first dimension of `columns` (rank 2) from `init`.
template <typename T, typename Fn>
static void foldColumns(const Tensor &columns, T init, Tensor &result,
                        Fn combine) {
  MutableArrayRef<T> out = result.mutableElements<T>();
  std::fill(out.begin(), out.end(), init);
  const T *in = columns.elements<T>().data();
  for (int64_t row = 0; row < columns.getShape()[0]; ++row)
    for (T &value : out)
      value = combine(value, *in++);
}

static Tensor foldTensor(Operation *combiner, const Tensor &input,
                         const Tensor &init, ArrayRef<int64_t> reduced,
                         RankedTensorType type) {
  SmallVector<int64_t> kept = keptDimensions(input.getRank(), reduced);
  Tensor result(type);
  // Leading dimensions are folded where they lie.
  bool leading = llvm::all_of(
      reduced, [&](int64_t d) { return d < int64_t(reduced.size()); });
  Tensor grouped = leading ? inGroups(input, {reduced, kept})
                           : inGroups(input, {kept, reduced});
  dispatch(input.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    withCombiner<T>(combiner, [&](auto combine) {
      if (leading)
        foldColumns<T>(grouped, init.at<T>(), result, combine);
      else
        foldRows<T>(grouped, init.at<T>(), result, combine);
    });
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Any body: neighbours are combined in a tree, all pairs at once
//===----------------------------------------------------------------------===//

/// Reduces the first dimension of `inputs` (each length x columns).
static FailureOr<Tensors> reduceTree(Region &body, Tensors inputs,
                                     const Tensors &inits, int64_t columns,
                                     Evaluator &evaluator) {
  int64_t length = inputs.front().getShape()[0];
  auto combine = [&](Tensors lhs, Tensors rhs) {
    llvm::append_range(lhs, rhs);
    rhs.clear();
    return runOnColumns(body, std::move(lhs), evaluator);
  };
  while (length > 1) {
    int64_t pairs = length / 2;
    Tensors even, odd;
    for (const Tensor &input : inputs) {
      even.push_back(rowsOf(input, 0, pairs, 2));
      odd.push_back(rowsOf(input, 1, pairs, 2));
    }
    FailureOr<Tensors> combined = combine(std::move(even), std::move(odd));
    if (failed(combined))
      return failure();
    int64_t rest = length % 2;
    for (auto [input, part] : llvm::zip_equal(inputs, *combined)) {
      auto type = RankedTensorType::get({pairs + rest, columns},
                                        input.getElementType());
      Tensor next(type);
      View to = wholeView(type.getShape());
      copyView({pairs, columns}, part, to, next, to);
      View last = wholeView(input.getShape());
      last.offset = (length - 1) * columns;
      to.offset = pairs * columns;
      copyView({rest, columns}, input, last, next, to);
      input = std::move(next);
    }
    length = pairs + rest;
  }
  Tensors starts;
  for (const Tensor &init : inits)
    starts.push_back(repeatScalar(init, columns));
  if (length == 0)
    return starts;
  for (Tensor &input : inputs)
    input = rowsOf(input, 0, 1);
  return combine(std::move(starts), std::move(inputs));
}

static FailureOr<Tensors> reduceOp(stablehlo::ReduceOp op, Tensors &operands,
                                   Evaluator &evaluator) {
  size_t count = op.getInputs().size();
  ArrayRef<int64_t> reduced = op.getDimensions();
  auto typeOf = [&](size_t i) {
    return cast<RankedTensorType>(op->getResult(i).getType());
  };
  Operation *combiner = count == 1 ? soleCombiner(op.getBody()) : nullptr;
  Tensors results;
  if (combiner) {
    Tensor result =
        foldTensor(combiner, operands[0], operands[1], reduced, typeOf(0));
    evaluator.rounderFor(result.getElementType()).apply(result);
    results.push_back(std::move(result));
    return results;
  }
  SmallVector<int64_t> kept = keptDimensions(operands[0].getRank(), reduced);
  int64_t columns = typeOf(0).getNumElements();
  Tensors inputs, inits(operands.begin() + count, operands.end());
  for (size_t i = 0; i < count; ++i)
    inputs.push_back(inGroups(operands[i], {reduced, kept}));
  operands.clear();
  FailureOr<Tensors> values =
      reduceTree(op.getBody(), std::move(inputs), inits, columns, evaluator);
  if (failed(values))
    return failure();
  for (auto [i, value] : llvm::enumerate(*values))
    results.push_back(value.withType(typeOf(i)));
  return results;
}

static FailureOr<Tensor> mapOp(stablehlo::MapOp op, Tensors &operands,
                               Evaluator &evaluator) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  for (Tensor &operand : operands)
    operand = operand.withType(
        RankedTensorType::get({operand.size()}, operand.getElementType()));
  FailureOr<Tensors> results =
      runOnColumns(op.getComputation(), std::move(operands), evaluator);
  if (failed(results))
    return failure();
  return results->front().withType(type);
}

void interpreter::addReductionOps(Handlers &handlers) {
  handlers.add<stablehlo::ReduceOp>(reduceOp);
  handlers.add<stablehlo::MapOp>(mapOp);
}
