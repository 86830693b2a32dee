/// Layouts of a plan in terms of the algebra.
#ifndef SPRT_LIB_PROGRAM_LAYOUTOF_H
#define SPRT_LIB_PROGRAM_LAYOUTOF_H

#include "sprt/algebra/Layout.h"
#include "sprt/algebra/Ring.h"
#include "sprt/plan_generated.h"

namespace sprt {

inline algebra::LayoutKind kindOf(const plan::LayoutT &layout) {
  return static_cast<algebra::LayoutKind>(layout.kind);
}

/// What is wrong with a layout; empty if nothing is.
inline std::string flawOf(const plan::LayoutT &layout) {
  return algebra::Layout::check(kindOf(layout), layout.length, layout.ranks,
                                layout.split, layout.within,
                                {layout.blocks, layout.apart}, layout.holds);
}

/// Of a layout without flaws.
inline algebra::Layout layoutOf(const plan::LayoutT &layout) {
  return {kindOf(layout), layout.length, layout.ranks,
          layout.split,   layout.within, {layout.blocks, layout.apart},
          layout.holds};
}

/// The way of an owner's block: in its group, of a batch.
inline algebra::RingWay wayOf(const plan::NeedsT &needs,
                              const algebra::Layout &queries, int64_t owner) {
  algebra::RingWay way{needs.stride, needs.size, needs.step, needs.hops};
  if (queries.kind() != algebra::LayoutKind::batch)
    return way;
  algebra::OwnerGroup group = queries.group(owner);
  return {way.stride, group.size, way.step, group.size - 1, group.first};
}

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_LAYOUTOF_H
