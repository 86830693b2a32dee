/// The conversion that every generated CPU kernel goes through.
#ifndef SP_LIB_CODEGEN_LOWERTOLLVM_H
#define SP_LIB_CODEGEN_LOWERTOLLVM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::sp {

/// Adds the passes that take kernels from func, scf, cf, arith, math, vector,
/// x86vector, memref and llvm ops to the LLVM dialect alone. Memrefs become
/// bare pointers at function boundaries, so that kernels keep the C convention
/// of `sprt/kernel.h`.
void addLoweringPasses(OpPassManager &manager);

/// Registers that pipeline as `sp-lower-to-llvm`.
void registerLowerToLLVMPipeline();

/// Runs the pipeline on a module that holds kernels only.
LogicalResult lowerToLLVM(ModuleOp kernels);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_LOWERTOLLVM_H
