/// Tensors of the checks of attention kernels, with padding that must not be
/// read.
#ifndef SP_TEST_CUDA_ROWS_H
#define SP_TEST_CUDA_ROWS_H

#include "sprt/cuda/AttentionForward.cuh"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace sprt::test {

/// Rows of [batch, row, head, size], and padding behind them that is NaN.
template <class Element> class Rows {
public:
  Rows(int batch, int rows, int heads, int size)
      : data(static_cast<size_t>(batch * (rows + kPadding) * heads * size),
             Element(NAN)),
        batch(batch), rows(rows), heads(heads), size(size) {}
  Rows(int batch, int rows, int heads, int size, std::mt19937 &random)
      : Rows(batch, rows, heads, size) {
    std::normal_distribution<float> normal;
    for (int b = 0; b < batch; ++b)
      for (int r = 0; r < rows; ++r)
        for (int h = 0; h < heads; ++h)
          for (int d = 0; d < size; ++d)
            data[at(b, r, h, d)] = Element(normal(random));
  }

  double number(int b, int r, int h, int d) const {
    return static_cast<double>(data[at(b, r, h, d)]);
  }
  bool isPaddingWhole() const {
    for (int b = 0; b < batch; ++b)
      for (int r = rows; r < rows + kPadding; ++r)
        for (int h = 0; h < heads; ++h)
          for (int d = 0; d < size; ++d)
            if (!std::isnan(number(b, r, h, d)))
              return false;
    return true;
  }
  void strides(int64_t (&to)[3]) const {
    to[0] = (rows + kPadding) * heads * size;
    to[1] = heads * size;
    to[2] = size;
  }
  cuda::TensorMap map(int boxRows) {
    int64_t elements[3];
    strides(elements);
    cuda::TensorMapFields fields = {
        data.data(),
        {size, rows, heads, batch},
        {2 * elements[1], 2 * elements[2], 2 * elements[0]},
        boxRows};
    cuda::TensorMap map = {};
    std::memcpy(&map, &fields, sizeof fields);
    return map;
  }

  std::vector<Element> data;

private:
  static constexpr int kPadding = 3;

  size_t at(int b, int r, int h, int d) const {
    return static_cast<size_t>(
        ((b * (rows + kPadding) + r) * heads + h) * size + d);
  }

  int batch, rows, heads, size;
};

} // namespace sprt::test

#endif // SP_TEST_CUDA_ROWS_H
