/// Element types and shapes.
#ifndef SPRT_LIB_SUPPORT_TYPES_H
#define SPRT_LIB_SUPPORT_TYPES_H

#include "sprt/types.h"

#include <optional>
#include <string>
#include <vector>

namespace sprt {

/// "2x3" or "scalar".
std::string shapeText(const std::vector<int64_t> &shape);
std::string shapeText(const sprt_array &array);

/// The product of `shape`, unless a size is negative or the product overflows.
std::optional<int64_t> elementCount(const std::vector<int64_t> &shape);

/// One element as a double (complex: its real part; integers may round).
double toDouble(sprt_dtype dtype, const void *element);

float bf16ToFloat(uint16_t bits);
float f16ToFloat(uint16_t bits);
uint16_t floatToBf16(float value);
uint16_t floatToF16(float value);

} // namespace sprt

#endif // SPRT_LIB_SUPPORT_TYPES_H
