#include "device/CublasLt.h"

#include "support/SharedLibrary.h"

#include <algorithm>
#include <optional>

namespace sprt {

namespace {

/// Buffers of a plan begin at multiples of it.
constexpr uint32_t kLeastAlignment = 64;
constexpr size_t kOldestVersion = 120000;

/// One matrix as column-major memory holds it.
struct Stored {
  bool transposed;
  int64_t rows, columns, pitch;
};

/// How memory holds a matrix of these sizes and strides (row, column), where
/// one of the two is contiguous.
std::optional<Stored> store(int64_t rows, int64_t columns, int64_t row,
                            int64_t column) {
  // A dimension of one element has no stride of its own.
  if ((rows == 1 || row == 1) && (columns == 1 || column >= rows))
    return Stored{false, rows, columns, columns == 1 ? rows : column};
  if ((columns == 1 || column == 1) && (rows == 1 || row >= columns))
    return Stored{true, columns, rows, rows == 1 ? columns : row};
  return std::nullopt;
}

cudaDataType_t cublasType(plan::DType type) {
  return type == plan::DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

std::string text(const GemmShape &shape) {
  auto matrix = [](int64_t rows, int64_t columns,
                   const std::array<int64_t, 3> &strides) {
    return std::to_string(rows) + "x" + std::to_string(columns) +
           " at strides " + std::to_string(strides[0]) + "," +
           std::to_string(strides[1]) + "," + std::to_string(strides[2]);
  };
  return std::to_string(shape.batch) + " of " +
         plan::EnumNameDType(shape.type) + " to " +
         plan::EnumNameDType(shape.outType) + ", " +
         matrix(shape.m, shape.k, shape.a) + " by " +
         matrix(shape.k, shape.n, shape.b) + " to " +
         matrix(shape.m, shape.n, shape.c) +
         (shape.hasBias ? ", with a bias" : "") +
         (shape.activation == plan::Activation::none
              ? ""
              : std::string(", through ") +
                    plan::EnumNameActivation(shape.activation));
}

cublasLtEpilogue_t epilogueOf(const GemmShape &shape) {
  switch (shape.activation) {
  case plan::Activation::relu:
    return shape.hasBias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  case plan::Activation::gelu:
    return shape.hasBias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  case plan::Activation::none:
    break;
  }
  return shape.hasBias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

Failure refuse(const GemmShape &shape) {
  return std::move(fail(SPRT_UNSUPPORTED)
                   << "cuBLASLt cannot compute this product (" << text(shape)
                   << ")");
}

constexpr const char *kWayOut = "; run it with --device=emulated";

template <typename T> using Owned = std::unique_ptr<T, cublasStatus_t (*)(T *)>;

uint32_t alignmentOf(const std::byte *data) {
  auto address = reinterpret_cast<uintptr_t>(data) | kLeastAlignment;
  return static_cast<uint32_t>(address & -address);
}

} // namespace

/// Makes a call of the library, whose failure the function returns.
#define SPRT_CUBLAS_CALL(name, ...)                                            \
  if (Status failure = check(name(__VA_ARGS__), #name))                        \
  return failure

struct CublasLt::Recipe {
  /// With a bias: at a place that is only as aligned.
  Product product{nullptr, nullptr};
  cublasOperation_t firstIs, secondIs;
  Owned<cublasLtMatrixLayoutOpaque_t> first{nullptr, nullptr},
      second{nullptr, nullptr}, result{nullptr, nullptr};
  cublasLtMatmulAlgo_t algorithm = {};
};

CublasLt::CublasLt() = default;

CublasLt::~CublasLt() { close(); }

Status CublasLt::check(cublasStatus_t result, const char *call) const {
  if (result == CUBLAS_STATUS_SUCCESS)
    return Status::success();
  return fail(SPRT_FAILED) << call << ": " << cublasLtGetStatusString(result)
                           << " (" << int(result) << ")";
}

Status CublasLt::open(std::initializer_list<const char *> names) {
  if (handle)
    return Status::success();
  SharedLibrary library;
  // It is too large to be loaded anew for every session.
  if (!library.open(names, /*stays=*/true))
    return fail(SPRT_UNSUPPORTED)
           << "no cuBLASLt for matrix products on this machine ("
           << library.failure
           << "); install CUDA's libcublas, name its directory in "
              "LD_LIBRARY_PATH, or run with --device=emulated";
#define SPRT_CUBLASLT_FIND(name) library.find(#name, name);
  SPRT_CUBLASLT_CALLS(SPRT_CUBLASLT_FIND)
#undef SPRT_CUBLASLT_FIND
  if (library.missing)
    return fail(SPRT_UNSUPPORTED)
           << "the cuBLASLt of this machine has no \"" << library.missing
           << "\"; expected one of CUDA 12 or later";
  if (size_t version = cublasLtGetVersion(); version < kOldestVersion)
    return fail(SPRT_UNSUPPORTED)
           << "expected cuBLASLt " << kOldestVersion << " or later but got "
           << version << "; install CUDA's libcublas of version 12 or later";
  SPRT_CUBLAS_CALL(cublasLtCreate, &handle);
  return Status::success();
}

void CublasLt::close() {
  recipes.clear();
  if (handle)
    (void)cublasLtDestroy(handle);
  handle = nullptr;
}

Status CublasLt::describe(const GemmShape &shape, const Recipe &recipe,
                          const std::byte *bias, Product &out_product) const {
  cublasLtMatmulDesc_t product = nullptr;
  // Not COMPUTE_32F_FAST_TF32: f32 stays f32.
  SPRT_CUBLAS_CALL(cublasLtMatmulDescCreate, &product, CUBLAS_COMPUTE_32F,
                   CUDA_R_32F);
  out_product = {product, cublasLtMatmulDescDestroy};
  auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
    SPRT_CUBLAS_CALL(cublasLtMatmulDescSetAttribute, product, attribute,
                     static_cast<const void *>(&value), sizeof value);
    return Status::success();
  };
  if (Status failure = set(CUBLASLT_MATMUL_DESC_TRANSA, recipe.firstIs))
    return failure;
  if (Status failure = set(CUBLASLT_MATMUL_DESC_TRANSB, recipe.secondIs))
    return failure;
  if (Status failure = set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogueOf(shape)))
    return failure;
  if (!shape.hasBias)
    return Status::success();
  if (Status failure =
          set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, cublasType(shape.outType)))
    return failure;
  return set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
}

Status CublasLt::make(const GemmShape &shape, const Alignments &alignments,
                      Recipe &out_recipe) const {
  // Their transposes: the library's first operand is b.
  std::optional<Stored> first = store(shape.n, shape.k, shape.b[2], shape.b[1]),
                        second =
                            store(shape.k, shape.m, shape.a[2], shape.a[1]),
                        result =
                            store(shape.n, shape.m, shape.c[2], shape.c[1]);
  int32_t batch = static_cast<int32_t>(shape.batch);
  if (!first || !second || !result || result->transposed ||
      batch != shape.batch)
    return refuse(shape) << ": expected operands with contiguous rows or "
                            "columns, a result with contiguous rows, and a "
                            "batch within 32 bits"
                         << kWayOut;

  out_recipe.firstIs = first->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  out_recipe.secondIs = second->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto *somewhere = reinterpret_cast<const std::byte *>(
      static_cast<uintptr_t>(alignments[3]));
  if (Status failure =
          describe(shape, out_recipe, somewhere, out_recipe.product))
    return failure;

  auto describeLayout = [&](const Stored &stored, plan::DType type,
                            int64_t stride,
                            Owned<cublasLtMatrixLayoutOpaque_t> &out_layout) {
    cublasLtMatrixLayout_t layout = nullptr;
    SPRT_CUBLAS_CALL(cublasLtMatrixLayoutCreate, &layout, cublasType(type),
                     static_cast<uint64_t>(stored.rows),
                     static_cast<uint64_t>(stored.columns), stored.pitch);
    out_layout = {layout, cublasLtMatrixLayoutDestroy};
    SPRT_CUBLAS_CALL(cublasLtMatrixLayoutSetAttribute, layout,
                     CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
    SPRT_CUBLAS_CALL(cublasLtMatrixLayoutSetAttribute, layout,
                     CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                     sizeof stride);
    return Status::success();
  };
  if (Status failure =
          describeLayout(*first, shape.type, shape.b[0], out_recipe.first))
    return failure;
  if (Status failure =
          describeLayout(*second, shape.type, shape.a[0], out_recipe.second))
    return failure;
  if (Status failure =
          describeLayout(*result, shape.outType, shape.c[0], out_recipe.result))
    return failure;
  return search(shape, alignments, out_recipe);
}

Status CublasLt::search(const GemmShape &shape, const Alignments &alignments,
                        Recipe &out_recipe) const {
  cublasLtMatmulPreference_t created = nullptr;
  SPRT_CUBLAS_CALL(cublasLtMatmulPreferenceCreate, &created);
  Owned<cublasLtMatmulPreferenceOpaque_t> preference(
      created, cublasLtMatmulPreferenceDestroy);
  uint64_t workspace = kWorkspaceBytes;
  SPRT_CUBLAS_CALL(cublasLtMatmulPreferenceSetAttribute, created,
                   CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                   sizeof workspace);
  // The others round parts of a sum to the result's type.
  uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  SPRT_CUBLAS_CALL(cublasLtMatmulPreferenceSetAttribute, created,
                   CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                   sizeof schemes);
  for (auto [attribute, operand] :
       {std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, size_t(1)),
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 0},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 2},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 2}})
    SPRT_CUBLAS_CALL(cublasLtMatmulPreferenceSetAttribute, created, attribute,
                     &alignments[operand], sizeof alignments[operand]);

  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  cublasStatus_t outcome = cublasLtMatmulAlgoGetHeuristic(
      handle, out_recipe.product.get(), out_recipe.first.get(),
      out_recipe.second.get(), out_recipe.result.get(), out_recipe.result.get(),
      created, 1, &found, &count);
  if (outcome == CUBLAS_STATUS_SUCCESS && count > 0)
    outcome = found.state;
  if (outcome != CUBLAS_STATUS_SUCCESS || count == 0)
    return refuse(shape) << ": " << cublasLtGetStatusString(outcome) << " ("
                         << int(outcome) << ")" << kWayOut;
  out_recipe.algorithm = found.algo;
  return Status::success();
}

