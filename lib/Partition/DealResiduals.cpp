//===- DealResiduals.cpp - Rows between tensor-parallel layers ------------===//
//
//   before   %y = sp.all_reduce %p over ["tp"]         every rank of "tp" adds
//            %h = add %x, %y                           and normalizes all rows
//            %n = norm(%h), dot_general %n, %w
//   after    %y = sp.reduce_scatter %p                 each does its part
//            %h = add %x', %y
//            %n = norm(%h), dot_general (sp.all_gather %n), %w
//
// What the ranks of a tensor axis would all compute alike from such a sum on
// they share by rows, and gather where weights read it. As many bytes travel;
// rows that gradients read again are gathered again, so that a part of them is
// kept. Sequence parallelism of Megatron-LM, arXiv:2205.05198.
//
//===----------------------------------------------------------------------===//

#include "Localizer.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/AxisTypes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/ShardingPropagation.h"
#include "sp/Partition/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_DEALRESIDUALSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct DealResidualsPass
    : mlir::sp::impl::DealResidualsPassBase<DealResidualsPass> {
  void runOnOperation() override {
    mesh = getMesh(getOperation());
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (!mesh || failed(func))
      return signalPassFailure();
    if (mesh.getAxisSize(mesh.getTensor()) == 1)
      return;
    axis = *mesh.getTensor();
    AxisTypes types(*func, mesh);
    ranks = &types;
    ShardingPropagation propagation(*func);
    keepWhole(*func, propagation);
    if (!seed(*func, propagation))
      return;
    propagation.run();
    for (Operation *op : propagation.operations())
      annotate(op, propagation);
    if (failed(localize(*func)))
      signalPassFailure();
  }

private:
  /// The rows of [..., rows, features] that the axis can share.
  std::optional<unsigned> rowsOf(AllReduceOp op) {
    bool isOfTensors = op.getKind() == Reduction::Sum &&
                       op.getAxes().getAxes() == ArrayRef<AxisAttr>(axis) &&
                       op->getNumResults() == 1;
    RankedTensorType type = typeOf(op->getResult(0));
    if (!isOfTensors || type.getRank() < 2)
      return std::nullopt;
    ArrayRef<int64_t> leading = type.getShape().drop_back();
    auto longest = llvm::max_element(leading);
    if (*longest < mesh.getAxisSize(axis))
      return std::nullopt;
    return longest - leading.begin();
  }

  bool isAlike(Operation *op) {
    return llvm::all_of(op->getResults(), [&](Value result) {
      return ranks->isAlike(result, axis);
    });
  }

  /// Whether rows may be shared of what an operation gives. A product with
  /// weights that are whole would leave partial gradients of these.
  bool mayShare(Operation *op) {
    if (auto reduce = dyn_cast<AllReduceOp>(op))
      return rowsOf(reduce).has_value();
    return !isContraction(op) && !op->getParentOfType<scf::ForOp>() &&
           !isa_and_nonnull<SpDialect>(op->getDialect()) &&
           llvm::all_of(op->getOperands(), isTensor) &&
           llvm::all_of(op->getResults(), isTensor);
  }

  /// What differs on the ranks of the axis, what is not to be shared, and what
  /// more than products read where it differs: behind a broadcast there may be
  /// far more to gather than a sum itself has. Steps of an attention read one
  /// value, not what each of them gathers.
  void keepWhole(func::FuncOp func, ShardingPropagation &propagation) {
    auto keep = [&](Value value) {
      if (isTensor(value))
        propagation.pin(value, llvm::to_vector(propagation.dimsOf(value)));
    };
    llvm::for_each(func.getArguments(), keep);
    func.walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          if (isa<scf::ForOp>(op) || !ranks->isAlike(argument, axis))
            keep(argument);
      for (Value result : op->getResults())
        if (!ranks->isAlike(result, axis) || !mayShare(op))
          keep(result);
      bool readsRows =
          isContraction(op) ||
          isa<func::ReturnOp, stablehlo::OptimizationBarrierOp>(op) ||
          op->hasTrait<stablehlo::ControlFlow>() ||
          op->hasTrait<OpTrait::IsTerminator>();
      bool readsOneValue =
          isa_and_nonnull<SpDialect>(op->getDialect()) && !isa<AllReduceOp>(op);
      if ((!isAlike(op) && !readsRows) || readsOneValue)
        for (Value operand : op->getOperands())
          if (readsOneValue || !operand.getDefiningOp<AllReduceOp>())
            keep(operand);
    });
  }

  /// Whether a sum over the axis is alike for all that is made of it.
  bool seed(func::FuncOp func, ShardingPropagation &propagation) {
    bool any = false;
    func.walk([&](AllReduceOp op) {
      std::optional<unsigned> rows = rowsOf(op);
      if (!rows || op->getParentOfType<scf::ForOp>())
        return;
      Value result = op->getResult(0);
      auto layout = LayoutAttr::get(&getContext(), LayoutKind::Contiguous,
                                    typeOf(result).getDimSize(*rows), axis,
                                    mesh.getAxisSize(axis));
      propagation.deal(result, *rows, dealtDim(layout));
      any = true;
    });
    return any;
  }

  void annotate(Operation *op, ShardingPropagation &propagation) {
    SmallVector<Attribute> shardings;
    bool isShared = false;
    for (Value result : op->getResults()) {
      if (!isTensor(result))
        return;
      auto sharding =
          ShardingAttr::get(&getContext(), propagation.dimsOf(result));
      isShared |= !sharding.isReplicated();
      shardings.push_back(sharding);
    }
    if (!isShared)
      return;
    op->setAttr(kShardings, ArrayAttr::get(&getContext(), shardings));
    if (isa<stablehlo::ReshapeOp>(op))
      tellPlaces(op);
  }

  /// Says where the rows of other axes are, of which a rank may keep one.
  void tellPlaces(Operation *reshape) {
    Builder builder(&getContext());
    auto told = reshape->getAttrOfType<DictionaryAttr>(kOneRow);
    NamedAttrList places(told);
    for (const DealtRows &rows : ranks->of(reshape->getResult(0)).rows)
      places.set(rows.layout.getAxis().getText(),
                 builder.getI64IntegerAttr(rows.dim));
    if (!places.empty())
      reshape->setAttr(kOneRow, places.getDictionary(&getContext()));
  }

  LogicalResult localize(func::FuncOp func) {
    OpBuilder builder(func);
    auto local = func::FuncOp::create(builder, func.getLoc(), func.getName(),
                                      func.getFunctionType());
    local->setAttrs(func->getAttrDictionary());
    Block *body = builder.createBlock(&local.getBody());
    auto takesWhole = [&](Operation *op) {
      return !op->hasTrait<stablehlo::ControlFlow>() &&
             !isa<stablehlo::OptimizationBarrierOp>(op) &&
             (!isAlike(op) || !mayShare(op));
    };
    Losses losses(mesh);
    Localizer localizer(builder, mesh, losses, takesWhole);
    for (BlockArgument argument : func.getArguments())
      localizer.define(
          argument, {body->addArgument(argument.getType(), argument.getLoc()),
                     localizer.wholeDims(argument)});
    if (failed(localizer.localizeBody(func.getBody().front())))
      return failure();
    Operation *terminator = func.getBody().front().getTerminator();
    SmallVector<Value> returned;
    for (Value value : terminator->getOperands())
      returned.push_back(
          localizer.require(value, localizer.wholeDims(value), terminator));
    func::ReturnOp::create(builder, terminator->getLoc(), returned);
    losses.report(func);
    func.erase();
    return success();
  }

  MeshOp mesh;
  AxisAttr axis;
  const AxisTypes *ranks;
};

} // namespace
