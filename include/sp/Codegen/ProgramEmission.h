/// From a module that has passed Memory to the parts of model.spx.
#ifndef SP_CODEGEN_PROGRAMEMISSION_H
#define SP_CODEGEN_PROGRAMEMISSION_H

#include "mlir/IR/BuiltinOps.h"
#include "sp/Codegen/ObjectEmission.h"

#include <vector>

namespace mlir::sp {

struct EmittedProgram {
  llvm::SmallVector<char> object; ///< CPU kernels
  std::vector<char> plan;         ///< FlatBuffers, see plan.fbs
  std::vector<char> constants;
  int64_t kernels = 0;
  int64_t scratchBytes = 0; ///< of one thread
};

/// Generates every kernel once, and the plan that launches them. Fails with a
/// diagnostic at the operation that is not supported.
FailureOr<EmittedProgram> emitProgram(ModuleOp module, const CPUTarget &target);

/// The scratch memory that `emitProgram` would say a thread needs. Generates no
/// machine code.
FailureOr<int64_t> scratchBytesOf(ModuleOp module, const CPUTarget &target);

} // namespace mlir::sp

#endif // SP_CODEGEN_PROGRAMEMISSION_H
