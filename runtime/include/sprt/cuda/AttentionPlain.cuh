/// Attention for every element type and size of heads, on any GPU.
///
///     x = score(scale q·k)    one query row to eight lanes, one key at a time
///     o = o e^(m_old − m) + e^(x − m) v
///
/// A score function is a type of the generated source (ScoreMath.cuh); what it
/// makes of a pair is the exponent, and a factor of the power that meets the
/// value.
///
/// Blocks of keys and values are brought to shared memory by all threads, as
/// numbers of the arithmetic: fp64 for fp64 elements, fp32 for others. The
/// state is what the forward kernel's is (AttentionForward.cuh).
#ifndef SPRT_CUDA_ATTENTIONPLAIN_CUH
#define SPRT_CUDA_ATTENTIONPLAIN_CUH

#include "sprt/cuda/AttendWork.cuh"
#include "sprt/cuda/KeyBlocks.cuh"
#include "sprt/cuda/PlainShape.h"
#include "sprt/cuda/ScoreMath.cuh"
#include "sprt/cuda/SoftmaxState.cuh"

namespace sprt::cuda {

template <class ElementT, class NumberT, int HeadSize, int ValueSize,
          class ScoreT = NoScore, StateForm Form = stateFormOf<ScoreT>()>
struct PlainConfig {
  using Element = ElementT;
  using Number = NumberT;
  using Score = ScoreT;
  static constexpr StateForm kForm = Form;
  using Out = OutOf<Element, Number, Form>;
  static constexpr PlainShape kShape = {HeadSize, ValueSize, sizeof(NumberT)};
  static_assert(kShape.isValid(), "sizes that no kernel has");
};

/// One thread: a lane of a query row.
template <class C> class PlainAttention {
public:
  using Number = typename C::Number;
  using Element = typename C::Element;
  using Out = typename C::Out;

  SPRT_DEVICE PlainAttention(const PlainArguments &arguments, uint32_t base)
      : arguments(arguments), base(base),
        lane(ptx::thread() % PlainShape::kLanes) {}

  SPRT_DEVICE void run() {
    Items items(arguments);
    for (int item = items.next(); item >= 0; item = items.next()) {
      AttendWork work(arguments, item, C::kShape.queryBlock());
      row = work.firstRow + ptx::thread() / PlainShape::kLanes;
      isValid = row < arguments.queries;
      begin(work);
      if constexpr (!C::Score::kIsNone)
        if (isValid)
          scored = C::Score::query(
              arguments.score,
              {work.batch, work.head, row, arguments.headFirst + work.head});
      for (int number = work.firstSlice; number < work.endSlice; ++number)
        attend(work, arguments.slices[number]);
      end(work);
    }
  }

private:
  static constexpr int kLanes = PlainShape::kLanes;
  static constexpr int kHead = (C::kShape.headSize + kLanes - 1) / kLanes;
  static constexpr int kValue = (C::kShape.valueSize + kLanes - 1) / kLanes;

  SPRT_DEVICE void begin(const AttendWork &work) {
    const Element *from =
        static_cast<const Element *>(arguments.q) +
        offset(arguments.qStrides, work.batch, row, work.head);
    const Out *out = outOf(work);
    bool isCarried =
        isValid && !arguments.init && C::kForm != StateForm::Result;
    for (int i = 0; i < kHead; ++i)
      query[i] = isValid && has(i, C::kShape.headSize)
                     ? ptx::number<Number>(from[lane + i * kLanes])
                     : Number(0);
    greatest = -ptx::infinity();
    power = 0;
    if (isCarried)
      takeUp(lseOf(work));
    for (int i = 0; i < kValue; ++i)
      sums[i] = isCarried && has(i, C::kShape.valueSize)
                    ? ptx::number<Number>(out[lane + i * kLanes])
                    : Number(0);
  }

  SPRT_DEVICE void takeUp(const Number *lse) {
    if constexpr (C::kForm == StateForm::Sums) {
      greatest = lse[0];
      power = lse[1];
      return;
    }
    greatest = lse[0] * kLog2e;
    if (greatest != -ptx::infinity())
      power = greatest == greatest ? Number(1) : greatest;
  }

  SPRT_DEVICE void end(const AttendWork &work) const {
    if (!isValid)
      return;
    Out *out = outOf(work);
    Number factor = factorOf<C>(power);
    for (int i = 0; i < kValue; ++i)
      if (has(i, C::kShape.valueSize))
        out[lane + i * kLanes] = static_cast<Out>(sums[i] * factor);
    if (lane == 0)
      leaveSum<C>(lseOf(work), greatest, power);
  }

  SPRT_DEVICE void attend(const AttendWork &work, const Slice &slice) {
    KeyBlocks blocks(slice, work.firstRow,
                     work.firstRow + C::kShape.queryBlock(), arguments.queries,
                     PlainShape::kKeyBlock);
    int first, count;
    keysOf(slice, row, first, count);
    for (int block = blocks.next(blocks.last); block >= 0;
         block = blocks.next(block)) {
      int firstKey = block * PlainShape::kKeyBlock;
      // Nobody reads the last block any more; then this one is there.
      ptx::syncBlock();
      bring(work, firstKey);
      ptx::syncBlock();
      for (int key = 0; key < PlainShape::kKeyBlock; ++key) {
        Number score = slice.uniform ? Number(0) : scoreOf(key);
        bool isSeen = static_cast<uint32_t>(firstKey + key - first) <
                      static_cast<uint32_t>(count);
        if (isSeen)
          add(work, score * scale(), slice.uniform, firstKey + key, key);
      }
    }
  }

  /// A block of keys and values to shared memory; rows that are not there as 0.
  SPRT_DEVICE void bring(const AttendWork &work, int firstKey) const {
    bringRows(static_cast<const Element *>(arguments.k) +
                  offset(arguments.kStrides, work.batch, firstKey, work.kvHead),
              arguments.kStrides[1], firstKey, C::kShape.headSize, 0);
    bringRows(static_cast<const Element *>(arguments.v) +
                  offset(arguments.vStrides, work.batch, firstKey, work.kvHead),
              arguments.vStrides[1], firstKey, C::kShape.valueSize,
              C::kShape.values());
  }
  SPRT_DEVICE void bringRows(const Element *from, int64_t stride, int firstKey,
                             int size, int place) const {
    for (int i = ptx::thread(); i < PlainShape::kKeyBlock * size;
         i += PlainShape::kThreads) {
      int key = i / size;
      Number number = firstKey + key < arguments.keys
                          ? ptx::number<Number>(from[key * stride + i % size])
                          : Number(0);
      ptx::storeNumber(base + place + i * sizeof(Number), number);
    }
  }

  /// Of the row and a key of the block, on all of the row's lanes.
  SPRT_DEVICE Number scoreOf(int key) const {
    Number sum = 0;
    for (int i = 0; i < kHead; ++i)
      if (has(i, C::kShape.headSize))
        sum += query[i] * read(0, key * C::kShape.headSize + i * kLanes);
    for (int lanes = 1; lanes < kLanes; lanes *= 2)
      sum += ptx::shuffleXor(sum, lanes);
    return sum;
  }

  /// One key more, the one numbered `key` of the block, with score x.
  SPRT_DEVICE void add(const AttendWork &work, Number x, bool isUniform,
                       int keyRow, int key) {
    Number factor = 1;
    if constexpr (!C::Score::kIsNone)
      if (!isUniform) {
        auto ofKey = C::Score::key(arguments.score, work.batch, keyRow);
        if constexpr (C::Score::kHasFactor)
          factor = C::Score::factor(arguments.score, scored, ofKey, x);
        x = C::Score::apply(arguments.score, scored, ofKey, x);
      }
    Number most = ptx::larger(greatest, x);
    // A row that has seen no key yet has no maximum to subtract.
    Number from = most == -ptx::infinity() ? Number(0) : most;
    Number shrink = raise(greatest - from), own = raise(x - from);
    greatest = most;
    power = power * shrink + own;
    own *= factor;
    for (int i = 0; i < kValue; ++i)
      if (has(i, C::kShape.valueSize))
        sums[i] = sums[i] * shrink +
                  own * read(C::kShape.values(),
                             key * C::kShape.valueSize + i * kLanes);
  }

  /// Of q.k: exponents are in base 2, in base e where a score function makes
  /// them.
  SPRT_DEVICE Number scale() const {
    return static_cast<Number>(C::Score::kIsNone
                                   ? arguments.scale * 1.4426950408889634074
                                   : arguments.scale);
  }
  SPRT_DEVICE static Number raise(Number exponent) {
    return ptx::exp2(C::Score::kIsNone ? exponent : exponent * kLog2e);
  }

  SPRT_DEVICE Number read(int place, int element) const {
    return ptx::loadNumber<Number>(base + place +
                                   (element + lane) * sizeof(Number));
  }
  /// Whether element i of this lane is one of `size`.
  SPRT_DEVICE bool has(int i, int size) const {
    return size % kLanes == 0 || lane + i * kLanes < size;
  }
  SPRT_DEVICE Out *outOf(const AttendWork &work) const {
    return static_cast<Out *>(arguments.out) +
           offset(arguments.outStrides, work.batch, row, work.head);
  }
  SPRT_DEVICE Number *lseOf(const AttendWork &work) const {
    return static_cast<Number *>(arguments.lse) +
           offset(arguments.lseStrides, work.batch, row, work.head);
  }

  static constexpr Number kLog2e = Number(1.4426950408889634074);

  const PlainArguments &arguments;
  const uint32_t base;
  const int lane;
  int row;
  bool isValid;
  typename C::Score::Query scored; ///< of the row
  Number greatest, power;          ///< exponent; sum of powers relative to it
  Number query[kHead], sums[kValue];
};

/// The kernel, for blocks of C::kShape.
template <class C>
SPRT_DEVICE void attendPlain(const PlainArguments &arguments) {
  PlainAttention<C>(arguments, ptx::sharedBase()).run();
}

} // namespace sprt::cuda

#endif // SPRT_CUDA_ATTENTIONPLAIN_CUH
