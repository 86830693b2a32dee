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

/// An integer of a loop's body as its type holds it, or one that all elements
/// are, where some values are known (which may be given beyond that); nothing
/// where more goes into it than those and constants.
std::optional<int64_t> evaluateScalar(
    Value value,
    llvm::function_ref<std::optional<int64_t>(Value)> known =
        [](Value) -> std::optional<int64_t> { return std::nullopt; });

/// An integer that a loop carries and adds a constant to in every turn.
struct Induction {
  int64_t first, step;
  int64_t at(int64_t turn) const { return first + step * turn; }
};
/// Nothing where it starts or goes on otherwise.
std::optional<Induction> findInduction(stablehlo::WhileOp loop,
                                       unsigned number);

} // namespace mlir::sp

#endif // SP_STABLEHLO_LOOPS_H
