/// From kernels of `emitGridKernel` to what runs them: PTX for GPUs, or
/// functions of the host that emulate one thread.
#ifndef SP_LIB_CODEGEN_GRIDEMISSION_H
#define SP_LIB_CODEGEN_GRIDEMISSION_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir::sp {

/// The PTX of a module that holds such kernels only, for sm_80 and later. What
/// it calls of CUDA's library of mathematics is linked from the bitcode file
/// `libdevice`; empty: such a call is an error. The module is lowered on the
/// way.
FailureOr<std::string> emitPtx(ModuleOp kernels, StringRef libdevice);

/// Makes of each kernel a function of type `sprt_emulated_thread` (see
/// `sprt/cuda/Emulated.h`) of the same name; what is left are ops that
/// `lowerToLLVM` takes.
void emulateGrids(ModuleOp kernels);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_GRIDEMISSION_H
