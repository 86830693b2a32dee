// Kernels as commands ask for them, whatever they are for; and those for CPUs.

#include "KernelTable.h"

#include "sp/Codegen/AttentionBackwardKernel.h"
#include "sp/Codegen/AttentionKernel.h"
#include "sp/Codegen/KernelEmission.h"
#include "sp/Codegen/LowerToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace mlir::sp {

KernelTable::KernelTable(ModuleOp module) {
  module.getContext()
      ->loadDialect<LLVM::LLVMDialect, arith::ArithDialect,
                    cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                    math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                    vector::VectorDialect, x86vector::X86VectorDialect>();
  kernels = ModuleOp::create(module.getLoc());
}

KernelTable::~KernelTable() { kernels->erase(); }

LogicalResult KernelTable::addAll(func::FuncOp func) {
  WalkResult walked =
      func.getBody().walk([&](Operation *op) -> WalkResult { return add(op); });
  return failure(walked.wasInterrupted());
}

FailureOr<KernelInfo> KernelTable::add(LaunchOp launch) {
  if (auto found = known.find(launch.getKernel()); found != known.end())
    return found->second;
  FailureOr<KernelInfo> info =
      addLaunch(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          launch, launch.getKernelAttr()));
  if (succeeded(info))
    info->symbol = launch.getKernel().str();
  return info;
}

LogicalResult KernelTable::add(Operation *op) {
  FailureOr<KernelInfo> info;
  if (auto launch = dyn_cast<LaunchOp>(op))
    info = add(launch);
  else if (auto attend = dyn_cast<AttendOp>(op))
    info = addAttention(attend);
  else if (auto backward = dyn_cast<AttendBackwardOp>(op))
    info = addBackward(backward);
  else
    return success();
  if (failed(info))
    return failure();
  infos[op] = *info;
  known.try_emplace(info->symbol, *info);
  return success();
}

int64_t KernelTable::scratchBytes() const {
  int64_t most = 0;
  for (const auto &entry : known)
    most = std::max(most, entry.second.scratchBytes);
  return most;
}

LogicalResult emitHost(ModuleOp kernels, const CPUTarget &target,
                       EmittedProgram &program) {
  if (kernels.getBody()->empty())
    return success();
  if (failed(lowerToLLVM(kernels)))
    return failure();
  return emitObject(kernels, target, program.objects.emplace_back());
}

namespace {

class CpuKernelTable : public KernelTable {
public:
  CpuKernelTable(ModuleOp module, const CPUTarget &target)
      : KernelTable(module), target(target) {}

  FailureOr<std::string> print(bool) override {
    return kernels.emitError("expected --target=cuda for the source of kernels "
                             "for GPUs");
  }
  LogicalResult emitInto(EmittedProgram &program) override {
    program.kernels = known.size();
    program.features = target.features;
    return emitHost(kernels, target, program);
  }

protected:
  FailureOr<KernelInfo> addLaunch(func::FuncOp source) override {
    FailureOr<KernelShape> shape = emitKernel(source, kernels);
    if (failed(shape))
      return failure();
    KernelInfo info;
    info.tiles = shape->tiles;
    info.scratchBytes = shape->scratchBytes;
    return info;
  }

  FailureOr<KernelInfo> addAttention(AttendOp op) override {
    AttentionKernelConfig config = configOf<AttentionKernelConfig>(op);
    config.keepsSums = op.keepsSums();
    config.launchKeys = op.getKey().getType().getDimSize(1);
    if (failed(verifyAttentionKernel(op.getLoc(), config)))
      return failure();
    buildAttentionKernel(kernels, op.getLoc(), config);
    KernelInfo info;
    info.symbol = attentionKernelName(config);
    info.scratchBytes = attentionScratchBytes(config);
    info.queryBlock = attentionQueryBlock(config);
    return info;
  }

  FailureOr<KernelInfo> addBackward(AttendBackwardOp op) override {
    AttentionBackwardConfig config = configOf<AttentionBackwardConfig>(op);
    for (Type type : op.getDTerms().getTypes()) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
      config.termGradients.push_back(
          {/*perQuery=*/shape[1] > 1, /*perKey=*/shape[3] > 1});
    }
    if (failed(verifyAttentionBackwardKernel(op.getLoc(), config)))
      return failure();
    buildAttentionBackwardKernel(kernels, op.getLoc(), config);
    KernelInfo info;
    info.symbol = attentionBackwardKernelName(config);
    info.scratchBytes = attentionBackwardScratchBytes(config);
    return info;
  }

private:
  /// What an attention and its gradients say alike.
  template <typename ConfigT, typename OpT> ConfigT configOf(OpT op) const {
    ConfigT config;
    config.headSize = op.getQuery().getType().getDimSize(3);
    config.valueSize = op.getValue().getType().getDimSize(3);
    config.elementType = op.getQuery().getType().getElementType();
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

  const CPUTarget &target;
};

} // namespace

std::unique_ptr<KernelTable> makeKernelTable(ModuleOp module,
                                             const Target &target) {
  if (target.cuda)
    return makeCudaKernelTable(module, target);
  return std::make_unique<CpuKernelTable>(module, target.cpu);
}

} // namespace mlir::sp
