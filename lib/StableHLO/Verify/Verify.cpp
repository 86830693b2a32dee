//===- Verify.cpp - What verifiers share ----------------------------------===//

#include "Verify/Verify.h"

namespace mlir::stablehlo {

bool sameShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
           return sameSize(std::get<0>(pair), std::get<1>(pair));
         });
}

std::string text(ArrayRef<int64_t> values) {
  std::string result = "[";
  llvm::raw_string_ostream stream(result);
  llvm::interleaveComma(values, stream, [&](int64_t value) {
    if (ShapedType::isDynamic(value))
      stream << '?';
    else
      stream << value;
  });
  stream << ']';
  return result;
}

LogicalResult verifyDims(Operation *op, StringRef name, ArrayRef<int64_t> dims,
                         int64_t rank, bool sorted) {
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << "expected " << name << " below rank " << rank
                               << " but got " << dim;
    if (!seen.insert(dim).second)
      return op->emitOpError()
             << "expected " << name << " to differ but got " << dim << " twice";
  }
  if (sorted && !llvm::is_sorted(dims))
    return op->emitOpError()
           << "expected " << name << " to ascend but got " << text(dims);
  return success();
}

LogicalResult verifyLength(Operation *op, StringRef name, int64_t length,
                           int64_t rank) {
  if (length == rank)
    return success();
  return op->emitOpError() << "expected " << rank << " values in " << name
                           << " but got " << length;
}

LogicalResult verifyShape(Operation *op, Value result,
                          ArrayRef<int64_t> expected) {
  auto type = cast<RankedTensorType>(result.getType());
  if (sameShape(expected, type.getShape()))
    return success();
  return op->emitOpError() << "expected a result of shape " << text(expected)
                           << " but got " << text(type.getShape());
}

LogicalResult verifyRegion(Operation *op, StringRef name, Region &region,
                           TypeRange arguments, TypeRange results) {
  if (region.getArgumentTypes() != arguments) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "expected " << name << " to take (";
    llvm::interleaveComma(arguments, diag);
    diag << ") but got (";
    llvm::interleaveComma(region.getArgumentTypes(), diag);
    return diag << ")";
  }
  Block &block = region.front();
  auto terminator =
      block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
  if (!terminator)
    return op->emitOpError()
           << "expected " << name << " to end in 'stablehlo.return'";
  if (terminator.getOperandTypes() == results)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected " << name << " to return (";
  llvm::interleaveComma(results, diag);
  diag << ") but got (";
  llvm::interleaveComma(terminator.getOperandTypes(), diag);
  diag << ")";
  diag.attachNote(terminator.getLoc()) << "returned here";
  return diag;
}

RankedTensorType scalarOf(Value value) {
  return RankedTensorType::get(
      {}, cast<RankedTensorType>(value.getType()).getElementType());
}

int64_t narrow(__int128 size) {
  constexpr int64_t limit = std::numeric_limits<int64_t>::max();
  return size > limit ? limit : size < -limit ? -limit : int64_t(size);
}

int64_t slideWindow(int64_t size, const WindowDim &window) {
  // Wide, because what a user may write multiplies to more than 64 bits.
  using Wide = __int128;
  Wide dilated = size == 0 ? 0 : Wide(size - 1) * window.baseDilation + 1;
  Wide padded = dilated + window.padLow + window.padHigh;
  Wide extent =
      window.size == 0 ? 0 : Wide(window.size - 1) * window.windowDilation + 1;
  return padded < extent ? 0 : narrow((padded - extent) / window.stride + 1);
}

FailureOr<SmallVector<WindowDim>>
makeWindow(Operation *op, ArrayRef<int64_t> sizes,
           std::optional<ArrayRef<int64_t>> strides,
           DenseIntElementsAttr padding,
           std::optional<ArrayRef<int64_t>> baseDilations,
           std::optional<ArrayRef<int64_t>> windowDilations) {
  int64_t rank = sizes.size();
  SmallVector<WindowDim> window(rank);
  for (auto [dim, size] : llvm::zip_equal(window, sizes))
    dim.size = size;
  auto assign = [&](std::optional<ArrayRef<int64_t>> values, StringRef name,
                    int64_t WindowDim::*member) -> LogicalResult {
    if (!values)
      return success();
    if (failed(verifyLength(op, name, values->size(), rank)))
      return failure();
    for (auto [dim, value] : llvm::zip_equal(window, *values)) {
      if (value < 1)
        return op->emitOpError()
               << "expected " << name << " of at least 1 but got " << value;
      dim.*member = value;
    }
    return success();
  };
  if (failed(assign(strides, "window_strides", &WindowDim::stride)) ||
      failed(
          assign(baseDilations, "base dilations", &WindowDim::baseDilation)) ||
      failed(assign(windowDilations, "window dilations",
                    &WindowDim::windowDilation)))
    return failure();
  if (!padding)
    return window;
  if (padding.getType().getShape() != ArrayRef<int64_t>({rank, 2}))
    return op->emitOpError()
           << "expected padding of shape " << text({rank, 2}) << " but got "
           << text(padding.getType().getShape());
  SmallVector<int64_t> values(padding.getValues<int64_t>());
  for (int64_t dim = 0; dim < rank; ++dim) {
    window[dim].padLow = values[2 * dim];
    window[dim].padHigh = values[2 * dim + 1];
  }
  return window;
}

} // namespace mlir::stablehlo
