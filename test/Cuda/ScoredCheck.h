/// Score functions for the kernels' tests, of the form that the compiler
/// writes, and what they read: the forward kernel against the plain one.
#ifndef SP_TEST_CUDA_SCOREDCHECK_H
#define SP_TEST_CUDA_SCOREDCHECK_H

#include "AttentionCheck.h"

#include <cfloat>
#include <memory>

#include <sys/mman.h>
#include <unistd.h>

namespace sprt::test {

/// Numbers at the end of a page; who reads behind the last one ends the test.
template <class T> class Guarded {
public:
  explicit Guarded(const std::vector<T> &values) {
    size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_t bytes = values.size() * sizeof(T);
    size_t whole = (bytes + page - 1) / page * page;
    mapped = whole + page;
    base = static_cast<char *>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + whole, page, PROT_NONE);
    first = reinterpret_cast<T *>(base + whole - bytes);
    std::copy(values.begin(), values.end(), first);
  }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  ~Guarded() { munmap(base, mapped); }

  const T *data() const { return first; }

private:
  size_t mapped;
  char *base;
  T *first;
};

/// Reads nothing.
struct Capped {
  static constexpr bool kIsNone = false, kIsLight = true, kHasFactor = false;
  struct Query {};
  struct Key {};
  static Query query(const cuda::ScoreArguments &, const cuda::ScoreRow &) {
    return {};
  }
  static Key key(const cuda::ScoreArguments &, int, int) { return {}; }
  static float apply(const cuda::ScoreArguments &, const Query &, const Key &,
                     float x) {
    return 2 * std::tanh(x / 2);
  }
};

/// The same with a larger cap; and as 16-bit elements have it.
struct CappedClosely : Capped {
  static constexpr float kCap = 8;
  static float apply(const cuda::ScoreArguments &, const Query &, const Key &,
                     float x) {
    return kCap * std::tanh(x / kCap);
  }
};
struct CappedNearly : CappedClosely {
  static float apply(const cuda::ScoreArguments &, const Query &, const Key &,
                     float x) {
    return kCap * cuda::score::quickTanh(x / kCap);
  }
};

/// A value of the key, a slope of the head, and the distance.
struct Sloped {
  static constexpr bool kIsNone = false, kIsLight = true, kHasFactor = false;
  struct Query {
    int32_t position;
    float slope;
  };
  struct Key {
    int32_t position;
    float value;
  };
  static Query query(const cuda::ScoreArguments &from,
                     const cuda::ScoreRow &at) {
    using namespace cuda::score;
    return {load<int32_t, int32_t>(from.queryPositions, at.row),
            load<float, float>(from.terms[2].data, place(from.terms[2], at))};
  }
  static Key key(const cuda::ScoreArguments &from, int batch, int row) {
    using namespace cuda::score;
    return {load<int32_t, int32_t>(from.keyPositions, row),
            load<float, float>(from.terms[1].data,
                               place(from.terms[1], batch, row))};
  }
  static float apply(const cuda::ScoreArguments &, const Query &query,
                     const Key &key, float x) {
    int32_t apart = query.position - key.position;
    // What is no number of a score replaces it.
    return std::abs(key.value) > 1e30f || key.value != key.value
               ? key.value
               : x - query.slope * static_cast<float>(std::abs(apart)) +
                     key.value;
  }
};

/// All that there is: segments hide, pairs are added, factors drop.
struct Every {
  static constexpr bool kIsNone = false, kIsLight = false, kHasFactor = true;
  struct Query {
    int32_t head, position;
    float segment;
    const BFloat16 *pairs;
  };
  using Key = Sloped::Key;
  static Query query(const cuda::ScoreArguments &from,
                     const cuda::ScoreRow &at) {
    using namespace cuda::score;
    return {at.globalHead, load<int32_t, int32_t>(from.queryPositions, at.row),
            load<float, float>(from.terms[0].data, place(from.terms[0], at)),
            begin<BFloat16>(from.terms[3], at)};
  }
  static Key key(const cuda::ScoreArguments &from, int batch, int row) {
    return Sloped::key(from, batch, row);
  }
  static float apply(const cuda::ScoreArguments &from, const Query &query,
                     const Key &key, float x) {
    float pair = cuda::score::load<float, BFloat16>(
        query.pairs, key.position * from.terms[3].strides[3]);
    return query.segment == std::floor(key.value) ? x + pair : -ptx::infinity();
  }
  static float factor(const cuda::ScoreArguments &, const Query &query,
                      const Key &key, float) {
    int32_t bits = query.head + 3 * query.position + 5 * key.position;
    return bits % 4 == 0 ? 0.f : 4.f / 3;
  }
};

