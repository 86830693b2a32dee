/// Matrix products through oneDNN, one thread a call, tiled over a rank's
/// threads.
#ifndef SPRT_LIB_TILES_GEMM_H
#define SPRT_LIB_TILES_GEMM_H

#include "sprt/plan_generated.h"
#include "support/Status.h"
#include "tiles/TilePool.h"

#include <array>
#include <cstddef>
#include <tuple>

namespace sprt {

/// One product: sizes, and strides (batch, row, column) of a, b and c in
/// elements. A batch stride of 0 shares one matrix among the batch.
struct GemmShape {
  plan::DType type, outType;
  int64_t batch, m, n, k;
  std::array<int64_t, 3> a, b, c;
  bool hasBias; ///< n elements of outType
  plan::Activation activation;
  bool onto; ///< c is added to

  /// Rows of a batch that lie densely behind each other and share b become one
  /// matrix.
  explicit GemmShape(const plan::GemmT &gemm);

  auto key() const {
    return std::tie(type, outType, batch, m, n, k, a, b, c, hasBias, activation,
                    onto);
  }
  bool operator<(const GemmShape &other) const { return key() < other.key(); }
};

/// Where its matrices lie; without a bias that is null.
struct GemmData {
  const std::byte *a, *b, *bias;
  std::byte *c;
};

/// c = activation(a * b + bias), or c += a * b, as the plan's Gemm says; f32,
/// or bf16 accumulated in f32.
Status runGemm(const plan::GemmT &gemm, const GemmData &data, TilePool &pool);

} // namespace sprt

#endif // SPRT_LIB_TILES_GEMM_H
