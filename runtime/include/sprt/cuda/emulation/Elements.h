/// 16-bit numbers of the CPU that emulates.
#ifndef SPRT_CUDA_EMULATION_ELEMENTS_H
#define SPRT_CUDA_EMULATION_ELEMENTS_H

#include <cstdint>
#include <cstring>

namespace sprt::cuda::emulation {

struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  /// Rounds to the nearest, ties to even.
  explicit BFloat16(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, sizeof wide);
    bool isNan = (wide & 0x7fffffff) > 0x7f800000;
    uint32_t rounded = wide + 0x7fff + (wide >> 16 & 1);
    bits = static_cast<uint16_t>(isNan ? 0x7fff : rounded >> 16);
  }
  explicit operator float() const {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  explicit operator double() const { return static_cast<float>(*this); }
};

using Half = _Float16;

template <class Element> float fromBits(uint16_t bits) {
  Element element;
  static_assert(sizeof element == 2, "elements have 16 bits");
  std::memcpy(static_cast<void *>(&element), &bits, 2);
  return static_cast<float>(element);
}
template <class Element> uint16_t toBits(float value) {
  Element element(static_cast<Element>(value));
  uint16_t bits;
  std::memcpy(&bits, &element, 2);
  return bits;
}

} // namespace sprt::cuda::emulation

#endif // SPRT_CUDA_EMULATION_ELEMENTS_H
