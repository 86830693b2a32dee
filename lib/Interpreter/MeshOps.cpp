//===- MeshOps.cpp - Manual computations and devices ----------------------===//
#include "MeshProgram.h"
#include "Strided.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::interpreter;

namespace {
/// Devices of a mesh by their coordinates.
class Devices {
public:
  explicit Devices(sdy::MeshAttr mesh) : mesh(mesh) {}

  int64_t count() const { return mesh.getTotalSize(); }
  /// Number of the device at a row-major place of the mesh.
  int64_t deviceAt(int64_t place) const {
    return mesh.getDeviceIds().empty() ? place : mesh.getDeviceIds()[place];
  }
  /// Which part of a dimension the device at `place` holds, for axes from major
  /// to minor, and how many parts there are. Other axes do not divide it.
  std::pair<int64_t, int64_t> partAt(int64_t place,
                                     ArrayRef<sdy::AxisRefAttr> axes,
                                     ArrayRef<StringAttr> manual) const;

private:
  sdy::MeshAttr mesh;
};
} // namespace

std::pair<int64_t, int64_t> Devices::partAt(int64_t place,
                                            ArrayRef<sdy::AxisRefAttr> axes,
                                            ArrayRef<StringAttr> manual) const {
  int64_t part = 0, parts = 1;
  for (sdy::AxisRefAttr axis : axes) {
    if (llvm::none_of(manual, [&](StringAttr name) {
          return name.getValue() == axis.getName();
        }))
      continue;
    int64_t stride = 1;
    for (sdy::MeshAxisAttr other : llvm::reverse(mesh.getAxes())) {
      if (other.getName() == axis.getName())
        break;
      stride *= other.getSize();
    }
    int64_t whole = mesh.getAxisSize(axis.getName());
    int64_t coordinate = place / stride % whole;
    int64_t size = axis.getSize(mesh);
    // A factor (pre)size of an axis varies below `pre` equal parts of it.
    if (sdy::SubAxisInfoAttr info = axis.getSubAxisInfo())
      coordinate = coordinate / (whole / (info.getPreSize() * size)) % size;
    part = part * size + coordinate;
    parts *= size;
  }
  return {part, parts};
}

/// The part of a global tensor that one device holds.
static View localView(const Devices &devices, int64_t place,
                      sdy::TensorShardingAttr sharding,
                      ArrayRef<StringAttr> manual, RankedTensorType global,
                      ArrayRef<int64_t> local) {
  View view = wholeView(global.getShape());
  for (auto [d, dimension] : llvm::enumerate(sharding.getDimShardings()))
    view.offset += devices.partAt(place, dimension.getAxes(), manual).first *
                   local[d] * view.strides[d];
  return view;
}

/// Each local size times its number of parts is the global size.
static LogicalResult checkLocalType(sdy::ManualComputationOp op,
                                    const Devices &devices,
                                    sdy::TensorShardingAttr sharding,
                                    Type globalType, Type localType) {
  auto global = cast<RankedTensorType>(globalType);
  auto local = dyn_cast<RankedTensorType>(localType);
  bool fits = local && local.getRank() == global.getRank() &&
              sharding.getRank() == global.getRank() &&
              local.getElementType() == global.getElementType();
  if (fits)
    for (auto [d, dimension] : llvm::enumerate(sharding.getDimShardings()))
      fits &= local.getDimSize(d) * devices
                                        .partAt(0, dimension.getAxes(),
                                                op.getManualAxes().getAxes())
                                        .second ==
              global.getDimSize(d);
  if (fits)
    return success();
  return op.emitOpError() << "expected the manual axes of " << sharding
                          << " to divide " << globalType << " into "
                          << localType;
}

static sdy::MeshAttr meshOf(sdy::ManualComputationOp op) {
  for (sdy::TensorShardingPerValueAttr shardings :
       {op.getInShardings(), op.getOutShardings()})
    for (sdy::TensorShardingAttr sharding : shardings.getShardings())
      if (sdy::MeshAttr mesh = sharding.getMesh(op))
        return mesh;
  return nullptr;
}

