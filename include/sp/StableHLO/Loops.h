/// What is known of a loop before it runs.
#ifndef SP_STABLEHLO_LOOPS_H
#define SP_STABLEHLO_LOOPS_H

#include "sp/StableHLO/StableHLO.h"

#include <optional>

namespace mlir::sp {

/// `for (i = first; i < first + trips; i += 1)`, in the forms that scans take.
struct CountedLoop {
  unsigned counter; ///< number of the carried value i
  int64_t first, trips;
};
/// Nothing where the bounds are no constants.
std::optional<CountedLoop> countLoop(stablehlo::WhileOp loop);
std::optional<int64_t> countTrips(stablehlo::WhileOp loop);

/// A scalar of a loop's body where the counter has a value; nothing where more
/// goes into it than constants.
std::optional<int64_t> evaluateAt(Value value, Value counter, int64_t at);

} // namespace mlir::sp

#endif // SP_STABLEHLO_LOOPS_H
