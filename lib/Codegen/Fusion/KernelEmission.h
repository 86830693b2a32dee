/// Fused kernels from functions of StableHLO, for CPUs and for GPUs.
#ifndef SP_LIB_CODEGEN_KERNELEMISSION_H
#define SP_LIB_CODEGEN_KERNELEMISSION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sp {

/// What a launch of a kernel needs to know (`table Launch` of plan.fbs).
struct KernelShape {
  int64_t tiles;        ///< 0: nothing to do
  int64_t scratchBytes; ///< per thread
};

/// Emits `source`, a function of StableHLO and CHLO ops on static tensors, as a
/// kernel of the same name into `target`. The kernel has the C convention of
/// `sprt/kernel.h`: buffers are operands, then results, dense row-major, i1 as
/// one byte; no result overlaps an operand or another result; `sizes` is not
/// read. What is emitted is func, scf, arith, math and llvm ops: run
/// `lowerToLLVM` on `target` afterwards. An operation that kernels do not
/// support ends in a diagnostic at its location.
FailureOr<KernelShape> emitKernel(func::FuncOp source, ModuleOp target);

/// What a launch of a kernel for GPUs needs to know.
struct GridShape {
  int64_t blocks = 1; ///< fewer do the same work
  int64_t threads = 1;
  int64_t sharedBytes = 0;  ///< of a block
  int64_t scratchBytes = 0; ///< of a block
};

/// Emits the same function for GPUs: `@name(buffers..., scratch)`, every
/// argument a pointer, with `sp.grid` and the number of threads of a block in
/// `sp.threads`. Threads ask gpu ops for their number and meet at gpu.barrier;
/// the address of shared memory is that of the global `sprt_shared`. See
/// `GridEmission.h` for what follows.
FailureOr<GridShape> emitGridKernel(func::FuncOp source, ModuleOp target);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_KERNELEMISSION_H
