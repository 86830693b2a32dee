/// What is known of a loop before it runs.
#ifndef SP_STABLEHLO_LOOPS_H
#define SP_STABLEHLO_LOOPS_H

#include "sp/StableHLO/StableHLO.h"

#include <optional>

namespace mlir::sp {

/// The trips of `for (i = first; i < last; i += 1)` with constant bounds, in
/// the forms that scans take.
std::optional<int64_t> countTrips(stablehlo::WhileOp loop);

} // namespace mlir::sp

#endif // SP_STABLEHLO_LOOPS_H
