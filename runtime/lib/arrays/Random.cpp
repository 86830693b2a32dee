// Reproducible inputs: the same bits on every machine but for the last digit of
// the logarithm and cosine.

#include "support/Status.h"
#include "support/Types.h"

#include <cmath>
#include <cstring>

namespace sprt {

namespace {

/// SplitMix64: the i-th number of a stream is a hash of the stream and i.
uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

class Stream {
public:
  Stream(uint64_t seed, uint64_t index)
      : state(mix(mix(seed + kStep) + index * kStep)) {}

  uint64_t bits() { return mix(state += kStep); }
  /// Uniform in (0, 1].
  double uniform() { return static_cast<double>((bits() >> 11) + 1) * 0x1p-53; }
  double normal() {
    double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }
  int64_t integer(int64_t low, int64_t high) {
    uint64_t span =
        static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    uint64_t offset = span == 0 ? bits() : bits() % span;
    return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
  }

private:
  static constexpr uint64_t kStep = 0x9E3779B97F4A7C15;
  uint64_t state;
};

template <typename T, typename Next>
void fill(void *data, int64_t count, const Next &next) {
  T *to = static_cast<T *>(data);
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<T>(next());
}

Status fillRandom(const sprt_array &array, Stream stream, int64_t low,
                  int64_t high) {
  std::vector<int64_t> shape(array.shape, array.shape + array.dimensions);
  std::optional<int64_t> count = elementCount(shape);
  if (!count)
    return fail(SPRT_INVALID_ARGUMENT)
           << "the size of " << shapeText(shape) << " overflows";
  double fanIn =
      shape.size() >= 2 ? static_cast<double>(shape[shape.size() - 2]) : 1;
  double scale = 1 / std::sqrt(std::max(fanIn, 1.0));
  auto normal = [&] { return scale * stream.normal(); };
  auto integer = [&] { return stream.integer(low, high); };
  switch (array.dtype) {
  case SPRT_F64:
    fill<double>(array.data, *count, normal);
    return Status::success();
  case SPRT_F32:
    fill<float>(array.data, *count, normal);
    return Status::success();
  case SPRT_C64:
    fill<float>(array.data, 2 * *count, normal);
    return Status::success();
  case SPRT_C128:
    fill<double>(array.data, 2 * *count, normal);
    return Status::success();
  case SPRT_F16:
    fill<uint16_t>(array.data, *count,
                   [&] { return floatToF16(static_cast<float>(normal())); });
    return Status::success();
  case SPRT_BF16:
    fill<uint16_t>(array.data, *count,
                   [&] { return floatToBf16(static_cast<float>(normal())); });
    return Status::success();
  case SPRT_I1:
    fill<uint8_t>(array.data, *count, [&] { return stream.bits() & 1; });
    return Status::success();
  case SPRT_I64:
  case SPRT_U64:
    fill<int64_t>(array.data, *count, integer);
    return Status::success();
  case SPRT_I32:
  case SPRT_U32:
    fill<int32_t>(array.data, *count, integer);
    return Status::success();
  case SPRT_I16:
  case SPRT_U16:
    fill<int16_t>(array.data, *count, integer);
    return Status::success();
  case SPRT_I8:
  case SPRT_U8:
    fill<int8_t>(array.data, *count, integer);
    return Status::success();
  default:
    return fail(SPRT_UNSUPPORTED)
           << "no random values of type " << sprt_dtype_name(array.dtype);
  }
}

} // namespace

} // namespace sprt

sprt_status *sprt_array_fill_random(const sprt_array *array, uint64_t seed,
                                    uint64_t index, int64_t low, int64_t high) {
  using namespace sprt;
  if (!array || (!array->data && array->dimensions == 0))
    return Status(SPRT_INVALID_ARGUMENT, "expected an array with data")
        .release();
  if (low > high)
    return Status(fail(SPRT_INVALID_ARGUMENT)
                  << "expected a range of integers but got " << low << " to "
                  << high)
        .release();
  return fillRandom(*array, Stream(seed, index), low, high).release();
}
