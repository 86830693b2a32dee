//===- LocalizeOperation.cpp - Token-local operations and reductions ------===//
//
//   before   %m = reduce add %x, init %i over [1] : 2x4096 -> 2
//   after    %p = reduce add %x, init 0 over [1] : 2x1024 -> 2
//            %s = sp.all_reduce %p sum over ["sp"] of 4
//            %m = add %s, %i
//
//===----------------------------------------------------------------------===//

#include "LocalizePicks.h"
#include "LocalizeRows.h"
#include "Localizer.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/Flops.h"
#include "sp/IR/LocalForms.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/TensorTypes.h"
#include "llvm/ADT/StringExtras.h"

#define DEBUG_TYPE "sp-localize"

using namespace mlir;
using namespace mlir::sp;

void Localizer::mapCaptures(Operation *op, IRMapping &mapping) {
  op->walk([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value value : inner->getOperands())
      if (locals.contains(value))
        mapping.map(value, require(value, wholeDims(value), op));
  });
}

/// What a reduction or a scatter starts from, by number, or none.
static std::optional<unsigned> initialOperand(Operation *op) {
  if (isa<stablehlo::ReduceOp>(op))
    return 1;
  if (isa<stablehlo::ScatterOp>(op))
    return 0;
  return std::nullopt;
}

/// Whether a place may be added to many times, each of which would round.
static bool addsRepeatedly(Operation *op) {
  auto scatter = dyn_cast<stablehlo::ScatterOp>(op);
  return scatter && !scatter.getUniqueIndices() &&
         isa<stablehlo::AddOp>(scatter.getUpdateComputation().front().front());
}

/// The layouts by which partial results are dealt, outermost axis first.
static SmallVector<LayoutAttr> reducedLayouts(const Assignment &assignment,
                                              MeshOp mesh) {
  SmallVector<LayoutAttr> layouts;
  for (auto &[factor, dim] : assignment.reductions)
    for (AtomAttr atom : dim.getAtoms())
      if (LayoutAttr layout = atom.getLayout())
        layouts.push_back(layout);
  ArrayRef<MeshAxisAttr> known = mesh.getMesh().getAxes();
  llvm::sort(layouts, [&](LayoutAttr a, LayoutAttr b) {
    auto depth = [&](LayoutAttr layout) {
      AxisAttr own = layout.getAxis();
      return std::pair(llvm::find_if(known,
                                     [&](MeshAxisAttr axis) {
                                       return axis.getName() == own.getName();
                                     }),
                       own.getAbove());
    };
    return depth(a) < depth(b);
  });
  return layouts;
}

/// Axes over which partial results are combined at once: whole ones together,
/// parts of an axis that follow each other as one, others by themselves.
static SmallVector<SmallVector<AxisAttr>>
groupAxes(ArrayRef<LayoutAttr> layouts, MeshOp mesh) {
  SmallVector<SmallVector<AxisAttr>> groups(1);
  for (LayoutAttr layout : layouts) {
    AxisAttr axis = layout.getAxis();
    AxisAttr last = groups.back().empty() ? AxisAttr() : groups.back().back();
    if (AxisAttr joined = last ? mesh.joinFactors(last, axis) : AxisAttr()) {
      axis = joined;
      groups.pop_back();
    }
    if (axis.isWhole())
      groups.front().push_back(axis);
    else
      groups.push_back({axis});
  }
  llvm::erase_if(groups, [](ArrayRef<AxisAttr> axes) { return axes.empty(); });
  return groups;
}

void Localizer::reduce(Operation *op, Reduction kind,
                       ArrayRef<LayoutAttr> layouts,
                       SmallVectorImpl<Value> &results) {
  for (ArrayRef<AxisAttr> axes : groupAxes(layouts, mesh)) {
    int64_t ranks = 1, bytes = 0;
    for (AxisAttr axis : axes)
      ranks *= mesh.getAxisSize(axis);
    for (Value &result : results) {
      bytes += reduceBytes(result, ranks);
      result = AllReduceOp::create(
                   builder, op->getLoc(), result.getType(), result, kind,
                   AxisListAttr::get(op->getContext(), axes), ranks)
                   .getResult(0);
    }
    if (isOfTurns)
      continue;
    std::string names = llvm::join(
        llvm::map_range(axes, [](AxisAttr axis) { return axis.getText(); }),
        "\", \"");
    remark::analysis(op->getLoc(),
                     remark::RemarkOpts::name("Reduced").category(DEBUG_TYPE))
        << op->getName().getStringRef() << " is reduced over "
        << (axes.size() == 1 ? "axis \"" : "axes \"") << names << "\" of "
        << remark::metric("ranks", ranks) << ", a rank sends "
        << remark::metric("bytes", bytes) << " bytes";
  }
}

