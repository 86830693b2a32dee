/// Generated CPU attention kernels: flash attention over band slices, carried
/// on a softmax state, in native register tiles with queries in the lanes.
///
/// One kernel serves every attention with the same head size, value size,
/// element type and tile: rows, strides, heads, slices and scale are run-time
/// arguments
/// (`sprt/kernel.h`), so layers, strategies and ranks share it.
///
///     Sᵀ[key][query] = K · Qᵀ                     maxima in its epilogue
///     Pᵀ = 2^(Sᵀ · scale · log₂e − m)             row sums per lane
///     Oᵀ[d][query] = Oᵀ · 2^(m_old − m) + Vᵀ · Pᵀ
///
/// Rows: the state is read unless INIT is set and written for every query row
/// of the tiles asked for. A row that sees no key keeps its state; with INIT it
/// becomes o = 0, lse = -inf. Where the state is sums, lse is m, in the
/// kernel's exponents, and l, and o is not normalised. A score of -inf hides
/// its key, so a row whose scores are all -inf counts as a row that sees no
/// key. NaN and +inf scores make the row NaN, as the plain softmax does.
/// Nothing outside the valid rows is read or written; between rows (stride
/// beyond the size) neither.
///
/// With a score function the exponent of each pair is what that makes of its
/// scaled product, its head and positions, and elements of the terms; slices
/// still say which pairs count, and a uniform one asks for no function. A
/// second result multiplies the powers that meet values, not those in the sum.
///
/// bf16 and f16 are computed in f32. With `bf16Dots` products are of bf16 and
/// sums in f32: P is rounded to bf16 before it meets V, as in any bf16 model.
///
/// Limits: strides of a slice are positive, kStride * key and qStride * query
/// fit in int64; at most 2^31 - 1 local keys (2^63 - 1 in fp64 kernels).
#ifndef SP_LIB_CODEGEN_ATTENTIONKERNEL_H
#define SP_LIB_CODEGEN_ATTENTIONKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::sp {

struct AttentionKernelConfig {
  int64_t headSize = 0;  ///< inner size of q and k
  int64_t valueSize = 0; ///< inner size of v and o
  Type elementType; ///< of q, k, v: f32, bf16, f16 (computed in f32) or f64
  int64_t vectorBits =
      512;                ///< 512 needs AVX-512 F, BW, DQ, VL; 256 AVX2 and FMA
  bool bf16Dots = false;  ///< multiply bf16 in pairs (AVX512-BF16, 512 bits)
  int64_t launchKeys = 0; ///< keys of a launch at most; 0 where unknown
  int64_t queryBlock = 0; ///< query rows of a tile; 0 chooses by size
  int64_t keyBlock = 0;   ///< keys packed at a time; 0 chooses by size
  /// As (C7) of `sp.attention` says, or null; how many of its terms are values
  /// of queries, of keys, of heads, and of pairs. The others are tables.
  func::FuncOp score;
  unsigned perQuery = 0, perKey = 0, perHead = 0, pair = 0;
  /// The state is sums.
  bool keepsSums = false;
};

/// Checks the configuration; the diagnostic is at `loc`.
LogicalResult verifyAttentionKernel(Location loc,
                                    const AttentionKernelConfig &config);

/// Symbol of the kernel, e.g. `attend_f32_d64`, `attend_bf16_d64x128`, with
/// another than the usual tile `attend_f32_d128_q256`, with a score function
/// and sums `attend_f32_d64_score_0_sums`.
std::string attentionKernelName(const AttentionKernelConfig &config);

/// Query rows of one tile: tiles of a launch = batch * heads * ceil(rows /
/// this).
int64_t attentionQueryBlock(const AttentionKernelConfig &config);

/// Scratch memory that each thread hands to the kernel.
int64_t attentionScratchBytes(const AttentionKernelConfig &config);

/// Adds the kernel to `module` (or returns the one of that name): a function of
/// the func, scf, arith, vector and llvm dialects with the signature of
/// sprt_kernel. The configuration must verify.
func::FuncOp buildAttentionKernel(ModuleOp module, Location loc,
                                  const AttentionKernelConfig &config);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_ATTENTIONKERNEL_H
