//===- Interpreter.h - The reference evaluator -----------------*- C++ -*-===//
#ifndef SP_INTERPRETER_INTERPRETER_H
#define SP_INTERPRETER_INTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sp/Interpreter/Tensor.h"

namespace mlir::interpreter {

/// What arithmetic on float types means.
enum class Precision {
  /// Every float type is computed and stored in f64. `bitcast_convert` and
  /// `reduce_precision` keep the program's types; a constant means the value it
  /// has in its own type; integers are as in the program.
  F64,
  /// The program's own types: each operation's result is rounded to its type.
  /// f16, bf16 and f8 are computed in f32; dot products of f32 and narrower
  /// accumulate in f32; a reduction is rounded once, at its end.
  Program
};

struct EvaluationOptions {
  Precision precision = Precision::F64;
  /// Values that together take more are a diagnostic instead of an attempt.
  int64_t memoryLimitBytes = int64_t(1) << 40;
  /// Results of floats carry errors (Tensor::getErrors): for each element about
  /// the root mean square of what rounding does to it, wherever the program's
  /// operations are reordered or fused. Takes about five times as long.
  bool errors = false;
};

/// Evaluates a function of `func`, `stablehlo`, `chlo` and `sdy` operations and
/// of attention as Import and Plan have it (`sp.attention`) on global
/// (unsharded) arguments; see RankProgram.h for what follows. Arguments have
/// exactly the function's types; so have the results. Anything that cannot be
/// evaluated is a diagnostic at its operation. Thread-safe for different
/// functions.
FailureOr<SmallVector<Tensor>>
evaluateFunction(func::FuncOp function, ArrayRef<Tensor> arguments,
                 const EvaluationOptions &options = {});

/// Whether values of these types can be held beside those there are. A failure
/// is a diagnostic at `location`, where they are `what`: "arguments".
LogicalResult checkMemory(Location location, StringRef what, TypeRange types,
                          int64_t limitBytes);

/// Evaluates one operation that uses no value from outside but its operands.
FailureOr<SmallVector<Tensor>>
evaluateOperation(Operation *op, ArrayRef<Tensor> operands,
                  const EvaluationOptions &options = {});

/// A number of `type` to `mantissaBits` and the exponent range of
/// `exponentBits`, without subnormals: a format as wide in the exponent as
/// `type` keeps type's own.
double reducePrecision(double x, FloatType type, int exponentBits,
                       int mantissaBits);

} // namespace mlir::interpreter

#endif // SP_INTERPRETER_INTERPRETER_H
