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
/// sum of exponentials, -inf for a row that has seen no key (whose o is 0).
/// With a score function lse is two numbers: the greatest exponent, -inf for
/// such a row, and the sum of powers relative to it.
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

#ifdef __cplusplus
}
#endif

#endif // SPRT_KERNEL_H
