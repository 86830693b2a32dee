/// Tiles of the plain attention kernel.
#ifndef SPRT_CUDA_PLAINSHAPE_H
#define SPRT_CUDA_PLAINSHAPE_H

namespace sprt::cuda {

/// `kLanes` threads share a query row, each with every kLanes-th element of its
/// head; a block of keys and values lies in shared memory. Offsets in bytes.
struct PlainShape {
  int headSize;    ///< of q and k
  int valueSize;   ///< of v and out
  int numberBytes; ///< of the arithmetic: 4 or 8

  static constexpr int kLanes = 8;
  static constexpr int kThreads = 128;
  static constexpr int kKeyBlock = 16;
  static constexpr int kMostSize = 512; ///< of a head

  constexpr int queryBlock() const { return kThreads / kLanes; }
  constexpr int threads() const { return kThreads; }
  constexpr int values() const { return kKeyBlock * headSize * numberBytes; }
  constexpr int sharedBytes() const {
    return values() + kKeyBlock * valueSize * numberBytes;
  }
  constexpr bool isValid() const {
    return headSize > 0 && headSize <= kMostSize && valueSize > 0 &&
           valueSize <= kMostSize;
  }
};

} // namespace sprt::cuda

#endif // SPRT_CUDA_PLAINSHAPE_H
