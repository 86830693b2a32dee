/// Flash attention forward for Hopper, over band slices, onto a softmax state.
///
///     S = Q·Kᵀ                            shared x shared, fp32
///     P = 2^(scale·S − m)                 in registers; m: running maximum
///     O = O·2^(m_old − m) + P·V           registers x shared, fp32
///
/// One warpgroup, the producer, copies blocks of keys and values through
/// `kStages` buffers each; the others, consumers, own 64 query rows each:
///
///     producer       Q K0 V0 K1 V1 K2 ...       full / empty barrier a buffer
///     consumer 0     S0 .. S1 O0 .. S2 O1 ..    S(j+1) and O(j) are computed
///     consumer 1        S0 .. S1 O0 .. S2 ..    while powers of j are taken
///
/// The producer also says which item of work is next, and, beside each block of
/// keys, from which key on it is and through which slice it is seen: consumers
/// know of no masks but that. Queries are given back with the last scores, so
/// that those of the next item come while the last values are met.
///
/// A carried state costs no other code: it starts with m = lse, a sum of 1, and
/// its own O, as if one key had been seen. Rows that see no key keep O = 0 and
/// lse = -inf. Blocks of queries are taken from a list by a grid that stays.
///
/// The structure is FlashAttention-3's (Shah et al. 2024).
#ifndef SPRT_CUDA_ATTENTIONFORWARD_CUH
#define SPRT_CUDA_ATTENTIONFORWARD_CUH

#include "sprt/cuda/ForwardConsumer.cuh"

namespace sprt::cuda {

/// Copies what the consumers need, in their order. One thread.
template <class C> class ForwardProducer {
public:
  SPRT_DEVICE ForwardProducer(const ForwardArguments &arguments, uint32_t base)
      : arguments(arguments), barriers(base), base(base) {}

  SPRT_DEVICE void run() {
    Items items(arguments);
    ItemNotes<C> notes(base);
    for (int item = items.next(); item >= 0; item = items.next()) {
      AttendWork work(arguments, item, C::kShape.queryBlock());
      int count = 0;
      for (int slice = 0; slice < arguments.sliceCount; ++slice)
        count += blocksOf(work, slice).count();
      notes.write(item, count);
      if (count > 0)
        bring(work);
    }
    notes.write(-1, 0);
  }

private:
  SPRT_DEVICE KeyBlocks blocksOf(const AttendWork &work, int slice) const {
    return {arguments.slices[slice], work.firstRow,
            work.firstRow + C::kShape.queryBlock(), arguments.queries,
            C::kShape.keyBlock};
  }

  SPRT_DEVICE void bring(const AttendWork &work) {
    for (int consumer = 0; consumer < C::kConsumers; ++consumer)
      bringQueries(work, consumer);
    queriesParity ^= 1;
    for (int slice = 0; slice < arguments.sliceCount; ++slice) {
      KeyBlocks blocks = blocksOf(work, slice);
      SPRT_NO_UNROLL
      for (int i = 0; i < blocks.count(); ++i)
        bringKeys(work, blocks.at(i) * C::kShape.keyBlock,
                  i < blocks.partial() ? slice : -1);
    }
  }

  SPRT_DEVICE void bringQueries(const AttendWork &work, int consumer) {
    uint32_t full = barriers.queries(consumer);
    ptx::barrierWait(full + barriers.kEmpty, queriesParity);
    ptx::barrierExpect(full, C::kShape.queryBytes());
    for (int panel = 0; panel < C::kShape.headPanels(); ++panel)
      ptx::copyIn(base + consumer * C::kShape.queryBytes() +
                      panel * C::kShape.queryPanelBytes(),
                  arguments.q, full, panel * C::kShape.kPanel,
                  work.firstRow + consumer * C::kShape.kRows, work.head,
                  work.batch);
  }

  /// A slice of -1: each row sees the whole block.
  SPRT_DEVICE void bringKeys(const AttendWork &work, int firstKey, int slice) {
    Stage<C::kStages> stage(turn++);
    uint32_t full = barriers.keys(stage.index);
    ptx::barrierWait(full + barriers.kEmpty, stage.parity ^ 1);
    ptx::storeShared(base + C::kShape.keyNotes() + 16 * stage.index, firstKey,
                     slice);
    ptx::barrierExpect(full, C::kShape.keyBytes());
    for (int panel = 0; panel < C::kShape.headPanels(); ++panel)
      ptx::copyIn(base + C::kShape.keys() + stage.index * C::kShape.keyBytes() +
                      panel * C::kShape.keyPanelBytes(),
                  arguments.k, full, panel * C::kShape.kPanel, firstKey,
                  work.kvHead, work.batch);
    full = barriers.values(stage.index);
    ptx::barrierWait(full + barriers.kEmpty, stage.parity ^ 1);
    ptx::barrierExpect(full, C::kShape.valueBytes());
    for (int panel = 0; panel < C::kShape.valuePanels(); ++panel)
      ptx::copyIn(base + C::kShape.values() +
                      stage.index * C::kShape.valueBytes() +
                      panel * C::kShape.keyPanelBytes(),
                  arguments.v, full, panel * C::kShape.kPanel, firstKey,
                  work.kvHead, work.batch);
  }

  const ForwardArguments &arguments;
  const ForwardBarriers<C> barriers;
  const uint32_t base;
  uint32_t turn = 0; ///< blocks of keys so far
  /// Of the turn before of queries, in which nobody read.
  uint32_t queriesParity = 1;
};

/// The kernel, for blocks of C::kShape.
template <class C>
SPRT_DEVICE void attendForward(const ForwardArguments &arguments) {
  uint32_t base = ptx::sharedBase();
  if (ptx::thread() == 0)
    ForwardBarriers<C>(base).initialise();
  ptx::syncBlock();
  int warpgroup = ptx::uniform(ptx::thread() / C::kShape.kWarpgroup);
  if (warpgroup == 0) {
    ptx::lowerRegisters<C::kShape.producerRegisters()>();
    if (ptx::thread() == 0)
      ForwardProducer<C>(arguments, base).run();
    return;
  }
  ptx::raiseRegisters<C::kShape.consumerRegisters()>();
  ForwardConsumer<C>(arguments, base, warpgroup - 1).run();
}

} // namespace sprt::cuda

#endif // SPRT_CUDA_ATTENTIONFORWARD_CUH
