#include "FakeProduct.h"
#include "support/Types.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sprt::test {

namespace {

bool known(cudaDataType_t type) {
  return type == CUDA_R_32F || type == CUDA_R_16BF;
}

bool wellFormed(const FakeLayout &layout) {
  return known(layout.type) &&
         layout.pitch >= static_cast<int64_t>(layout.rows) && layout.batch > 0;
}

int64_t place(const FakeLayout &layout, int64_t batch, uint64_t row,
              uint64_t column) {
  return batch * layout.batchStride + static_cast<int64_t>(row) +
         static_cast<int64_t>(column) * layout.pitch;
}

float load(const void *data, const FakeLayout &layout, int64_t at) {
  if (layout.type == CUDA_R_16BF)
    return sprt::bf16ToFloat(static_cast<const uint16_t *>(data)[at]);
  return static_cast<const float *>(data)[at];
}

void store(void *data, const FakeLayout &layout, int64_t at, float value) {
  if (layout.type == CUDA_R_16BF)
    static_cast<uint16_t *>(data)[at] = sprt::floatToBf16(value);
  else
    static_cast<float *>(data)[at] = value;
}

float activate(cublasLtEpilogue_t epilogue, float x) {
  if (epilogue & CUBLASLT_EPILOGUE_RELU)
    return std::max(x, 0.0f);
  if (epilogue & CUBLASLT_EPILOGUE_GELU)
    return x / 2 * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
  return x;
}

} // namespace

bool FakeProduct::hasBias() const {
  return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
}

bool FakeProduct::hasKnownEpilogue(cudaDataType_t type) const {
  switch (epilogue) {
  case CUBLASLT_EPILOGUE_DEFAULT:
  case CUBLASLT_EPILOGUE_RELU:
  case CUBLASLT_EPILOGUE_GELU:
    return true;
  case CUBLASLT_EPILOGUE_BIAS:
  case CUBLASLT_EPILOGUE_RELU_BIAS:
  case CUBLASLT_EPILOGUE_GELU_BIAS:
    return bias && biasType == type;
  default:
    return false;
  }
}

bool FakeProduct::fits(const FakeLayout &a, const FakeLayout &b,
                       const FakeLayout &c) const {
  auto turned = [](const FakeLayout &layout, cublasOperation_t operation) {
    bool plain = operation == CUBLAS_OP_N;
    return std::pair(plain ? layout.rows : layout.columns,
                     plain ? layout.columns : layout.rows);
  };
  auto [m, k] = turned(a, first);
  auto [inner, n] = turned(b, second);
  return compute == CUBLAS_COMPUTE_32F && scale == CUDA_R_32F &&
         hasKnownEpilogue(c.type) && wellFormed(a) && wellFormed(b) &&
         wellFormed(c) && a.type == b.type &&
         (c.type == a.type || c.type == CUDA_R_32F) && a.batch == c.batch &&
         b.batch == c.batch && m == c.rows && n == c.columns && inner == k;
}

void FakeProduct::run(const FakeLayout &left, const void *a,
                      const FakeLayout &right, const void *b, float kept,
                      const FakeLayout &out, void *result) const {
  bool plain = first == CUBLAS_OP_N;
  bool otherPlain = second == CUBLAS_OP_N;
  uint64_t inner = plain ? left.columns : left.rows;
  for (int64_t batch = 0; batch < out.batch; ++batch)
    for (uint64_t i = 0; i < out.rows; ++i)
      for (uint64_t j = 0; j < out.columns; ++j) {
        float sum = 0;
        for (uint64_t k = 0; k < inner; ++k)
          sum +=
              load(a, left, place(left, batch, plain ? i : k, plain ? k : i)) *
              load(b, right,
                   place(right, batch, otherPlain ? k : j, otherPlain ? j : k));
        if (hasBias())
          sum += load(bias, out, static_cast<int64_t>(i));
        if (kept != 0)
          sum += kept * load(result, out, place(out, batch, i, j));
        store(result, out, place(out, batch, i, j), activate(epilogue, sum));
      }
}

} // namespace sprt::test
