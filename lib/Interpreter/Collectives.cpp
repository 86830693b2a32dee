//===- Collectives.cpp - Exchanges between devices ------------------------===//
#include "MeshProgram.h"
#include "ScalarProgram.h"
#include "Strided.h"

using namespace mlir;
using namespace mlir::interpreter;

using Group = SmallVector<int64_t>;

bool interpreter::isCollective(Operation *op) {
  return isa<stablehlo::AllReduceOp, stablehlo::AllGatherOp,
             stablehlo::AllToAllOp, stablehlo::ReduceScatterOp,
             stablehlo::CollectivePermuteOp, sp::CommunicationOpInterface>(op);
}

/// Rows of `replica_groups`; -1 fills up short ones. No groups: all devices.
static FailureOr<SmallVector<Group>>
groupsOf(Operation *op, DenseIntElementsAttr attribute, int64_t devices) {
  SmallVector<Group> groups;
  ShapedType type = attribute.getType();
  if (type.getRank() != 2)
    return op->emitOpError() << "expected replica groups of rank 2";
  int64_t width = type.getDimSize(1);
  if (attribute.getNumElements() == 0) {
    groups.emplace_back();
    llvm::append_range(groups.back(), llvm::seq<int64_t>(0, devices));
    return groups;
  }
  std::vector<bool> seen(devices, false);
  for (auto [i, value] : llvm::enumerate(attribute.getValues<APInt>())) {
    if (int64_t(i) % width == 0)
      groups.emplace_back();
    int64_t device = value.getSExtValue();
    if (device == -1)
      continue;
    if (device < 0 || device >= devices || seen[device])
      return op->emitOpError()
             << "expected each of " << devices
             << " devices once in the replica groups but got device " << device;
    seen[device] = true;
    groups.back().push_back(device);
  }
  if (llvm::is_contained(seen, false))
    return op->emitOpError() << "expected each of " << devices
                             << " devices in the replica groups";
  return groups;
}

static Tensor concatenate(ArrayRef<Tensor> parts, int64_t dimension) {
  SmallVector<int64_t> shape(parts.front().getShape());
  shape[dimension] *= int64_t(parts.size());
  Tensor result(RankedTensorType::get(shape, parts.front().getElementType()));
  View to = wholeView(shape);
  for (const Tensor &part : parts) {
    copyView(part.getShape(), part, wholeView(part.getShape()), result, to);
    to.offset += part.getShape()[dimension] * to.strides[dimension];
  }
  return result;
}

/// Operand `i` of the group's devices, reduced in their order.
static FailureOr<Tensor> reduceGroup(const PerDevice &operands,
                                     const Group &group, size_t i, Region &body,
                                     Evaluator &evaluator) {
  RankedTensorType type = operands[group.front()][i].getType();
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  Tensor reduced = operands[group.front()][i].withType(flat);
  for (int64_t device : ArrayRef<int64_t>(group).drop_front()) {
    Tensors columns{std::move(reduced), operands[device][i].withType(flat)};
    FailureOr<Tensors> next = runOnColumns(body, std::move(columns), evaluator);
    if (failed(next))
      return failure();
    reduced = std::move(next->front());
  }
  return reduced.withType(type);
}

/// What device `position` of a group gets of operand `i`.
static FailureOr<Tensor> exchange(Operation *op, const PerDevice &operands,
                                  const Group &group, int64_t position,
                                  size_t i, Evaluator &evaluator) {
  int64_t size = group.size();
  if (auto reduce = dyn_cast<stablehlo::AllReduceOp>(op))
    return reduceGroup(operands, group, i, reduce.getComputation(), evaluator);
  if (auto scatter = dyn_cast<stablehlo::ReduceScatterOp>(op)) {
    FailureOr<Tensor> reduced =
        reduceGroup(operands, group, i, scatter.getComputation(), evaluator);
    if (failed(reduced))
      return failure();
    return partOf(*reduced, scatter.getScatterDimension(), position, size);
  }
  Tensors parts;
  if (auto gather = dyn_cast<stablehlo::AllGatherOp>(op)) {
    for (int64_t device : group)
      parts.push_back(operands[device][i]);
    return concatenate(parts, gather.getAllGatherDim());
  }
  auto exchange = cast<stablehlo::AllToAllOp>(op);
  for (int64_t device : group)
    parts.push_back(partOf(operands[device][i], exchange.getSplitDimension(),
                           position, exchange.getSplitCount()));
  return concatenate(parts, exchange.getConcatDimension());
}

/// Devices that nobody sends to get zeros.
static FailureOr<PerDevice> permute(stablehlo::CollectivePermuteOp op,
                                    PerDevice operands) {
  int64_t devices = operands.size();
  SmallVector<int64_t> pairs;
  for (const APInt &value : op.getSourceTargetPairs().getValues<APInt>())
    pairs.push_back(value.getSExtValue());
  PerDevice results(devices);
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    int64_t source = pairs[i], target = pairs[i + 1];
    if (source < 0 || source >= devices || target < 0 || target >= devices ||
        !results[target].empty())
      return op.emitOpError() << "expected each of " << devices
                              << " devices at most once as a target but got "
                              << source << " to " << target;
    results[target] = operands[source];
  }
  for (int64_t device = 0; device < devices; ++device) {
    const Tensor &operand = operands[device][0];
    if (results[device].empty())
      results[device].push_back(dispatch(operand.getStorage(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        return Tensor::splat<T>(operand.getType(), T(0));
      }));
  }
  return results;
}

FailureOr<PerDevice> interpreter::evaluateCollective(Operation *op,
                                                     PerDevice operands,
                                                     Evaluator &evaluator) {
  if (isa<sp::CommunicationOpInterface>(op))
    return evaluateExchange(op, operands, evaluator);
  if (auto permutation = dyn_cast<stablehlo::CollectivePermuteOp>(op))
    return permute(permutation, std::move(operands));
  auto attribute = op->getAttrOfType<DenseIntElementsAttr>("replica_groups");
  FailureOr<SmallVector<Group>> groups =
      groupsOf(op, attribute, operands.size());
  if (failed(groups))
    return failure();
  PerDevice results(operands.size());
  for (const Group &group : *groups)
    for (size_t position = 0; position < group.size(); ++position) {
      Tensors &own = results[group[position]];
      for (size_t i = 0; i < op->getNumResults(); ++i) {
        auto type = cast<RankedTensorType>(op->getResult(i).getType());
        FailureOr<Tensor> result =
            exchange(op, operands, group, int64_t(position), i, evaluator);
        if (failed(result))
          return failure();
        if (result->getType() != type)
          return op->emitOpError()
                 << "expected a result of type " << type << " but a group of "
                 << group.size() << " devices gives " << result->getType();
        own.push_back(std::move(*result));
      }
    }
  return results;
}
