/// What the blocks of a grid of attention take from the list of work.
#ifndef SPRT_CUDA_ATTENDWORK_CUH
#define SPRT_CUDA_ATTENDWORK_CUH

#include "sprt/cuda/AttentionArguments.h"
#include "sprt/cuda/Ptx.cuh"

namespace sprt::cuda {

/// Which items a block of the grid takes, of a list whose heaviest ones come
/// first: in waves that go to and fro, so that who had the heaviest one of a
/// wave has the lightest one of the next; or, where there is a counter, the
/// next one that nobody has: then it does not matter which blocks begin late.
class Items {
public:
  SPRT_DEVICE explicit Items(const AttendArguments &arguments)
      : arguments(arguments) {}

  /// -1 when there is none left, after which nobody may ask again. With a
  /// counter, by one thread of the block.
  SPRT_DEVICE int next() {
    int place = wave % 2 ? ptx::blocks() - 1 - ptx::block() : ptx::block();
    int item = arguments.counter ? take() : wave * ptx::blocks() + place;
    ++wave;
    return item < arguments.pairs * arguments.queryBlocks ? item : -1;
  }

private:
  /// Each block asks once in vain. The last one of all leaves the counter as it
  /// was at launch, for the next.
  SPRT_DEVICE int take() {
    int item = ptx::increment(arguments.counter);
    int last = arguments.pairs * arguments.queryBlocks + ptx::blocks() - 1;
    if (item == last)
      ptx::store(arguments.counter, 0);
    return item;
  }

  const AttendArguments &arguments;
  int wave = 0;
};

/// One item of work: a block of queries of one pair.
struct AttendWork {
  int batch, head; ///< local
  int kvHead;
  int firstRow;
  int firstSlice, endSlice; ///< that may show it keys

  SPRT_DEVICE AttendWork(const AttendArguments &arguments, int item,
                         int queryBlock) {
    int inGroup = item, firstPair = 0, pairs = arguments.pairs;
    if (arguments.groupPairs > 0) {
      int items = arguments.groupPairs * arguments.queryBlocks;
      firstPair = item / items * arguments.groupPairs;
      inGroup = item % items;
      pairs = arguments.pairs - firstPair;
      if (pairs > arguments.groupPairs)
        pairs = arguments.groupPairs;
    }
    int pair = firstPair + inGroup % pairs, place = inGroup / pairs;
    batch = pair / arguments.heads;
    head = pair % arguments.heads;
    kvHead = (arguments.headFirst + head) * arguments.kvTotal /
                 arguments.headsTotal -
             arguments.kvFirst;
    firstRow = arguments.order[place] * queryBlock;
    firstSlice = arguments.ranges ? arguments.ranges[2 * place] : 0;
    endSlice = arguments.ranges ? arguments.ranges[2 * place + 1]
                                : arguments.sliceCount;
  }
};

} // namespace sprt::cuda

/// Defines the kernel NAME: attendKIND of KINDArguments with the tiles of
/// CONFIG.
#ifdef SPRT_EMULATED
#define SPRT_ATTENTION(NAME, CONFIG, KIND)                                     \
  extern "C" int NAME##_emulated(const void *arguments, int64_t blocks,        \
                                 uint64_t seed, char *error,                   \
                                 int64_t errorBytes) {                         \
    return sprt::cuda::emulation::run(                                         \
        {static_cast<int>(blocks), CONFIG::kShape.threads(),                   \
         CONFIG::kShape.sharedBytes(), seed},                                  \
        [&] {                                                                  \
          sprt::cuda::attend##KIND<CONFIG>(                                    \
              *static_cast<const sprt::cuda::KIND##Arguments *>(arguments));   \
        },                                                                     \
        error, errorBytes);                                                    \
  }
#else
#define SPRT_ATTENTION(NAME, CONFIG, KIND)                                     \
  extern "C" __global__ void __launch_bounds__(CONFIG::kShape.threads(), 1)    \
      NAME(const __grid_constant__ sprt::cuda::KIND##Arguments arguments) {    \
    sprt::cuda::attend##KIND<CONFIG>(arguments);                               \
  }
#endif

#endif // SPRT_CUDA_ATTENDWORK_CUH
