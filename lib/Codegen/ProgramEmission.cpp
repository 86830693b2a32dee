//===- ProgramEmission.cpp - Kernels, plan and constants of a program -----===//

#include "sp/Codegen/ProgramEmission.h"

#include "CPU/CpuKernelTable.h"
#include "CUDA/CudaKernelTable.h"
#include "Plan/PlanWriter.h"

#include "sp/IR/PlacedValues.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Writes a constant at its offset, as buffers hold it.
LogicalResult layConstant(stablehlo::ConstantOp op, std::vector<char> &bytes) {
  auto type = cast<RankedTensorType>(op.getType());
  AffineMap offset = placeOf(op.getResult()).getOffset().getValue();
  char *to =
      bytes.data() + cast<AffineConstantExpr>(offset.getResult(0)).getValue();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue())) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return op.emitOpError() << "has elided values; print the model with them";
    llvm::copy(blob->getData(), to);
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return op.emitOpError()
           << "expected dense values but got " << op.getValue();
  int64_t count = type.getNumElements(),
          size = elementBytes(type.getElementType());
  if (type.getElementType().isInteger(1)) {
    for (auto [index, value] : llvm::enumerate(dense.getValues<bool>()))
      to[index] = value;
    return success();
  }
  ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat()) {
    llvm::copy(raw, to);
    return success();
  }
  for (int64_t index = 0; index < count; ++index)
    llvm::copy(raw.take_front(size), to + index * size);
  return success();
}

} // namespace

static FailureOr<func::FuncOp> findMain(ModuleOp module) {
  if (auto func = module.lookupSymbol<func::FuncOp>("main"))
    return func;
  return module.emitError() << "expected a function @main";
}

static std::unique_ptr<KernelTable> makeKernelTable(ModuleOp module,
                                                    const Target &target) {
  return target.cuda ? makeCudaKernelTable(module, target)
                     : makeCpuKernelTable(module, target);
}

FailureOr<EmittedProgram>
mlir::sp::emitProgram(ModuleOp module, const Target &target,
                      const DocumentsProgram &documents,
                      function_ref<int64_t(Operation *)> liveBytes) {
  FailureOr<func::FuncOp> func = findMain(module);
  if (failed(func))
    return failure();
  EmittedProgram program;
  std::unique_ptr<KernelTable> kernels = makeKernelTable(module, target);
  if (failed(kernels->addAll(*func)) || failed(kernels->emitInto(program)))
    return failure();
  auto of = [&](Operation *op) { return kernels->lookup(op); };
  auto named = [&](StringRef symbol) { return kernels->lookup(symbol); };
  FailureOr<sprt::plan::PlanT> plan =
      writePlan(module, {of, named}, program, liveBytes);
  if (failed(plan))
    return failure();

  if (!documents.artifact.empty()) {
    plan->documents_program = std::make_unique<sprt::plan::DocumentsProgramT>();
    plan->documents_program->artifact.assign(documents.artifact.begin(),
                                             documents.artifact.end());
    plan->documents_program->inputs.assign(documents.inputs.begin(),
                                           documents.inputs.end());
  }
  program.signatures = kernels->signatures();
  program.scratchBytes = plan->scratch_bytes;
  program.constants.resize(plan->constant_bytes);
  WalkResult walked =
      func->getBody().walk([&](stablehlo::ConstantOp op) -> WalkResult {
        return layConstant(op, program.constants);
      });
  if (walked.wasInterrupted())
    return failure();
  flatbuffers::FlatBufferBuilder builder;
  sprt::plan::FinishPlanBuffer(builder,
                               sprt::plan::Plan::Pack(builder, &*plan));
  program.plan.assign(builder.GetBufferPointer(),
                      builder.GetBufferPointer() + builder.GetSize());
  return program;
}

FailureOr<std::string>
mlir::sp::printCudaKernels(ModuleOp module, const Target &target, bool asPtx) {
  FailureOr<func::FuncOp> func = findMain(module);
  if (failed(func))
    return failure();
  std::unique_ptr<KernelTable> kernels = makeKernelTable(module, target);
  if (failed(kernels->addAll(*func)))
    return failure();
  return kernels->print(asPtx);
}

int64_t mlir::sp::placedBytesOf(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  return *bytesOf(main, Space::Arena) + *bytesOf(main, Space::Constants);
}

FailureOr<int64_t> mlir::sp::scratchBytesOf(ModuleOp module,
                                            const Target &target) {
  FailureOr<func::FuncOp> func = findMain(module);
  if (failed(func))
    return failure();
  std::unique_ptr<KernelTable> kernels = makeKernelTable(module, target);
  if (failed(kernels->addAll(*func)))
    return failure();
  return kernels->scratchBytes();
}
