// Which rows an operation keeps apart: the one table behind the clustering of
// kernels.

#include "KernelClusters.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "llvm/ADT/STLExtras.h"

namespace mlir::sp {

using namespace stablehlo;

RowCounts rowCounts(ArrayRef<int64_t> shape) {
  RowCounts counts = {1};
  int64_t count = 1;
  for (int64_t size : shape)
    counts.insert(count *= size);
  return counts;
}

static RowCounts leading(ArrayRef<int64_t> shape, int64_t dims) {
  return rowCounts(shape.take_front(dims));
}

RowCounts commonRows(const RowCounts &x, const RowCounts &y) {
  RowCounts both;
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(),
                        std::inserter(both, both.begin()));
  return both;
}

/// Leading dimensions that `from` shares with `to` in order, where operand
/// dimension i is result dimension `toDim[i]`; dimensions of size 1 do not
/// count.
static RowCounts mapped(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                        ArrayRef<int64_t> toDim) {
  RowCounts counts = {1};
  int64_t count = 1;
  unsigned next = 0;
  for (auto [dim, size] : llvm::enumerate(from)) {
    if (size == 1)
      continue;
    while (next < to.size() && to[next] == 1)
      ++next;
    if (toDim[dim] != int64_t(next) || next >= to.size() || to[next] != size)
      break;
    counts.insert(count *= size);
    ++next;
  }
  return counts;
}

static int64_t firstDim(ArrayRef<int64_t> dims, int64_t rank) {
  return dims.empty() ? rank : *llvm::min_element(dims);
}

/// The first dimension in which the two shapes differ.
static int64_t firstChange(ArrayRef<int64_t> x, ArrayRef<int64_t> y) {
  int64_t dim = 0;
  while (dim < int64_t(std::min(x.size(), y.size())) && x[dim] == y[dim])
    ++dim;
  return dim;
}

static RowCounts scanRows(ReduceWindowOp window) {
  ArrayRef<int64_t> shape = shapeOf(window.getInputs()[0]);
  ArrayRef<int64_t> sizes = window.getWindowDimensions();
  int64_t dim = 0;
  while (dim < int64_t(shape.size()) && sizes[dim] == 1 &&
         shape[dim] == shapeOf(window->getResult(0))[dim])
    ++dim;
  return leading(shape, dim);
}

RowCounts preservedRows(Operation *user, unsigned number) {
  Value operand = user->getOperand(number);
  ArrayRef<int64_t> from = shapeOf(operand);
  ArrayRef<int64_t> to = shapeOf(user->getResult(0));
  return llvm::TypeSwitch<Operation *, RowCounts>(user)
      .Case([&](BroadcastInDimOp broadcast) {
        return mapped(from, to, broadcast.getBroadcastDimensions());
      })
      .Case(
          [&](ReshapeOp) { return commonRows(rowCounts(from), rowCounts(to)); })
      .Case([&](TransposeOp transpose) {
        SmallVector<int64_t> toDim(from.size());
        for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
          toDim[dim] = i;
        return mapped(from, to, toDim);
      })
      .Case([&](ReverseOp reverse) {
        return leading(from, firstDim(reverse.getDimensions(), from.size()));
      })
      .Case<SliceOp, PadOp>([&](Operation *) {
        return number == 0 ? leading(from, firstChange(from, to))
                           : RowCounts{1};
      })
      .Case([&](ConcatenateOp concat) {
        return leading(from, concat.getDimension());
      })
      .Case([&](DynamicUpdateSliceOp update) {
        if (number > 1)
          return RowCounts{1};
        return leading(from, firstChange(shapeOf(update.getUpdate()), to));
      })
      .Case([&](ReduceOp reduce) {
        if (number >= reduce.getInputs().size())
          return RowCounts{1};
        // A dimension of 1 joins nothing.
        SmallVector<int64_t> dims(reduce.getDimensions());
        llvm::erase_if(dims, [&](int64_t dim) { return from[dim] == 1; });
        return leading(from, firstDim(dims, from.size()));
      })
      .Case([&](ReduceWindowOp window) {
        return number < window.getInputs().size() ? scanRows(window)
                                                  : RowCounts{1};
      })
      .Case([&](SortOp sort) {
        int64_t dim = sort.getDimension();
        return leading(from, dim < 0 ? dim + from.size() : dim);
      })
      .Case([&](chlo::TopKOp) { return leading(from, from.size() - 1); })
      // A contraction reads its operands many times: they come from memory.
      .Case<DotGeneralOp, DotOp, ConvolutionOp>(
          [&](Operation *) { return RowCounts(); })
      .Case([&](GatherOp gather) {
        auto numbers = gather.getDimensionNumbers();
        if (number == 0)
          return RowCounts{1};
        int64_t batch = firstDim(numbers.getOffsetDims(), to.size());
        if (numbers.getIndexVectorDim() < batch)
          batch = numbers.getIndexVectorDim();
        return commonRows(leading(to, batch), rowCounts(from));
      })
      .Case<DynamicSliceOp, ScatterOp, BroadcastOp, BitcastConvertOp>(
          [&](Operation *) { return RowCounts{1}; })
      .Default([&](Operation *) {
        return from == to ? rowCounts(to) : RowCounts{1};
      });
}

bool isLocal(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect != "stablehlo" && dialect != "chlo")
    return false;
  auto hasStaticTensors = [](TypeRange types) {
    return llvm::all_of(types, [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    });
  };
  if (op->getNumResults() == 0 || !hasStaticTensors(op->getResultTypes()) ||
      !hasStaticTensors(op->getOperandTypes()))
    return false;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return constant.getValue().isSplat();
  return !op->hasTrait<ControlFlow>() &&
         !isa<CustomCallOp, OptimizationBarrierOp>(op);
}

bool isStoredInKernel(Operation *op) {
  // On a single element, functions move out of every loop.
  return op->hasTrait<KernelStage>() ||
         (op->hasTrait<Costly>() && !shapeOf(op->getResult(0)).empty());
}

} // namespace mlir::sp
