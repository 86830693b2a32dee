/// The warpgroups of the forward kernel that compute (AttentionForward.cuh).
#ifndef SPRT_CUDA_FORWARDCONSUMER_CUH
#define SPRT_CUDA_FORWARDCONSUMER_CUH

#include "sprt/cuda/ForwardTiles.cuh"
#include "sprt/cuda/KeyBlocks.cuh"

namespace sprt::cuda {

/// One thread of a consumer: rows r and r + 8 of its warp's 16.
template <class C> class ForwardConsumer {
public:
  SPRT_DEVICE ForwardConsumer(const ForwardArguments &arguments, uint32_t base,
                              int number)
      : arguments(arguments), barriers(base), base(base), number(number),
        isElected(ptx::thread() % 128 == 0) {}

  SPRT_DEVICE void run() {
    uint32_t parity = 0;
    int items = arguments.pairs * arguments.queryBlocks;
    for (int item = ptx::block(); item < items; item += ptx::blocks()) {
      begin(item);
      ptx::barrierWait(barriers.queries(number), parity);
      parity ^= 1;
      int blocks, none;
      ptx::loadShared(base + C::kShape.queryNotes() + 8 * number, blocks, none);
      SPRT_NO_UNROLL
      for (int block = 0; block < blocks; ++block) {
        readNotes();
        if (Score::kIsLight && slice < 0 && block > 0) {
          step();
          continue;
        }
        if (block > 0)
          finish();
        start();
      }
      if (blocks > 0)
        finish();
      // Without a product nothing else keeps the warps together.
      ptx::namedSync(1 + number, 128);
      ptx::barrierArrive(barriers.queries(number) + barriers.kEmpty, isElected);
      end(item);
    }
  }

private:
  using Scores = ptx::Product<typename C::Element, C::kShape.keyBlock>;
  using Score = typename C::Score;
  using Sums = ptx::Product<typename C::Element, C::kShape.valueSize>;
  static constexpr int kScores = C::kShape.keyBlock / 2; ///< of a thread
  static constexpr int kSums = C::kShape.valueSize / 2;

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
    const float *out = outOf(work, r);
    SPRT_UNROLL
    for (int i = 0; i < kSums; i += 4)
      ptx::loadPair(out + 2 * i, sums[i + 2 * r], sums[i + 2 * r + 1]);
    const float *lse = lseOf(work, r);
    // One lane of the four that share a row holds what was seen before.
    bool isOwner = lane() % 4 == 0;
    if constexpr (C::kKeepsSums) {
      greatest[r] = lse[0];
      powers[r] = isOwner ? lse[1] : 0;
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
    float *out[2], whole[2], factor[2];
    for (int r = 0; r < 2; ++r) {
      out[r] = outOf(work, r);
      whole[r] = powers[r] + ptx::shuffleXor(powers[r], 1);
      whole[r] += ptx::shuffleXor(whole[r], 2);
      factor[r] = C::kKeepsSums ? 1.f : whole[r] == 0 ? 0.f : 1 / whole[r];
    }
    SPRT_UNROLL
    for (int i = 0; i < kSums; i += 4)
      for (int r = 0; r < 2; ++r)
        if (isThere(r))
          ptx::storePair(out[r] + 2 * i, sums[i + 2 * r] * factor[r],
                         sums[i + 2 * r + 1] * factor[r]);
    for (int r = 0; r < 2; ++r)
      if (isThere(r) && lane() % 4 == 0)
        leaveExponent(lseOf(work, r), greatest[r], whole[r]);
  }
  SPRT_DEVICE bool isThere(int r) const {
    return row + 8 * r < arguments.queries;
  }
  SPRT_DEVICE static void leaveExponent(float *lse, float most, float sum) {
    if constexpr (C::kKeepsSums) {
      lse[0] = most;
      lse[1] = sum;
    } else {
      *lse = sum == 0 ? -ptx::infinity() : (most + ptx::log2(sum)) * kLn2;
    }
  }

  /// Waits for the next block of keys.
  SPRT_DEVICE void readNotes() {
    Stage<C::kStages> stage(turn);
    ptx::barrierWait(barriers.keys(stage.index), stage.parity);
    ptx::loadShared(base + C::kShape.keyNotes() + 8 * stage.index, firstKey,
                    slice);
  }

  /// A block of keys, whose product with values is left for later.
  SPRT_DEVICE void start() {
    float scores[kScores], shrink[2];
    multiplyKeys(scores);
    ptx::productWait<0>();
    score<false>(scores);
    hide(scores);
    takePowers(scores, shrink);
    releaseKeys();
    weigh<false>(scores);
    leave(scores, shrink);
  }

  /// The same of a block that each row sees whole, while the product that the
  /// last one left is computed.
  SPRT_DEVICE void step() {
    float scores[kScores], shrink[2];
    multiplyKeys(scores);
    multiplyValues();
    ptx::productWait<1>();
    score<true>(scores);
    takePowers(scores, shrink);
    weigh<true>(scores);
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
    ++turn;
    SPRT_UNROLL
    for (int i = 0; i < kSums; ++i)
      sums[i] *= shrink[i >> 1 & 1];
    SPRT_UNROLL
    for (int i = 0; i < kScores; i += 2)
      probabilities[i / 8][i / 2 % 4] =
          ptx::pack<typename C::Element>(scores[i], scores[i + 1]);
  }

  SPRT_DEVICE void multiplyKeys(float (&scores)[kScores]) {
    Stage<C::kStages> stage(turn);
    uint32_t queries = base + number * C::kShape.queryBytes();
    uint32_t keys =
        base + C::kShape.keys() + stage.index * C::kShape.keyBytes();
    ptx::productFence();
    SPRT_UNROLL
    for (int d = 0; d < C::kShape.headSize; d += 16) {
      int panel = d / C::kShape.kPanel, bytes = d % C::kShape.kPanel * 2;
      uint64_t a = ptx::operandRows(
          queries + panel * C::kShape.queryPanelBytes() + bytes);
      uint64_t b =
          ptx::operandRows(keys + panel * C::kShape.keyPanelBytes() + bytes);
      if (d == 0)
        Scores::begin(scores, a, b);
      else
        Scores::add(scores, a, b);
    }
    ptx::productCommit();
  }

  SPRT_DEVICE void multiplyValues() {
    Stage<C::kStages> stage(turn - 1);
    ptx::barrierWait(barriers.values(stage.index), stage.parity);
    uint32_t values =
        base + C::kShape.values() + stage.index * C::kShape.valueBytes();
    ptx::productFence();
    SPRT_UNROLL
    for (int k = 0; k < C::kShape.keyBlock; k += 16)
      Sums::add(sums, probabilities[k / 16],
                ptx::operandColumns(values + k * C::kShape.kPanel * 2,
                                    C::kShape.keyPanelBytes()));
    ptx::productCommit();
  }

  /// Scores become powers; `shrink` is what older powers are multiplied by.
  SPRT_DEVICE void takePowers(float (&scores)[kScores], float (&shrink)[2]) {
    for (int r = 0; r < 2; ++r) {
      float most = -ptx::infinity();
      SPRT_UNROLL
      for (int i = 2 * r; i < kScores; i += 4)
        most = ptx::larger(most, ptx::larger(scores[i], scores[i + 1]));
      most = ptx::larger(most, ptx::shuffleXor(most, 1));
      most = ptx::larger(most, ptx::shuffleXor(most, 2));
      most = ptx::larger(greatest[r],
                         Score::kIsNone ? most * arguments.scale : most);
      // A row that has seen no key yet has no maximum to subtract.
      float from = most == -ptx::infinity() ? 0.f : most;
      shrink[r] = power(greatest[r], 1, from);
      greatest[r] = most;
      float sum = 0;
      SPRT_UNROLL
      for (int i = 2 * r; i < kScores; i += 4) {
        scores[i] = power(scores[i], arguments.scale, from);
        scores[i + 1] = power(scores[i + 1], arguments.scale, from);
        sum += scores[i] + scores[i + 1];
      }
      powers[r] = powers[r] * shrink[r] + sum;
    }
  }

  /// Of an exponent. A function's may be large and finite: no product of it may
  /// overflow, and `scale` is in it.
  SPRT_DEVICE static float power(float exponent, float scale, float from) {
    if constexpr (Score::kIsNone)
      return ptx::exp2(exponent * scale - from);
    else
      return ptx::exp2((exponent - from) * kLog2e);
  }

  /// What the score function makes of scores. Of a block that is seen whole all
  /// keys are there; others ask for the last one, which `hide` drops.
  template <bool IsWhole> SPRT_DEVICE void score(float (&scores)[kScores]) {
    if constexpr (!Score::kIsNone)
      forEachPair<IsWhole>([&](int i, const auto &query, const auto &key) {
        scores[i] = Score::apply(arguments.score, query, key,
                                 scores[i] * arguments.scale);
      });
  }

  /// Powers are multiplied by what the function says of them, which is of no
  /// score. One of a hidden pair stays 0.
  template <bool IsWhole> SPRT_DEVICE void weigh(float (&scores)[kScores]) {
    if constexpr (Score::kHasFactor) {
      if (!IsWhole && slice >= 0 && arguments.slices[slice].uniform)
        return;
      forEachPair<IsWhole>([&](int i, const auto &query, const auto &key) {
        float factor = Score::factor(arguments.score, query, key, 0);
        scores[i] = scores[i] == 0 ? 0 : scores[i] * factor;
      });
    }
  }

  /// use(i, query, key) for each score i.
  template <bool IsWhole, class UseT> SPRT_DEVICE void forEachPair(UseT use) {
    int first = firstKey + firstColumn();
    SPRT_UNROLL
    for (int i = 0; i < kScores; i += i & 1 ? 3 : 1) {
      int row = first + i / 4 * 8 + (i & 1);
      if (!IsWhole)
        row = atMost(row, arguments.keys - 1);
      typename Score::Key key = Score::key(arguments.score, batch, row);
      use(i, scored[0], key);
      use(i + 2, scored[1], key);
    }
  }

  SPRT_DEVICE void hide(float (&scores)[kScores]) const {
    if (slice < 0)
      return;
    const Slice &through = arguments.slices[slice];
    if (through.uniform) {
      SPRT_UNROLL
      for (int i = 0; i < kScores; ++i)
        scores[i] = 0;
    }
    int first[2], count[2];
    for (int r = 0; r < 2; ++r) {
      keysOf(through, row + 8 * r, first[r], count[r]);
      first[r] -= firstKey + firstColumn();
    }
    SPRT_UNROLL
    for (int i = 0; i < kScores; ++i) {
      int r = i >> 1 & 1;
      int key = i / 4 * 8 + (i & 1);
      bool isSeen = static_cast<uint32_t>(key - first[r]) <
                    static_cast<uint32_t>(count[r]);
      scores[i] = isSeen ? scores[i] : -ptx::infinity();
    }
  }

  /// The condition always holds, but only when the powers have been taken can
  /// that be known: it keeps the assembler from moving them behind the wait.
  SPRT_DEVICE void releaseKeys() {
    bool isTaken = !(powers[0] < 0) && !(powers[1] < 0);
    ptx::barrierArrive(barriers.keys(Stage<C::kStages>(turn).index) +
                           barriers.kEmpty,
                       isElected && isTaken);
  }
  SPRT_DEVICE void releaseValues() {
    ptx::barrierArrive(barriers.values(Stage<C::kStages>(turn - 1).index) +
                           barriers.kEmpty,
                       isElected);
  }

  SPRT_DEVICE static int lane() { return ptx::thread() % 32; }

  /// Sum and score i lie 8 (i / 4) + (i & 1) columns on.
  SPRT_DEVICE static int firstColumn() { return lane() % 4 * 2; }

  SPRT_DEVICE float *outOf(const AttendWork &work, int r) const {
    return static_cast<float *>(arguments.out) +
           work.batch * arguments.outStrides[0] +
           (row + 8 * r) * arguments.outStrides[1] +
           work.head * arguments.outStrides[2] + firstColumn();
  }
  SPRT_DEVICE float *lseOf(const AttendWork &work, int r) const {
    return static_cast<float *>(arguments.lse) +
           work.batch * arguments.lseStrides[0] +
           (row + 8 * r) * arguments.lseStrides[1] +
           work.head * arguments.lseStrides[2];
  }

  static constexpr float kLog2e = 1.4426950408889634f;
  static constexpr float kLn2 = 0.6931471805599453f;

  const ForwardArguments &arguments;
  const ForwardBarriers<C> barriers;
  const uint32_t base;
  const int number;
  const bool isElected;
  int row;
  uint32_t turn = 0; ///< blocks of keys so far
  int firstKey;      ///< of the current one
  int slice;         ///< that it is seen through, or -1
  int batch;         ///< for a score function
  typename Score::Query scored[2];
  float greatest[2]; ///< exponent, to base 2 where no function makes it
  float powers[2];   ///< relative to it; a quarter of the row's
  float sums[kSums];
  uint32_t probabilities[C::kShape.keyBlock / 16]
                        [4]; ///< that met no values yet
};

} // namespace sprt::cuda

#endif // SPRT_CUDA_FORWARDCONSUMER_CUH