/// The atoms of a dimension that deal, if all of them deal by axes that partial
/// sums are made over.
static SmallVector<LayoutAttr> scattered(DimAttr wanted,
                                         ArrayRef<LayoutAttr> reduced) {
  SmallVector<LayoutAttr> layouts;
  for (AtomAttr atom : wanted.getAtoms()) {
    LayoutAttr layout = atom.getLayout();
    if (!layout)
      continue;
    if (llvm::none_of(reduced, [&](LayoutAttr other) {
          return other.getAxis() == layout.getAxis();
        }))
      return {};
    layouts.push_back(layout);
  }
  return layouts;
}

/// Combines partial sums where they are wanted dealt by axes that they are
/// summed over: each rank sums its own part of a dimension. Takes these axes
/// from `reduced`.
static void scatter(OpBuilder &builder, Operation *op, Reduction kind,
                    ArrayRef<DimAttr> wanted, SmallVector<DimAttr> &made,
                    SmallVector<LayoutAttr> &reduced, Value &result) {
  for (unsigned dim = 0; dim < made.size(); ++dim) {
    SmallVector<LayoutAttr> layouts = scattered(wanted[dim], reduced);
    if (made[dim] == wanted[dim] || isDealt(made[dim]) || layouts.empty())
      continue;
    // Atom by atom, each a dimension of its own.
    SmallVector<int64_t> shape(typeOf(result).getShape());
    shape.erase(shape.begin() + dim);
    ArrayRef<AtomAttr> atoms = wanted[dim].getAtoms();
    for (auto [index, atom] : llvm::enumerate(atoms))
      shape.insert(shape.begin() + dim + index, atom.getSize());
    int64_t ranks = 1, bytes = 0;
    result = reshapeTo(builder, op->getLoc(), result, shape);
    for (auto [index, atom] : llvm::enumerate(atoms)) {
      LayoutAttr layout = atom.getLayout();
      if (!layout)
        continue;
      bytes += reduceBytes(result, layout.getRanks()) / 2;
      ranks *= layout.getRanks();
      result = ReduceScatterOp::create(builder, op->getLoc(), result, kind,
                                       dim + index, layout)
                   .getResult(0);
      llvm::erase_if(reduced, [&](LayoutAttr other) {
        return other.getAxis() == layout.getAxis();
      });
    }
    made[dim] = wanted[dim];
    result = reshapeTo(builder, op->getLoc(), result,
                       localType(elementOf(result), made).getShape());
    std::string names = llvm::join(
        llvm::map_range(layouts,
                        [](LayoutAttr one) { return one.getAxis().getText(); }),
        "\", \"");
    remark::analysis(op->getLoc(),
                     remark::RemarkOpts::name("Scattered").category(DEBUG_TYPE))
        << op->getName().getStringRef() << " is reduced over "
        << (layouts.size() == 1 ? "axis \"" : "axes \"") << names << "\" of "
        << remark::metric("ranks", ranks)
        << " and each keeps a part of dimension "
        << remark::metric("dimension", dim) << ", a rank sends "
        << remark::metric("bytes", bytes) << " bytes";
  }
}

