//===- Seeds.cpp - Where shardings start ----------------------------------===//

#include "Sharding/Seeds.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/Program.h"

using namespace mlir;
using namespace mlir::sp;

LayoutAttr Seeds::layoutFor(AxisAttr axis, int64_t length) {
  LayoutAttr &layout = layouts[{axis, length}];
  // What a turn has is then spread over what any rank has.
  LayoutKind kind =
      mesh.getFolded() ? LayoutKind::Striped : LayoutKind::Contiguous;
  if (!layout)
    layout = LayoutAttr::get(func.getContext(), kind, length, axis,
                             mesh.getAxisSize(axis));
  return layout;
}

void Seeds::seedAttention(Value queries, Value keys,
                          std::optional<PlanAttr> plan,
                          ShardingPropagation &propagation) {
  int64_t batch = cast<RankedTensorType>(queries.getType()).getDimSize(0);
  std::optional<AxisAttr> batchAxis = mesh.getBatch();
  // An attention of fewer sequences than turns is whole in each.
  int64_t least = mesh.getFolded() ? mesh.getAxisSize(batchAxis) : 2;
  if (mesh.getAxisSize(batchAxis) > 1 && batch >= least)
    propagation.deal(queries, 0, dealtDim(layoutFor(*batchAxis, batch)));
  if (!plan || plan->getRanks() == 1)
    return;
  for (Value value : {queries, keys}) {
    int64_t length = cast<RankedTensorType>(value.getType()).getDimSize(1);
    if (value == queries && plan->getQueryRows(length).isDense())
      continue;
    layouts.try_emplace({plan->getAxis(), length}, plan->getRows(length));
    propagation.deal(value, 1, dealtDim(layoutFor(plan->getAxis(), length)));
  }
}

void Seeds::seedHeads(HeadPartAttr part, ValueRange ofQueries,
                      ValueRange ofKeys, ShardingPropagation &propagation) {
  if (!part)
    return;
  for (Value value : ofQueries)
    if (value)
      propagation.deal(value, 2, part.getQueryDim());
  for (Value value : ofKeys)
    propagation.deal(value, 2, part.getKvDim());
}

template <typename OpT>
void Seeds::seedPairs(OpT op, ShardingPropagation &propagation) {
  std::optional<PlanAttr> plan = op.getPlan();
  if (!plan || plan->getRanks() == 1)
    return;
  LayoutAttr queries =
      layoutFor(plan->getAxis(), op.getQuery().getType().getDimSize(1));
  for (Value pair : op.getTermsOf(TermKind::Pair)) {
    SmallVector<DimAttr> dims =
        dimsOfPair(plan, cast<RankedTensorType>(pair.getType()),
                   propagation.dimsOf(pair)[0], queries, headPartOf(mesh, op));
    for (auto [index, dim] : llvm::enumerate(dims))
      propagation.deal(pair, index, dim);
  }
}

LogicalResult Seeds::spread(ArrayRef<std::string> shard,
                            ShardingPropagation &propagation) {
  ShardingPropagation derived(func);
  tieDonated(func, derived);
  tieDonated(func, propagation);
  seedAttentions(derived);
  derived.run();
  if (!areOfTurns() && failed(pinArguments(shard, derived, propagation)))
    return failure();
  seedAttentions(propagation);
  propagation.run();
  if (areOfTurns())
    return success();
  propagation.releasePinned();
  propagation.run();
  if (failed(seedWishes(propagation)))
    return failure();
  propagation.run();
  return success();
}

void Seeds::seedAttentions(ShardingPropagation &propagation) {
  func.walk([&](Operation *op) {
    if (auto forward = dyn_cast<AttentionOp>(op)) {
      seedAttention(forward.getResult(), forward.getKey(), forward.getPlan(),
                    propagation);
      seedHeads(headPartOf(mesh, forward),
                {forward.getQuery(), forward.getResult(), forward.getLse()},
                {forward.getKey(), forward.getValue()}, propagation);
      seedPairs(forward, propagation);
    }
    if (auto backward = dyn_cast<AttentionBackwardOp>(op)) {
      seedAttention(backward.getDQuery(), backward.getDKey(),
                    backward.getPlan(), propagation);
      seedHeads(headPartOf(mesh, backward),
                {backward.getQuery(), backward.getOutput(), backward.getLse(),
                 backward.getDOutput(), backward.getDLse(),
                 backward.getDQuery()},
                {backward.getKey(), backward.getValue(), backward.getDKey(),
                 backward.getDValue()},
                propagation);
      seedPairs(backward, propagation);
    }
  });
}

void mlir::sp::tieDonated(func::FuncOp func, ShardingPropagation &propagation) {
  Operation *terminator = func.getBody().front().getTerminator();
  for (BlockArgument argument : func.getArguments())
    if (std::optional<unsigned> result =
            donatedTo(func, argument.getArgNumber()))
      propagation.tie(argument, terminator->getOperand(*result));
}

SmallVector<DimAttr> mlir::sp::dimsOfPair(std::optional<PlanAttr> plan,
                                          RankedTensorType pair, DimAttr batch,
                                          LayoutAttr queries,
                                          HeadPartAttr part) {
  SmallVector<DimAttr> dims = llvm::to_vector(
      ShardingAttr::getReplicated(pair.getContext(), pair.getShape())
          .getDims());
  dims[0] = batch;
  bool isOfAll = plan && plan->getMerge() > 1;
  if (pair.getDimSize(2) == 1 || isOfAll)
    return dims;
  if (plan && plan->getHeads() > 1) {
    queries = plan->getRingRows(queries.getLength());
    // A rank holds heads of every group: no layout deals those.
    if (pair.getDimSize(1) > 1 && plan->getGroups() == 1 && !part)
      dims[1] = dealtDim(plan->getHeadsLayout(pair.getDimSize(1)));
  }
  if (!queries.isDense())
    dims[2] = dealtDim(queries);
  return dims;
}
