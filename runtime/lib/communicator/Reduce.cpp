#include "communicator/Collectives.h"
#include "support/Types.h"

#include <cmath>
#include <complex>
#include <type_traits>

namespace sprt {

namespace {

template <typename T> bool isNan(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  return false;
}

template <typename T> T combine(plan::Reduction kind, T a, T b) {
  // Narrow integers would be promoted to int, whose products overflow.
  using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  switch (kind) {
  case plan::Reduction::sum:
    return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  case plan::Reduction::mul:
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  // A NaN wins, as it does in StableHLO's minimum and maximum.
  case plan::Reduction::max:
    return isNan(a) || a > b ? a : b;
  case plan::Reduction::min:
    return isNan(a) || a < b ? a : b;
  default:
    return a;
  }
}

template <typename T>
void reduceNumbers(plan::Reduction kind, int64_t count, void *target,
                   const void *operand) {
  T *to = static_cast<T *>(target);
  const T *from = static_cast<const T *>(operand);
  for (int64_t i = 0; i < count; ++i)
    to[i] = combine(kind, to[i], from[i]);
}

template <float (*Widen)(uint16_t), uint16_t (*Narrow)(float)>
void reduceHalf(plan::Reduction kind, int64_t count, void *target,
                const void *operand) {
  uint16_t *to = static_cast<uint16_t *>(target);
  const uint16_t *from = static_cast<const uint16_t *>(operand);
  for (int64_t i = 0; i < count; ++i)
    to[i] = Narrow(combine(kind, Widen(to[i]), Widen(from[i])));
}

template <typename T>
void reduceComplex(int64_t count, void *target, const void *operand) {
  auto *to = static_cast<std::complex<T> *>(target);
  const auto *from = static_cast<const std::complex<T> *>(operand);
  for (int64_t i = 0; i < count; ++i)
    to[i] += from[i];
}

void reduceLogical(plan::Reduction kind, int64_t count, void *target,
                   const void *operand) {
  uint8_t *to = static_cast<uint8_t *>(target);
  const uint8_t *from = static_cast<const uint8_t *>(operand);
  for (int64_t i = 0; i < count; ++i)
    to[i] = kind == plan::Reduction::land ? to[i] & from[i] : to[i] | from[i];
}

} // namespace

void reduceInto(plan::DType type, plan::Reduction kind, int64_t count,
                void *target, const void *operand) {
  switch (type) {
  case plan::DType::f64:
    return reduceNumbers<double>(kind, count, target, operand);
  case plan::DType::f32:
    return reduceNumbers<float>(kind, count, target, operand);
  case plan::DType::f16:
    return reduceHalf<f16ToFloat, floatToF16>(kind, count, target, operand);
  case plan::DType::bf16:
    return reduceHalf<bf16ToFloat, floatToBf16>(kind, count, target, operand);
  case plan::DType::i64:
    return reduceNumbers<int64_t>(kind, count, target, operand);
  case plan::DType::i32:
    return reduceNumbers<int32_t>(kind, count, target, operand);
  case plan::DType::i16:
    return reduceNumbers<int16_t>(kind, count, target, operand);
  case plan::DType::i8:
    return reduceNumbers<int8_t>(kind, count, target, operand);
  case plan::DType::u64:
    return reduceNumbers<uint64_t>(kind, count, target, operand);
  case plan::DType::u32:
    return reduceNumbers<uint32_t>(kind, count, target, operand);
  case plan::DType::u16:
    return reduceNumbers<uint16_t>(kind, count, target, operand);
  case plan::DType::u8:
    return reduceNumbers<uint8_t>(kind, count, target, operand);
  case plan::DType::i1:
    return reduceLogical(kind, count, target, operand);
  case plan::DType::c64:
    return reduceComplex<float>(count, target, operand);
  case plan::DType::c128:
    return reduceComplex<double>(count, target, operand);
  }
}

} // namespace sprt
