/// Matrix products through oneDNN, one thread a call, tiled over a rank's
/// threads.
#ifndef SPRT_LIB_EXECUTOR_GEMM_H
#define SPRT_LIB_EXECUTOR_GEMM_H

#include "executor/TilePool.h"
#include "sprt/plan_generated.h"
#include "support/Status.h"

#include <cstddef>

namespace sprt {

/// c = a * b as the plan's Gemm says; f32, or bf16 accumulated in f32.
Status runGemm(const plan::GemmT &gemm, const std::byte *a, const std::byte *b,
               std::byte *c, TilePool &pool);

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_GEMM_H
