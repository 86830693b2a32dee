/// From a module that has passed Memory to the parts of model.spx.
#ifndef SP_CODEGEN_PROGRAMEMISSION_H
#define SP_CODEGEN_PROGRAMEMISSION_H

#include "mlir/IR/BuiltinOps.h"
#include "sp/Codegen/Target.h"

#include <string>
#include <vector>

namespace mlir::sp {

/// Code for a GPU, as the artifact holds it.
struct EmittedImage {
  std::string symbol;
  llvm::SmallVector<char, 0> bytes;
  std::string architecture;
};

/// Another program, which computes the numbers of documents before a run.
struct DocumentsProgram {
  llvm::SmallVector<char, 0> artifact; ///< empty where there is none
  std::vector<unsigned> inputs;        ///< arguments of `@main`
};

struct EmittedProgram {
  /// Of the host: kernels for the CPU, and those that emulate a GPU's.
  std::vector<llvm::SmallVector<char, 0>> objects;
  std::vector<EmittedImage> images;
  std::vector<std::string> features; ///< that the objects need of a CPU
  bool isCuda = false;
  std::vector<char> plan;       ///< FlatBuffers, see plan.fbs
  std::vector<char> signatures; ///< of kernels, see `sprt/artifact.h`
  std::vector<char> constants;
  int64_t kernels = 0;
  int64_t scratchBytes = 0; ///< of one thread
};

/// Generates every kernel once, and the plan that launches them. Fails with a
/// diagnostic at the operation that is not supported.
/// `liveBytes` says of an operation how much of the arena is in use while it
/// runs, for traces; null where nobody knows.
FailureOr<EmittedProgram>
emitProgram(ModuleOp module, const Target &target,
            const DocumentsProgram &documents = {},
            function_ref<int64_t(Operation *)> liveBytes = nullptr);

/// What bodies of `sp.documents` compute, as a model of its own: its results
/// are theirs, in the module's order. Null where there are none. `out_inputs`
/// are the arguments of `@main` that it takes.
OwningOpRef<ModuleOp> documentsModel(ModuleOp module,
                                     std::vector<unsigned> &out_inputs);

/// The text of the program's kernels for GPUs: CUDA C++, or PTX.
FailureOr<std::string> printCudaKernels(ModuleOp module, const Target &target,
                                        bool asPtx);

/// What a rank needs before its kernels run: its arena and its constants.
int64_t placedBytesOf(ModuleOp module);

/// The scratch memory that `emitProgram` would say a thread needs. Generates no
/// machine code.
FailureOr<int64_t> scratchBytesOf(ModuleOp module, const Target &target);

} // namespace mlir::sp

#endif // SP_CODEGEN_PROGRAMEMISSION_H
