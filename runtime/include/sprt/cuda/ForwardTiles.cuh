/// Tiles, shared memory and work of the forward kernel (AttentionForward.cuh).
#ifndef SPRT_CUDA_FORWARDTILES_CUH
#define SPRT_CUDA_FORWARDTILES_CUH

#include "sprt/cuda/AttendWork.cuh"
#include "sprt/cuda/ForwardShape.h"
#include "sprt/cuda/ScoreMath.cuh"

namespace sprt::cuda {

template <class ElementT, int HeadSize, int ValueSize, int KeyBlock,
          int Consumers, int Stages, class ScoreT = NoScore,
          bool KeepsSums = !ScoreT::kIsNone>
struct ForwardConfig {
  using Element = ElementT;
  using Score = ScoreT;
  static constexpr ForwardShape kShape = {HeadSize, ValueSize, KeyBlock,
                                          Consumers, Stages};
  static constexpr bool kKeepsSums = KeepsSums;
  static constexpr int kConsumers = Consumers;
  static constexpr int kStages = Stages;
  static_assert(kShape.isValid(), "sizes that no kernel has");
  static_assert(kShape.registers().fits(kShape.producerRegisters(),
                                        kShape.consumerRegisters()),
                "more registers than the block owns: it would wait for ever");
};

/// Barriers in shared memory; each is `full`, then, 8 bytes on, `empty`.
template <class C> class ForwardBarriers {
public:
  SPRT_DEVICE explicit ForwardBarriers(uint32_t base)
      : first(base + C::kShape.barriers()) {}
  SPRT_DEVICE uint32_t queries(int consumer) const {
    return first + 16 * static_cast<uint32_t>(consumer);
  }
  SPRT_DEVICE uint32_t keys(int stage) const {
    return queries(C::kConsumers) + 16 * static_cast<uint32_t>(stage);
  }
  SPRT_DEVICE uint32_t values(int stage) const {
    return keys(C::kStages) + 16 * static_cast<uint32_t>(stage);
  }
  static constexpr uint32_t kEmpty = 8;

  /// By one thread.
  SPRT_DEVICE void initialise() const {
    for (int consumer = 0; consumer < C::kConsumers; ++consumer)
      initialise(queries(consumer), 1, "full queries", "empty queries",
                 consumer);
    for (int stage = 0; stage < C::kStages; ++stage) {
      initialise(keys(stage), C::kConsumers, "full keys", "empty keys", stage);
      initialise(values(stage), C::kConsumers, "full values", "empty values",
                 stage);
    }
    ptx::fenceBarriers();
  }

private:
  SPRT_DEVICE static void initialise(uint32_t barrier, int readers,
                                     const char *full, const char *empty,
                                     int number) {
    ptx::barrierInit(barrier, 1, full, number);
    ptx::barrierInit(barrier + kEmpty, readers, empty, number);
  }

  uint32_t first;
};

/// Which buffer the blocks of keys use in turn, and the parity of its phase.
template <int Stages> struct Stage {
  static_assert((Stages & (Stages - 1)) == 0, "turns wrap around");
  int index;
  uint32_t parity;

  SPRT_DEVICE explicit Stage(uint32_t turn)
      : index(static_cast<int>(turn % Stages)), parity(turn / Stages % 2) {}
};

} // namespace sprt::cuda

#endif // SPRT_CUDA_FORWARDTILES_CUH
