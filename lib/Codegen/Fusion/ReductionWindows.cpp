// Windows: reduce_window (with cumulative reductions as one running pass) and
// convolution. Places outside the operand are skipped.

#include "Fusion/ReductionStages.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::sp {

using namespace stablehlo;

/// Window attributes with their defaults filled in.
struct WindowDim {
  int64_t size, stride, baseDilation, windowDilation, low, high;
};

static int64_t entry(std::optional<ArrayRef<int64_t>> values, unsigned i,
                     int64_t absent) {
  return values ? (*values)[i] : absent;
}

static int64_t padding(std::optional<DenseIntElementsAttr> values, unsigned i) {
  return values ? values->getValues<APInt>()[i].getSExtValue() : 0;
}

static SmallVector<WindowDim> windowOf(ReduceWindowOp op) {
  SmallVector<WindowDim> window;
  for (auto [i, size] : llvm::enumerate(op.getWindowDimensions()))
    window.push_back({size, entry(op.getWindowStrides(), i, 1),
                      entry(op.getBaseDilations(), i, 1),
                      entry(op.getWindowDilations(), i, 1),
                      padding(op.getPadding(), 2 * i),
                      padding(op.getPadding(), 2 * i + 1)});
  return window;
}

/// A window as long as one dimension, padded on one side: each element adds to
/// the sum so far.
bool ReductionStages::emitCumulative(ReduceWindowOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  SmallVector<WindowDim> window = windowOf(op);
  int64_t dim = -1;
  bool fromBack = false;
  for (auto [i, w] : llvm::enumerate(window)) {
    if (w.stride != 1 || w.baseDilation != 1 || w.windowDilation != 1)
      return false;
    if (w.size == 1 && w.low == 0 && w.high == 0)
      continue;
    bool forward = w.low == shape[i] - 1 && w.high == 0;
    bool backward = w.low == 0 && w.high == shape[i] - 1;
    if (dim >= 0 || w.size != shape[i] || !(forward || backward))
      return false;
    dim = i;
    fromBack = backward;
  }
  if (dim < 0 || shape[dim] == 1)
    return false;
  // Lines must lie within rows.
  Value first = op->getResult(0);
  int64_t after = countOf(shape.drop_front(dim + 1));
  if (rowSize(first) % (shape[dim] * after) != 0) {
    fail(Outcome::NotByRows, loc, "expected rows to hold whole lines");
    return true;
  }
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(elementOf(result));
  auto addOp = llvm::hasNItems(op.getBody().front(), 2)
                   ? dyn_cast<AddOp>(op.getBody().front().front())
                   : AddOp();
  bool widen = addOp && types.size() == 1 && types[0].isF32();
  if (widen)
    types[0] = b.getF64Type();

  const void *owner = first.getAsOpaquePointer();
  int64_t lines = rowSize(first) / shape[dim];
  emitLoops(plan(owner, 0, lines), [&](const Index &line) {
    auto [outer, within] = space.divMod(line, after);
    Index base = space.add(space.scale(outer, shape[dim] * after), within);
    SmallVector<Value> state;
    for (auto [value, type] : llvm::zip_equal(op.getInitValues(), types)) {
      Scalar scalar = elementAt(value, {});
      if (outcome != Outcome::Done)
        return;
      state.append(flatten(s.convert(scalar, elementOf(value), type)));
    }
    emitLoops(
        plan(owner, 1, shape[dim]), state,
        [&](const Index &step, ValueRange sums) {
          Index at =
              fromBack ? space.add(Index(shape[dim] - 1), space.scale(step, -1))
                       : step;
          Index flat = space.add(base, space.scale(at, after));
          Indices indices = space.delinearise(rowFlat(first, flat), shape);
          Scalars arguments = unflatten(sums, types);
          for (auto [input, type] : llvm::zip_equal(op.getInputs(), types)) {
            Scalar element = elementAt(input, indices);
            if (outcome != Outcome::Done)
              return SmallVector<Value>(sums);
            arguments.push_back(s.convert(element, elementOf(input), type));
          }
          Scalars next = widen ? Scalars{s.add(arguments[0], arguments[1],
                                               ElementForm(types[0]))}
                               : evaluate(op.getBody(), arguments);
          if (outcome != Outcome::Done)
            return SmallVector<Value>(sums);
          for (auto [value, sum, type] :
               llvm::zip_equal(op->getResults(), next, types))
            storeElement(value, flat, s.convert(sum, type, elementOf(value)));
          return flatten(next);
        });
  });
  return true;
}

