/// A row of packed documents, dealt to the owners of a ring.
#ifndef SPRT_LIB_PLANNER_DEALBATCH_H
#define SPRT_LIB_PLANNER_DEALBATCH_H

#include "sprt/algebra/Deal.h"
#include "sprt/algebra/Documents.h"
#include "support/Status.h"

#include <memory>

namespace sprt {

struct DealOptions {
  int64_t owners = 1;
  int64_t capacity = 1; ///< positions of an owner
  /// As those of `BatchOptions`.
  int64_t tokenCost = 0;
  int64_t pairCost = 1;
  /// What owners have to do besides, to which the row's costs are added.
  std::vector<int64_t> *loads = nullptr;
};

/// Deals the documents of a row as one micro-batch of `planBatch`: each to one
/// owner, or to a group of neighbours. One that comes back goes with all that
/// lies between. Where they do not fit so, all owners are one group
/// (`planOneGroup`). Null where there are more positions than owners hold.
Status dealBatch(const algebra::Documents::Row &documents,
                 const DealOptions &options,
                 std::shared_ptr<const algebra::Deal> &out_deal);

} // namespace sprt

#endif // SPRT_LIB_PLANNER_DEALBATCH_H
