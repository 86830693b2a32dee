// Becomes a libcublasLt.so.13: see FakeCublasLt.h.

#include "FakeCublasLt.h"
#include "support/Types.h"

#include <cstring>
#include <functional>

#include <cublasLt.h>
#include <cuda.h>

namespace {

sprt::test::FakeCublasLt fake;

/// What the opaque descriptors hold.
struct Layout {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t pitch, batchStride;
  int32_t batch;
};
struct Product {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t first, second;
};
struct Preference {
  uint64_t workspace;
  uint32_t schemes, alignments[4];
};
/// Of the alignments that were promised, kept in the algorithm.
struct Algorithm {
  uint64_t workspace;
  uint32_t alignments[4];
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Product) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

template <typename T, typename Opaque> T &in(Opaque *opaque) {
  return *reinterpret_cast<T *>(opaque);
}

template <typename Opaque, typename T>
cublasStatus_t create(Opaque **out_opaque, const T &value) {
  *out_opaque = new Opaque();
  in<T>(*out_opaque) = value;
  ++fake.descriptors;
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Opaque> cublasStatus_t destroy(Opaque *opaque) {
  delete opaque;
  --fake.descriptors;
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T>
cublasStatus_t set(T &field, const void *value, size_t bytes) {
  if (bytes != sizeof field)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&field, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

bool known(cudaDataType_t type) {
  return type == CUDA_R_32F || type == CUDA_R_16BF;
}

bool wellFormed(const Layout &layout) {
  return known(layout.type) &&
         layout.pitch >= static_cast<int64_t>(layout.rows) && layout.batch > 0;
}

/// What the library asks of a product of ours.
bool fits(const Product &product, const Layout &a, const Layout &b,
          const Layout &c) {
  auto turned = [](const Layout &layout, cublasOperation_t operation) {
    bool plain = operation == CUBLAS_OP_N;
    return std::pair(plain ? layout.rows : layout.columns,
                     plain ? layout.columns : layout.rows);
  };
  auto [m, k] = turned(a, product.first);
  auto [inner, n] = turned(b, product.second);
  return product.compute == CUBLAS_COMPUTE_32F && product.scale == CUDA_R_32F &&
         wellFormed(a) && wellFormed(b) && wellFormed(c) && a.type == b.type &&
         (c.type == a.type || c.type == CUDA_R_32F) && a.batch == c.batch &&
         b.batch == c.batch && m == c.rows && n == c.columns && inner == k;
}

int64_t place(const Layout &layout, int64_t batch, uint64_t row,
              uint64_t column) {
  return batch * layout.batchStride + static_cast<int64_t>(row) +
         static_cast<int64_t>(column) * layout.pitch;
}

float load(const void *data, const Layout &layout, int64_t at) {
  if (layout.type == CUDA_R_16BF)
    return sprt::bf16ToFloat(static_cast<const uint16_t *>(data)[at]);
  return static_cast<const float *>(data)[at];
}

void store(void *data, const Layout &layout, int64_t at, float value) {
  if (layout.type == CUDA_R_16BF)
    static_cast<uint16_t *>(data)[at] = sprt::floatToBf16(value);
  else
    static_cast<float *>(data)[at] = value;
}

void multiply(const Product &product, const Layout &first, const void *a,
              const Layout &second, const void *b, const Layout &out,
              void *result) {
  bool plain = product.first == CUBLAS_OP_N;
  bool otherPlain = product.second == CUBLAS_OP_N;
  uint64_t inner = plain ? first.columns : first.rows;
  for (int64_t batch = 0; batch < out.batch; ++batch)
    for (uint64_t i = 0; i < out.rows; ++i)
      for (uint64_t j = 0; j < out.columns; ++j) {
        float sum = 0;
        for (uint64_t k = 0; k < inner; ++k)
          sum += load(a, first,
                      place(first, batch, plain ? i : k, plain ? k : i)) *
                 load(b, second,
                      place(second, batch, otherPlain ? k : j,
                            otherPlain ? j : k));
        store(result, out, place(out, batch, i, j), sum);
      }
}

} // namespace

extern "C" {

CUresult fakeCudaSubmit(CUstream stream, const std::function<void()> &work);

sprt::test::FakeCublasLt *fakeCublasLt() { return &fake; }

size_t cublasLtGetVersion() { return fake.version; }
const char *cublasLtGetStatusString(cublasStatus_t) { return "fake error"; }
cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&fake);
  ++fake.handles;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
  --fake.handles;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *product,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return create(product, Product{compute, scale, CUBLAS_OP_N, CUBLAS_OP_N});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  return destroy(product);
}
cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                               cublasLtMatmulDescAttributes_t attribute,
                               const void *value, size_t bytes) {
  auto &fields = in<Product>(product);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA)
    return set(fields.first, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSB)
    return set(fields.second, value, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t pitch) {
  return create(layout, Layout{type, rows, columns, pitch, 0, 1});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy(layout);
}
cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *value, size_t bytes) {
  auto &fields = in<Layout>(layout);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    return set(fields.batch, value, bytes);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    return set(fields.batchStride, value, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  return create(
      preference,
      Preference{0, CUBLASLT_REDUCTION_SCHEME_MASK, {256, 256, 256, 256}});
}
cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
    size_t bytes) {
  auto &fields = in<Preference>(preference);
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    return set(fields.workspace, value, bytes);
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
    return set(fields.schemes, value, bytes);
  for (int operand = 0; operand < 4; ++operand)
    if (attribute == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES + operand)
      return set(fields.alignments[operand], value, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t preference, int,
    cublasLtMatmulHeuristicResult_t *results, int *count) {
  const auto &wanted = in<Preference>(preference);
  ++fake.searches;
  *count = 0;
  if (fake.refuses)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  // Sums may neither be rounded on the way nor depend on timing.
  if (wanted.schemes != CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE ||
      !fits(in<Product>(product), in<Layout>(a), in<Layout>(b), in<Layout>(c)))
    return CUBLAS_STATUS_INVALID_VALUE;
  auto &algorithm = in<Algorithm>(&results->algo);
  algorithm.workspace = wanted.workspace;
  std::memcpy(algorithm.alignments, wanted.alignments,
              sizeof wanted.alignments);
  results->state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                              const void *alpha, const void *a,
                              cublasLtMatrixLayout_t aDesc, const void *b,
                              cublasLtMatrixLayout_t bDesc, const void *beta,
                              const void *c, cublasLtMatrixLayout_t,
                              void *result, cublasLtMatrixLayout_t resultDesc,
                              const cublasLtMatmulAlgo_t *algorithm,
                              void *workspace, size_t workspaceBytes,
                              cudaStream_t stream) {
  const auto product = in<Product>(desc);
  const auto first = in<Layout>(aDesc), second = in<Layout>(bDesc),
             out = in<Layout>(resultDesc);
  const auto &chosen = in<const Algorithm>(algorithm);
  const void *operands[] = {a, b, c, result};
  for (int operand = 0; operand < 4; ++operand)
    if (reinterpret_cast<uintptr_t>(operands[operand]) %
            chosen.alignments[operand] !=
        0)
      return CUBLAS_STATUS_INVALID_VALUE;
  if (*static_cast<const float *>(alpha) != 1 ||
      *static_cast<const float *>(beta) != 0 ||
      workspaceBytes < chosen.workspace)
    return CUBLAS_STATUS_INVALID_VALUE;
  auto work = [=] {
    // The workspace is there, and nobody else's.
    constexpr size_t kPage = 4096;
    std::memset(workspace, 0xFF, kPage);
    std::memset(static_cast<char *>(workspace) + workspaceBytes - kPage, 0xFF,
                kPage);
    ++fake.products;
    multiply(product, first, a, second, b, out, result);
  };
  return fakeCudaSubmit(stream, work) == CUDA_SUCCESS
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

} // extern "C"
