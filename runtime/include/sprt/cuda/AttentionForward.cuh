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
/// lse = -inf. Where no state is wanted (`StateForm::Result`), O is rounded to
/// the type of the values. Blocks of queries are taken from a list by a grid
/// that stays.
///
/// The structure is FlashAttention-3's (Shah et al. 2024).
#ifndef SPRT_CUDA_ATTENTIONFORWARD_CUH
#define SPRT_CUDA_ATTENTIONFORWARD_CUH

#include "sprt/cuda/ForwardConsumer.cuh"

namespace sprt::cuda {

/// The blocks of keys that a block of queries meets through one slice.
template <class C>
SPRT_DEVICE KeyBlocks blocksOf(const ForwardArguments &arguments, int firstRow,
                               int slice) {
  return {arguments.slices[slice], firstRow, firstRow + C::kShape.queryBlock(),
          arguments.queries, C::kShape.keyBlock};
}

/// Says which item is next, while the last one is computed: when its last keys
/// are asked for, not before, or who has a long one would have taken another.
/// One thread.
template <class C>
SPRT_DEVICE void scheduleForward(const ForwardArguments &arguments,
                                 uint32_t base) {
  using Notes = ItemNotes<C>;
  Items items(arguments);
  Notes notes(base);
  for (uint32_t turn = 0;; ++turn) {
    notes.awaitEmpty(turn);
    int item = items.next(), count = 0;
    if (item < 0)
      break;
    AttendWork work(arguments, item, C::kShape.queryBlock());
    notes.store(Notes::kRowHead, work.firstRow, work.head);
    notes.store(Notes::kBatchKvHead, work.batch, work.kvHead);
    notes.store(Notes::kSlices, work.firstSlice, work.endSlice);
    SPRT_NO_UNROLL
    for (int slice = work.firstSlice; slice < work.endSlice; ++slice)
      count += blocksOf<C>(arguments, work.firstRow, slice).count();
    notes.store(Notes::kItemBlocks, item, count);
    notes.publish();
  }
  notes.store(Notes::kItemBlocks, -1, 0);
  notes.publish();
}

/// Copies what the consumers need, in their order. One thread, of a warpgroup
/// with few registers: it reads notes anew instead of keeping what they say.
template <class C> class ForwardProducer {
public:
  SPRT_DEVICE ForwardProducer(const ForwardArguments &arguments, uint32_t base)
      : arguments(arguments), barriers(base), base(base), notes(base) {}

  SPRT_DEVICE void run() {
    for (;; turns ^= kItem) {
      int item, count;
      notes.awaitFull(turns & kItem);
      notes.load(Notes::kItemBlocks, item, count);
      if (item < 0)
        break;
      if (count > 0)
        bring();
      notes.release();
    }
  }

private:
  using Notes = ItemNotes<C>;

  SPRT_DEVICE void bring() {
    int firstRow, head;
    notes.load(Notes::kRowHead, firstRow, head);
    SPRT_NO_UNROLL
    for (int consumer = 0; consumer < C::kConsumers; ++consumer)
      bringQueries(firstRow + consumer * C::kShape.kRows, head, consumer);
    turns ^= kQueries;
    SPRT_NO_UNROLL
    while (bringSlice())
      ;
  }

  /// What the next slice shows; false where none is left.
  SPRT_DEVICE bool bringSlice() {
    int slice, endSlice, firstRow, head;
    notes.load(Notes::kSlices, slice, endSlice);
    if (slice == endSlice)
      return false;
    notes.load(Notes::kRowHead, firstRow, head);
    KeyBlocks blocks = blocksOf<C>(arguments, firstRow, slice);
    SPRT_NO_UNROLL
    for (int block = blocks.next(blocks.last); block >= 0;
         block = blocks.next(block))
      bringKeys(block * C::kShape.keyBlock, blocks.isWhole(block));
    notes.load(Notes::kSlices, slice, endSlice);
    notes.store(Notes::kSlices, slice + 1, endSlice);
    return true;
  }

  SPRT_DEVICE void bringQueries(int firstRow, int head, int consumer) {
    int batch, kvHead;
    notes.load(Notes::kBatchKvHead, batch, kvHead);
    uint32_t full = barriers.queries(consumer);
    ptx::barrierWait(full + barriers.kEmpty, turns & kQueries ? 0 : 1);
    ptx::barrierExpect(full, C::kShape.queryBytes());
    for (int panel = 0; panel < C::kShape.headPanels(); ++panel)
      ptx::copyIn(base + consumer * C::kShape.queryBytes() +
                      panel * C::kShape.queryPanelBytes(),
                  arguments.q, full, panel * C::kShape.kPanel, firstRow, head,
                  batch);
  }

  /// isWhole: each row sees the whole block.
  SPRT_DEVICE void bringKeys(int firstKey, bool isWhole) {
    int batch, kvHead, slice, endSlice;
    notes.load(Notes::kBatchKvHead, batch, kvHead);
    notes.load(Notes::kSlices, slice, endSlice);
    Stage<C::kStages> stage(turns / kKeys);
    turns += kKeys;
    uint32_t full = barriers.keys(stage.index);
    ptx::barrierWait(full + barriers.kEmpty, stage.parity ^ 1);
    ptx::storeShared(base + C::kShape.keyNotes() + 16 * stage.index, firstKey,
                     isWhole ? -1 : slice);
    ptx::barrierExpect(full, C::kShape.keyBytes());
    for (int panel = 0; panel < C::kShape.headPanels(); ++panel)
      ptx::copyIn(base + C::kShape.keys() + stage.index * C::kShape.keyBytes() +
                      panel * C::kShape.keyPanelBytes(),
                  arguments.k, full, panel * C::kShape.kPanel, firstKey, kvHead,
                  batch);
    full = barriers.values(stage.index);
    ptx::barrierWait(full + barriers.kEmpty, stage.parity ^ 1);
    ptx::barrierExpect(full, C::kShape.valueBytes());
    for (int panel = 0; panel < C::kShape.valuePanels(); ++panel)
      ptx::copyIn(
          base + C::kShape.values() + stage.index * C::kShape.valueBytes() +
              panel * C::kShape.keyPanelBytes(),
          arguments.v, full, panel * C::kShape.kPanel, firstKey, kvHead, batch);
  }

  const ForwardArguments &arguments;
  const ForwardBarriers<C> barriers;
  const uint32_t base;
  const Notes notes;
  /// In one register: parities of the item and of its queries, and the number
  /// of blocks of keys so far.
  enum : uint32_t { kItem = 1, kQueries = 2, kKeys = 4 };
  uint32_t turns = 0;
};

/// Brings the state of the next item near while the last one is computed. The
/// last warps of the producer's warpgroup.
template <class C> class ForwardFetcher {
public:
  SPRT_DEVICE ForwardFetcher(const ForwardArguments &arguments, uint32_t base)
      : arguments(arguments), notes(base) {}

  SPRT_DEVICE void run() {
    for (uint32_t turn = 0;; ++turn) {
      int item, blocks;
      notes.read(turn, item, blocks);
      if (item < 0)
        return;
      AttendWork work(arguments, item, C::kShape.queryBlock());
      int end =
          atMost(work.firstRow + C::kShape.queryBlock(), arguments.queries);
      SPRT_NO_UNROLL
      for (int row = work.firstRow + ptx::thread() - kFirst; row < end;
           row += kThreads)
        fetch(work, row);
    }
  }

private:
  static constexpr int kLine = 32; ///< numbers that come together
  static constexpr int kThreads = C::kShape.kFetchers * 32;
  static constexpr int kFirst = C::kShape.kWarpgroup - kThreads;

  SPRT_DEVICE void fetch(const AttendWork &work, int row) const {
    ptx::prefetch(static_cast<const float *>(arguments.lse) +
                  offset(arguments.lseStrides, work.batch, row, work.head));
    const float *out = static_cast<const float *>(arguments.out) +
                       offset(arguments.outStrides, work.batch, row, work.head);
    for (int i = 0; i < C::kShape.valueSize; i += kLine)
      ptx::prefetch(out + i);
  }

  const ForwardArguments &arguments;
  const ItemNotes<C> notes;
};

/// The kernel, for blocks of C::kShape.
template <class C>
SPRT_DEVICE void attendForward(const ForwardArguments &arguments) {
  uint32_t base = ptx::sharedBase();
  bool isCarried = C::kForm != StateForm::Result && !arguments.init;
  if (ptx::thread() == 0)
    ForwardBarriers<C>(base).initialise(isCarried);
  ptx::syncBlock();
  int warpgroup = ptx::uniform(ptx::thread() / C::kShape.kWarpgroup);
  if (warpgroup == 0) {
    ptx::lowerRegisters<C::kShape.producerRegisters()>();
    int warp = ptx::uniform(ptx::thread() / 32);
    bool isFirst = ptx::thread() % 32 == 0;
    if (warp == 0 && isFirst)
      ForwardProducer<C>(arguments, base).run();
    else if (warp == 1 && isFirst)
      scheduleForward<C>(arguments, base);
    else if (warp > 1 && isCarried)
      ForwardFetcher<C>(arguments, base).run();
    return;
  }
  ptx::raiseRegisters<C::kShape.consumerRegisters()>();
  ForwardConsumer<C>(arguments, base, warpgroup - 1).run();
}

} // namespace sprt::cuda

#endif // SPRT_CUDA_ATTENTIONFORWARD_CUH
