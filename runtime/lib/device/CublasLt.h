/// Matrix products on GPUs through cuBLASLt, which is looked for when a program
/// has products: a machine without it has no link error, but a status.
///
/// The library's matrices are column-major, ours row-major, and memory that is
/// read in the other order is the transpose. So it computes c^T = b^T a^T:
///
///     ours, [rows, columns]      strides    the library's, column-major
///     c  [m, n]                  (n, 1)     n x m, pitch n
///     a  [m, k]                  (k, 1)     k x m, pitch k, as it is
///     a  [m, k], transposed      (1, m)     m x k, pitch m, transposed
///
/// A bias is added to the rows of the library's result: to our columns.
///
/// Products accumulate in f32, from f32 operands without TF32, and do not
/// depend on timing: sums that are cut along k keep f32 parts in the workspace,
/// which a second kernel adds in order.
#ifndef SPRT_LIB_DEVICE_CUBLASLT_H
#define SPRT_LIB_DEVICE_CUBLASLT_H

#include "tiles/Gemm.h"

#include <map>
#include <memory>
#include <mutex>

#include <cublasLt.h>

namespace sprt {

// clang-format off
#define SPRT_CUBLASLT_CALLS(X)                                                 \
  X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtGetStatusString)              \
  X(cublasLtGetVersion) X(cublasLtMatmul) X(cublasLtMatmulAlgoGetHeuristic)    \
  X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy)                     \
  X(cublasLtMatmulDescSetAttribute) X(cublasLtMatmulPreferenceCreate)          \
  X(cublasLtMatmulPreferenceDestroy) X(cublasLtMatmulPreferenceSetAttribute)   \
  X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)                 \
  X(cublasLtMatrixLayoutSetAttribute)
// clang-format on

class CublasLt {
public:
  /// What NVIDIA recommends for Hopper. One stream's at a time.
  static constexpr int64_t kWorkspaceBytes = int64_t(32) << 20;

  CublasLt();
  CublasLt(const CublasLt &) = delete;
  CublasLt &operator=(const CublasLt &) = delete;
  ~CublasLt();

  /// Loads the first of these libraries that there is, for the calling thread's
  /// context; once.
  Status open(std::initializer_list<const char *> names = {
                  "libcublasLt.so.13", "libcublasLt.so.12"});
  /// While that context exists.
  void close();

  /// Whether the library can compute a product. Any thread may call this and
  /// the next one, in the context.
  Status prepare(const GemmShape &shape);
  Status multiply(const GemmShape &shape, const GemmData &data,
                  std::byte *workspace, cudaStream_t stream);

private:
  /// Of a, b, c and the bias, in bytes; more than kernels ask for does not
  /// count.
  using Alignments = std::array<uint32_t, 4>;
  using Product =
      std::unique_ptr<cublasLtMatmulDescOpaque_t,
                      cublasStatus_t (*)(cublasLtMatmulDescOpaque_t *)>;
  struct Recipe;

  Status check(cublasStatus_t result, const char *call) const;
  /// How to compute a product: found once, and kept.
  Status find(const GemmShape &shape, const Alignments &alignments,
              const Recipe *&out_recipe);
  Status make(const GemmShape &shape, const Alignments &alignments,
              Recipe &out_recipe) const;
  /// What to compute, with the bias there.
  Status describe(const GemmShape &shape, const Recipe &recipe,
                  const std::byte *bias, Product &out_product) const;
  /// Asks the library for an algorithm.
  Status search(const GemmShape &shape, const Alignments &alignments,
                Recipe &out_recipe) const;

// NOLINTNEXTLINE(bugprone-macro-parentheses): the argument is a name
#define SPRT_CUBLASLT_MEMBER(name) decltype(&::name) name = nullptr;
  SPRT_CUBLASLT_CALLS(SPRT_CUBLASLT_MEMBER)
#undef SPRT_CUBLASLT_MEMBER

  cublasLtHandle_t handle = nullptr;
  std::mutex mutex;
  std::map<std::pair<GemmShape, Alignments>, std::unique_ptr<const Recipe>>
      recipes;
};

} // namespace sprt

#endif // SPRT_LIB_DEVICE_CUBLASLT_H
