/// A grid of a kernel other than attention, thread by thread on the CPU.
#ifndef SPRT_LIB_DEVICE_EMULATEDGRID_H
#define SPRT_LIB_DEVICE_EMULATEDGRID_H

#include "sprt/cuda/Emulated.h"
#include "sprt/cuda/emulation/Fibers.h"

namespace sprt {

struct EmulatedGrid {
  int blocks, threads;
  int sharedBytes;
  uint64_t seed;
};

/// Runs every block, one after another, its threads in an order that the seed
/// gives. Throws a Fault where threads wait for each other for ever.
void emulateGrid(sprt_emulated_thread kernel, void *const *arguments,
                 const EmulatedGrid &grid);

} // namespace sprt

#endif // SPRT_LIB_DEVICE_EMULATEDGRID_H
