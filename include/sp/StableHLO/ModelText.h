#ifndef SP_STABLEHLO_MODELTEXT_H
#define SP_STABLEHLO_MODELTEXT_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mlir::sp {

/// Opens a model for parsing ("-": stdin), or returns null and says why.
std::unique_ptr<llvm::MemoryBuffer> openModel(StringRef path,
                                              std::string *error);

/// The same for a text that is there already. Bytecode is refused, and text
/// whose brackets lie deeper in each other than the parser's recursion reaches.
///
/// MLIR newer than 22, JAX's among them, prints many booleans as hex with a
/// byte an element; MLIR 22 reads a bit an element, the lowest first. Such
/// bytes are packed here and made up for with spaces, so that locations stay:
///
///     dense<"0x0100000100000000"> : tensor<8xi1>
///     dense<"0x09"              > : tensor<8xi1>
///
/// Rules by which custom calls are sharded are blanked, for none is read: what
/// is wrong with such a model is the call.
std::unique_ptr<llvm::MemoryBuffer>
readModel(std::unique_ptr<llvm::MemoryBuffer> text, std::string *error);

} // namespace mlir::sp

#endif // SP_STABLEHLO_MODELTEXT_H
