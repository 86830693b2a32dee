/// The last steps to machine code, the same for every machine.
#ifndef SP_CODEGEN_MACHINECODE_H
#define SP_CODEGEN_MACHINECODE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::sp {

/// LLVM's O3, for this machine.
void optimise(llvm::Module &module, llvm::TargetMachine &machine);

/// Appends an object or its text to `out_code`; false where the machine has
/// none.
bool writeCode(llvm::Module &module, llvm::TargetMachine &machine,
               llvm::CodeGenFileType type,
               llvm::SmallVectorImpl<char> &out_code);

} // namespace mlir::sp

#endif // SP_CODEGEN_MACHINECODE_H