Status CublasLt::find(const GemmShape &shape, const Alignments &alignments,
                      const Recipe *&out_recipe) {
  if (Status failure = open())
    return failure;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<const Recipe> &entry = recipes[{shape, alignments}];
  if (!entry) {
    auto made = std::make_unique<Recipe>();
    if (Status failure = make(shape, alignments, *made))
      return failure;
    entry = std::move(made);
  }
  out_recipe = entry.get();
  return Status::success();
}

Status CublasLt::prepare(const GemmShape &shape) {
  const Recipe *recipe = nullptr;
  return find(
      shape,
      {kLeastAlignment, kLeastAlignment, kLeastAlignment, kLeastAlignment},
      recipe);
}

Status CublasLt::multiply(const GemmShape &shape, const GemmData &data,
                          std::byte *workspace, cudaStream_t stream) {
  const Recipe *recipe = nullptr;
  // Without a bias its alignment is that of null: the greatest.
  if (Status failure = find(shape,
                            {alignmentOf(data.a), alignmentOf(data.b),
                             alignmentOf(data.c), alignmentOf(data.bias)},
                            recipe))
    return failure;
  // The place of a bias is part of the descriptor, and others use the recipe's.
  Product own(nullptr, nullptr);
  if (shape.hasBias)
    if (Status failure = describe(shape, *recipe, data.bias, own))
      return failure;
  const float one = 1, kept = shape.onto ? 1 : 0;
  SPRT_CUBLAS_CALL(
      cublasLtMatmul, handle, shape.hasBias ? own.get() : recipe->product.get(),
      &one, data.b, recipe->first.get(), data.a, recipe->second.get(), &kept,
      data.c, recipe->result.get(), data.c, recipe->result.get(),
      &recipe->algorithm, workspace, kWorkspaceBytes, stream);
  return Status::success();
}

} // namespace sprt
