/// The warpgroups of the forward kernel that compute (AttentionForward.cuh).
#ifndef SPRT_CUDA_FORWARDCONSUMER_CUH
#define SPRT_CUDA_FORWARDCONSUMER_CUH

#include "sprt/cuda/ForwardTiles.cuh"
#include "sprt/cuda/KeyBlocks.cuh"

namespace sprt::cuda {

/// Of a warp.
SPRT_DEVICE int lane() { return ptx::thread() % 32; }

/// Of a thread's part of a product: sum and score i lie 8 (i / 4) + (i & 1)
/// columns on.
SPRT_DEVICE int firstColumn() { return lane() % 4 * 2; }

constexpr float kLog2e = 1.4426950408889634f;

/// Of an exponent. A function's may be large and finite: no product of it may
/// overflow, and `scale` is in it. Without one, `from` is rounded and the
/// product is not: from 2^31 on, what `from` lost makes the greatest power of
/// a row infinite, since it was rounded down, and never nothing.
template <class Score>
SPRT_DEVICE float power(float exponent, float scale, float from) {
  if constexpr (Score::kIsNone)
    return ptx::exp2(ptx::multiplyAdd(exponent, scale, -from));
  else
    return ptx::exp2((exponent - from) * kLog2e);
}

/// One thread of a consumer: rows r and r + 8 of its warp's 16.
template <class C> class ForwardConsumer {
public:
  SPRT_DEVICE ForwardConsumer(const ForwardArguments &arguments, uint32_t base,
                              int number)
      : arguments(arguments), barriers(base), base(base), number(number),
        isElected(ptx::thread() % 128 == 0) {}

  SPRT_DEVICE void run() {
    ItemNotes<C> notes(base);
    Turns<C> turns(number);
    uint32_t parities = 0; // of the item; shifted by 1, of its queries
    for (;; parities ^= 1) {
      int item, blocks;
      notes.read(parities % 2, item, blocks);
      if (item < 0)
        break;
      begin(item);
      if (blocks > 0) {
        ptx::barrierWait(barriers.queries(number), parities / 2);
        parities ^= 2;
        attend(turns, blocks);
      }
      end(item);
    }
    turns.close();
  }

private:
  using Scores = ptx::Product<typename C::Element, C::kShape.keyBlock>;
  using Score = typename C::Score;
  using Sums = ptx::Product<typename C::Element, C::kShape.valueSize>;
  static constexpr int kScores = C::kShape.keyBlock / 2; ///< of a thread
  static constexpr int kSums = C::kShape.valueSize / 2;

  /// Blocks of keys of one item, 1 at least. Each but the first is a step,
  /// where registers are left for that.
  SPRT_DEVICE void attend(const Turns<C> &turns, int blocks) {
    start(turns, blocks == 1);
    SPRT_NO_UNROLL
    for (int left = blocks - 1; left > 0; --left)
      if constexpr (Score::kIsLight) {
        step(turns, left == 1);
      } else {
        finish();
        start(turns, left == 1);
      }
    finish();
  }

  /// Takes up the state.
  SPRT_DEVICE void begin(int item) {
    AttendWork work(arguments, item, C::kShape.queryBlock());
    row = work.firstRow + number * C::kShape.kRows +
          ptx::thread() % 128 / 32 * 16 + lane() / 4;
    SPRT_UNROLL
    for (int i = 0; i < kSums; ++i)
      sums[i] = 0;
    for (int r = 0; r < 2; ++r) {
      greatest[r] = -ptx::infinity();
      powers[r] = 0;
      if constexpr (C::kForm != StateForm::Result)
        if (!arguments.init && isThere(r))
          load(work, r);
    }
    if constexpr (!Score::kIsNone) {
      batch = work.batch;
      // Rows that are not there ask for the last one.
      for (int r = 0; r < 2; ++r)
        scored[r] = Score::query(arguments.score,
                                 {work.batch, work.head,
                                  atMost(row + 8 * r, arguments.queries - 1),
                                  arguments.headFirst + work.head});
    }
  }

  SPRT_DEVICE void load(const AttendWork &work, int r) {
    const typename C::Out *out = outOf(work, r);
    SPRT_UNROLL
    for (int i = 0; i < kSums; i += 4)
      ptx::loadPair(out + 2 * i, sums[i + 2 * r], sums[i + 2 * r + 1]);
    const float *lse = lseOf(work, r);
    // One lane of the four that share a row holds what was seen before.
    bool isOwner = lane() % 4 == 0;
    if constexpr (C::kForm == StateForm::Sums) {
      greatest[r] = lse[0];
      // No sum is less than 0: `releaseKeys` would keep its buffer for ever.
      powers[r] = !isOwner || lse[1] < 0 ? 0 : lse[1];
    } else {
      greatest[r] = *lse * kLog2e;
      if (isOwner && *lse > -ptx::infinity())
        powers[r] = 1;
      if (*lse != *lse)
        powers[r] = *lse;
    }
  }

  /// Leaves the state. Rows in turn, or ptxas spills with heads of 256.
  SPRT_DEVICE void end(int item) const {
    AttendWork work(arguments, item, C::kShape.queryBlock());
    typename C::Out *out[2];
    float whole[2], factor[2];
    for (int r = 0; r < 2; ++r) {
      out[r] = outOf(work, r);
      whole[r] = powers[r] + ptx::shuffleXor(powers[r], 1);
      whole[r] += ptx::shuffleXor(whole[r], 2);
      factor[r] = factorOf<C>(whole[r]);
    }
    SPRT_UNROLL
    for (int i = 0; i < kSums; i += 4)
      for (int r = 0; r < 2; ++r)
        if (isThere(r))
          ptx::storePair(out[r] + 2 * i, sums[i + 2 * r] * factor[r],
                         sums[i + 2 * r + 1] * factor[r]);
    for (int r = 0; r < 2; ++r)
      if (isThere(r) && lane() % 4 == 0)
        leaveSum<C>(lseOf(work, r), greatest[r], whole[r]);
  }
  SPRT_DEVICE bool isThere(int r) const {
    return row + 8 * r < arguments.queries;
  }

  /// Waits for the next block of keys.
  SPRT_DEVICE void readNotes() {
    stage = Stage<C::kStages>(turn++);
    ptx::barrierWait(barriers.keys(stage.index), stage.parity);
    ptx::loadShared(base + C::kShape.keyNotes() + 16 * stage.index, firstKey,
                    slice);
  }

  /// A block of keys, whose product with values is left for later.
  SPRT_DEVICE void start(const Turns<C> &turns, bool isLast) {
    float scores[kScores], shrink[2];
    readNotes();
    Bounds bounds;
    findBounds(bounds);
    turns.begin();
    multiplyKeys(scores);
    turns.end();
    ptx::productWait<0>();
    releaseQueries(isLast);
    score(scores);
    hide(scores, bounds);
    takePowers(scores, shrink);
    releaseKeys();
    weigh(scores);
    leave(scores, shrink);
  }

  /// The same while the product that the last one left is computed.
  SPRT_DEVICE void step(const Turns<C> &turns, bool isLast) {
    float scores[kScores], shrink[2];
    readNotes();
    Bounds bounds;
    findBounds(bounds);
    turns.begin();
    multiplyKeys(scores);
    multiplyValues();
    turns.end();
    ptx::productWait<1>();
    releaseQueries(isLast);
    score(scores);
    hide(scores, bounds);
    takePowers(scores, shrink);
    weigh(scores);
    releaseKeys();
    ptx::productWait<0>();
    releaseValues();
    leave(scores, shrink);
  }

  /// The product with values that was left.
  SPRT_DEVICE void finish() {
    multiplyValues();
    ptx::productWait<0>();
    releaseValues();
  }

  SPRT_DEVICE void leave(const float (&scores)[kScores],
                         const float (&shrink)[2]) {
    before = stage;
    SPRT_UNROLL
    for (int i = 0; i < kSums; ++i)
      sums[i] *= shrink[i >> 1 & 1];
    SPRT_UNROLL
    for (int i = 0; i < kScores; i += 2)
      probabilities[i / 8][i / 2 % 4] =
          ptx::pack<typename C::Element>(scores[i], scores[i + 1]);
  }

  SPRT_DEVICE void multiplyKeys(float (&scores)[kScores]) {
    ptx::Operand queries =
        ptx::Operand::rows(base, number * C::kShape.queryBytes());
    ptx::Operand keys = ptx::Operand::rows(
        base, C::kShape.keys() + stage.index * C::kShape.keyBytes());
    ptx::productFence();
    SPRT_UNROLL
    for (int d = 0; d < C::kShape.headSize; d += 16) {
      int panel = d / C::kShape.kPanel, bytes = d % C::kShape.kPanel * 2;
      uint64_t a = queries.at(panel * C::kShape.queryPanelBytes() + bytes);
      uint64_t b = keys.at(panel * C::kShape.keyPanelBytes() + bytes);
      if (d == 0)
        Scores::begin(scores, a, b);
      else
        Scores::add(scores, a, b);
    }
    ptx::productCommit();
  }

  SPRT_DEVICE void multiplyValues() {
    ptx::barrierWait(barriers.values(before.index), before.parity);
    ptx::Operand values = ptx::Operand::columns(
        base, C::kShape.values() + before.index * C::kShape.valueBytes(),
        C::kShape.keyPanelBytes());
    ptx::productFence();
    SPRT_UNROLL
    for (int k = 0; k < C::kShape.keyBlock; k += 16)
      Sums::add(sums, probabilities[k / 16],
                values.at(k * C::kShape.kPanel * 2));
    ptx::productCommit();
  }

  /// Scores become powers; `shrink` is what older powers are multiplied by.
  SPRT_DEVICE void takePowers(float (&scores)[kScores], float (&shrink)[2]) {
    for (int r = 0; r < 2; ++r) {
      float most = ptx::larger(scores[2 * r], scores[2 * r + 1]);
      SPRT_UNROLL
      for (int i = 2 * r + 4; i < kScores; i += 4)
        most = ptx::larger(most, ptx::larger(scores[i], scores[i + 1]));
      most = ptx::larger(most, ptx::shuffleXor(most, 1));
      most = ptx::larger(most, ptx::shuffleXor(most, 2));
      most = ptx::larger(
          greatest[r],
          Score::kIsNone ? ptx::productBelow(most, arguments.scale) : most);
      // A row that has seen no key yet has no maximum to subtract.
      float from = ptx::larger(most, kLeast);
      shrink[r] = power<Score>(greatest[r], 1, from);
      greatest[r] = most;
      float sum;
      SPRT_UNROLL
      for (int i = 2 * r; i < kScores; i += 4) {
        scores[i] = power<Score>(scores[i], arguments.scale, from);
        scores[i + 1] = power<Score>(scores[i + 1], arguments.scale, from);
        float pair = scores[i] + scores[i + 1];
        sum = i == 2 * r ? pair : sum + pair;
      }
      powers[r] = powers[r] * shrink[r] + sum;
    }
  }

  /// What the score function makes of scores. Keys that are not there ask for
  /// the last one, which `hide` drops.
  SPRT_DEVICE void score(float (&scores)[kScores]) {
    if constexpr (!Score::kIsNone)
      forEachPair([&](int i, const auto &query, const auto &key) {
        scores[i] = Score::apply(arguments.score, query, key,
                                 scores[i] * arguments.scale);
      });
  }

  /// Powers are multiplied by what the function says of them, which is of no
  /// score. One of a hidden pair stays 0.
  SPRT_DEVICE void weigh(float (&scores)[kScores]) {
    if constexpr (Score::kHasFactor) {
      if (slice >= 0 && arguments.slices[slice].uniform)
        return;
      forEachPair([&](int i, const auto &query, const auto &key) {
        float factor = Score::factor(arguments.score, query, key, 0);
        scores[i] = scores[i] == 0 ? 0 : scores[i] * factor;
      });
    }
  }

  /// use(i, query, key) for each score i.
  template <class UseT> SPRT_DEVICE void forEachPair(UseT use) {
    int first = firstKey + firstColumn();
    SPRT_UNROLL
    for (int i = 0; i < kScores; i += i & 1 ? 3 : 1) {
      int row = atMost(first + i / 4 * 8 + (i & 1), arguments.keys - 1);
      typename Score::Key key = Score::key(arguments.score, batch, row);
      use(i, scored[0], key);
      use(i + 2, scored[1], key);
    }
  }

  /// The keys that this thread's rows see of a block that is not whole, from
  /// its first column on.
  struct Bounds {
    int first[2], count[2];
  };
  SPRT_DEVICE void findBounds(Bounds &bounds) const {
    if (slice < 0)
      return;
    for (int r = 0; r < 2; ++r) {
      keysOf(arguments.slices[slice], row + 8 * r, bounds.first[r],
             bounds.count[r]);
      bounds.first[r] -= firstKey + firstColumn();
    }
  }

  SPRT_DEVICE void hide(float (&scores)[kScores], const Bounds &bounds) const {
    if (slice < 0)
      return;
    if (arguments.slices[slice].uniform) {
      SPRT_UNROLL
      for (int i = 0; i < kScores; ++i)
        scores[i] = 0;
    }
    SPRT_UNROLL
    for (int i = 0; i < kScores; ++i) {
      int r = i >> 1 & 1;
      int key = i / 4 * 8 + (i & 1);
      bool isSeen = static_cast<uint32_t>(key - bounds.first[r]) <
                    static_cast<uint32_t>(bounds.count[r]);
      scores[i] = isSeen ? scores[i] : -ptx::infinity();
    }
  }

  /// The condition always holds, but only when the powers have been taken can
  /// that be known: it keeps the assembler from moving them behind the wait.
  SPRT_DEVICE void releaseKeys() {
    bool isTaken = !(powers[0] < 0) && !(powers[1] < 0);
    ptx::barrierArrive(barriers.keys(stage.index) + barriers.kEmpty,
                       isElected && isTaken);
  }
  /// The last scores have been computed.
  SPRT_DEVICE void releaseQueries(bool isLast) {
    ptx::barrierArrive(barriers.queries(number) + barriers.kEmpty,
                       isElected && isLast);
  }
  SPRT_DEVICE void releaseValues() {
    ptx::barrierArrive(barriers.values(before.index) + barriers.kEmpty,
                       isElected);
  }

  SPRT_DEVICE typename C::Out *outOf(const AttendWork &work, int r) const {
    return static_cast<typename C::Out *>(arguments.out) +
           offset(arguments.outStrides, work.batch, row + 8 * r, work.head) +
           firstColumn();
  }
  SPRT_DEVICE float *lseOf(const AttendWork &work, int r) const {
    return static_cast<float *>(arguments.lse) +
           offset(arguments.lseStrides, work.batch, row + 8 * r, work.head);
  }

  static constexpr float kLeast = -3.4028234663852886e38f; ///< finite number

  const ForwardArguments &arguments;
  const ForwardBarriers<C> barriers;
  const uint32_t base;
  const int number;
  const bool isElected;
  int row;
  uint32_t turn = 0;                     ///< blocks of keys so far
  Stage<C::kStages> stage{0}, before{0}; ///< of the last one, of that before
  int firstKey;                          ///< of the current one
  int slice;                             ///< that it is seen through, or -1
  int batch;                             ///< for a score function
  typename Score::Query scored[2];
  float greatest[2]; ///< exponent, to base 2 where no function makes it
  float powers[2];   ///< relative to it; a quarter of the row's
  float sums[kSums];
  uint32_t probabilities[C::kShape.keyBlock / 16]
                        [4]; ///< that met no values yet
};

} // namespace sprt::cuda

#endif // SPRT_CUDA_FORWARDCONSUMER_CUH