void ReductionStages::emitReduceWindow(ReduceWindowOp op) {
  if (emitCumulative(op))
    return;
  SmallVector<WindowDim> window = windowOf(op);
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  Reduction reduction;
  reduction.results.assign(op->result_begin(), op->result_end());
  reduction.outShape.assign(shapeOf(op->getResult(0)).begin(),
                            shapeOf(op->getResult(0)).end());
  for (const WindowDim &w : window)
    reduction.reducedShape.push_back(w.size);
  for (Value result : op->getResults())
    reduction.types.push_back(elementOf(result));
  reduction.init = [&] {
    Scalars init;
    for (Value value : op.getInitValues())
      init.push_back(elementAt(value, {}));
    return init;
  };
  reduction.step = [&](ArrayRef<Index> out, ArrayRef<Index> reduced,
                       ArrayRef<Scalar> state) {
    Value inside;
    Indices indices;
    for (auto [o, r, w, size] : llvm::zip_equal(out, reduced, window, shape)) {
      Index at =
          space.add(space.scale(o, w.stride), space.scale(r, w.windowDilation));
      Guarded place = guard(space.add(at, Index(-w.low)), size, w.baseDilation);
      if (place.never)
        return Scalars(state);
      inside = both(inside, place.inside);
      indices.push_back(place.index);
    }
    Scalars arguments(state.begin(), state.end());
    for (Value input : op.getInputs())
      arguments.push_back(elementAt(input, indices));
    if (outcome != Outcome::Done)
      return Scalars();
    Scalars next = evaluate(op.getBody(), arguments);
    for (unsigned i = 0; inside && i < next.size(); ++i)
      if (outcome == Outcome::Done)
        next[i] = s.select(inside, next[i], state[i]);
    return next;
  };
  emitReduction(reduction);
}

void ReductionStages::emitConvolution(ConvolutionOp op) {
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  Value lhs = op.getLhs(), rhs = op.getRhs(), result = op.getResult();
  ArrayRef<int64_t> spatial = numbers.getOutputSpatialDimensions();
  int64_t groups = op.getFeatureGroupCount();
  int64_t batchGroups = op.getBatchGroupCount();
  int64_t features = shapeOf(rhs)[numbers.getKernelInputFeatureDimension()];
  int64_t perGroup = shapeOf(result)[numbers.getOutputFeatureDimension()] /
                     std::max(groups, batchGroups);
  Reduction reduction;
  reduction.results.push_back(result);
  reduction.types.push_back(elementOf(result));
  reduction.outShape.assign(shapeOf(result).begin(), shapeOf(result).end());
  for (int64_t dim : numbers.getKernelSpatialDimensions())
    reduction.reducedShape.push_back(shapeOf(rhs)[dim]);
  reduction.reducedShape.push_back(features);
  reduction.inRegisters = reducesInRegisters(op);
  ElementForm form(elementOf(result));
  reduction.init = [&] {
    if (form.isComplex)
      return Scalars{
          {s.number(form.compute, 0.0), s.number(form.compute, 0.0)}};
    return Scalars{{form.isFloat ? s.number(form.compute, 0.0)
                                 : s.integer(form.compute, 0),
                    {}}};
  };
  reduction.step = [&](ArrayRef<Index> out, ArrayRef<Index> reduced,
                       ArrayRef<Scalar> state) {
    Indices lhsAt(shapeOf(lhs).size()), rhsAt(shapeOf(rhs).size());
    Value inside;
    for (unsigned i = 0; i < spatial.size(); ++i) {
      int64_t kernelDim = numbers.getKernelSpatialDimensions()[i];
      int64_t inputDim = numbers.getInputSpatialDimensions()[i];
      rhsAt[kernelDim] = reduced[i];
      auto reversal = op.getWindowReversal();
      if (reversal && (*reversal)[i])
        rhsAt[kernelDim] = space.add(Index(shapeOf(rhs)[kernelDim] - 1),
                                     space.scale(reduced[i], -1));
      Index at = space.add(
          space.scale(out[spatial[i]], entry(op.getWindowStrides(), i, 1)),
          space.scale(reduced[i], entry(op.getRhsDilation(), i, 1)));
      at = space.add(at, Index(-padding(op.getPadding(), 2 * i)));
      Guarded place =
          guard(at, shapeOf(lhs)[inputDim], entry(op.getLhsDilation(), i, 1));
      if (place.never)
        return Scalars(state);
      inside = both(inside, place.inside);
      lhsAt[inputDim] = place.index;
    }
    Index feature = out[numbers.getOutputFeatureDimension()];
    Index group = space.divMod(feature, perGroup).first;
    lhsAt[numbers.getInputBatchDimension()] =
        out[numbers.getOutputBatchDimension()];
    lhsAt[numbers.getInputFeatureDimension()] = reduced.back();
    if (groups > 1)
      lhsAt[numbers.getInputFeatureDimension()] =
          space.add(space.scale(group, features), reduced.back());
    if (batchGroups > 1) {
      int64_t batch = shapeOf(result)[numbers.getOutputBatchDimension()];
      lhsAt[numbers.getInputBatchDimension()] = space.add(
          space.scale(group, batch), out[numbers.getOutputBatchDimension()]);
    }
    rhsAt[numbers.getKernelInputFeatureDimension()] = reduced.back();
    rhsAt[numbers.getKernelOutputFeatureDimension()] = feature;
    Scalar x = elementAt(lhs, lhsAt), y = elementAt(rhs, rhsAt);
    if (outcome != Outcome::Done)
      return Scalars();
    x = s.convert(x, elementOf(lhs), elementOf(result));
    y = s.convert(y, elementOf(rhs), elementOf(result));
    s.allowReassociation(!inside);
    Scalar sum = s.add(state[0], s.multiply(x, y, form), form);
    s.allowReassociation(false);
    return Scalars{inside ? s.select(inside, sum, state[0]) : sum};
  };
  emitReduction(reduction);
}

} // namespace mlir::sp
