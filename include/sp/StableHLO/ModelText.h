#ifndef SP_STABLEHLO_MODELTEXT_H
#define SP_STABLEHLO_MODELTEXT_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mlir::sp {

/// Opens a model for parsing ("-": stdin), or returns null and says why.
///
/// MLIR newer than 22, JAX's among them, prints many booleans as hex with a
/// byte an element; MLIR 22 reads a bit an element, the lowest first. Such
/// bytes are packed here and made up for with spaces, so that locations stay:
///
///     dense<"0x0100000100000000"> : tensor<8xi1>
///     dense<"0x09"              > : tensor<8xi1>
std::unique_ptr<llvm::MemoryBuffer> openModel(StringRef path,
                                              std::string *error);

/// The packing by itself; nothing where there is nothing to pack.
std::optional<std::string> packBooleans(StringRef text);

} // namespace mlir::sp

#endif // SP_STABLEHLO_MODELTEXT_H