SmallVector<Value>
Localizer::emitByFactors(Operation *op, ArrayRef<SmallVector<DimAttr>> wanted) {
  Assignment assignment = assign(op, wanted);
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    operands.push_back(require(operand, assignment.operands[index], op));
  for (auto &[factor, dim] : assignment.reductions)
    for (auto [operand, index] : factor.operands)
      if (!factor.pickedBy)
        operands[operand] =
            maskPadding(builder, op->getLoc(), operands[operand], dim, index,
                        *factor.reduction);
  // What a reduction starts from counts once, not once a rank.
  bool isReduced = !assignment.reductions.empty();
  Value init;
  std::optional<unsigned> initial = initialOperand(op);
  if (isReduced && initial) {
    Reduction kind = *assignment.reductions[0].first.reduction;
    Value &start = operands[*initial];
    if (!isNeutral(op->getOperand(*initial), kind))
      init = std::exchange(
          start, neutralSplat(builder, op->getLoc(),
                              cast<RankedTensorType>(start.getType()), kind));
  }

  IRMapping mapping;
  mapCaptures(op, mapping);
  Operation *local = builder.clone(*op, mapping);
  local->setOperands(operands);
  local->removeAttr(kShardings);
  for (auto [index, result] : llvm::enumerate(local->getResults()))
    result.setType(localType(getElementTypeOrSelf(result.getType()),
                             assignment.results[index]));
  auto gather = dyn_cast<stablehlo::GatherOp>(local);
  SmallVector<Value> areOwn;
  builder.setInsertionPoint(local);
  for (auto &[factor, dim] : assignment.picks)
    areOwn.push_back(pickOwn(builder, local, *factor.pickedBy,
                             factor.operands[0].second, onlyLayout(dim)));
  builder.setInsertionPointAfter(local);
  fitAttributes(local);
  if (isProduct(op))
    losses.multiply(op, local, assignment, builder.getBlock());
  // Local rows come in another order, and padding repeats an index.
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(local);
      scatter && isReduced) {
    scatter.setIndicesAreSorted(false);
    scatter.setUniqueIndices(false);
  }
  SmallVector<Value> results(local->getResults());
  if (gather)
    for (Value isOwn : areOwn)
      results[0] = maskForeign(builder, results[0], isOwn);
  SmallVector<Type> types(local->getResultTypes());
  bool isSum = isReduced
                   ? assignment.reductions[0].first.reduction == Reduction::Sum
                   : addsRepeatedly(op);
  // Of picked rows one is not 0.
  if (isSum && !gather && llvm::all_of(types, isNarrow))
    addInF32(builder, local);
  if (isReduced) {
    Reduction kind = *assignment.reductions[0].first.reduction;
    SmallVector<LayoutAttr> reduced = reducedLayouts(assignment, mesh);
    if (!init && results.size() == 1)
      scatter(builder, op, kind, wanted[0], assignment.results[0], reduced,
              results[0]);
    reduce(op, kind, reduced, results);
  }
  if (init) {
    auto type = cast<RankedTensorType>(results[0].getType());
    init = convertType(builder, op->getLoc(), init, inF32(init.getType()));
    if (init.getType() != type)
      init = stablehlo::BroadcastInDimOp::create(builder, op->getLoc(), type,
                                                 init, ArrayRef<int64_t>());
    results[0] = combine(builder, op->getLoc(), results[0], init,
                         *assignment.reductions[0].first.reduction);
  }
  for (auto [index, result] : llvm::enumerate(results)) {
    result =
        convertType(builder, op->getLoc(), result,
                    typeOf(result).clone(getElementTypeOrSelf(types[index])));
    result = reshard(result, assignment.results[index], wanted[index], op);
  }
  return results;
}

SmallVector<Value> Localizer::emit(Operation *op,
                                   ArrayRef<SmallVector<DimAttr>> dims) {
  if (isa<stablehlo::ConstantOp, sdy::ConstantOp>(op))
    return {emitConstant(op, dims[0])};
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
    return {emitIota(iota, dims[0])};
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    return {emitReshape(reshape, dims[0])};
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
    if (Value result = emitUpdateSlice(update, dims[0]))
      return {result};
  if (op->getNumResults() == 1)
    if (Value result = emitMovedRows(*this, builder, op, dims[0]))
      return {result};
  if (auto size = dyn_cast<stablehlo::GetDimensionSizeOp>(op))
    return {
        splat(builder, op->getLoc(), size.getType(),
              builder.getIntegerAttr(
                  getElementTypeOrSelf(size.getType()),
                  typeOf(size.getOperand()).getDimSize(size.getDimension())))};
  if (isShardingAnnotation(op) || isa<stablehlo::OptimizationBarrierOp>(op)) {
    SmallVector<Value> passed;
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      passed.push_back(require(operand, dims[index], op));
    if (isShardingAnnotation(op))
      return passed;
    auto barrier = stablehlo::OptimizationBarrierOp::create(
        builder, op->getLoc(), ValueRange(passed).getTypes(), passed);
    return llvm::to_vector(ValueRange(barrier->getResults()));
  }
  return emitByFactors(op, dims);
}

#undef DEBUG_TYPE
