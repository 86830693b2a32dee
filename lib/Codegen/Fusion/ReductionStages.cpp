// Reductions and contractions: out[o] = body over r of element(o, r). Where the
// reduced elements are the contiguous ones, the accumulators are registers and
// the reduced loops innermost; otherwise a row of accumulators lies in memory
// and the loops over it are innermost, so that both forms vectorise.

#include "Fusion/ReductionStages.h"
#include "Scalar/ScalarApply.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::sp {

using namespace stablehlo;

/// f32 sums of more terms than this, one after the other, are kept in f64.
static constexpr int64_t kLongSum = 512;
/// Terms that one pass over accumulators in memory adds.
static constexpr int64_t kJam = 4;

/// The commutative operation that `region` consists of, if it is one.
static Operation *singleOperation(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return nullptr;
  Operation *op = &block.front();
  if (!isa<AddOp, MulOp, MaxOp, MinOp, AndOp, OrOp, XorOp>(op) ||
      block.getTerminator()->getOperand(0) != op->getResult(0))
    return nullptr;
  Value x = op->getOperand(0), y = op->getOperand(1);
  Value first = block.getArgument(0), second = block.getArgument(1);
  bool both = (x == first && y == second) || (x == second && y == first);
  return both ? op : nullptr;
}

/// Whether the reduced elements of `op` are its contiguous ones.
bool reducesInRegisters(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    bool result = true;
    for (auto [dim, size] : llvm::enumerate(shapeOf(op->getOperand(0))))
      if (size > 1)
        result = llvm::is_contained(reduce.getDimensions(), int64_t(dim));
    return result;
  }
  // Unit stride along the result's last dimension, if that is the right
  // operand's last; else along what is contracted.
  if (isa<DotGeneralOp, DotOp>(op)) {
    ArrayRef<int64_t> rhs = shapeOf(op->getOperand(1));
    int64_t last = rhs.size() - 1;
    auto dot = dyn_cast<DotGeneralOp>(op);
    if (last < 0 || rhs[last] == 1 || (!dot && last == 0))
      return true;
    if (!dot)
      return false;
    auto numbers = dot.getDotDimensionNumbers();
    return llvm::is_contained(numbers.getRhsContractingDimensions(), last) ||
           llvm::is_contained(numbers.getRhsBatchingDimensions(), last);
  }
  if (auto conv = dyn_cast<ConvolutionOp>(op)) {
    auto numbers = conv.getDimensionNumbers();
    int64_t last = shapeOf(conv.getResult()).size() - 1;
    return numbers.getOutputFeatureDimension() != last ||
           numbers.getKernelOutputFeatureDimension() != last ||
           conv.getFeatureGroupCount() > 1 || conv.getBatchGroupCount() > 1;
  }
  return true;
}

/// What all threads of a block have together, for each of them.
ReductionStages::Scalars
ReductionStages::combineThreads(const Reduction &reduction,
                                ArrayRef<Scalar> partial) {
  if (rowsOf != RowsOf::Block || outcome != Outcome::Done)
    return Scalars(partial.begin(), partial.end());
  // Narrow sums stay wide.
  SmallVector<std::pair<Value, ElementForm>> slots;
  for (Type type : reduction.types) {
    ElementForm form(type);
    Type wide = form.isFloat ? form.compute : type;
    slots.push_back(
        {addTemporary(wide, threads, /*isShared=*/true), ElementForm(wide)});
  }
  auto load = [&](Value at) {
    Scalars values;
    for (auto &[pointer, form] : slots)
      values.push_back(s.load(pointer, at, form));
    return values;
  };
  auto store = [&](Value at, ArrayRef<Scalar> values) {
    for (auto [slot, value] : llvm::zip_equal(slots, values))
      s.store(slot.first, at, value, slot.second);
  };
  store(thread, partial);
  gpu::BarrierOp::create(b, loc);
  emitLoop(s.i64(0), s.i64(llvm::Log2_64(threads)), s.i64(1), 1, {},
           [&](Value level, ValueRange) {
             Value distance = arith::ShLIOp::create(b, loc, s.i64(1), level);
             Value mask = arith::SubIOp::create(
                 b, loc, arith::AddIOp::create(b, loc, distance, distance),
                 s.i64(1));
             Value takes = arith::CmpIOp::create(
                 b, loc, arith::CmpIPredicate::eq,
                 arith::AndIOp::create(b, loc, thread, mask), s.i64(0));
             auto branch = scf::IfOp::create(b, loc, takes, false);
             {
               OpBuilder::InsertionGuard guard(b);
               b.setInsertionPointToStart(branch.thenBlock());
               Value other = arith::AddIOp::create(b, loc, thread, distance);
               Scalars sum = reduction.combine(load(thread), load(other));
               if (outcome == Outcome::Done)
                 store(thread, sum);
             }
             gpu::BarrierOp::create(b, loc);
             return SmallVector<Value>();
           });
  return load(s.i64(0));
}

