/// Arrays of any element type, with gaps and poison.
#ifndef SP_TEST_CODEGEN_ATTENTIONARRAY_H
#define SP_TEST_CODEGEN_ATTENTIONARRAY_H

#include "AttentionHarness.h"
#include "llvm/ADT/APFloat.h"
#include <cstring>
#include <random>

namespace attention_test {

/// A batch x rows x heads x inner array with gaps between rows, poisoned with
/// NaN.
struct Array {
  Element element;
  int64_t batch, rows, heads, inner, strides[3]; // batch, row, head
  std::vector<uint8_t> bytes;

  Array(Element element, int64_t batch, int64_t rows, int64_t heads,
        int64_t inner, int64_t extraRows, bool headsOutside)
      : element(element), batch(batch), rows(rows), heads(heads), inner(inner) {
    int64_t gap = 3, all = rows + extraRows;
    strides[1] = headsOutside ? inner + gap : heads * (inner + gap);
    strides[2] = headsOutside ? all * (inner + gap) : inner + gap;
    strides[0] = all * heads * (inner + gap);
    bytes.assign((batch * strides[0] + 1) * width(), 0xff);
  }
  int64_t width() const {
    return element == Element::f64 ? 8 : element == Element::f32 ? 4 : 2;
  }
  int64_t index(int64_t b, int64_t r, int64_t h) const {
    return b * strides[0] + r * strides[1] + h * strides[2];
  }
  double get(int64_t at) const {
    const uint8_t *p = bytes.data() + at * width();
    if (element == Element::f64) {
      double value;
      std::memcpy(&value, p, 8);
      return value;
    }
    if (element == Element::f32) {
      float value;
      std::memcpy(&value, p, 4);
      return value;
    }
    uint16_t bits;
    std::memcpy(&bits, p, 2);
    llvm::APFloat value(semantics(), llvm::APInt(16, bits));
    bool lost;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  void set(int64_t at, double number) {
    uint8_t *p = bytes.data() + at * width();
    if (element == Element::f64) {
      std::memcpy(p, &number, 8);
    } else if (element == Element::f32) {
      float value = static_cast<float>(number);
      std::memcpy(p, &value, 4);
    } else {
      llvm::APFloat value(number);
      bool lost;
      value.convert(semantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
      uint16_t bits =
          static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
      std::memcpy(p, &bits, 2);
    }
  }
  const llvm::fltSemantics &semantics() const {
    return element == Element::bf16 ? llvm::APFloat::BFloat()
                                    : llvm::APFloat::IEEEhalf();
  }
  void fill(std::mt19937 &random, double magnitude) {
    std::normal_distribution<double> normal;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t i = 0; i < inner; ++i)
            set(index(b, r, h) + i, magnitude * normal(random));
  }
};

} // namespace attention_test

#endif // SP_TEST_CODEGEN_ATTENTIONARRAY_H
