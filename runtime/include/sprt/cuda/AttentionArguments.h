/// What attention kernels for GPUs are told, by value, at launch.
#ifndef SPRT_CUDA_ATTENTIONARGUMENTS_H
#define SPRT_CUDA_ATTENTIONARGUMENTS_H

#include "sprt/cuda/TensorMap.h"

namespace sprt::cuda {

/// sprt_slice in 32 bits; a line that cuts nothing off is INT32_MIN or MAX.
/// qStride * row + lo and + hi fit for every row of [q0, q1).
struct Slice {
  int32_t q0, q1, k0, k1;
  int32_t lo, hi;
  int32_t qStride, kStride;
  int32_t uniform;
};

/// What a score function reads beside the score. Strides in elements: batch,
/// local head, local query row, and key, as `sprt/kernel.h` says.
struct ScoreTerm {
  const void *data;
  int64_t strides[4];
};

/// Of a kernel with a score function.
struct ScoreArguments {
  static constexpr int kMostTerms = 16;

  const int32_t *queryPositions, *keyPositions; ///< of local rows
  ScoreTerm terms[kMostTerms];
};

/// What an attention kernel leaves of a row.
enum class StateForm {
  Mean, ///< weighed values, and the logarithm of the sum of exponentials
  Sums, ///< a sum of values and, in `lse`, what it is relative to, and weights
  Result, ///< Mean, values in the type of the elements: no state goes on with
          ///< it
};

/// Local attention of one step onto the softmax state (out, lse): as the
/// buffers and sizes of `sprt/kernel.h` say, for GPUs. A pair is a batch index
/// and a local query head, batch-major. Strides are in elements: batch, row,
/// head. Where a kernel keeps sums, `lse` is two numbers a row, as there. A
/// kernel that leaves results starts empty.
struct AttendArguments {
  void *out; ///< fp32, fp64 for fp64 elements; of a result, of their type
  void *lse; ///< natural logarithm; -inf: the row has seen no key
  const Slice *slices;
  /// Blocks of queries, as they begin.
  const int32_t *order;
  /// Block order[i] sees keys through slices [ranges[2 i], ranges[2 i + 1]) at
  /// most; null: through any.
  const int32_t *ranges;
  /// Items that blocks of the grid have taken, 0 at launch and at the end;
  /// null: each takes those of its place. Of the forward kernel.
  int32_t *counter;
  /// Items are numbered by groups of so many pairs, whose keys and values stay
  /// in the cache meanwhile, then by `order`, then by pairs; 0: one group.
  int32_t groupPairs;
  int32_t sliceCount;
  int32_t queryBlocks;
  int32_t pairs, heads;
  int32_t queries, keys; ///< valid local rows
  int32_t headFirst, headsTotal, kvFirst, kvTotal;
  int32_t init; ///< 1: the state is empty and is not read
  int64_t outStrides[3];
  int64_t lseStrides[3];
  ScoreArguments score;
};

/// Of the forward kernel for Hopper.
struct ForwardArguments : AttendArguments {
  TensorMap q, k, v; ///< boxes of 64, and the kernel's key block, rows
  float scale; ///< of q.k, more than 0; without a score function times log2(e)
};

/// Of the plain kernel.
struct PlainArguments : AttendArguments {
  const void *q, *k, *v;
  int64_t qStrides[3], kStrides[3], vStrides[3];
  double scale; ///< of q.k
};

} // namespace sprt::cuda

#endif // SPRT_CUDA_ATTENTIONARGUMENTS_H