void ReductionStages::emitRegisterReduction(Reduction &reduction,
                                            int64_t inner) {
  const void *owner = reduction.results[0].getAsOpaquePointer();
  auto one = [&](const Index &index) {
    Indices out = space.delinearise(rowFlat(reduction.results[0], index),
                                    reduction.outShape);
    Scalars init = reduction.init();
    if (outcome != Outcome::Done)
      return init;
    auto step = [&](const Index &flat, ValueRange state) {
      Scalars next =
          reduction.step(out, space.delinearise(flat, reduction.reducedShape),
                         unflatten(state, reduction.types));
      return outcome == Outcome::Done ? flatten(next)
                                      : SmallVector<Value>(state);
    };
    int64_t terms = countOf(reduction.reducedShape);
    if (inner > 1 || !reduction.combine)
      return unflatten(emitLoops(plan(owner, 1, terms), flatten(init), step),
                       reduction.types);
    return combineThreads(
        reduction, unflatten(emitSpread(owner, 1, terms, flatten(init), step,
                                        /*inOrder=*/!reduction.commutes),
                             reduction.types));
  };
  auto finish = [&](const Index &index, ArrayRef<Scalar> sums) {
    for (auto [value, sum, type] :
         llvm::zip_equal(reduction.results, sums, reduction.types)) {
      Scalar scalar = s.convert(sum, type, elementOf(value));
      storeElement(value, index, scalar);
      if (inner == 1)
        setRowScalar(value, scalar);
    }
  };
  if (inner == 1) {
    finish(Index(0), one(Index(0)));
    return;
  }
  emitSpread(owner, 0, inner,
             [&](const Index &index) { finish(index, one(index)); });
}

void ReductionStages::emitBufferReduction(Reduction &reduction, int64_t inner) {
  const void *owner = reduction.results[0].getAsOpaquePointer();
  // Accumulators: the result's own memory if it keeps their precision.
  struct Sums {
    Value pointer;
    ElementForm form;
    bool isResult;
  };
  std::vector<Sums> sums;
  for (auto [value, type] :
       llvm::zip_equal(reduction.results, reduction.types)) {
    ElementForm form(elementOf(value));
    bool exact = type == form.element && form.storage == form.compute;
    // Narrow accumulators stay in f32.
    Type wide = form.isFloat && type == form.element ? form.compute : type;
    if (exact)
      sums.push_back({buffers[readFrom[value]].pointer, form, true});
    if (!exact)
      sums.push_back({addTemporary(wide, inner), ElementForm(wide), false});
  }
  auto place = [&](unsigned i, const Index &index) -> Value {
    Value value = reduction.results[i];
    bool whole = sums[i].isResult && !buffers[readFrom[value]].isTemporary;
    return space.materialise(b, loc, whole ? rowFlat(value, index) : index);
  };
  emitLoops(plan(owner, 0, inner), [&](const Index &index) {
    for (auto [i, init] : llvm::enumerate(reduction.init()))
      if (outcome == Outcome::Done)
        s.store(sums[i].pointer, place(i, index), init, sums[i].form);
  });
  int64_t terms = countOf(reduction.reducedShape);
  int64_t jam = terms % kJam == 0 ? kJam : 1;
  emitLoops(plan(owner, 1, terms / jam), [&](Index block) {
    emitLoops(plan(owner, 2, inner), [&](const Index &index) {
      Indices out = space.delinearise(rowFlat(reduction.results[0], index),
                                      reduction.outShape);
      Scalars state;
      for (unsigned i = 0; i < sums.size(); ++i)
        state.push_back(s.load(sums[i].pointer, place(i, index), sums[i].form));
      for (int64_t term = 0; term < jam && outcome == Outcome::Done; ++term) {
        Index flat = space.add(space.scale(block, jam), Index(term));
        state = reduction.step(
            out, space.delinearise(flat, reduction.reducedShape), state);
      }
      for (unsigned i = 0; i < sums.size() && outcome == Outcome::Done; ++i)
        s.store(sums[i].pointer, place(i, index), state[i], sums[i].form);
    });
  });
  bool copies =
      llvm::any_of(sums, [](const Sums &sum) { return !sum.isResult; });
  for (auto [i, value] : llvm::enumerate(reduction.results))
    copies |= writeTo[value].size() > 1;
  if (!copies)
    return;
  emitLoops(plan(owner, 3, inner), [&](const Index &index) {
    for (auto [i, value] : llvm::enumerate(reduction.results)) {
      Scalar sum = s.load(sums[i].pointer, place(i, index), sums[i].form);
      storeElement(value, index,
                   s.convert(sum, sums[i].form.element, elementOf(value)));
    }
  });
}

void ReductionStages::emitReduction(Reduction &reduction) {
  int64_t inner = rowSize(reduction.results[0]);
  // On a GPU neighbouring elements are neighbouring threads'.
  if (reduction.inRegisters || inner == 1 || rowsOf != RowsOf::Tile)
    emitRegisterReduction(reduction, inner);
  else
    emitBufferReduction(reduction, inner);
}

