/// Recognises GELU in its tanh form,
/// `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`, in any spelling.
#ifndef SP_SCHEDULE_TANHGELU_H
#define SP_SCHEDULE_TANHGELU_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace mlir::sp {

/// The number that all elements of `value` are.
std::optional<double> splatOf(Value value);

/// The operations that make `root` from `x`, users after their operands, if it
/// is that of `x`, with constants to within the rounding of bf16.
std::optional<llvm::SetVector<Operation *>> findTanhGelu(Value root, Value x);

} // namespace mlir::sp

#endif // SP_SCHEDULE_TANHGELU_H
