/// Memories of a rank.
#ifndef SPRT_LIB_PROGRAM_SPACE_H
#define SPRT_LIB_PROGRAM_SPACE_H

#include "sprt/plan_generated.h"

namespace sprt {

/// How large each rank's is.
inline int64_t bytesOf(const plan::PlanT &plan, plan::Space space) {
  switch (space) {
  case plan::Space::arena:
    return plan.arena_bytes;
  case plan::Space::constant:
    return plan.constant_bytes;
  case plan::Space::far:
    return plan.far_bytes;
  }
  return 0;
}

/// For people.
inline const char *nameOf(plan::Space space) {
  switch (space) {
  case plan::Space::arena:
    return "an arena";
  case plan::Space::constant:
    return "constants";
  case plan::Space::far:
    return "far memory";
  }
  return "no memory";
}

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_SPACE_H
