/// Where a plan's kernels run.
#ifndef SPRT_LIB_PROGRAM_TARGET_H
#define SPRT_LIB_PROGRAM_TARGET_H

#include "sprt/plan_generated.h"

namespace sprt {

/// On a device (device/Device.h), in blocks of threads, else on the host's
/// threads.
inline bool isForDevice(const plan::PlanT &plan) {
  return plan.target != plan::Target::cpu;
}

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_TARGET_H
