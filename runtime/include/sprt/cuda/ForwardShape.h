/// Tiles of the forward attention kernel: what the compiler chooses, the
/// executor launches and the kernel is instantiated with.
#ifndef SPRT_CUDA_FORWARDSHAPE_H
#define SPRT_CUDA_FORWARDSHAPE_H

#include "sprt/cuda/RegisterPool.h"

namespace sprt::cuda {

/// Sizes of heads are multiples of 16. Shared memory holds a block of queries,
/// `stages` blocks of keys and of values, numbers that travel with them and
/// with an item of work, and barriers, in this order; offsets are in bytes.
struct ForwardShape {
  int headSize;  ///< of q and k
  int valueSize; ///< of v and out
  int keyBlock;  ///< keys at a time, a multiple of 16
  int consumers; ///< warpgroups that compute, 2 or 3, of 64 queries each
  int stages;    ///< a power of 2
  bool turns;    ///< consumers issue their products one after the other

  static constexpr int kRows = 64;  ///< queries of a consumer
  static constexpr int kPanel = 64; ///< elements of a row that lie together
  static constexpr int kWarpgroup = RegisterPool::kWarpgroup;
  static constexpr int kWarps = kWarpgroup / 32;
  static constexpr int kFetchers = kWarps - 2; ///< warps that bring states near
  /// That a block of threads may have.
  static constexpr int kMostSharedBytes = 227 * 1024;

  constexpr int queryBlock() const { return kRows * consumers; }
  constexpr int threads() const { return kWarpgroup * (consumers + 1); }
  constexpr RegisterPool registers() const { return {threads()}; }
  constexpr int producerRegisters() const { return registers().ofProducer(); }
  constexpr int consumerRegisters() const { return registers().ofConsumer(); }

  constexpr int headPanels() const { return (headSize + kPanel - 1) / kPanel; }
  constexpr int valuePanels() const {
    return (valueSize + kPanel - 1) / kPanel;
  }
  constexpr int queryPanelBytes() const { return kRows * kPanel * 2; }
  constexpr int keyPanelBytes() const { return keyBlock * kPanel * 2; }
  constexpr int queryBytes() const { return queryPanelBytes() * headPanels(); }
  constexpr int keyBytes() const { return keyPanelBytes() * headPanels(); }
  constexpr int valueBytes() const { return keyPanelBytes() * valuePanels(); }

  constexpr int keys() const { return queryBytes() * consumers; }
  constexpr int values() const { return keys() + keyBytes() * stages; }
  constexpr int itemNotes() const { return values() + valueBytes() * stages; }
  constexpr int keyNotes() const { return itemNotes() + 32; }
  constexpr int barriers() const { return keyNotes() + 16 * stages; }
  constexpr int sharedBytes() const {
    return barriers() + 16 * (1 + consumers + 2 * stages);
  }

  /// What is known to be faster where nothing else is asked for.
  static constexpr bool takesTurns(int headSize) { return headSize <= 128; }

  constexpr bool isValid() const {
    return headSize > 0 && headSize <= 256 && headSize % 16 == 0 &&
           valueSize > 0 && valueSize <= 256 && valueSize % 16 == 0 &&
           keyBlock > 0 && keyBlock <= 256 && keyBlock % 16 == 0 &&
           (consumers == 2 || consumers == 3) && stages > 0 &&
           (stages & (stages - 1)) == 0 && sharedBytes() <= kMostSharedBytes;
  }
};

} // namespace sprt::cuda

#endif // SPRT_CUDA_FORWARDSHAPE_H
