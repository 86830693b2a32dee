//===- VerifyRegion.cpp - Rules of operations with bodies -----------------===//

#include "Verify/Verify.h"

#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::stablehlo;
using sp::shapeOf;

/// All values have the shape of the first.
static LogicalResult verifyOneShape(Operation *op, StringRef name,
                                    ValueRange values) {
  for (Value value : values)
    if (!sameShape(shapeOf(value), shapeOf(values.front())))
      return op->emitOpError()
             << "expected " << name << " of one shape but got "
             << text(shapeOf(values.front())) << " and "
             << text(shapeOf(value));
  return success();
}

/// What `reduce` and `reduce_window` share: the body combines, per input, an
/// accumulator and a value of the initial value's type.
static LogicalResult verifyReduction(Operation *op, ValueRange inputs,
                                     ValueRange initValues, Region &body) {
  // (C1)
  if (inputs.empty() || op->getNumResults() != inputs.size())
    return op->emitOpError() << "expected a result for each input but got "
                             << op->getNumResults() << " for " << inputs.size();
  if (failed(verifyOneShape(op, "inputs", inputs)))
    return failure();
  SmallVector<Type> scalars(initValues.getTypes());
  for (auto [input, scalar] : llvm::zip_equal(inputs, initValues))
    if (getElementTypeOrSelf(input.getType()) !=
        getElementTypeOrSelf(scalar.getType()))
      return op->emitOpError()
             << "expected an initial value of the input's element type "
             << getElementTypeOrSelf(input.getType()) << " but got "
             << scalar.getType();
  for (auto [result, scalar] : llvm::zip_equal(op->getResults(), initValues))
    if (getElementTypeOrSelf(result.getType()) !=
        getElementTypeOrSelf(scalar.getType()))
      return op->emitOpError()
             << "expected a result of the input's element type "
             << getElementTypeOrSelf(scalar.getType()) << " but got "
             << result.getType();
  SmallVector<Type> arguments(scalars);
  llvm::append_range(arguments, scalars);
  return verifyRegion(op, "the body", body, arguments, scalars);
}

LogicalResult ReduceOp::verify() {
  // (C3)
  if (failed(verifyReduction(*this, getInputs(), getInitValues(), getBody())))
    return failure();
  // (C2)
  ArrayRef<int64_t> from = shapeOf(getInputs().front());
  if (failed(verifyDims(*this, "dimensions", getDimensions(), from.size())))
    return failure();
  SmallVector<int64_t> expected;
  for (auto [dim, size] : llvm::enumerate(from))
    if (!llvm::is_contained(getDimensions(), dim))
      expected.push_back(size);
  for (Value result : getResults())
    if (failed(verifyShape(*this, result, expected)))
      return failure();
  return success();
}

LogicalResult ReduceWindowOp::verify() {
  // (C4)
  if (failed(verifyReduction(*this, getInputs(), getInitValues(), getBody())))
    return failure();
  // (C2)
  ArrayRef<int64_t> from = shapeOf(getInputs().front());
  ArrayRef<int64_t> sizes = getWindowDimensions();
  if (failed(
          verifyLength(*this, "window_dimensions", sizes.size(), from.size())))
    return failure();
  for (int64_t size : sizes)
    if (size < 1)
      return emitOpError()
             << "expected window_dimensions of at least 1 but got " << size;
  FailureOr<SmallVector<WindowDim>> window =
      makeWindow(*this, sizes, getWindowStrides(), getPaddingAttr(),
                 getBaseDilations(), getWindowDilations());
  if (failed(window))
    return failure();
  // (C3)
  SmallVector<int64_t> expected;
  for (auto [size, dim] : llvm::zip_equal(from, *window))
    expected.push_back(ShapedType::isDynamic(size) ? size
                                                   : slideWindow(size, dim));
  for (Value result : getResults())
    if (failed(verifyShape(*this, result, expected)))
      return failure();
  return success();
}

LogicalResult SortOp::verify() {
  // (C1)
  if (getInputs().empty() || getInputs().getTypes() != getResultTypes())
    return emitOpError() << "expected inputs, and results of their types";
  if (failed(verifyOneShape(*this, "inputs", getInputs())))
    return failure();
  int64_t rank = shapeOf(getInputs().front()).size();
  int64_t dimension = getDimension();
  if (dimension < -rank || dimension >= rank)
    return emitOpError() << "expected a dimension from " << -rank << " to "
                         << rank - 1 << " but got " << dimension;
  // (C2)
  SmallVector<Type> arguments;
  for (Value input : getInputs())
    arguments.append(2, scalarOf(input));
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return verifyRegion(*this, "the comparator", getComparator(), arguments,
                      pred);
}

LogicalResult MapOp::verify() {
  // (C1)
  int64_t rank = shapeOf(getResult()).size();
  if (!llvm::equal(getDimensions(), llvm::seq<int64_t>(0, rank)))
    return emitOpError() << "expected dimensions 0.." << rank - 1
                         << " in order but got " << text(getDimensions());
  // (C2)
  SmallVector<Type> arguments;
  for (Value input : getInputs())
    arguments.push_back(scalarOf(input));
  return verifyRegion(*this, "the body", getComputation(), arguments,
                      scalarOf(getResult()));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult WhileOp::verify() {
  // (C1)
  TypeRange types = getOperandTypes();
  if (types != getResultTypes())
    return emitOpError() << "expected results of the operands' types";
  // (C2)
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyRegion(*this, "the condition", getCond(), types, pred)))
    return failure();
  return verifyRegion(*this, "the body", getBody(), types, types);
}

LogicalResult IfOp::verify() {
  // (C1)
  if (!shapeOf(getPred()).empty())
    return emitOpError() << "expected a scalar predicate but got "
                         << getPred().getType();
  if (failed(verifyRegion(*this, "the true branch", getTrueBranch(), {},
                          getResultTypes())))
    return failure();
  return verifyRegion(*this, "the false branch", getFalseBranch(), {},
                      getResultTypes());
}

LogicalResult CaseOp::verify() {
  // (C1)
  if (getBranches().empty())
    return emitOpError() << "expected at least one branch";
  for (auto [i, branch] : llvm::enumerate(getBranches()))
    if (failed(verifyRegion(*this, "branch " + std::to_string(i), branch, {},
                            getResultTypes())))
      return failure();
  return success();
}
