// Kernels as commands ask for them, whatever they are for.

#include "Kernels/KernelTable.h"

#include "Machine/LowerToLLVM.h"
#include "Machine/ObjectEmission.h"

#include "sp/IR/Flops.h"

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
  if (failed(info))
    return failure();
  info->symbol = launch.getKernel().str();
  // More than can be counted is as much as can be.
  info->flops = int64_t(std::min(flopsOf(launch), 0x1p62));
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

} // namespace mlir::sp
