//===- ElementFunctions.h - Element-wise operations in f64 ------*- C++ -*-===//
#ifndef SP_STABLEHLO_ELEMENTFUNCTIONS_H
#define SP_STABLEHLO_ELEMENTFUNCTIONS_H

#include "mlir/IR/Operation.h"

#include <functional>
#include <vector>

namespace mlir::sp {

/// What an element of a result is of those of operands. Integers and truths are
/// numbers, too.
using ElementFunction = std::function<double(ArrayRef<double>)>;

/// Null where an operation has none, and of `reduce_precision`, which is about
/// bits.
ElementFunction elementFunction(Operation *op);

/// Brings numbers to what the element type can hold.
void roundTo(Type type, std::vector<double> &data);

} // namespace mlir::sp

#endif // SP_STABLEHLO_ELEMENTFUNCTIONS_H