static FailureOr<Tensors> manualComputationOp(sdy::ManualComputationOp op,
                                              Tensors &operands,
                                              Evaluator &evaluator) {
  sdy::MeshAttr mesh = meshOf(op);
  Block &body = op.getBody().front();
  if (!mesh)
    return evaluator.run(op.getBody(), std::move(operands));
  Devices devices(mesh);
  ArrayRef<StringAttr> manual = op.getManualAxes().getAxes();
  ArrayRef<sdy::TensorShardingAttr> in = op.getInShardings().getShardings();
  ArrayRef<sdy::TensorShardingAttr> out = op.getOutShardings().getShardings();
  for (auto [i, sharding] : llvm::enumerate(in))
    if (failed(checkLocalType(op, devices, sharding, operands[i].getType(),
                              body.getArgument(i).getType())))
      return failure();
  for (auto [i, sharding] : llvm::enumerate(out))
    if (failed(checkLocalType(op, devices, sharding, op->getResult(i).getType(),
                              body.getTerminator()->getOperand(i).getType())))
      return failure();

  PerDevice locals(devices.count());
  for (int64_t place = 0; place < devices.count(); ++place)
    for (auto [i, sharding] : llvm::enumerate(in)) {
      Tensor local(cast<RankedTensorType>(body.getArgument(i).getType()));
      View from = localView(devices, place, sharding, manual,
                            operands[i].getType(), local.getShape());
      copyView(local.getShape(), operands[i], from, local,
               wholeView(local.getShape()));
      locals[devices.deviceAt(place)].push_back(std::move(local));
    }
  operands.clear();
  FailureOr<PerDevice> results =
      MeshProgram(evaluator).run(body, std::move(locals));
  if (failed(results))
    return failure();

  Tensors globals;
  for (auto [i, sharding] : llvm::enumerate(out)) {
    globals.emplace_back(cast<RankedTensorType>(op->getResult(i).getType()));
    for (int64_t place = 0; place < devices.count(); ++place) {
      const Tensor &local = (*results)[devices.deviceAt(place)][i];
      View to = localView(devices, place, sharding, manual,
                          globals.back().getType(), local.getShape());
      copyView(local.getShape(), local, wholeView(local.getShape()),
               globals.back(), to);
    }
  }
  return globals;
}

/// A scalar of the operation's result type.
static Tensor scalarResult(Operation *op, int64_t value) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (*storageOf(type.getElementType()) == Storage::Unsigned)
    return Tensor::splat<uint64_t>(type, value);
  return Tensor::splat<int64_t>(type, value);
}

/// Outside of a manual computation there is one device.
template <typename OpT> static void addCollective(Handlers &handlers) {
  handlers.add<OpT>([](OpT op, Tensors &operands,
                       Evaluator &evaluator) -> FailureOr<Tensors> {
    PerDevice all{std::move(operands)};
    FailureOr<PerDevice> results =
        evaluateCollective(op, std::move(all), evaluator);
    if (failed(results))
      return failure();
    return std::move(results->front());
  });
}

void interpreter::addMeshOps(Handlers &handlers) {
  handlers.add<sdy::ManualComputationOp>(manualComputationOp);
  handlers.add<stablehlo::PartitionIdOp>(
      [](stablehlo::PartitionIdOp op, Tensors &, Evaluator &evaluator) {
        return scalarResult(op, evaluator.getDevice());
      });
  handlers.add<stablehlo::ReplicaIdOp>(
      [](stablehlo::ReplicaIdOp op, Tensors &, Evaluator &) {
        return scalarResult(op, 0);
      });
  addCollective<stablehlo::AllReduceOp>(handlers);
  addCollective<stablehlo::AllGatherOp>(handlers);
  addCollective<stablehlo::AllToAllOp>(handlers);
  addCollective<stablehlo::ReduceScatterOp>(handlers);
  addCollective<stablehlo::CollectivePermuteOp>(handlers);
}
