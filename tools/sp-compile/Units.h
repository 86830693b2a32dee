/// Numbers as people read them.
#ifndef SP_TOOLS_SPCOMPILE_UNITS_H
#define SP_TOOLS_SPCOMPILE_UNITS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::sp {

/// "3.50 MiB": three digits of the largest unit of which there is one.
std::string bytesText(double bytes);
/// "1.20 GFLOP".
std::string flopsText(double flops);

/// The text with "3.50 MiB" for "3670016 bytes" and "1.20 GFLOP" for
/// "1200000000 FLOPs", and with both numbers of "3670016 to 4194304 bytes" so.
std::string inUnits(llvm::StringRef text);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_UNITS_H
