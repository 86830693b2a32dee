/// From kernels in the LLVM dialect to a relocatable object for a CPU.
#ifndef SP_LIB_CODEGEN_OBJECTEMISSION_H
#define SP_LIB_CODEGEN_OBJECTEMISSION_H

#include "sp/Codegen/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace mlir::sp {

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

#endif // SP_LIB_CODEGEN_OBJECTEMISSION_H
