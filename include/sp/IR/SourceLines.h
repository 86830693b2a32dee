/// Where in a user's program an operation was written.
#ifndef SP_IR_SOURCELINES_H
#define SP_IR_SOURCELINES_H

#include "mlir/IR/Location.h"

#include <string>

namespace mlir::sp {

/// The innermost line that is not of an installed package (site-packages,
/// dist-packages, or this one), else the innermost one of all; null where there
/// is none.
FileLineColLoc sourceLineOf(Location location);

/// "file:line" of that, or "".
std::string describeSourceLine(Location location);

} // namespace mlir::sp

#endif // SP_IR_SOURCELINES_H
