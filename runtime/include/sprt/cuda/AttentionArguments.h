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

/// Local attention of one step onto the softmax state (out, lse): as the
/// buffers and sizes of `sprt/kernel.h` say, for GPUs. A pair is a batch index
/// and a local query head, batch-major.
struct ForwardArguments {
  TensorMap q, k, v; ///< boxes of 64, and the kernel's key block, rows
  float *out;        ///< normalised, fp32
  float *lse;        ///< natural logarithm; -inf: the row has seen no key
  const Slice *slices;
  /// Blocks of queries, heaviest first. Work item i is block order[i / pairs]
  /// of pair i mod pairs.
  const int32_t *order;
  int32_t sliceCount;
  int32_t queryBlocks;
  int32_t pairs, heads;
  int32_t queries; ///< valid local rows
  int32_t headFirst, headsTotal, kvFirst, kvTotal;
  int32_t init;          ///< 1: the state is empty and is not read
  float scale;           ///< of q.k, times log2(e); more than 0
  int64_t outStrides[3]; ///< batch, row, head; elements
  int64_t lseStrides[3];
};

} // namespace sprt::cuda

#endif // SPRT_CUDA_ATTENTIONARGUMENTS_H
