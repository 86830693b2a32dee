//===- AssignMesh.cpp - The mesh and the roles of its axes ----------------===//
//
//   after, with mesh="dp=2,sp=4"
//     sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
//
//===----------------------------------------------------------------------===//

#include "DeriveRoles.h"
#include "sp/Plan/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::sp {
#define GEN_PASS_DEF_ASSIGNMESHPASS
#include "sp/Plan/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct AssignMeshPass : mlir::sp::impl::AssignMeshPassBase<AssignMeshPass> {
  using AssignMeshPassBase::AssignMeshPassBase;

  FailureOr<SmallVector<MeshAxisAttr>> parseMesh();
  SmallVector<MeshAxisAttr> moduleMesh();
  FailureOr<SmallVector<MeshAxisAttr>> chooseMesh();
  /// An axis by role: as asked for, or by its usual names.
  FailureOr<StringRef> chooseAxis(ArrayRef<MeshAxisAttr> axes, StringRef option,
                                  StringRef asked, StringRef derived,
                                  ArrayRef<StringRef> names);
  LogicalResult checkUnused(ArrayRef<MeshAxisAttr> axes,
                            ArrayRef<StringRef> used);
  LogicalResult checkDistinct(ArrayRef<StringRef> used);

  void runOnOperation() override;
};

std::string listNames(ArrayRef<MeshAxisAttr> axes) {
  return llvm::join(
      llvm::map_range(axes,
                      [](MeshAxisAttr axis) {
                        return ("\"" + axis.getName() + "\"").str();
                      }),
      ", ");
}

FailureOr<SmallVector<MeshAxisAttr>> AssignMeshPass::parseMesh() {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<StringRef> parts;
  StringRef(mesh).split(parts, ',');
  for (StringRef part : parts) {
    StringRef name, size;
    std::tie(name, size) = part.split('=');
    int64_t ranks = 0;
    if (name.empty() || size.getAsInteger(10, ranks) || ranks < 1 ||
        ranks > sprt::algebra::Layout::maxRanks)
      return getOperation().emitError()
             << "expected a mesh of axes and positive sizes, such as "
                "dp=2,sp=4, but got \""
             << mesh << "\"";
    if (llvm::any_of(axes,
                     [&](MeshAxisAttr axis) { return axis.getName() == name; }))
      return getOperation().emitError()
             << "expected distinct mesh axes but got \"" << name
             << "\" twice in \"" << mesh << "\"";
    axes.push_back(MeshAxisAttr::get(&getContext(), name, ranks));
  }
  return axes;
}

/// The first mesh that has axes.
static sdy::MeshOp declaredMesh(ModuleOp module) {
  for (sdy::MeshOp mesh : module.getOps<sdy::MeshOp>())
    if (!mesh.getMesh().getAxes().empty())
      return mesh;
  return sdy::MeshOp();
}

SmallVector<MeshAxisAttr> AssignMeshPass::moduleMesh() {
  SmallVector<MeshAxisAttr> axes;
  if (sdy::MeshOp declared = declaredMesh(getOperation()))
    for (sdy::MeshAxisAttr axis : declared.getMesh().getAxes())
      axes.push_back(
          MeshAxisAttr::get(&getContext(), axis.getName(), axis.getSize()));
  return axes;
}

FailureOr<SmallVector<MeshAxisAttr>> AssignMeshPass::chooseMesh() {
  SmallVector<MeshAxisAttr> declared = moduleMesh();
  if (mesh.empty()) {
    if (declared.empty())
      return getOperation().emitError()
             << "expected a mesh but the module declares none; name one, such "
                "as --mesh=sp=8";
    return declared;
  }
  FailureOr<SmallVector<MeshAxisAttr>> asked = parseMesh();
  if (failed(asked))
    return failure();
  for (MeshAxisAttr axis : declared)
    for (MeshAxisAttr other : *asked)
      if (axis.getName() == other.getName() &&
          axis.getSize() != other.getSize()) {
        InFlightDiagnostic diagnostic =
            getOperation().emitError()
            << "expected axis \"" << axis.getName() << "\" to have size "
            << axis.getSize()
            << ", as the module's mesh says, but --mesh gives it "
            << other.getSize();
        diagnostic.attachNote(declaredMesh(getOperation()).getLoc())
            << "the module's mesh; export the model again for another, or "
               "leave --mesh out";
        return diagnostic;
      }
  return asked;
}

FailureOr<StringRef> AssignMeshPass::chooseAxis(ArrayRef<MeshAxisAttr> axes,
                                                StringRef option,
                                                StringRef asked,
                                                StringRef derived,
                                                ArrayRef<StringRef> names) {
  auto find = [&](StringRef name) {
    return llvm::any_of(
        axes, [&](MeshAxisAttr axis) { return axis.getName() == name; });
  };
  if (!asked.empty()) {
    if (find(asked))
      return asked;
    if (asked.contains(','))
      return getOperation().emitError()
             << "expected " << option << " to name one axis but got \"" << asked
             << "\"; several axes for one sequence are not supported yet";
    return getOperation().emitError()
           << "expected " << option << " to name an axis of the mesh, "
           << listNames(axes) << ", but got \"" << asked << "\"";
  }
  if (!derived.empty() && find(derived))
    return derived;
  for (StringRef name : names)
    if (find(name))
      return name;
  return StringRef();
}

