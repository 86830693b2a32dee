/// Tiles, shared memory and work of the forward kernel (AttentionForward.cuh).
#ifndef SPRT_CUDA_FORWARDTILES_CUH
#define SPRT_CUDA_FORWARDTILES_CUH

#include "sprt/cuda/AttendWork.cuh"
#include "sprt/cuda/ForwardShape.h"
#include "sprt/cuda/ScoreMath.cuh"
#include "sprt/cuda/SoftmaxState.cuh"

namespace sprt::cuda {

template <class ElementT, int HeadSize, int ValueSize, int KeyBlock,
          int Consumers, int Stages, class ScoreT = NoScore,
          StateForm Form = stateFormOf<ScoreT>(),
          bool TakesTurns = ForwardShape::takesTurns(HeadSize)>
struct ForwardConfig {
  using Element = ElementT;
  using Score = ScoreT;
  static constexpr ForwardShape kShape = {HeadSize,  ValueSize, KeyBlock,
                                          Consumers, Stages,    TakesTurns};
  static constexpr StateForm kForm = Form;
  using Out = OutOf<Element, float, Form>;
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
  SPRT_DEVICE uint32_t items() const { return first; }
  SPRT_DEVICE uint32_t queries(int consumer) const {
    return items() + 16 * static_cast<uint32_t>(1 + consumer);
  }
  SPRT_DEVICE uint32_t keys(uint32_t stage) const {
    return queries(C::kConsumers) + 16 * stage;
  }
  SPRT_DEVICE uint32_t values(uint32_t stage) const {
    return keys(C::kStages) + 16 * stage;
  }
  static constexpr uint32_t kEmpty = 8;

  /// By one thread. isCarried: there is a state to fetch.
  SPRT_DEVICE void initialise(bool isCarried) const {
    initialise(items(),
               1 + C::kShape.kWarps * C::kConsumers +
                   (isCarried ? C::kShape.kFetchers : 0),
               "full item", "empty item", 0);
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
  uint32_t index, parity;

  SPRT_DEVICE explicit Stage(uint32_t turn)
      : index(turn % Stages), parity(turn / Stages % 2) {}
};

/// The next item of work and how many blocks of keys it meets: what one warp
/// says to the producer, to each warp of the consumers, and to those that fetch
/// its state. An item of -1 is none.
template <class C> class ItemNotes {
public:
  /// Pairs of numbers, in this order.
  enum Pair { kItemBlocks, kRowHead, kBatchKvHead, kSlices };

  SPRT_DEVICE explicit ItemNotes(uint32_t base)
      : notes(base + C::kShape.itemNotes()),
        barrier(ForwardBarriers<C>(base).items()) {}

  /// Item number `turn` may be written: nobody reads the last one any more.
  SPRT_DEVICE void awaitEmpty(uint32_t turn) const {
    ptx::barrierWait(barrier + ForwardBarriers<C>::kEmpty, turn % 2 ^ 1);
  }
  SPRT_DEVICE void store(Pair pair, int first, int second) const {
    ptx::storeShared(notes + 8 * pair, first, second);
  }
  SPRT_DEVICE void publish() const { ptx::barrierArrive(barrier); }

  SPRT_DEVICE void awaitFull(uint32_t turn) const {
    ptx::barrierWait(barrier, turn % 2);
  }
  SPRT_DEVICE void load(Pair pair, int &first, int &second) const {
    ptx::loadShared(notes + 8 * pair, first, second);
  }
  SPRT_DEVICE void release(bool isReader = true) const {
    ptx::barrierArrive(barrier + ForwardBarriers<C>::kEmpty, isReader);
  }

  /// By every lane of a warp.
  SPRT_DEVICE void read(uint32_t turn, int &item, int &blocks) const {
    awaitFull(turn);
    load(kItemBlocks, item, blocks);
    ptx::syncWarp();
    release(ptx::thread() % 32 == 0);
  }

private:
  const uint32_t notes, barrier;
};

/// Consumers issue products one after the other, so that one computes while
/// another takes powers: each waits at its own named barrier for the one before
/// it. Each has as many turns as any other.
///
///     consumer 0   S1 O0 | powers of 1  | S2 O1 | powers of 2
///     consumer 1         | S1 O0 | powers of 1  | S2 O1 | ...
template <class C> class Turns {
public:
  SPRT_DEVICE explicit Turns(int consumer)
      : consumer(consumer), own(ptx::thread() / C::kShape.kWarpgroup) {
    if (consumer == C::kConsumers - 1)
      end();
  }
  SPRT_DEVICE void begin() const {
    if (C::kShape.turns)
      ptx::namedSync(own, kThreads);
  }
  SPRT_DEVICE void end() const {
    int next = C::kConsumers == 2 ? 3 - own : own % C::kConsumers + 1;
    if (C::kShape.turns)
      ptx::namedArrive(next, kThreads);
  }
  /// No turn follows: the first one takes what the last one left.
  SPRT_DEVICE void close() const {
    if (consumer == 0)
      begin();
  }

private:
  static constexpr int kThreads = 2 * C::kShape.kWarpgroup;

  const int consumer;
  const int own; ///< named barrier, from 1 on; 0 is the block's
};

} // namespace sprt::cuda

#endif // SPRT_CUDA_FORWARDTILES_CUH
