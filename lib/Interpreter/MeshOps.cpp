//===- MeshOps.cpp - Manual computations and devices ----------------------===//
#include "Elementwise.h"
#include "MeshProgram.h"
#include "Strided.h"

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
  /// The first place that differs from `place` in manual axes only: the places
  /// with the same one hold the parts of one value.
  int64_t groupOf(int64_t place, ArrayRef<StringAttr> manual) const;

private:
  static bool isManual(StringRef axis, ArrayRef<StringAttr> manual) {
    return llvm::any_of(
        manual, [&](StringAttr name) { return name.getValue() == axis; });
  }

  sdy::MeshAttr mesh;
};
} // namespace

std::pair<int64_t, int64_t> Devices::partAt(int64_t place,
                                            ArrayRef<sdy::AxisRefAttr> axes,
                                            ArrayRef<StringAttr> manual) const {
  int64_t part = 0, parts = 1;
  for (sdy::AxisRefAttr axis : axes) {
    if (!isManual(axis.getName(), manual))
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

int64_t Devices::groupOf(int64_t place, ArrayRef<StringAttr> manual) const {
  int64_t stride = 1, group = place;
  for (sdy::MeshAxisAttr axis : llvm::reverse(mesh.getAxes())) {
    if (isManual(axis.getName(), manual))
      group -= place / stride % axis.getSize() * stride;
    stride *= axis.getSize();
  }
  return group;
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

/// Checks the local types of arguments and results.
static LogicalResult checkLocalTypes(sdy::ManualComputationOp op,
                                     const Devices &devices) {
  Block &body = op.getBody().front();
  ArrayRef<sdy::TensorShardingAttr> in = op.getInShardings().getShardings();
  ArrayRef<sdy::TensorShardingAttr> out = op.getOutShardings().getShardings();
  for (auto [i, sharding] : llvm::enumerate(in))
    if (failed(checkLocalType(op, devices, sharding,
                              op->getOperand(i).getType(),
                              body.getArgument(i).getType())))
      return failure();
  for (auto [i, sharding] : llvm::enumerate(out))
    if (failed(checkLocalType(op, devices, sharding, op->getResult(i).getType(),
                              body.getTerminator()->getOperand(i).getType())))
      return failure();
  return success();
}

/// Each device's parts of its operands.
static PerDevice cutOperands(sdy::ManualComputationOp op,
                             const Devices &devices, const PerDevice &wholes) {
  PerDevice parts(devices.count());
  for (int64_t place = 0; place < devices.count(); ++place) {
    int64_t device = devices.deviceAt(place);
    for (auto [i, sharding] :
         llvm::enumerate(op.getInShardings().getShardings())) {
      const Tensor &whole = wholes[device][i];
      Type type = op.getBody().getArgument(i).getType();
      Tensor part(cast<RankedTensorType>(type));
      View from =
          localView(devices, place, sharding, op.getManualAxes().getAxes(),
                    whole.getType(), part.getShape());
      copyView(part.getShape(), whole, from, part, wholeView(part.getShape()));
      parts[device].push_back(std::move(part));
    }
  }
  return parts;
}

/// Results put together from the devices that hold their parts.
static PerDevice joinResults(sdy::ManualComputationOp op,
                             const Devices &devices, const PerDevice &parts) {
  ArrayRef<StringAttr> manual = op.getManualAxes().getAxes();
  PerDevice wholes(devices.count());
  for (auto [i, sharding] :
       llvm::enumerate(op.getOutShardings().getShardings())) {
    std::vector<Tensor> groups(devices.count());
    for (int64_t place = 0; place < devices.count(); ++place) {
      Tensor &whole = groups[devices.groupOf(place, manual)];
      if (!whole)
        whole = Tensor(cast<RankedTensorType>(op->getResult(i).getType()));
      const Tensor &part = parts[devices.deviceAt(place)][i];
      View to = localView(devices, place, sharding, manual, whole.getType(),
                          part.getShape());
      copyView(part.getShape(), part, wholeView(part.getShape()), whole, to);
    }
    for (int64_t place = 0; place < devices.count(); ++place)
      wholes[devices.deviceAt(place)].push_back(
          groups[devices.groupOf(place, manual)]);
  }
  return wholes;
}

FailureOr<PerDevice> interpreter::evaluateManual(sdy::ManualComputationOp op,
                                                 PerDevice operands,
                                                 MeshProgram &program) {
  Block &body = op.getBody().front();
  sdy::MeshAttr mesh = meshOf(op);
  if (!mesh)
    return program.run(body, std::move(operands));
  Devices devices(mesh);
  if (devices.count() != int64_t(operands.size()))
    return op.emitOpError()
           << "expected a mesh of " << operands.size()
           << " devices as around it but got " << devices.count();
  if (failed(checkLocalTypes(op, devices)))
    return failure();
  PerDevice parts = cutOperands(op, devices, operands);
  operands.clear();
  FailureOr<PerDevice> results = program.run(body, std::move(parts));
  if (failed(results))
    return failure();
  return joinResults(op, devices, *results);
}

/// Around the outermost computation all devices hold the same values.
static FailureOr<Tensors> manualComputationOp(sdy::ManualComputationOp op,
                                              Tensors &operands,
                                              Evaluator &evaluator) {
  sdy::MeshAttr mesh = meshOf(op);
  PerDevice all(mesh ? mesh.getTotalSize() : 1, operands);
  operands.clear();
  MeshProgram program(evaluator);
  FailureOr<PerDevice> results = evaluateManual(op, std::move(all), program);
  if (failed(results))
    return failure();
  return std::move(results->front());
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
        return scalarInteger(op, evaluator.getDevice());
      });
  handlers.add<stablehlo::ReplicaIdOp>(
      [](stablehlo::ReplicaIdOp op, Tensors &, Evaluator &) {
        return scalarInteger(op, 0);
      });
  addCollective<stablehlo::AllReduceOp>(handlers);
  addCollective<stablehlo::AllGatherOp>(handlers);
  addCollective<stablehlo::AllToAllOp>(handlers);
  addCollective<stablehlo::ReduceScatterOp>(handlers);
  addCollective<stablehlo::CollectivePermuteOp>(handlers);
}
