//===- ProgramEmission.cpp - Kernels, plan and constants of a program -----===//

#include "sp/Codegen/ProgramEmission.h"

#include "PlanWriter.h"
#include "sp/Codegen/AttentionKernel.h"
#include "sp/Codegen/KernelEmission.h"
#include "sp/Codegen/LowerToLLVM.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Generates kernels as commands ask for them, each once.
class KernelTable {
public:
  KernelTable(ModuleOp module, const CPUTarget &target) : target(target) {
    module.getContext()
        ->loadDialect<LLVM::LLVMDialect, arith::ArithDialect,
                      cf::ControlFlowDialect, func::FuncDialect,
                      math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                      vector::VectorDialect, x86vector::X86VectorDialect>();
    kernels = ModuleOp::create(module.getLoc());
  }
  ~KernelTable() { kernels->erase(); }

  LogicalResult addAll(func::FuncOp func) {
    WalkResult walked = func.getBody().walk(
        [&](Operation *op) -> WalkResult { return add(op); });
    return failure(walked.wasInterrupted());
  }

  KernelInfo lookup(Operation *op) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      return known.at(launch.getKernel());
    return known.at(attentionKernelName(configOf(cast<AttendOp>(op))));
  }

  int64_t scratchBytes() const {
    int64_t most = 0;
    for (const auto &entry : known)
      most = std::max(most, entry.second.scratchBytes);
    return most;
  }

  LogicalResult emitInto(EmittedProgram &program) {
    program.kernels = known.size();
    if (known.empty())
      return success();
    if (failed(lowerToLLVM(kernels)))
      return failure();
    return emitObject(kernels, target, program.object);
  }

private:
  LogicalResult add(Operation *op) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      return addLaunch(launch);
    if (auto attend = dyn_cast<AttendOp>(op))
      return addAttend(attend);
    return success();
  }

  LogicalResult addLaunch(LaunchOp op) {
    if (known.contains(op.getKernel()))
      return success();
    auto source = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, op.getKernelAttr());
    FailureOr<KernelShape> shape = emitKernel(source, kernels);
    if (failed(shape))
      return failure();
    known[op.getKernel()] = {op.getKernel().str(), shape->tiles,
                             shape->scratchBytes, 0};
    return success();
  }

  AttentionKernelConfig configOf(AttendOp op) {
    AttentionKernelConfig config;
    config.headSize = op.getQuery().getType().getDimSize(3);
    config.valueSize = op.getValue().getType().getDimSize(3);
    config.elementType = op.getQuery().getType().getElementType();
    config.launchKeys = op.getKey().getType().getDimSize(1);
    config.vectorBits = target.vectorBits;
    config.bf16Dots = target.bf16Dots;
    if (op.getScore())
      config.score = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          op, op.getScoreAttr());
    config.perQuery = op.getPerQuery().size();
    config.perKey = op.getPerKey().size();
    config.perHead = op.getPerHead().size();
    config.pair = op.getPair().size();
    return config;
  }

  LogicalResult addAttend(AttendOp op) {
    AttentionKernelConfig config = configOf(op);
    if (failed(verifyAttentionKernel(op.getLoc(), config)))
      return failure();
    std::string name = attentionKernelName(config);
    if (known.contains(name))
      return success();
    buildAttentionKernel(kernels, op.getLoc(), config);
    known[name] = {name, 0, attentionScratchBytes(config),
                   attentionQueryBlock(config)};
    return success();
  }

  const CPUTarget &target;
  ModuleOp kernels;
  llvm::StringMap<KernelInfo> known;
};

/// Writes a constant at its offset, as buffers hold it.
LogicalResult layConstant(stablehlo::ConstantOp op, std::vector<char> &bytes) {
  auto type = cast<RankedTensorType>(op.getType());
  auto offsets = op->getAttrOfType<ArrayAttr>("sp.offsets");
  AffineMap offset = cast<AffineMapAttr>(offsets[0]).getValue();
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

FailureOr<EmittedProgram> mlir::sp::emitProgram(ModuleOp module,
                                                const CPUTarget &target) {
  auto func = module.lookupSymbol<func::FuncOp>("main");
  if (!func)
    return module.emitError() << "expected a function @main";
  EmittedProgram program;
  KernelTable kernels(module, target);
  if (failed(kernels.addAll(func)))
    return failure();
  FailureOr<sprt::plan::PlanT> plan = PlanWriter(module, [&](Operation *op) {
                                        return kernels.lookup(op);
                                      }).write(target.features);
  if (failed(plan) || failed(kernels.emitInto(program)))
    return failure();

  program.scratchBytes = plan->scratch_bytes;
  program.constants.resize(plan->constant_bytes);
  WalkResult walked =
      func.getBody().walk([&](stablehlo::ConstantOp op) -> WalkResult {
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

FailureOr<int64_t> mlir::sp::scratchBytesOf(ModuleOp module,
                                            const CPUTarget &target) {
  auto func = module.lookupSymbol<func::FuncOp>("main");
  if (!func)
    return module.emitError() << "expected a function @main";
  KernelTable kernels(module, target);
  if (failed(kernels.addAll(func)))
    return failure();
  return kernels.scratchBytes();
}
