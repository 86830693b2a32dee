#include "support/Types.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace sprt {

namespace {
struct TypeInfo {
  const char *name;
  size_t size;
};
constexpr TypeInfo kTypes[] = {
    {"f64", 8}, {"f32", 4}, {"f16", 2},   {"bf16", 2}, {"i64", 8}, {"i32", 4},
    {"i16", 2}, {"i8", 1},  {"u64", 8},   {"u32", 4},  {"u16", 2}, {"u8", 1},
    {"i1", 1},  {"c64", 8}, {"c128", 16}, {"V2", 2},   {"V1", 1}};

bool isKnown(sprt_dtype dtype) {
  return static_cast<unsigned>(dtype) < sizeof kTypes / sizeof *kTypes;
}

template <typename T> T load(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
} // namespace

std::string shapeText(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string shapeText(const sprt_array &array) {
  return shapeText(
      std::vector<int64_t>(array.shape, array.shape + array.dimensions));
}

std::optional<int64_t> elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    empty |= size == 0;
    if (size != 0 && __builtin_mul_overflow(count, size, &count))
      return std::nullopt;
  }
  return empty ? 0 : count;
}

float bf16ToFloat(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  return load<float>(&wide);
}

float f16ToFloat(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  int mantissa = bits & 1023;
  float magnitude = 0;
  if (exponent == 31)
    magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN()
                         : std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  else
    magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

uint16_t floatToBf16(float value) {
  uint32_t bits = load<uint32_t>(&value);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

uint16_t floatToF16(float value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  float magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7E00;
  if (magnitude >= 65520.0F)
    return sign | 0x7C00;
  // Below 2^-14 the spacing is 2^-24; above, 2^-10 of the leading power of two.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  int scale = magnitude < std::ldexp(1.0F, -14) ? 24 : 11 - exponent;
  int rounded = static_cast<int>(std::nearbyint(std::ldexp(magnitude, scale)));
  if (scale == 24)
    return static_cast<uint16_t>(sign | rounded);
  // A mantissa that rounds up to 2048 carries into the exponent by itself.
  return static_cast<uint16_t>(sign |
                               (((exponent + 14) << 10) + (rounded - 1024)));
}

double toDouble(sprt_dtype dtype, const void *element) {
  switch (dtype) {
  case SPRT_F64:
  case SPRT_C128:
    return load<double>(element);
  case SPRT_F32:
  case SPRT_C64:
    return load<float>(element);
  case SPRT_F16:
    return f16ToFloat(load<uint16_t>(element));
  case SPRT_BF16:
  case SPRT_V2:
    return bf16ToFloat(load<uint16_t>(element));
  case SPRT_I64:
    return static_cast<double>(load<int64_t>(element));
  case SPRT_I32:
    return load<int32_t>(element);
  case SPRT_I16:
    return load<int16_t>(element);
  case SPRT_I8:
    return load<int8_t>(element);
  case SPRT_U64:
    return static_cast<double>(load<uint64_t>(element));
  case SPRT_U32:
    return load<uint32_t>(element);
  case SPRT_U16:
    return load<uint16_t>(element);
  case SPRT_U8:
  case SPRT_I1:
  case SPRT_V1:
    return load<uint8_t>(element);
  }
  return 0;
}

} // namespace sprt

size_t sprt_dtype_size(sprt_dtype dtype) {
  return sprt::isKnown(dtype) ? sprt::kTypes[dtype].size : 0;
}

const char *sprt_dtype_name(sprt_dtype dtype) {
  return sprt::isKnown(dtype) ? sprt::kTypes[dtype].name : "unknown";
}

int sprt_dtype_accepts(sprt_dtype expected, sprt_dtype given) {
  if (expected == given)
    return 1;
  switch (expected) {
  case SPRT_BF16:
    return given == SPRT_V2 || given == SPRT_U16;
  case SPRT_I1:
    return given == SPRT_U8;
  case SPRT_I8:
  case SPRT_U8:
    return given == SPRT_V1;
  default:
    return 0;
  }
}

double sprt_array_element(sprt_dtype dtype, const void *data, int64_t index) {
  return sprt::toDouble(
      dtype, static_cast<const char *>(data) +
                 index * static_cast<int64_t>(sprt_dtype_size(dtype)));
}
