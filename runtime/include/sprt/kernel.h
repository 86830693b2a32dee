/// The calling convention of generated CPU kernels.
///
/// A kernel works on tiles [firstTile, lastTile) of its iteration space; the
/// runtime spreads tiles over the threads of a rank, each with `scratch` of its
/// own. Kernels never allocate, never fail, and touch only their buffers.
#ifndef SPRT_KERNEL_H
#define SPRT_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// buffers: base addresses, 64-byte aligned. sizes: see sprt_attend_size for
/// attention kernels, NULL for the others.
typedef void (*sprt_kernel)(void *const *buffers, const int64_t *sizes,
                            int64_t firstTile, int64_t lastTile, void *scratch);

/// Local rows [q0,q1) x [k0,k1): key b is visible to query a iff
/// qStride*a + lo <= kStride*b <= qStride*a + hi (INT64_MIN, INT64_MAX: no
/// bound). A uniform slice has score 0 for every visible pair.
typedef struct sprt_slice {
  int64_t q0, q1, k0, k1;
  int64_t lo, hi;
  int64_t qStride, kStride;
  int64_t uniform;
} sprt_slice;

/// Buffers of an attention kernel. o and lse are the softmax state in fp32
/// (fp64 for fp64 inputs): o is normalised, lse is the natural logarithm of the
/// sum of exponentials, -inf for a row that has seen no key (whose o is 0, or
/// with a score function NaN). Kernels named `sums` keep sums instead: lse is
/// two numbers, the greatest exponent (without a score function in base
/// 2), -inf for such a row, and the sum of powers relative to it, and o is the
/// sum of values times these powers.
enum sprt_attend_buffer {
  SPRT_ATTEND_Q,
  SPRT_ATTEND_K,
  SPRT_ATTEND_V,
  SPRT_ATTEND_O,
  SPRT_ATTEND_LSE,
  SPRT_ATTEND_SLICES,          ///< const sprt_slice *
  SPRT_ATTEND_QUERY_POSITIONS, ///< const int32_t *: of each local query row,
  SPRT_ATTEND_KEY_POSITIONS,   ///< of each local key row; for score functions
  SPRT_ATTEND_TERMS,           ///< what the score function reads, one each
  SPRT_ATTEND_BUFFERS = SPRT_ATTEND_TERMS
};

/// Sizes of an attention kernel. Strides are in elements. Tile index =
/// (batchIndex * heads + head) * ceil(queries / queryBlock) + block.
enum sprt_attend_size {
  SPRT_ATTEND_BATCH,
  SPRT_ATTEND_HEADS,      ///< local query heads
  SPRT_ATTEND_QUERIES,    ///< valid local query rows
  SPRT_ATTEND_KEYS,       ///< valid local key rows
  SPRT_ATTEND_HEAD_FIRST, ///< global index of the first local query head
  SPRT_ATTEND_HEADS_TOTAL,
  SPRT_ATTEND_KV_FIRST, ///< global index of the first local kv head
  SPRT_ATTEND_KV_TOTAL, ///< kv head of global head h: h * kvTotal / headsTotal
  SPRT_ATTEND_SLICE_COUNT,
  SPRT_ATTEND_INIT,      ///< 1: the state is empty on entry and is not read
  SPRT_ATTEND_SCALE,     ///< bits of the double that multiplies q.k
  SPRT_ATTEND_Q_STRIDES, ///< batch, row, head
  SPRT_ATTEND_K_STRIDES = SPRT_ATTEND_Q_STRIDES + 3,
  SPRT_ATTEND_V_STRIDES = SPRT_ATTEND_K_STRIDES + 3,
  SPRT_ATTEND_O_STRIDES = SPRT_ATTEND_V_STRIDES + 3,
  SPRT_ATTEND_LSE_STRIDES = SPRT_ATTEND_O_STRIDES + 3,
  SPRT_ATTEND_SIZES = SPRT_ATTEND_LSE_STRIDES + 3,
  /// Of each term: batch, local head, local query row, and local key row or,
  /// where it has a stride for queries or heads too, key position.
  SPRT_ATTEND_TERM_STRIDES = SPRT_ATTEND_SIZES
};

