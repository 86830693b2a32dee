/// Generated CPU kernels for the gradients of attention, beside
/// AttentionKernel.h: FlashAttention-2's backward (arXiv:2307.08691) over band
/// slices, with five products a pair of blocks in native register tiles.
///
///     Pᵀ  = 2^(K Qᵀ · scale · log₂e − lse · log₂e)
///     dV += Pᵀ dO
///     dSᵀ = Pᵀ ∘ (V dOᵀ − delta) · scale
///     dK += dSᵀ Q        dQ += dS K
///
/// With a score function, of exponents e, slopes e' and weights w:
///
///     Pᵀ  = exp(e − greatest) / sum       dV += (Pᵀ ∘ w) dO
///     dSᵀ = Pᵀ ∘ (w ∘ V dOᵀ − delta) ∘ e' · scale
///
/// and, of each derivative e_t by an element of a term, the sums over queries,
/// keys or both of Pᵀ ∘ (w ∘ V dOᵀ − delta) ∘ e_t, added to memory in f32
/// (f64).
///
/// One kernel serves every attention with the same head size, value size and
/// element type; rows, strides, heads, slices and scale are run-time arguments
/// (`sprt/kernel.h`). A tile is all that one kv head of one batch has to do, so
/// that nothing is shared between tiles and sums have one order, whatever the
/// number of threads. At most batch * kvHeads threads work.
///
/// bf16 and f16 are computed in f32, products included unless `bf16Dots`. Rows
/// beyond the valid ones are neither read nor written. Pairs outside the
/// slices and queries whose lse is -inf add nothing, whatever their elements,
/// terms, slopes, derivatives and weights are. A pair whose exponent is -inf
/// has P = 0, which hides no NaN. A slope or derivative of 0 makes dS 0,
/// whatever P and dP are, where the score function has a selection, which
/// passes that on.
#ifndef SP_LIB_CODEGEN_ATTENTIONBACKWARDKERNEL_H
#define SP_LIB_CODEGEN_ATTENTIONBACKWARDKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::sp {

struct AttentionBackwardConfig {
  int64_t headSize = 0;  ///< inner size of q and k
  int64_t valueSize = 0; ///< inner size of v and dO
  Type elementType; ///< of q, k, v, dO: f32, bf16, f16 (computed in f32) or f64
  int64_t vectorBits =
      512;               ///< 512 needs AVX-512 F, BW, DQ, VL; 256 AVX2 and FMA
  bool bf16Dots = false; ///< multiply bf16 in pairs (AVX512-BF16, 512 bits)
  /// As in AttentionKernelConfig, but it gives exponent, slope by the scaled
  /// product, weight, if there is one, and a derivative for each of
  /// `termGradients`.
  func::FuncOp score;
  unsigned perQuery = 0, perKey = 0, perHead = 0, pair = 0;
  /// A gradient of a term: whether each query, and each key, has its own.
  struct TermGradient {
    bool perQuery = false, perKey = false;
  };
  SmallVector<TermGradient> termGradients;
};

/// Checks the configuration; the diagnostic is at `loc`.
LogicalResult
verifyAttentionBackwardKernel(Location loc,
                              const AttentionBackwardConfig &config);

/// Symbol of the kernel, e.g. `attend_backward_f32_d64` or, with a score
/// function, `attend_backward_f32_d64_score_0`, and with a gradient of a term
/// for each pair `attend_backward_f32_d64_score_0_of_pairs`.
std::string attentionBackwardKernelName(const AttentionBackwardConfig &config);

/// Scratch memory that each thread hands to the kernel.
int64_t attentionBackwardScratchBytes(const AttentionBackwardConfig &config);

/// Adds the kernel to `module` (or returns the one of that name): a function of
/// the func, scf, arith, vector and llvm dialects with the signature of
/// sprt_kernel. The configuration must verify.
func::FuncOp
buildAttentionBackwardKernel(ModuleOp module, Location loc,
                             const AttentionBackwardConfig &config);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_ATTENTIONBACKWARDKERNEL_H
