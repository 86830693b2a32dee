/// Numbers as people read them.
#ifndef SPRT_TOOLS_COMMON_UNITS_H
#define SPRT_TOOLS_COMMON_UNITS_H

#include <string>

namespace sprt::tools {

/// "3.50 MiB": three digits of the largest unit of which there is one.
std::string bytesText(double bytes);
/// "1.20 GFLOP".
std::string flopsText(double flops);

/// The text with "3.50 MiB" for "3670016 bytes" and "1.20 GFLOP" for
/// "1200000000 FLOPs", and with both numbers of "3670016 to 4194304 bytes" so.
std::string inUnits(const std::string &text);

} // namespace sprt::tools

#endif // SPRT_TOOLS_COMMON_UNITS_H
