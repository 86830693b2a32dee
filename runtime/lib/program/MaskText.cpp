#include "program/MaskText.h"

namespace sprt {

static std::string bound(int64_t value) {
  return value == INT64_MIN   ? "-inf"
         : value == INT64_MAX ? "inf"
                              : std::to_string(value);
}

std::string maskText(const std::vector<plan::Band> &bands, int32_t documents) {
  std::string text;
  for (const plan::Band &band : bands)
    text += " {q " + std::to_string(band.q0()) + ".." +
            std::to_string(band.q1()) + " k " + std::to_string(band.k0()) +
            ".." + std::to_string(band.k1()) + " " + bound(band.lo()) + ".." +
            bound(band.hi()) + (band.uniform() ? " uniform}" : "}");
  return documents < 0 ? text
                       : text + " in documents " + std::to_string(documents);
}

} // namespace sprt
