/// The products of the cuBLASLt without a GPU, on the host.
#ifndef SP_TEST_RUNTIME_FAKEPRODUCT_H
#define SP_TEST_RUNTIME_FAKEPRODUCT_H

#include <cstdint>

#include <cublasLt.h>

namespace sprt::test {

/// What the opaque descriptor of a matrix holds.
struct FakeLayout {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t pitch, batchStride;
  int32_t batch;
};

/// What the one of a product holds.
struct FakeProduct {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t first, second;
  cublasLtEpilogue_t epilogue;
  cudaDataType_t biasType;
  const void *bias;

  bool hasBias() const;
  /// Whether the library computes it of these, as we use it.
  bool fits(const FakeLayout &a, const FakeLayout &b,
            const FakeLayout &c) const;
  void run(const FakeLayout &left, const void *a, const FakeLayout &right,
           const void *b, float kept, const FakeLayout &out,
           void *result) const;

private:
  bool hasKnownEpilogue(cudaDataType_t type) const;
};

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_FAKEPRODUCT_H
