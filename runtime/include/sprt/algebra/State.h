#ifndef SPRT_ALGEBRA_STATE_H
#define SPRT_ALGEBRA_STATE_H

#include "sprt/algebra/Slices.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sprt::algebra {

/// What a row that has seen no key gives: NaN where the model fills hidden
/// scores with -inf, zero where it guards against that. (The mean over all
/// keys, which a finite fill gives, is a uniform band and so not an empty row.)
enum class EmptyRow { nan, zero };

/// The softmax state of one head: attention of some queries over the keys seen
/// so far. Reference for kernels, which hold the same numbers in the same form.
///
/// A row of the state is (o, lse):
///
///     lse = log sum_j exp(s_j)        o = sum_j exp(s_j - lse) * v_j
///
/// over the keys j it has seen, with scores s_j in natural units: o is the
/// finished result for those keys, always normalised. States over disjoint keys
/// merge into the state over their union (m = max(lseA, lseB)):
///
///     wA = exp(lseA - m)    o   = (wA * oA + wB * oB) / (wA + wB)
///     wB = exp(lseB - m)    lse = m + log(wA + wB)
///
/// which never overflows, as no weight exceeds 1 and one of them is 1. A row
/// that has seen nothing is (0, -inf) and neutral in a merge:
///
///     row              seen           lse                o
///     empty            none           -inf               0
///     one key          s_0 = 2        2                  v_0
///     two keys         2, 2           2 + log 2          (v_0 + v_1) / 2
///     far apart        1e4, -1e4      1e4                v_0
///     empty + one      s_0 = 2        2                  v_0
///     NaN + any        NaN            NaN                NaN (this row only)
///
/// A key whose score is -inf has not been seen. The order is fixed: slices as
/// given, keys ascending, so that equal calls give equal bits.
template <typename T> class State {
public:
  /// Queries and keys as they lie in memory: `size` numbers a row.
  struct Rows {
    const T *data = nullptr;
    int64_t rowStride = 0; ///< in elements
    const T *row(int64_t index) const { return data + index * rowStride; }
  };

  /// An empty state for `rows` queries and values of `size` numbers.
  State(int64_t rows, int64_t size) { init(rows, size); }
  void init(int64_t rows, int64_t size);

  int64_t rows() const { return int64_t(lses.size()); }
  int64_t size() const { return valueSize; }
  const T *o(int64_t row) const { return &os[size_t(row * valueSize)]; }
  T *o(int64_t row) { return &os[size_t(row * valueSize)]; }
  T lse(int64_t row) const { return lses[size_t(row)]; }
  T &lse(int64_t row) { return lses[size_t(row)]; }

  /// Sees the keys that the slices show. `score(a, b)` is the finished score of
  /// local query a and key b; uniform slices score 0 without asking.
  template <typename Score>
  void attend(const std::vector<Slice> &slices, const Score &score, Rows v);

  /// The same with scores scale * (q_a . k_b).
  void attend(const std::vector<Slice> &slices, Rows q, Rows k, Rows v,
              int64_t headSize, T scale);

  /// Adds what `other`, a state of the same queries over other keys, has seen.
  void merge(const State &other);

  /// Gives empty rows their result. They stay empty, should more be merged.
  void finalize(EmptyRow empty);

private:
  void mergeRow(int64_t row, const T *otherO, T otherLse);

  int64_t valueSize = 0;
  std::vector<T> os;
  std::vector<T> lses;
};

template <typename T>
template <typename Score>
void State<T>::attend(const std::vector<Slice> &slices, const Score &score,
                      Rows v) {
  struct Seen {
    int64_t key;
    T score;
  };
  std::vector<Seen> seen;
  std::vector<T> sum(static_cast<size_t>(valueSize));
  for (int64_t a = 0; a < rows(); ++a) {
    seen.clear();
    T largest = -std::numeric_limits<T>::infinity();
    for (const Slice &slice : slices) {
      Interval keys = keysOf(slice, a);
      for (int64_t b = keys.begin; b < keys.end; ++b) {
        T s = slice.uniform ? T(0) : score(a, b);
        seen.push_back({b, s});
        // A NaN stays, so that it reaches the row instead of disappearing.
        if (s > largest || std::isnan(s))
          largest = s;
      }
    }
    if (largest == -std::numeric_limits<T>::infinity())
      continue;
    T total = 0;
    std::fill(sum.begin(), sum.end(), T(0));
    for (const Seen &key : seen) {
      if (key.score == -std::numeric_limits<T>::infinity())
        continue;
      T weight = std::exp(key.score - largest);
      total += weight;
      const T *values = v.row(key.key);
      for (int64_t i = 0; i < valueSize; ++i)
        sum[size_t(i)] += weight * values[i];
    }
    for (T &value : sum)
      value /= total;
    mergeRow(a, sum.data(), largest + std::log(total));
  }
}

extern template class State<float>;
extern template class State<double>;

} // namespace sprt::algebra

#endif // SPRT_ALGEBRA_STATE_H
