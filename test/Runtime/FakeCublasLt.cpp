// Becomes a libcublasLt.so.13: see FakeCublasLt.h.

#include "FakeCublasLt.h"
#include "FakeProduct.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include <cublasLt.h>
#include <cuda.h>

namespace {

sprt::test::FakeCublasLt fake;

using Layout = sprt::test::FakeLayout;
using Product = sprt::test::FakeProduct;

/// What further opaque descriptors hold.
struct Preference {
  uint64_t workspace;
  uint32_t schemes, alignments[4];
};
/// Of the alignments that were promised, kept in the algorithm.
struct Algorithm {
  uint64_t workspace;
  uint32_t alignments[4];
  uintptr_t biasAlignment;
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
  return create(product, Product{compute, scale, CUBLAS_OP_N, CUBLAS_OP_N,
                                 CUBLASLT_EPILOGUE_DEFAULT,
                                 static_cast<cudaDataType_t>(-1), nullptr});
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
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE)
    return set(fields.epilogue, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE)
    return set(fields.biasType, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER)
    return set(fields.bias, value, bytes);
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
      !in<Product>(product).fits(in<Layout>(a), in<Layout>(b), in<Layout>(c)))
    return CUBLAS_STATUS_INVALID_VALUE;
  auto &algorithm = in<Algorithm>(&results->algo);
  algorithm.workspace = wanted.workspace;
  std::memcpy(algorithm.alignments, wanted.alignments,
              sizeof wanted.alignments);
  // The value of the pointer tells the alignment, as in the library.
  auto bias = reinterpret_cast<uintptr_t>(in<Product>(product).bias);
  algorithm.biasAlignment = std::min<uintptr_t>(bias & -bias, 256);
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
  const float kept = *static_cast<const float *>(beta);
  if (*static_cast<const float *>(alpha) != 1 || (kept != 0 && kept != 1) ||
      c != result || workspaceBytes < chosen.workspace)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (product.hasBias() &&
      reinterpret_cast<uintptr_t>(product.bias) % chosen.biasAlignment != 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  auto work = [=] {
    // The workspace is there, and nobody else's.
    constexpr size_t kPage = 4096;
    std::memset(workspace, 0xFF, kPage);
    std::memset(static_cast<char *>(workspace) + workspaceBytes - kPage, 0xFF,
                kPage);
    ++fake.products;
    fake.epilogues |= uint64_t(1) << product.epilogue;
    product.run(first, a, second, b, kept, out, result);
  };
  return fakeCudaSubmit(stream, work) == CUDA_SUCCESS
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

} // extern "C"
