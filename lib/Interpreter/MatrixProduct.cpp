//===- MatrixProduct.cpp - Batches of matrix products ---------------------===//
//
// The usual blocking: both matrices are packed into panels that a tile of the
// result reads straight through,
//
//      A: panels of kTileRows rows        B: panels of kTileColumns columns
//      [row panel][k][kTileRows]          [column panel][k][kTileColumns]
//
// and the walk over k is cut so that a panel of B stays in the first cache and
// a block of A in the second. Every element of the result is summed over k in
// order, one partial sum a cut.
//
//===----------------------------------------------------------------------===//
#include "MatrixProduct.h"
#include <vector>

using namespace mlir;
using namespace mlir::interpreter;

static constexpr int64_t kTileRows = 4, kTileColumns = 8;
static constexpr int64_t kCut = 256, kBlockRows = 64;

// Twice the speed where the machine has wider vectors, and the same results:
// multiplications and additions are not fused.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) &&                   \
    !defined(__SANITIZE_THREAD__)
#define SP_WIDE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SP_WIDE_CLONES
#endif

/// tile += the product of a row panel and a column panel over `depth` steps.
template <typename T>
__attribute__((always_inline)) static inline void
accumulateTile(const T *a, const T *b, int64_t depth, T *tile) {
  T sums[kTileRows][kTileColumns] = {};
  for (int64_t k = 0; k < depth; ++k, a += kTileRows, b += kTileColumns)
    for (int64_t i = 0; i < kTileRows; ++i)
      for (int64_t j = 0; j < kTileColumns; ++j)
        sums[i][j] += a[i] * b[j];
  for (int64_t i = 0; i < kTileRows; ++i)
    for (int64_t j = 0; j < kTileColumns; ++j)
      tile[i * kTileColumns + j] = sums[i][j];
}

SP_WIDE_CLONES static void multiplyTile(const double *a, const double *b,
                                        int64_t depth, double *tile) {
  accumulateTile(a, b, depth, tile);
}
SP_WIDE_CLONES static void multiplyTile(const float *a, const float *b,
                                        int64_t depth, float *tile) {
  accumulateTile(a, b, depth, tile);
}
static void multiplyTile(const uint64_t *a, const uint64_t *b, int64_t depth,
                         uint64_t *tile) {
  accumulateTile(a, b, depth, tile);
}
static void multiplyTile(const std::complex<double> *a,
                         const std::complex<double> *b, int64_t depth,
                         std::complex<double> *tile) {
  accumulateTile(a, b, depth, tile);
}

namespace {
/// The sizes of one product.
struct Sizes {
  int64_t m, n, k;
};
} // namespace

/// Panels of `width` lines; line l, step k lies at from[l * line + k * step].
/// Lines that do not fill the last panel are zero.
template <typename Acc, typename T>
static void pack(const T *from, int64_t lines, int64_t line, int64_t depth,
                 int64_t step, int64_t width, std::vector<Acc> &to) {
  int64_t panels = (lines + width - 1) / width;
  to.assign(panels * depth * width, Acc(0));
  if (to.empty())
    return;
  for (int64_t l = 0; l < lines; ++l) {
    Acc *out = to.data() + l / width * depth * width + l % width;
    const T *in = from + l * line;
    for (int64_t k = 0; k < depth; ++k)
      out[k * width] = Acc(in[k * step]);
  }
}

/// c += a * b over steps [begin, end) and rows [row, rowEnd).
template <typename Acc>
static void multiplyBlock(const std::vector<Acc> &a, const std::vector<Acc> &b,
                          Sizes sizes, int64_t begin, int64_t end, int64_t row,
                          int64_t rowEnd, Acc *c) {
  Acc tile[kTileRows * kTileColumns];
  for (int64_t column = 0; column < sizes.n; column += kTileColumns) {
    const Acc *bPanel = b.data() + column * sizes.k + begin * kTileColumns;
    int64_t columns = std::min(kTileColumns, sizes.n - column);
    for (int64_t r = row; r < rowEnd; r += kTileRows) {
      const Acc *aPanel = a.data() + r * sizes.k + begin * kTileRows;
      multiplyTile(aPanel, bPanel, end - begin, tile);
      int64_t rows = std::min(kTileRows, rowEnd - r);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          c[(r + i) * sizes.n + column + j] += tile[i * kTileColumns + j];
    }
  }
}

template <typename Acc>
static void multiply(const std::vector<Acc> &a, const std::vector<Acc> &b,
                     Sizes sizes, Acc *c) {
  std::fill_n(c, sizes.m * sizes.n, Acc(0));
  for (int64_t k = 0; k < sizes.k; k += kCut)
    for (int64_t row = 0; row < sizes.m; row += kBlockRows)
      multiplyBlock(a, b, sizes, k, std::min(sizes.k, k + kCut), row,
                    std::min(sizes.m, row + kBlockRows), c);
}

/// All products of the batch; Acc is what sums are kept in.
template <typename T, typename Acc>
static void multiplyBatch(const Tensor &a, const Tensor &b, Tensor &c) {
  Sizes sizes{a.getShape()[1], b.getShape()[2], a.getShape()[2]};
  const T *lhs = a.elements<T>().data();
  const T *rhs = b.elements<T>().data();
  T *result = c.mutableElements<T>().data();
  std::vector<Acc> aPanels, bPanels;
  std::vector<Acc> sums(std::is_same_v<T, Acc> ? 0 : sizes.m * sizes.n);
  for (int64_t i = 0, count = a.getShape()[0]; i < count; ++i) {
    pack(lhs, sizes.m, sizes.k, sizes.k, 1, kTileRows, aPanels);
    pack(rhs, sizes.n, 1, sizes.k, sizes.n, kTileColumns, bPanels);
    if constexpr (std::is_same_v<T, Acc>) {
      multiply(aPanels, bPanels, sizes, result);
    } else {
      multiply(aPanels, bPanels, sizes, sums.data());
      std::transform(sums.begin(), sums.end(), result, [](Acc sum) {
        // On i1 the sum of products is `or` of `and`.
        if constexpr (std::is_same_v<T, uint8_t>)
          return T(sum != 0);
        return T(sum);
      });
    }
    lhs += sizes.m * sizes.k;
    rhs += sizes.k * sizes.n;
    result += sizes.m * sizes.n;
  }
}

Tensor interpreter::multiplyMatrices(const Tensor &a, const Tensor &b,
                                     Type elementType, Precision precision) {
  SmallVector<int64_t> shape{a.getShape()[0], a.getShape()[1], b.getShape()[2]};
  Tensor c(RankedTensorType::get(shape, elementType));
  switch (c.getStorage()) {
  case Storage::Float:
    if (precision == Precision::F64 || elementType.isF64())
      multiplyBatch<double, double>(a, b, c);
    else
      multiplyBatch<double, float>(a, b, c);
    break;
  case Storage::Complex:
    multiplyBatch<std::complex<double>, std::complex<double>>(a, b, c);
    break;
  case Storage::Signed:
    multiplyBatch<int64_t, uint64_t>(a, b, c);
    break;
  case Storage::Unsigned:
    multiplyBatch<uint64_t, uint64_t>(a, b, c);
    break;
  case Storage::Bool:
    multiplyBatch<uint8_t, uint64_t>(a, b, c);
    break;
  }
  return c;
}
