/// Kernels for GPUs.
#ifndef SP_LIB_CODEGEN_CUDAKERNELTABLE_H
#define SP_LIB_CODEGEN_CUDAKERNELTABLE_H

#include "Kernels/KernelTable.h"

namespace mlir::sp {

/// `target` must outlive the table.
std::unique_ptr<KernelTable> makeCudaKernelTable(ModuleOp module,
                                                 const Target &target);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_CUDAKERNELTABLE_H
