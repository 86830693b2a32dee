/// What an asynchronous copy must know of a tensor in global memory.
#ifndef SPRT_CUDA_TENSORMAP_H
#define SPRT_CUDA_TENSORMAP_H

#include <cstdint>

namespace sprt::cuda {

/// The driver's opaque CUtensorMap on a GPU, a TensorMapFields in emulation.
struct alignas(128) TensorMap {
  uint64_t words[16];
};

/// A tensor of 16-bit elements, innermost dimension first, that is copied in
/// boxes of 64 elements (128 bytes) by `boxRows` rows, swizzled as 128 bytes.
/// What lies outside reads as zero and is not written.
struct TensorMapFields {
  static constexpr int kRank = 4;

  void *base;                 ///< 16-byte aligned
  int64_t sizes[kRank];       ///< elements: inner, rows, heads, batch
  int64_t strides[kRank - 1]; ///< bytes, of rows, heads and batch
  int32_t boxRows;
};
static_assert(sizeof(TensorMapFields) <= sizeof(TensorMap),
              "emulation keeps its fields where the driver keeps its own");

} // namespace sprt::cuda

#endif // SPRT_CUDA_TENSORMAP_H
