// Terms of score functions in memory.
#include "AttentionHarness.h"
#include "llvm/ADT/APFloat.h"
#include <cstring>

using namespace attention_test;

std::vector<uint8_t> attention_test::encode(const TermArray &term) {
  const int64_t widths[] = {8, 4, 2, 2, 4, 1};
  int64_t width = widths[static_cast<int>(term.element)];
  std::vector<uint8_t> bytes(term.values.size() * width);
  for (size_t i = 0; i < term.values.size(); ++i) {
    double number = term.values[i];
    uint8_t *to = bytes.data() + i * width;
    if (term.element == TermElement::f64) {
      std::memcpy(to, &number, 8);
    } else if (term.element == TermElement::f32) {
      float value = static_cast<float>(number);
      std::memcpy(to, &value, 4);
    } else if (term.element == TermElement::i32) {
      int32_t value = static_cast<int32_t>(number);
      std::memcpy(to, &value, 4);
    } else if (term.element == TermElement::i1) {
      *to = number != 0;
    } else {
      llvm::APFloat value(number);
      bool lost;
      value.convert(term.element == TermElement::bf16
                        ? llvm::APFloat::BFloat()
                        : llvm::APFloat::IEEEhalf(),
                    llvm::APFloat::rmNearestTiesToEven, &lost);
      uint16_t bits =
          static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
      std::memcpy(to, &bits, 2);
    }
  }
  return bytes;
}

std::vector<double> attention_test::decode(TermElement element,
                                           const std::vector<uint8_t> &bytes) {
  auto read = [&](auto value) {
    std::vector<double> numbers;
    for (size_t at = 0; at < bytes.size(); at += sizeof value) {
      std::memcpy(&value, bytes.data() + at, sizeof value);
      numbers.push_back(value);
    }
    return numbers;
  };
  return element == TermElement::f64 ? read(double()) : read(float());
}

void LaunchTerms::append(const Scoring &scoring, int64_t perQuery,
                         int64_t perKey, int64_t keyFirst,
                         std::vector<void *> &buffers,
                         std::vector<int64_t> &sizes) {
  for (const TermArray &term : scoring.terms) {
    int64_t number = static_cast<int64_t>(values.size());
    values.push_back(encode(term));
    int64_t width = values.back().size() / term.values.size();
    bool isOfKeys = number >= perQuery && number < perQuery + perKey;
    buffers.push_back(values.back().data() +
                      (isOfKeys ? keyFirst * term.strides[3] * width : 0));
    sizes.insert(sizes.end(), term.strides, term.strides + 4);
  }
}
