// Operations whose result depends on an order: sort and top_k by merging,
// scatter by applying its updates one after the other.

#include "Fusion/OrderStages.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::sp {

using namespace stablehlo;
using arith::CmpIPredicate;

/// What is read at data-dependent places again and again must lie in memory.
void OrderStages::requireStored(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || readFrom.count(value) || rowScalars.count(value))
    return;
  wantsAgain |= stored.insert(value).second;
}

/// Sorts the lines of `inputs` along `dimension` and hands their order to
/// `finish`: place in the line, position it comes from. `isLess` compares the
/// elements at two positions. Stable: the right one goes first only if it is
/// less.
void OrderStages::emitMergeSort(
    ValueRange inputs, int64_t dimension, int64_t rowLines,
    function_ref<Value(ArrayRef<Scalar>)> isLess,
    function_ref<void(Index, Index, const Index &, const Index &)> finish) {
  ArrayRef<int64_t> shape = shapeOf(inputs[0]);
  int64_t size = shape[dimension];
  int64_t after = countOf(shape.drop_front(dimension + 1));
  for (Value input : inputs)
    requireStored(input);
  Type i64 = b.getI64Type();
  ElementForm position(i64);
  Value first = addTemporary(i64, size), second = addTemporary(i64, size);
  const void *owner = inputs[0].getAsOpaquePointer();
  auto number = [&](int64_t value) { return s.i64(value); };

  emitLoops(plan(owner, 10, rowLines), [&](const Index &line) {
    std::pair<Index, Index> place = space.divMod(line, after);
    const Index outer = place.first, within = place.second;
    Index rowOuter = space.add(space.scale(row, rowLines / after), outer);
    auto elements = [&](const Index &at) {
      Index flat = space.add(
          space.scale(space.add(space.scale(rowOuter, size), at), after),
          within);
      Scalars scalars;
      for (Value input : inputs)
        scalars.push_back(elementAt(input, space.delinearise(flat, shape)));
      return scalars;
    };
    auto loadAt = [&](Value base, Value at) {
      return s.load(base, at, position).value;
    };
    emitLoops(plan(owner, 11, size), [&](const Index &at) {
      Value value = space.materialise(b, loc, at);
      s.store(first, value, {value, {}}, position);
    });

    int64_t passes = llvm::Log2_64_Ceil(std::max<int64_t>(size, 1));
    auto pass = scf::ForOp::create(b, loc, number(0), number(passes), number(1),
                                   ValueRange{first, second});
    {
      OpBuilder::InsertionGuard inPass(b);
      b.setInsertionPointToStart(pass.getBody());
      Value from = pass.getRegionIterArg(0), to = pass.getRegionIterArg(1);
      Value width =
          arith::ShLIOp::create(b, loc, number(1), pass.getInductionVar());
      Value twice = arith::AddIOp::create(b, loc, width, width);
      auto run = scf::ForOp::create(b, loc, number(0), number(size), twice);
      scf::YieldOp::create(b, loc, ValueRange{to, from});
      b.setInsertionPointToStart(run.getBody());
      Value low = run.getInductionVar();
      auto upTo = [&](Value distance) -> Value {
        Value end = arith::AddIOp::create(b, loc, low, distance);
        return arith::MinSIOp::create(b, loc, end, number(size));
      };
      Value middle = upTo(width), high = upTo(twice);
      auto merge = scf::ForOp::create(b, loc, low, high, number(1),
                                      ValueRange{low, middle});
      b.setInsertionPointToStart(merge.getBody());
      scopes.emplace_back();
      Value left = merge.getRegionIterArg(0), right = merge.getRegionIterArg(1);
      auto candidate = [&](Value at) -> Value {
        Value safe = arith::MinSIOp::create(b, loc, at, number(size - 1));
        return loadAt(from, safe);
      };
      Value leftAt = candidate(left), rightAt = candidate(right);
      Scalars leftElements = elements(space.addValue(leftAt, {0, size - 1}));
      Scalars rightElements = elements(space.addValue(rightAt, {0, size - 1}));
      Scalars arguments;
      for (auto [r, l] : llvm::zip_equal(rightElements, leftElements)) {
        arguments.push_back(r);
        arguments.push_back(l);
      }
      Value rightFirst = outcome == Outcome::Done ? isLess(arguments)
                                                  : s.integer(b.getI1Type(), 0);
      if (!rightFirst)
        rightFirst = s.integer(b.getI1Type(), 0);
      auto below = [&](Value x, Value y) -> Value {
        return arith::CmpIOp::create(b, loc, CmpIPredicate::slt, x, y);
      };
      Value hasRight = below(right, high), hasLeft = below(left, middle);
      Value no = s.integer(b.getI1Type(), 0), yes = s.integer(b.getI1Type(), 1);
      Value takeRight = arith::SelectOp::create(
          b, loc, hasLeft,
          arith::SelectOp::create(b, loc, hasRight, rightFirst, no), yes);
      Value chosen =
          arith::SelectOp::create(b, loc, takeRight, rightAt, leftAt);
      s.store(to, merge.getInductionVar(), {chosen, {}}, position);
      Value stepRight = arith::ExtUIOp::create(b, loc, i64, takeRight);
      Value stepLeft = arith::SubIOp::create(b, loc, number(1), stepRight);
      Value nextLeft = arith::AddIOp::create(b, loc, left, stepLeft);
      Value nextRight = arith::AddIOp::create(b, loc, right, stepRight);
      scf::YieldOp::create(b, loc, ValueRange{nextLeft, nextRight});
      scopes.pop_back();
    }
    Value order = pass.getResult(0);
    emitLoops(plan(owner, 12, size), [&](const Index &at) {
      Value from = loadAt(order, space.materialise(b, loc, at));
      finish(outer, within, at, space.addValue(from, {0, size - 1}));
    });
  });
}

