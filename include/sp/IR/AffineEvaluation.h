/// Affine expressions of numbers.
#ifndef SP_IR_AFFINEEVALUATION_H
#define SP_IR_AFFINEEVALUATION_H

#include "mlir/IR/AffineMap.h"

#include <optional>

namespace mlir::sp {

/// The only result of `map` at these dimensions, then symbols; nothing where it
/// divides by 0 or less, or leaves the range of its type. Unlike
/// `AffineMap::constantFold` it makes no expression, of which a context keeps
/// each one that was ever made.
std::optional<int64_t> evaluate(AffineMap map, ArrayRef<int64_t> operands);

} // namespace mlir::sp

#endif // SP_IR_AFFINEEVALUATION_H
