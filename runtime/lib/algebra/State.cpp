#include "sprt/algebra/State.h"

#include <cassert>

namespace sprt::algebra {

template <typename T> void State<T>::init(int64_t rows, int64_t size) {
  valueSize = size;
  os.assign(size_t(rows * size), T(0));
  lses.assign(size_t(rows), -std::numeric_limits<T>::infinity());
}

template <typename T>
void State<T>::attend(const std::vector<Slice> &slices, Rows q, Rows k, Rows v,
                      int64_t headSize, T scale) {
  auto score = [&](int64_t a, int64_t b) {
    const T *query = q.row(a), *key = k.row(b);
    T dot = 0;
    for (int64_t i = 0; i < headSize; ++i)
      dot += query[i] * key[i];
    return scale * dot;
  };
  attend(slices, score, v);
}

template <typename T>
void State<T>::mergeRow(int64_t row, const T *otherO, T otherLse) {
  const T none = -std::numeric_limits<T>::infinity();
  if (otherLse == none)
    return;
  T *mine = o(row);
  if (lse(row) == none) {
    std::copy(otherO, otherO + valueSize, mine);
    lse(row) = otherLse;
    return;
  }
  // A NaN on either side makes every number below NaN, whichever max is taken.
  T largest = std::max(lse(row), otherLse);
  T weight = std::exp(lse(row) - largest);
  T otherWeight = std::exp(otherLse - largest);
  T total = weight + otherWeight;
  for (int64_t i = 0; i < valueSize; ++i)
    mine[i] = (weight * mine[i] + otherWeight * otherO[i]) / total;
  lse(row) = largest + std::log(total);
}

template <typename T> void State<T>::merge(const State &other) {
  assert(other.rows() == rows() && other.size() == size());
  for (int64_t row = 0; row < rows(); ++row)
    mergeRow(row, other.o(row), other.lse(row));
}

template <typename T> void State<T>::finalize(EmptyRow empty) {
  if (empty == EmptyRow::zero)
    return;
  const T none = -std::numeric_limits<T>::infinity();
  for (int64_t row = 0; row < rows(); ++row)
    if (lse(row) == none)
      std::fill(o(row), o(row) + valueSize,
                std::numeric_limits<T>::quiet_NaN());
}

template class State<float>;
template class State<double>;

} // namespace sprt::algebra
