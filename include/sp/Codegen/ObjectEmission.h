/// From kernels in the LLVM dialect to a relocatable object for a CPU.
#ifndef SP_CODEGEN_OBJECTEMISSION_H
#define SP_CODEGEN_OBJECTEMISSION_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace mlir::sp {

/// What `--cpu` names: the machine that kernels are compiled for.
struct CPUTarget {
  std::string tune; ///< processor whose scheduling model is used
  std::vector<std::string> features; ///< LLVM names: avx2, fma, avx512f, ...
  unsigned vectorBits = 256;         ///< preferred vector width
  bool bf16Dots = false;             ///< attention multiplies bf16 in pairs
};

/// Resolves `native`, `x86-64-v3` or `x86-64-v4`; fails, with a text in
/// `error`, for any other name. `features` is complete: the code uses nothing
/// else, so a machine that has them can run it.
FailureOr<CPUTarget> resolveCPUTarget(StringRef name, std::string &error);

/// How attention multiplies bf16, by the name that `--bf16` takes: `dots`,
/// which need AVX512-BF16; `conversions` to f32, on any machine; `fastest`
/// leaves what resolveCPUTarget found. Fails with a text in `error`.
LogicalResult chooseBF16Products(StringRef name, CPUTarget &target,
                                 std::string &error);

/// Compiles `kernels` (LLVM dialect only) into an ELF object in `object`. Every
/// public function keeps its name as its symbol.
LogicalResult emitObject(ModuleOp kernels, const CPUTarget &target,
                         llvm::SmallVectorImpl<char> &object);

/// Defines `symbol` as `bytes` with the given alignment.
struct DataSymbol {
  StringRef name;
  llvm::ArrayRef<char> bytes;
  unsigned alignment;
};

/// Writes data symbols as an ELF object, without any text form in between.
LogicalResult emitDataObject(llvm::ArrayRef<DataSymbol> symbols,
                             llvm::SmallVectorImpl<char> &object,
                             std::string &error);

} // namespace mlir::sp

#endif // SP_CODEGEN_OBJECTEMISSION_H
