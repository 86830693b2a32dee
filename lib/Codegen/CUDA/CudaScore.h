/// Score functions as C++ for GPUs.
#ifndef SP_LIB_CODEGEN_CUDASCORE_H
#define SP_LIB_CODEGEN_CUDASCORE_H

#include "sp/IR/SP.h"

#include <string>

namespace mlir::sp {

/// The type `Score` that a kernel is instantiated with for the score
/// function of `op`: an operation a line, in the words of
/// `sprt/cuda/ScoreMath.cuh`. Fails with a diagnostic at an operation that has
/// no such word.
FailureOr<std::string> cudaScore(AttendOp op);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_CUDASCORE_H
