//===- Arrays.h - Files of arrays as tensors and back ----------*- C++ -*-===//
#ifndef SP_TOOLS_SP_INTERPRET_ARRAYS_H
#define SP_TOOLS_SP_INTERPRET_ARRAYS_H

#include "sp/Interpreter/Interpreter.h"
#include <string>

namespace mlir::interpreter {

/// What a function takes: types in order, and the names their locations give
/// (empty where there is none).
struct Parameters {
  SmallVector<RankedTensorType> types;
  std::vector<std::string> names;
};

/// The parameters, global ones of a rank's program, or a diagnostic at the
/// function for a type that arrays cannot have.
FailureOr<Parameters> parametersOf(func::FuncOp function);

/// Reads `arg0`, `arg1`, ... (or the parameters' names) from an .npz or
/// .safetensors file. With Precision::F64, floats may also be given in f64.
/// The reason of a failure goes to `error`.
FailureOr<SmallVector<Tensor>> readInputs(const std::string &path,
                                          const Parameters &parameters,
                                          Precision precision,
                                          std::string &error);

/// The same arrays that sp-run draws for that seed.
FailureOr<SmallVector<Tensor>> drawInputs(const Parameters &parameters,
                                          uint64_t seed, int64_t low,
                                          int64_t high, std::string &error);

/// Writes tensors as `<stem>0`, `<stem>1`, ...
LogicalResult writeArrays(const std::string &path, const std::string &stem,
                          ArrayRef<Tensor> tensors, std::string &error);

} // namespace mlir::interpreter

#endif // SP_TOOLS_SP_INTERPRET_ARRAYS_H