void OrderStages::emitSort(SortOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  int64_t dim = op.getDimension();
  if (dim < 0)
    dim += shape.size();
  int64_t size = shape[dim], after = countOf(shape.drop_front(dim + 1));
  int64_t rowElements = rowSize(op->getResult(0));
  if (rowElements % (size * after) != 0)
    return fail(Outcome::NotByRows, loc, "expected rows to hold whole lines");
  Index rowOuterBase = space.scale(row, rowElements / (size * after));
  emitMergeSort(
      op.getInputs(), dim, rowElements / size,
      [&](ArrayRef<Scalar> pairs) {
        Scalars less = evaluate(op.getComparator(), pairs);
        return outcome == Outcome::Done ? less[0].value : Value();
      },
      [&](const Index &outer, const Index &within, const Index &place,
          const Index &from) {
        auto flat = [&](const Index &line, const Index &at) {
          return space.add(
              space.scale(space.add(space.scale(line, size), at), after),
              within);
        };
        Index rowOuter = space.add(rowOuterBase, outer);
        for (auto [input, result] :
             llvm::zip_equal(op.getInputs(), op->getResults())) {
          Scalar element =
              elementAt(input, space.delinearise(flat(rowOuter, from), shape));
          if (outcome == Outcome::Done)
            storeElement(result, flat(outer, place), element);
        }
      });
}

