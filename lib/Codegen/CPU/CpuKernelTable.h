/// Kernels for CPUs.
#ifndef SP_LIB_CODEGEN_CPUKERNELTABLE_H
#define SP_LIB_CODEGEN_CPUKERNELTABLE_H

#include "Kernels/KernelTable.h"

namespace mlir::sp {

/// `target` must outlive the table.
std::unique_ptr<KernelTable> makeCpuKernelTable(ModuleOp module,
                                                const Target &target);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_CPUKERNELTABLE_H
