/// Attention kernels for GPUs: their tiles, and the C++ text that instantiates
/// them from the templates in `sprt/cuda`.
#ifndef SP_LIB_CODEGEN_CUDAKERNELS_H
#define SP_LIB_CODEGEN_CUDAKERNELS_H

#include "CUDA/CudaTiles.h"
#include "sprt/cuda/AttentionArguments.h"
#include "sprt/cuda/PlainShape.h"

#include <variant>

namespace mlir::sp {

/// One instance of an attention kernel. It serves every attention of its type
/// and sizes: rows, strides, heads, slices and scale are run-time arguments
/// (`sprt/cuda/AttentionArguments.h`). The forward kernel takes bf16 and f16 on
/// Hopper, the plain one everything.
struct CudaAttention {
  Type elementType; ///< of q, k and v
  std::variant<::sprt::cuda::ForwardShape, ::sprt::cuda::PlainShape> shape;
  std::string scoreName; ///< or empty
  std::string score;     ///< C++ of a type `Score`, or empty
  ::sprt::cuda::StateForm form = ::sprt::cuda::StateForm::Mean;
  /// Of the one attention that it was chosen for.
  CudaOrder order = CudaOrder::HeaviestFirst;

  int64_t queryBlock() const;
  /// Of the forward kernel's copies; 0 for the plain one.
  int64_t keyBlock() const;
  int64_t threads() const;
  int64_t sharedBytes() const;
};

/// The instance for a partial attention. Fails with a diagnostic at `op` where
/// there is none.
FailureOr<CudaAttention> chooseCudaAttention(AttendOp op);

/// The plain kernel for what `attention` computes, which every GPU can run.
CudaAttention portableAttention(CudaAttention attention);

/// Its symbol, with keys at a time, consumers and stages of the forward kernel,
/// and whether its consumers take turns where others of its size do not:
/// `attend_bf16_d128_k176c2s2`, `attend_f16_d192x128_k112c2s2`,
/// `attend_bf16_d128_k176c2s2t0`, `attend_f32_d64`, `attend_f32_d64_sums`,
/// `attend_bf16_d64_k128c3s4_result`, `attend_bf16_d64_k96c2s2_score_0`.
std::string cudaAttentionName(const CudaAttention &attention);

/// A file of CUDA C++ that defines the kernel of that name, or, compiled as C++
/// with SPRT_EMULATED, the function of `sprt/cuda/Emulated.h`.
std::string cudaSource(const CudaAttention &attention);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_CUDAKERNELS_H
