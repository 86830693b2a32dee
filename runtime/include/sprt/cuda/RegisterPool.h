/// Registers of a block of threads whose warpgroups pass them on to each other.
///
/// A block that has a multiprocessor to itself is launched with an equal share
/// of its registers for each thread. Those are all that it ever owns: a
/// warpgroup that wants more than others gave back waits for ever.
///
///     threads   at launch   of all warpgroups   producer + consumers
///     384       168         504                 24 + 2 x 240
///     512       128         512                 32 + 3 x 160
#ifndef SPRT_CUDA_REGISTERPOOL_H
#define SPRT_CUDA_REGISTERPOOL_H

namespace sprt::cuda {

struct RegisterPool {
  static constexpr int kOfProcessor = 65536;
  static constexpr int kUnit = 8; ///< what a thread holds is a multiple of it
  static constexpr int kLeast = 24, kMost = 256; ///< that a thread may ask for
  static constexpr int kWarpgroup = 128;

  int threads; ///< of the block, whole warpgroups

  constexpr int warpgroups() const { return threads / kWarpgroup; }
  /// Of a thread.
  constexpr int atLaunch() const {
    return kOfProcessor / threads / kUnit * kUnit;
  }
  /// Of a thread of each warpgroup together.
  constexpr int total() const { return atLaunch() * warpgroups(); }
  /// Most that each but one warpgroup may hold, where that one keeps `kLeast`.
  constexpr int ofConsumer() const {
    return (total() - kLeast) / (warpgroups() - 1) / kUnit * kUnit;
  }
  /// What they leave that one.
  constexpr int ofProducer() const {
    return total() - (warpgroups() - 1) * ofConsumer();
  }
  /// Whether a block can ever hold this.
  constexpr bool fits(int producer, int consumer) const {
    return producer % kUnit == 0 && consumer % kUnit == 0 &&
           producer >= kLeast && consumer <= kMost &&
           producer + (warpgroups() - 1) * consumer <= total();
  }
};

} // namespace sprt::cuda

#endif // SPRT_CUDA_REGISTERPOOL_H
