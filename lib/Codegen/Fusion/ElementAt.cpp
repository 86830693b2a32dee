// The value of one element, computed where it is needed.

#include "Fusion/ElementSource.h"
#include "Scalar/ScalarApply.h"

#include "mlir/IR/Matchers.h"

namespace mlir::sp {

using namespace stablehlo;

/// Evaluations of one value in one stage before it is stored instead: many for
/// what is cheap, so that only chains that multiply (rotations of rotations)
/// end.
static constexpr unsigned kCostlyEvaluations = 2, kCheapEvaluations = 16;
/// Largest temporary that a kernel with a single row may ask for.
static constexpr int64_t kMaxTemporary = 1 << 22;

Scalar ElementSource::dummy(Value value) {
  Scalar scalar = s.extreme(elementOf(value), false);
  if (ElementForm(elementOf(value)).isComplex) {
    Type part = ElementForm(elementOf(value)).compute;
    scalar = {s.number(part, 0.0), s.number(part, 0.0)};
  }
  return scalar;
}

Scalar ElementSource::loadElement(const Buffer &buffer,
                                  ArrayRef<Index> indices) {
  Index flat = space.linearise(indices, buffer.shape);
  if (buffer.isWritten) {
    int64_t inner = countOf(buffer.shape) / rowCount;
    auto [owner, within] = space.divMod(flat, inner);
    if (!(owner == row)) {
      fail(Outcome::NotByRows, loc, "expected rows to be independent");
      return {};
    }
    if (buffer.isTemporary)
      flat = within;
  }
  if (rowsOf == RowsOf::Tile && inMapStage && !loops.empty())
    wantsRowBlock |= space.requestBlocks(flat, loops.back().variable, row);
  return s.load(buffer.pointer, space.materialise(b, loc, flat), buffer.form);
}

/// Whether a result has the element in another thread's few: it is computed
/// again.
bool ElementSource::isElsewhere(Value value, ArrayRef<Index> indices) {
  Operation *op = value.getDefiningOp();
  const Buffer &buffer = buffers[readFrom[value]];
  if (rowsOf != RowsOf::Thread || !op || op->hasTrait<KernelStage>() ||
      buffer.isTemporary || !buffer.isWritten)
    return false;
  Index flat = space.linearise(indices, buffer.shape);
  return !(space.divMod(flat, countOf(buffer.shape) / rowCount).first == row);
}

Scalar ElementSource::elementAt(Value value, ArrayRef<Index> indices) {
  if (outcome != Outcome::Done)
    return dummy(value);
  std::pair<void *, SmallVector<Index>> key(value.getAsOpaquePointer(),
                                            SmallVector<Index>(indices));
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->find(key); found != scope->end())
      return found->second;

  Scalar scalar;
  auto inRegister = rowScalars.find(value);
  auto inMemory = readFrom.find(value);
  if (inRegister != rowScalars.end()) {
    if (!(space.linearise(indices, shapeOf(value)) == row))
      fail(Outcome::NotByRows, loc, "expected rows to be independent");
    scalar = inRegister->second;
  } else if (inMemory != readFrom.end() && !isElsewhere(value, indices)) {
    scalar = loadElement(buffers[inMemory->second], indices);
  } else {
    noteCost(value, indices);
    scalar = compute(value, indices);
  }
  if (outcome != Outcome::Done)
    return dummy(value);
  scopes.back()[key] = scalar;
  return scalar;
}

/// Decides whether `value` should be stored, now that it is about to be
/// computed at `indices`: when another stage computed it already, when loops
/// that it does not depend on repeat it, or when it was computed too often.
void ElementSource::noteCost(Value value, ArrayRef<Index> indices) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getParentOp() != source || isa<ConstantOp, IotaOp>(op))
    return;
  bool costly = op->hasTrait<Costly>();
  bool wanted =
      ++evaluations[value] > (costly ? kCostlyEvaluations : kCheapEvaluations);
  if (costly) {
    auto [previous, isNew] = costlyStage.try_emplace(value, stage);
    wanted |= !isNew && previous->second != stage;
    // A loop inside the innermost one that matters is invariant; one around it
    // repeats the work.
    SmallVector<Value> used;
    for (const Index &index : indices)
      space.collectValues(index, used);
    bool matters = false;
    int64_t repeated = 1;
    for (const Loop &loop : llvm::reverse(loops)) {
      bool depends = llvm::is_contained(used, loop.variable);
      if (matters && !depends)
        repeated *= loop.extent;
      matters |= depends;
    }
    wanted |= repeated > 1;
  }
  if (!wanted || stored.count(value))
    return;
  // It must belong to the row.
  int64_t count = countOf(shapeOf(value));
  if (count % rowCount != 0)
    return;
  Index flat = space.linearise(indices, shapeOf(value));
  if (!(space.divMod(flat, count / rowCount).first == row))
    return;
  if (rowCount == 1 && count * 8 > kMaxTemporary)
    return;
  stored.insert(value);
  wantsAgain = true;
}