void ReductionStages::emitReduce(ReduceOp op) {
  Reduction reduction;
  reduction.results.assign(op->result_begin(), op->result_end());
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  ArrayRef<int64_t> dims = op.getDimensions();
  SmallVector<bool> isReduced(shape.size(), false);
  for (int64_t dim : dims)
    isReduced[dim] = true;
  reduction.outShape.assign(shapeOf(op->getResult(0)).begin(),
                            shapeOf(op->getResult(0)).end());
  for (auto [size, reduced] : llvm::zip_equal(shape, isReduced))
    if (reduced)
      reduction.reducedShape.push_back(size);
  reduction.inRegisters = reducesInRegisters(op);
  Operation *single = singleOperation(op.getBody());
  for (Value result : op->getResults())
    reduction.types.push_back(elementOf(result));
  bool isSum = single && isa<AddOp>(single) && reduction.types[0].isF32();
  if (isSum && !reduction.inRegisters &&
      countOf(reduction.reducedShape) > kLongSum)
    reduction.types[0] = b.getF64Type();

  auto combine = [&, op, single](ArrayRef<Scalar> arguments) mutable {
    if (!single)
      return evaluate(op.getBody(), arguments);
    s.allowReassociation(true);
    ElementForm form(reduction.types[0]);
    Scalar next = isa<AddOp>(single) ? s.add(arguments[0], arguments[1], form)
                                     : applyToScalars(s, single, arguments);
    s.allowReassociation(false);
    return Scalars{next};
  };
  reduction.init = [&, op]() mutable {
    Scalars init;
    for (auto [value, type] :
         llvm::zip_equal(op.getInitValues(), reduction.types)) {
      Scalar scalar = elementAt(value, {});
      if (outcome != Outcome::Done)
        return Scalars{scalar};
      init.push_back(s.convert(scalar, elementOf(value), type));
    }
    return init;
  };
  reduction.step = [&, op](ArrayRef<Index> out, ArrayRef<Index> reduced,
                           ArrayRef<Scalar> state) mutable {
    Indices indices;
    unsigned nextOut = 0, nextReduced = 0;
    for (bool isReducedDim : isReduced)
      indices.push_back(isReducedDim ? reduced[nextReduced++] : out[nextOut++]);
    Scalars arguments(state.begin(), state.end());
    for (auto [input, type] :
         llvm::zip_equal(op.getInputs(), reduction.types)) {
      Scalar element = elementAt(input, indices);
      if (outcome != Outcome::Done)
        return Scalars();
      arguments.push_back(s.convert(element, elementOf(input), type));
    }
    return combine(arguments);
  };
  reduction.commutes = single;
  reduction.combine = [&](ArrayRef<Scalar> first, ArrayRef<Scalar> second) {
    Scalars arguments(first.begin(), first.end());
    arguments.append(second.begin(), second.end());
    return combine(arguments);
  };
  emitReduction(reduction);
}

void ReductionStages::emitDot(Operation *op, ArrayRef<int64_t> lhsBatch,
                              ArrayRef<int64_t> rhsBatch,
                              ArrayRef<int64_t> lhsContracting,
                              ArrayRef<int64_t> rhsContracting) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  Value result = op->getResult(0);
  Reduction reduction;
  reduction.results.push_back(result);
  reduction.outShape.assign(shapeOf(result).begin(), shapeOf(result).end());
  for (int64_t dim : lhsContracting)
    reduction.reducedShape.push_back(shapeOf(lhs)[dim]);
  reduction.types.push_back(elementOf(result));
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
    // Result dimensions: batching, free left, free right.
    Indices lhsAt(shapeOf(lhs).size()), rhsAt(shapeOf(rhs).size());
    unsigned next = 0;
    for (auto [l, r] : llvm::zip_equal(lhsBatch, rhsBatch))
      lhsAt[l] = rhsAt[r] = out[next++];
    for (auto [i, l, r] : llvm::enumerate(lhsContracting, rhsContracting))
      lhsAt[l] = rhsAt[r] = reduced[i];
    auto fill = [&](Indices &at, ArrayRef<int64_t> batch,
                    ArrayRef<int64_t> contracting) {
      for (int64_t dim = 0; dim < int64_t(at.size()); ++dim)
        if (!llvm::is_contained(batch, dim) &&
            !llvm::is_contained(contracting, dim))
          at[dim] = out[next++];
    };
    fill(lhsAt, lhsBatch, lhsContracting);
    fill(rhsAt, rhsBatch, rhsContracting);
    Scalar x = elementAt(lhs, lhsAt), y = elementAt(rhs, rhsAt);
    if (outcome != Outcome::Done)
      return Scalars();
    x = s.convert(x, elementOf(lhs), elementOf(result));
    y = s.convert(y, elementOf(rhs), elementOf(result));
    s.allowReassociation(true);
    Scalars sum{s.add(state[0], s.multiply(x, y, form), form)};
    s.allowReassociation(false);
    return sum;
  };
  reduction.commutes = true;
  reduction.combine = [&](ArrayRef<Scalar> first, ArrayRef<Scalar> second) {
    return Scalars{s.add(first[0], second[0], form)};
  };
  emitReduction(reduction);
}

} // namespace mlir::sp
