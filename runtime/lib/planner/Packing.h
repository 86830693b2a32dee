/// Documents that fit on one rank, beside what ranks have of longer ones.
#ifndef SPRT_LIB_PLANNER_PACKING_H
#define SPRT_LIB_PLANNER_PACKING_H

#include "planner/Assignment.h"

namespace sprt {

/// Both give documents, longest first, to ranks that have at most so many
/// micro-batches, and return the first for which none had room, or null.
using BatchDocuments = std::vector<BatchDocument>;

/// Each to the least loaded rank with room, into the fullest of its
/// micro-batches that has room: few of them, and ranks of equal load.
const BatchDocument *packEvenly(const BatchDocuments &documents,
                                Assignment &assignment, int64_t microBatches);

/// Each into the fullest micro-batch of all ranks that has room.
const BatchDocument *packTightly(const BatchDocuments &documents,
                                 Assignment &assignment, int64_t microBatches);

} // namespace sprt

#endif // SPRT_LIB_PLANNER_PACKING_H
