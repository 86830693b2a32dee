/// Documents for which no groups of ranks have room.
#ifndef SPRT_LIB_PLANNER_ONEGROUP_H
#define SPRT_LIB_PLANNER_ONEGROUP_H

#include "planner/BatchPlan.h"

namespace sprt {

/// Plans one micro-batch, whose ranks are all in one group, for whatever fits
/// on them all together. Documents, longest first, go whole to the least loaded
/// rank with room, or zigzag to as many neighbours as `planBatch` spreads them
/// over, or more where those have no room. For what still has none they are cut
/// where there is some left, rank by rank.
Status planOneGroup(const std::vector<int64_t> &lengths,
                    const BatchOptions &options, BatchPlan &plan);

} // namespace sprt

#endif // SPRT_LIB_PLANNER_ONEGROUP_H
