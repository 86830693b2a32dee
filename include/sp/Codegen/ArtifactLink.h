/// Links a compiled program into model.spx.
#ifndef SP_CODEGEN_ARTIFACTLINK_H
#define SP_CODEGEN_ARTIFACTLINK_H

#include "sp/Codegen/ProgramEmission.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mlir::sp {

/// The contents of an artifact. All memory is the caller's.
struct ArtifactParts {
  /// From emitObject, and of the host's C++ compiler.
  std::vector<llvm::ArrayRef<char>> objects;
  /// Code for GPUs, by symbol.
  std::vector<std::pair<std::string, llvm::ArrayRef<char>>> images;
  llvm::ArrayRef<char> plan;       ///< FlatBuffers bytes
  llvm::ArrayRef<char> signatures; ///< likewise, size first
  llvm::ArrayRef<char> constants;  ///< may be empty
  bool isEmulated = false;         ///< objects need the C++ library
};

/// Makes the ELF shared object described in `sprt/artifact.h`, with ld.lld from
/// LLVM's tools or the PATH. The same parts give the same bytes. On failure
/// nothing is left behind and `error` says why.
LogicalResult linkArtifact(const ArtifactParts &parts,
                           llvm::SmallVectorImpl<char> &artifact,
                           std::string &error);

/// The same of a program.
LogicalResult linkProgram(const EmittedProgram &program, bool isEmulated,
                          llvm::SmallVectorImpl<char> &artifact,
                          std::string &error);

} // namespace mlir::sp

#endif // SP_CODEGEN_ARTIFACTLINK_H