/// Buffers of a kernel for the gradients of attention. dq, dk, dv, lse and
/// delta are in fp32 (fp64 for fp64 inputs); see `sp.attend_backward`. With a
/// score function lse is two numbers, as for an attention kernel.
enum sprt_attend_backward_buffer {
  SPRT_BACKWARD_Q,
  SPRT_BACKWARD_K,
  SPRT_BACKWARD_V,
  SPRT_BACKWARD_DO,
  SPRT_BACKWARD_LSE, ///< final, of each query and head; -inf: saw no key
  SPRT_BACKWARD_DELTA,
  SPRT_BACKWARD_DQ,
  SPRT_BACKWARD_DK,
  SPRT_BACKWARD_DV,
  SPRT_BACKWARD_SLICES,          ///< const sprt_slice *; none is uniform
  SPRT_BACKWARD_QUERY_POSITIONS, ///< as SPRT_ATTEND_QUERY_POSITIONS
  SPRT_BACKWARD_KEY_POSITIONS,
  /// What the score function reads, one each, and then gradients of terms.
  SPRT_BACKWARD_TERMS,
  SPRT_BACKWARD_BUFFERS = SPRT_BACKWARD_TERMS
};

/// Sizes of a kernel for the gradients of attention. Strides are in elements.
/// Tile index = batchIndex * kvHeads + kvHead: the query heads of a kv head are
/// one tile, so that no gradient is shared between tiles.
enum sprt_attend_backward_size {
  SPRT_BACKWARD_BATCH,
  SPRT_BACKWARD_HEADS,      ///< local query heads
  SPRT_BACKWARD_KV_HEADS,   ///< local kv heads
  SPRT_BACKWARD_QUERIES,    ///< valid local query rows
  SPRT_BACKWARD_KEYS,       ///< valid local key rows
  SPRT_BACKWARD_HEAD_FIRST, ///< as SPRT_ATTEND_HEAD_FIRST and those after it
  SPRT_BACKWARD_HEADS_TOTAL,
  SPRT_BACKWARD_KV_FIRST,
  SPRT_BACKWARD_KV_TOTAL,
  SPRT_BACKWARD_SLICE_COUNT,
  SPRT_BACKWARD_INIT_QUERIES, ///< 1: dq is not read, and written for all rows
  SPRT_BACKWARD_INIT_KEYS,    ///< 1: dk and dv are not read, and written so
  SPRT_BACKWARD_SCALE,        ///< bits of the double that multiplies q.k
  SPRT_BACKWARD_Q_STRIDES,    ///< batch, row, head
  SPRT_BACKWARD_K_STRIDES = SPRT_BACKWARD_Q_STRIDES + 3,
  SPRT_BACKWARD_V_STRIDES = SPRT_BACKWARD_K_STRIDES + 3,
  SPRT_BACKWARD_DO_STRIDES = SPRT_BACKWARD_V_STRIDES + 3,
  SPRT_BACKWARD_LSE_STRIDES = SPRT_BACKWARD_DO_STRIDES + 3,
  SPRT_BACKWARD_DELTA_STRIDES = SPRT_BACKWARD_LSE_STRIDES + 3,
  SPRT_BACKWARD_DQ_STRIDES = SPRT_BACKWARD_DELTA_STRIDES + 3,
  SPRT_BACKWARD_DK_STRIDES = SPRT_BACKWARD_DQ_STRIDES + 3,
  SPRT_BACKWARD_DV_STRIDES = SPRT_BACKWARD_DK_STRIDES + 3,
  SPRT_BACKWARD_SIZES = SPRT_BACKWARD_DV_STRIDES + 3,
  /// As for attention kernels; after those of all terms those of each gradient
  /// of a term: batch, local head, local query row and key position, 0 where it
  /// is a sum. Gradients of terms are added to.
  SPRT_BACKWARD_TERM_STRIDES = SPRT_BACKWARD_SIZES
};

#ifdef __cplusplus
}
#endif

#endif // SPRT_KERNEL_H