LogicalResult AssignMeshPass::checkUnused(ArrayRef<MeshAxisAttr> axes,
                                          ArrayRef<StringRef> used) {
  for (MeshAxisAttr axis : axes)
    if (!llvm::is_contained(used, axis.getName()) && axis.getSize() > 1)
      return getOperation().emitError()
             << "expected every mesh axis to shard the sequence, the batch or "
                "heads and features but axis \""
             << axis.getName() << "\" of size " << axis.getSize()
             << " does not; name it with --seq-axis, --batch-axis or "
                "--tensor-axis, or leave it out";
  return success();
}

LogicalResult AssignMeshPass::checkDistinct(ArrayRef<StringRef> used) {
  constexpr StringLiteral roles[] = {"the sequence", "the batch", "tensors"};
  for (auto [number, axis] : llvm::enumerate(used))
    for (size_t other = 0; other < number; ++other)
      if (!axis.empty() && used[other] == axis)
        return getOperation().emitError()
               << "expected different axes for " << roles[other] << " and "
               << roles[number] << " but got \"" << axis << "\" for both";
  return success();
}

/// Whether ranks that exchange most are neighbours: those of a tensor axis,
/// which do in every layer.
static void explainOrder(ModuleOp module, ArrayRef<MeshAxisAttr> axes,
                         StringRef tensor) {
  auto own = llvm::find_if(
      axes, [&](MeshAxisAttr axis) { return axis.getName() == tensor; });
  if (own == axes.end() || own->getSize() == 1)
    return;
  bool isLast = std::all_of(own + 1, axes.end(), [](MeshAxisAttr axis) {
    return axis.getSize() == 1;
  });
  auto name = remark::RemarkOpts::name("MeshOrder").category("sp-assign-mesh");
  if (isLast) {
    remark::passed(module.getLoc(), name)
        << "ranks of " << tensor
        << ", which exchange activations in every layer, are neighbours";
    return;
  }
  remark::missed(module.getLoc(), name)
      << "ranks of " << tensor
      << ", which exchange activations in every layer, are no neighbours: put "
         "it last in --mesh";
}

void AssignMeshPass::runOnOperation() {
  if (getMesh(getOperation()))
    return;
  FailureOr<SmallVector<MeshAxisAttr>> axes = chooseMesh();
  if (failed(axes))
    return signalPassFailure();
  Roles derived = deriveRoles(getOperation());
  FailureOr<StringRef> sequence =
      chooseAxis(*axes, "--seq-axis", seqAxis, derived.sequence,
                 {"sp", "seq", "cp", "context"});
  if (failed(sequence))
    return signalPassFailure();
  // A name says less than a sharding does.
  SmallVector<StringRef> batchNames = {"dp", "data"};
  llvm::erase(batchNames, *sequence);
  bool isTaken = derived.batch == *sequence;
  FailureOr<StringRef> batch =
      chooseAxis(*axes, "--batch-axis", batchAxis,
                 isTaken ? StringRef() : derived.batch, batchNames);
  if (failed(batch))
    return signalPassFailure();
  SmallVector<StringRef> tensorNames = {"tp", "tensor", "model"};
  llvm::erase_if(tensorNames, [&](StringRef name) {
    return name == *sequence || name == *batch;
  });
  FailureOr<StringRef> tensor = chooseAxis(
      *axes, "--tensor-axis", tensorAxis, /*derived=*/StringRef(), tensorNames);
  if (failed(tensor))
    return signalPassFailure();
  bool onlyAxis = sequence->empty() && axes->size() == 1 &&
                  *batch != axes->front().getName() &&
                  *tensor != axes->front().getName();
  if (onlyAxis)
    sequence = axes->front().getName();
  StringRef used[] = {*sequence, *batch, *tensor};
  if (failed(checkDistinct(used)) || failed(checkUnused(*axes, used)))
    return signalPassFailure();
  auto emitError = [&] { return getOperation().emitError(); };
  MeshAttr meshAttr =
      MeshAttr::getChecked(function_ref<InFlightDiagnostic()>(emitError),
                           &getContext(), ArrayRef<MeshAxisAttr>(*axes));
  if (!meshAttr)
    return signalPassFailure();
  explainOrder(getOperation(), *axes, *tensor);
  OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
  auto role = [&](StringRef axis) {
    return axis.empty() ? AxisAttr() : AxisAttr::get(&getContext(), axis);
  };
  bool isFree = !getOperation().lookupSymbol("mesh");
  StringRef name = isFree ? "mesh" : "sp_mesh";
  MeshOp::create(builder, getOperation().getLoc(), builder.getStringAttr(name),
                 meshAttr, role(*sequence), role(*batch), role(*tensor),
                 AxisListAttr(),
                 /*folded=*/false);
}

} // namespace
