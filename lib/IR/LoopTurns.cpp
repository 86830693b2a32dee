//===- LoopTurns.cpp - What a turn of a loop makes for the next -----------===//

#include "sp/IR/LoopTurns.h"

#include "sp/IR/RankIndices.h"
#include "sp/IR/SP.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sp;

std::optional<Turns> mlir::sp::turnsOf(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound());
  if (!count || !first || *first < 0 || count->getSExtValue() == 0 ||
      getConstantIntValue(loop.getStep()) != 1)
    return std::nullopt;
  return Turns{*first, count->getSExtValue()};
}

bool mlir::sp::isBy(Value index, Value counter) {
  if (index == counter || index.getDefiningOp<arith::ConstantIndexOp>())
    return true;
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  return apply && llvm::all_of(apply.getMapOperands(), [&](Value operand) {
           return isBy(operand, counter);
         });
}

int64_t mlir::sp::indexAt(Value index, scf::ForOp loop, int64_t turn) {
  RankIndices indices(getMesh(loop->getParentOfType<ModuleOp>()), 0);
  indices.setCounter(loop.getInductionVar(), turn);
  return indices.evaluate(index);
}

Value mlir::sp::cloneIndex(OpBuilder &builder, Value index,
                           IRMapping &mapping) {
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  if (!apply || mapping.contains(index))
    return mapping.lookupOrDefault(index);
  for (Value operand : apply.getMapOperands())
    cloneIndex(builder, operand, mapping);
  return builder.clone(*apply, mapping)->getResult(0);
}

scf::ForOp
mlir::sp::makeAhead(RewriterBase &builder, scf::ForOp loop, ValueRange first,
                    function_ref<SmallVector<Value>(IRMapping &)> make) {
  OpBuilder::InsertionGuard guard(builder);
  Turns turns = *turnsOf(loop);
  // In place of what the turns will make.
  auto same = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
    return llvm::map_to_vector(
        arguments, [](BlockArgument argument) -> Value { return argument; });
  };
  NamedAttrList attributes = loop->getDiscardableAttrDictionary();
  builder.setInsertionPoint(loop);
  auto wider = cast<scf::ForOp>(
      *cast<LoopLikeOpInterface>(*loop).replaceWithAdditionalYields(
          builder, first, /*replaceInitOperandUsesInLoop=*/false, same));
  wider->setDiscardableAttrs(attributes);

  Block &body = *wider.getBody();
  builder.setInsertionPointToStart(&body);
  AffineExpr next = builder.getAffineDimExpr(0) + (1 - turns.first);
  Value turn = affine::AffineApplyOp::create(
      builder, wider.getLoc(),
      AffineMap::get(1, 0, next % turns.count + turns.first),
      wider.getInductionVar());
  IRMapping mapping;
  mapping.map(wider.getInductionVar(), turn);
  SmallVector<Value> made = make(mapping);
  Operation *yield = body.getTerminator();
  yield->setOperands(yield->getNumOperands() - made.size(), made.size(), made);
  return wider;
}