/// What those read. Positions are spread: key row j is at position 2 j + 1.
class ScoreTerms {
public:
  /// special: what one key in 16 has, and in its first quarter all.
  ScoreTerms(const Shape &shape, unsigned seed, float special = 0) {
    std::mt19937 random(seed);
    auto draw = [&](int count, auto make) {
      std::vector<decltype(make(0))> values(static_cast<size_t>(count));
      for (int i = 0; i < count; ++i)
        values[static_cast<size_t>(i)] = make(i);
      return values;
    };
    std::uniform_real_distribution<float> real(0, 3);
    int pairs = 2 * shape.keys;
    queryPositions = std::make_unique<Guarded<int32_t>>(
        draw(shape.queries, [](int i) { return 3 * i; }));
    keyPositions = std::make_unique<Guarded<int32_t>>(
        draw(shape.keys, [](int i) { return 2 * i + 1; }));
    perQuery = std::make_unique<Guarded<float>>(
        draw(shape.batch * shape.queries,
             [&](int) { return std::floor(real(random)); }));
    perKey = std::make_unique<Guarded<float>>(
        draw(shape.batch * shape.keys, [&](int i) {
          bool isSpecial = special != 0 && (random() % 16 == 0 ||
                                            i % shape.keys < shape.keys / 4);
          return isSpecial ? special : real(random);
        }));
    perHead = std::make_unique<Guarded<float>>(
        draw(shape.heads, [&](int) { return real(random) / 100; }));
    perPair = std::make_unique<Guarded<BFloat16>>(
        draw(shape.heads * shape.queries * pairs,
             [&](int) { return BFloat16(real(random)); }));
    arguments.queryPositions = queryPositions->data();
    arguments.keyPositions = keyPositions->data();
    arguments.terms[0] = {perQuery->data(), {shape.queries, 0, 1, 0}};
    arguments.terms[1] = {perKey->data(), {shape.keys, 0, 0, 1}};
    arguments.terms[2] = {perHead->data(), {0, 1, 0, 0}};
    arguments.terms[3] = {perPair->data(),
                          {0, shape.queries * pairs, pairs, 1}};
  }

  cuda::ScoreArguments arguments = {};

private:
  std::unique_ptr<Guarded<int32_t>> queryPositions, keyPositions;
  std::unique_ptr<Guarded<float>> perQuery, perKey, perHead;
  std::unique_ptr<Guarded<BFloat16>> perPair;
};

template <class Element, int HeadSize, int ValueSize, int KeyBlock, class Score>
void checkScored(const Shape &shape,
                 const std::vector<std::vector<Slice>> &steps, unsigned seed,
                 float special = 0) {
  using Forward =
      cuda::ForwardConfig<Element, HeadSize, ValueSize, KeyBlock, 2, 2, Score>;
  using Plain = cuda::PlainConfig<Element, float, HeadSize, ValueSize, Score>;
  ScoreTerms terms(shape, seed, special);
  AttentionCheck<Forward> forward(shape, steps, seed, 0.1, terms.arguments);
  AttentionCheck<Plain> plain(shape, steps, seed, 0.1, terms.arguments);
  ASSERT_NO_THROW(forward.run(2));
  ASSERT_NO_THROW(plain.run(2));
  forward.expectSame(plain);
}

/// A kernel that leaves results divides what the other one leaves by its sum,
/// bit by bit: rows of which a score function hides all keys are no numbers.
template <class Sums, class Result>
void checkScoredResults(const Shape &shape, const std::vector<Slice> &slices,
                        float special) {
  ScoreTerms terms(shape, /*seed=*/1, special);
  AttentionCheck<Sums> sums(shape, {slices}, 1, 0.1, terms.arguments);
  AttentionCheck<Result> results(shape, {slices}, 1, 0.1, terms.arguments);
  ASSERT_NO_THROW(sums.run(2));
  ASSERT_NO_THROW(results.run(2));
  size_t size = sums.result().size() / (sums.exponents().size() / 2);
  bool hasNone = false;
  for (size_t i = 0; i < sums.result().size(); ++i) {
    float sum = sums.exponents()[i / size * 2 + 1];
    typename Result::Out mean(sums.result()[i] * (1 / sum)),
        result = results.result()[i];
    hasNone |= sum == 0;
    ASSERT_TRUE(!std::memcmp(&mean, &result, sizeof mean) ||
                (std::isnan(float(mean)) && std::isnan(float(result))))
        << "element " << i << ": " << float(result) << " is not "
        << float(mean);
  }
  EXPECT_EQ(hasNone, special == -INFINITY);
}

} // namespace sprt::test

#endif // SP_TEST_CUDA_SCOREDCHECK_H
