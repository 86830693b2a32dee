#include "Units.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <regex>

namespace sprt::tools {
namespace {

/// "3.50 MiB", "1.20 GFLOP".
template <size_t Count>
std::string inUnit(double value, double step,
                   const std::array<const char *, Count> &units) {
  size_t unit = 0;
  for (; value >= step && unit + 1 < Count; ++unit)
    value /= step;
  int digits = unit == 0 ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
  std::array<char, 400> text{}; // the digits of any double
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value,
                units[unit]);
  return text.data();
}

} // namespace

std::string bytesText(double bytes) {
  return inUnit<6>(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string flopsText(double flops) {
  return inUnit<7>(
      flops, 1000,
      {"FLOPs", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"});
}

std::string inUnits(const std::string &text) {
  static const std::regex kCount(
      "(^|[^0-9A-Za-z_.-])([0-9]{1,18})(?: to ([0-9]{1,18}))? (bytes|FLOPs)");
  std::string made;
  auto rest = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), kCount), end;
       found != end; ++found) {
    const std::smatch &match = *found;
    auto unitsOf = [&](const std::string &digits) {
      double number = std::stod(digits);
      return match[4] == "bytes" ? bytesText(number) : flopsText(number);
    };
    made.append(rest, match[0].first);
    made += match[1].str() + unitsOf(match[2]);
    if (match[3].matched)
      made += " to " + unitsOf(match[3]);
    rest = match[0].second;
  }
  return made.append(rest, text.end());
}

} // namespace sprt::tools
