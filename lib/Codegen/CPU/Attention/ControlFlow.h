/// Loops and branches around what functions emit.
#ifndef SP_LIB_CODEGEN_CONTROLFLOW_H
#define SP_LIB_CODEGEN_CONTROLFLOW_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::sp::attention {

using Body = function_ref<void(Value)>;
using CarriedBody = function_ref<SmallVector<Value>(Value, ValueRange)>;

/// `body` for from, from + step, … below `to`, all 64-bit integers.
void loop(ImplicitLocOpBuilder &b, Value from, Value to, int64_t step,
          Body body);
/// The same with values that one iteration hands to the next, and the last ones
/// of them.
SmallVector<Value> loop(ImplicitLocOpBuilder &b, Value from, Value to,
                        int64_t step, ValueRange initial, CarriedBody body);
void ifThen(ImplicitLocOpBuilder &b, Value condition,
            function_ref<void()> body);
SmallVector<Value> ifElse(ImplicitLocOpBuilder &b, Value condition,
                          TypeRange types,
                          function_ref<SmallVector<Value>()> thenBody,
                          function_ref<SmallVector<Value>()> elseBody);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_CONTROLFLOW_H