void OrderStages::emitTopK(chlo::TopKOp op) {
  Value operand = op.getOperand();
  ArrayRef<int64_t> shape = shapeOf(operand);
  int64_t size = shape.back(), kept = op.getK();
  if (kept == 0)
    return;
  int64_t rowElements = rowSize(op.getValues());
  if (rowElements % kept != 0)
    return fail(Outcome::NotByRows, loc, "expected rows to hold whole lines");
  int64_t lines = rowElements / kept;
  emitMergeSort(
      operand, shape.size() - 1, lines,
      [&](ArrayRef<Scalar> pairs) {
        return s.compare(pairs[0], pairs[1], elementOf(operand),
                         ComparisonDirection::GT, ComparisonType::TOTALORDER);
      },
      [&](const Index &outer, const Index &, const Index &place,
          const Index &from) {
        Value at = space.materialise(b, loc, place);
        Value isKept =
            arith::CmpIOp::create(b, loc, CmpIPredicate::slt, at, s.i64(kept));
        auto branch = scf::IfOp::create(b, loc, isKept, false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        scopes.emplace_back();
        Index line = space.add(space.scale(row, lines), outer);
        Index source = space.add(space.scale(line, size), from);
        Scalar element = elementAt(operand, space.delinearise(source, shape));
        Index target = space.add(space.scale(outer, kept), place);
        if (outcome == Outcome::Done) {
          storeElement(op.getValues(), target, element);
          storeElement(op.getIndices(), target,
                       s.fromIndex(space.materialise(b, loc, from),
                                   elementOf(op.getIndices())));
        }
        scopes.pop_back();
      });
}

void OrderStages::emitScatter(ScatterOp op) {
  if (rowCount != 1)
    return fail(Outcome::NotByRows, loc, "expected updates to stay in rows");
  const void *owner = op.getAsOpaquePointer();
  for (unsigned number = 0; number < op->getNumResults(); ++number) {
    Value input = op.getInputs()[number], result = op->getResult(number);
    if (isOverwritten(input))
      continue;
    emitLoops(plan(owner, 20 + number, rowSize(result)),
              [&](const Index &flat) {
                Scalar element =
                    elementAt(input, space.delinearise(flat, shapeOf(result)));
                if (outcome == Outcome::Done)
                  storeElement(result, flat, element);
              });
  }

  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  ArrayRef<int64_t> updateShape = shapeOf(op.getUpdates()[0]);
  int64_t vectorDim = numbers.getIndexVectorDim();
  bool hasVector = vectorDim < int64_t(shapeOf(op.getScatterIndices()).size());
  emitLoops(plan(owner, 0, countOf(updateShape)), [&](const Index &update) {
    Indices at = space.delinearise(update, updateShape), batch;
    for (auto [dim, index] : llvm::enumerate(at))
      if (!llvm::is_contained(numbers.getUpdateWindowDims(), int64_t(dim)))
        batch.push_back(index);
    SmallVector<Value> target(shape.size());
    auto addTo = [&](int64_t dim, Value value) {
      target[dim] =
          target[dim]
              ? arith::AddIOp::create(b, loc, target[dim], value).getResult()
              : value;
    };
    for (auto [component, dim] :
         llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
      Indices place(batch);
      if (hasVector)
        place.insert(place.begin() + vectorDim, Index(component));
      addTo(dim, rawIndex(op.getScatterIndices(), place));
    }
    for (auto [dim, indexDim] :
         llvm::zip_equal(numbers.getInputBatchingDims(),
                         numbers.getScatterIndicesBatchingDims()))
      addTo(dim, space.materialise(b, loc,
                                   batch[indexDim - (indexDim > vectorDim)]));
    unsigned next = 0;
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      if (!llvm::is_contained(numbers.getInsertedWindowDims(), dim) &&
          !llvm::is_contained(numbers.getInputBatchingDims(), dim))
        addTo(dim, space.materialise(
                       b, loc, at[numbers.getUpdateWindowDims()[next++]]));
    Scalars updates;
    for (Value value : op.getUpdates())
      updates.push_back(elementAt(value, at));
    if (outcome != Outcome::Done)
      return;

    Value inside = s.integer(b.getI1Type(), 1);
    Index flat;
    for (auto [value, size] : llvm::zip_equal(target, shape)) {
      if (!value)
        value = s.i64(0);
      Value fits =
          arith::CmpIOp::create(b, loc, CmpIPredicate::ult, value, s.i64(size));
      inside = both(inside, fits);
      flat = space.add(space.scale(flat, size),
                       space.addValue(value, {0, size - 1}));
    }
    auto branch = scf::IfOp::create(b, loc, inside, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scopes.emplace_back();
    Scalars arguments;
    for (Value result : op->getResults()) {
      const Buffer &buffer = buffers[readFrom[result]];
      arguments.push_back(
          s.load(buffer.pointer, space.materialise(b, loc, flat), buffer.form));
    }
    arguments.append(updates);
    Scalars combined = evaluate(op.getUpdateComputation(), arguments);
    if (outcome == Outcome::Done)
      for (auto [result, scalar] : llvm::zip_equal(op->getResults(), combined))
        storeElement(result, flat, scalar);
    scopes.pop_back();
  });
}

} // namespace mlir::sp
