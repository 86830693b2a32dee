/// Random masks: lists of bands that share no pair.
#ifndef SPRT_TEST_ALGEBRA_MASKGEN_H
#define SPRT_TEST_ALGEBRA_MASKGEN_H

#include "sprt/algebra/Bands.h"

#include <rapidcheck.h>

namespace sprt::algebra {

inline std::string text(const Bands &mask) {
  std::string result;
  auto number = [](int64_t value) {
    return value == unboundedBelow   ? std::string("-inf")
           : value == unboundedAbove ? std::string("inf")
                                     : std::to_string(value);
  };
  for (const Band &band : mask.bands())
    result += "{" + number(band.q0) + "," + number(band.q1) + "," +
              number(band.k0) + "," + number(band.k1) + "," + number(band.lo) +
              "," + number(band.hi) + (band.uniform ? ",uniform} " : "} ");
  return result;
}

/// A band anywhere around [0, queries) x [0, keys), sticking out at times.
inline Band drawBand(int64_t queries, int64_t keys) {
  auto near = [](int64_t length) {
    int64_t margin = std::min<int64_t>(length, 3);
    return rc::gen::inRange<int64_t>(-margin, length + margin + 1);
  };
  auto offset = rc::gen::oneOf(rc::gen::inRange<int64_t>(-queries, keys + 1),
                               rc::gen::inRange<int64_t>(-4, 5));
  Band band;
  std::tie(band.q0, band.q1) =
      std::minmax(int64_t(*near(queries)), int64_t(*near(queries)));
  std::tie(band.k0, band.k1) =
      std::minmax(int64_t(*near(keys)), int64_t(*near(keys)));
  if (*rc::gen::inRange(0, 3) != 0)
    band.lo = *offset;
  if (*rc::gen::inRange(0, 3) != 0)
    band.hi = *offset;
  return band;
}

/// Up to `most` bands that share no pair, not simplified.
inline Bands drawMask(int64_t queries, int64_t keys, int most = 5) {
  std::vector<Band> bands;
  for (int draws = *rc::gen::inRange(0, most + 1); draws > 0; --draws) {
    Band band = drawBand(queries, keys);
    bool meets = false;
    for (const Band &other : bands) {
      Band both = intersect(band, other);
      meets |= tighten(both);
    }
    if (!meets)
      bands.push_back(band);
  }
  return Bands(std::move(bands));
}

} // namespace sprt::algebra

#endif // SPRT_TEST_ALGEBRA_MASKGEN_H
