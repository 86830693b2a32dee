//===- ScalarProgram.cpp - Programs on scalars, run on many ---------------===//
#include "ScalarProgram.h"
#include "Combiner.h"
#include "Strided.h"

using namespace mlir;
using namespace mlir::interpreter;

Tensor interpreter::repeatScalar(const Tensor &scalar, int64_t count) {
  auto type = RankedTensorType::get({count}, scalar.getElementType());
  return dispatch(scalar.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Tensor::splat<T>(type, scalar.at<T>());
  });
}

Tensor interpreter::rowsOf(const Tensor &tensor, int64_t row, int64_t rows,
                           int64_t step) {
  int64_t columns = tensor.getShape()[1];
  auto type = RankedTensorType::get({rows * columns}, tensor.getElementType());
  Tensor result(type);
  copyView({rows, columns}, tensor, View{row * columns, {step * columns, 1}},
           result, View{0, {columns, 1}});
  return result;
}

bool interpreter::isElementwise(Block &block) {
  const Handlers &handlers = Handlers::get();
  return llvm::all_of(block.without_terminator(), [&](Operation &op) {
    return handlers.isElementwise(&op) &&
           llvm::all_of(op.getResultTypes(), [](Type type) {
             return cast<RankedTensorType>(type).getRank() == 0;
           });
  });
}

Tensor interpreter::scalarAt(const Tensor &column, int64_t i) {
  return dispatch(column.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Tensor::splat<T>(RankedTensorType::get({}, column.getElementType()),
                            column.at<T>(i));
  });
}

Tensor interpreter::collect(const Tensor &tensor, ArrayRef<int64_t> places) {
  Tensor result(
      RankedTensorType::get({int64_t(places.size())}, tensor.getElementType()));
  dispatch(tensor.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    MutableArrayRef<T> out = result.mutableElements<T>();
    for (auto [slot, place] : llvm::zip_equal(out, places))
      slot = tensor.at<T>(place);
  });
  return result;
}

static FailureOr<Tensors> runOneByOne(Region &region, const Tensors &columns,
                                      Evaluator &evaluator) {
  int64_t count = columns.front().size();
  Tensors results;
  for (Type type : region.front().getTerminator()->getOperandTypes())
    results.emplace_back(
        RankedTensorType::get({count}, getElementTypeOrSelf(type)));
  for (int64_t i = 0; i < count; ++i) {
    Tensors scalars;
    for (const Tensor &column : columns)
      scalars.push_back(scalarAt(column, i));
    FailureOr<Tensors> values = evaluator.run(region, std::move(scalars));
    if (failed(values))
      return failure();
    for (auto [result, value] : llvm::zip_equal(results, *values))
      copyView({}, value, View(), result, View{i, {}});
  }
  return results;
}

FailureOr<Tensors> interpreter::runOnColumns(Region &region, Tensors columns,
                                             Evaluator &evaluator) {
  if (!isElementwise(region.front()))
    return runOneByOne(region, columns, evaluator);
  int64_t count = columns.front().size();
  FailureOr<Tensors> results = evaluator.run(region, std::move(columns));
  if (failed(results))
    return failure();
  // A result that depends on no argument is still a scalar.
  for (Tensor &result : *results)
    if (result.getRank() == 0)
      result = repeatScalar(result, count);
  return results;
}

Operation *interpreter::soleCombiner(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return nullptr;
  Operation *op = &block.front();
  if (!isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp,
           stablehlo::MinOp, stablehlo::AndOp, stablehlo::OrOp,
           stablehlo::XorOp>(op))
    return nullptr;
  bool inOrder = op->getOperand(0) == block.getArgument(0) &&
                 op->getOperand(1) == block.getArgument(1);
  bool swapped = op->getOperand(0) == block.getArgument(1) &&
                 op->getOperand(1) == block.getArgument(0);
  bool returned =
      block.getTerminator()->getOperands() == ValueRange(op->getResults());
  return returned && (inOrder || swapped) ? op : nullptr;
}