ElementSource::Scalars ElementSource::evaluate(Region &region,
                                               ArrayRef<Scalar> arguments) {
  scopes.emplace_back();
  Block &block = region.front();
  for (auto [argument, scalar] :
       llvm::zip_equal(block.getArguments(), arguments))
    scopes.back()[{argument.getAsOpaquePointer(), {}}] = scalar;
  Scalars results;
  for (Value result : block.getTerminator()->getOperands())
    results.push_back(elementAt(result, {}));
  scopes.pop_back();
  return results;
}

Scalar ElementSource::compute(Value value, ArrayRef<Index> indices) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    fail(Outcome::Unsupported, value.getLoc(),
         "expected a value of the kernel, not one from outside");
    return {};
  }
  Location outer = loc;
  loc = op->getLoc();
  Scalar scalar;
  if (hasScalarForm(op)) {
    SmallVector<Scalar, 3> operands;
    for (Value operand : op->getOperands())
      // A scalar predicate or bound goes with every element.
      operands.push_back(elementAt(
          operand, shapeOf(operand).empty() ? ArrayRef<Index>() : indices));
    if (outcome == Outcome::Done)
      scalar = applyToScalars(s, op, operands);
  } else if (auto map = dyn_cast<MapOp>(op)) {
    SmallVector<Scalar> operands;
    for (Value operand : op->getOperands())
      operands.push_back(elementAt(operand, indices));
    scalar = evaluate(map.getComputation(), operands)[0];
  } else if (auto barrier = dyn_cast<OptimizationBarrierOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    scalar = elementAt(op->getOperand(number), indices);
  } else {
    scalar = computeShape(op, indices);
  }
  if (outcome == Outcome::Done && !scalar.value) {
    std::string type;
    llvm::raw_string_ostream(type)
        << elementOf(op->getNumOperands() ? op->getOperand(0) : value);
    fail(Outcome::Unsupported, op->getLoc(),
         "expected an operation that kernels support but got '" +
             op->getName().getStringRef() + "' on " + type);
  }
  loc = outer;
  return outcome == Outcome::Done ? scalar : dummy(value);
}

Scalar ElementSource::computeShape(Operation *op, ArrayRef<Index> indices) {
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case([&](ConstantOp constant) -> Scalar {
        ElementsAttr value = constant.getValue();
        Type element = elementOf(op->getResult(0));
        if (value.isSplat() || value.getNumElements() == 1)
          return s.constant(value, 0, element);
        return constantAt(constant, indices);
      })
      .Case([&](IotaOp iota) {
        Value index =
            space.materialise(b, loc, indices[iota.getIotaDimension()]);
        return s.fromIndex(index, elementOf(op->getResult(0)));
      })
      .Case([&](GetDimensionSizeOp size) -> Scalar {
        return s.fromIndex(
            s.i64(shapeOf(size.getOperand())[size.getDimension()]),
            elementOf(op->getResult(0)));
      })
      .Case([&](BroadcastInDimOp broadcast) {
        Indices inner;
        for (auto [dim, size] :
             llvm::zip_equal(broadcast.getBroadcastDimensions(),
                             shapeOf(op->getOperand(0))))
          inner.push_back(size == 1 ? Index(0) : indices[dim]);
        return elementAt(op->getOperand(0), inner);
      })
      .Case([&](BroadcastOp broadcast) {
        return elementAt(
            op->getOperand(0),
            indices.drop_front(broadcast.getBroadcastSizes().size()));
      })
      .Case([&](ReshapeOp) {
        Index flat = space.linearise(indices, shapeOf(op->getResult(0)));
        return elementAt(op->getOperand(0),
                         space.delinearise(flat, shapeOf(op->getOperand(0))));
      })
      .Case([&](TransposeOp transpose) {
        Indices inner(indices.size());
        for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
          inner[dim] = indices[i];
        return elementAt(op->getOperand(0), inner);
      })
      .Case([&](ReverseOp reverse) {
        Indices inner(indices);
        for (int64_t dim : reverse.getDimensions())
          inner[dim] = space.add(Index(shapeOf(op->getOperand(0))[dim] - 1),
                                 space.scale(indices[dim], -1));
        return elementAt(op->getOperand(0), inner);
      })
      .Case([&](SliceOp slice) {
        Indices inner;
        for (auto [index, start, stride] : llvm::zip_equal(
                 indices, slice.getStartIndices(), slice.getStrides()))
          inner.push_back(space.add(space.scale(index, stride), Index(start)));
        return elementAt(op->getOperand(0), inner);
      })
      .Case(
          [&](ConcatenateOp concat) { return concatenateAt(concat, indices); })
      .Case([&](PadOp pad) { return padAt(pad, indices); })
      .Case([&](GatherOp gather) { return gatherAt(gather, indices); })
      .Case([&](DynamicSliceOp slice) { return sliceAt(slice, indices); })
      .Case([&](DynamicUpdateSliceOp update) {
        return updateAt(update, indices);
      })
      .Case([&](BitcastConvertOp cast) { return bitcastAt(cast, indices); })
      .Default([](Operation *) { return Scalar(); });
}

} // namespace mlir::sp
