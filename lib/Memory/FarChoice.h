/// What could lie in far memory, and what the arena is spared.
#ifndef SP_LIB_MEMORY_FARCHOICE_H
#define SP_LIB_MEMORY_FARCHOICE_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace mlir::sp {

/// What waits for less than so many times as long as its copy takes stays: it
/// has to go and to come back.
constexpr double kLeastWait = 2;

/// What has less than this part of the bytes of all that could go stays, too.
constexpr double kLeastPart = 1e-3;

struct FarChoice {
  /// Bytes that the arena has less from one point to another, or more where
  /// they are negative.
  struct Spared {
    int64_t first, last, bytes;
  };
  llvm::SmallVector<Spared, 2> spared;
  int64_t bytes = 0;
  double wait = 0; ///< in FLOPs
  bool goes = true;
};

} // namespace mlir::sp

#endif // SP_LIB_MEMORY_FARCHOICE_H
