/// What a plan says of kernels.
#ifndef SP_LIB_CODEGEN_KERNELINFO_H
#define SP_LIB_CODEGEN_KERNELINFO_H

#include "sprt/plan_generated.h"

#include "mlir/IR/Operation.h"

#include <string>

namespace mlir::sp {

/// What the plan must know of a generated kernel.
struct KernelInfo {
  std::string symbol;
  int64_t tiles = 0;        ///< of a fused kernel; on a GPU blocks
  int64_t scratchBytes = 0; ///< a thread; on a GPU of all blocks
  int64_t flops = 0;        ///< of the products of a fused kernel
  int64_t queryBlock = 0;   ///< of an attention kernel
  int64_t keyBlock = 0;     ///< of one for GPUs
  int64_t threads = 1;      ///< of a block, on a GPU
  int64_t sharedBytes = 0;  ///< likewise
  std::string portable;     ///< symbol of the one for other GPUs, or empty
  /// Of blocks of queries; by attention, not by kernel.
  ::sprt::plan::BlockOrder order = ::sprt::plan::BlockOrder::heaviestFirst;
};

/// The kernel of a launch, of a partial attention or of its gradients, and any
/// by its symbol.
struct KernelLookup {
  function_ref<KernelInfo(Operation *)> of;
  function_ref<KernelInfo(StringRef)> named;
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_KERNELINFO_H
