/// The program that numbers documents before a run.
#ifndef SP_TOOLS_SPCOMPILE_DOCUMENTS_H
#define SP_TOOLS_SPCOMPILE_DOCUMENTS_H

#include "Stages.h"

namespace mlir::sp {

/// An artifact of what bodies of `sp.documents` compute, for one rank on the
/// host; empty where there are none. `imported` has passed Import and stays as
/// it is.
FailureOr<DocumentsProgram>
compileDocuments(ModuleOp imported, const Target &target, RemarkLog &log);

/// Whether every attention is within documents that the argument tells apart,
/// by itself or by what is computed of it; `wanted` is as --documents has it.
LogicalResult checkDocuments(ModuleOp imported, StringRef wanted);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_DOCUMENTS_H
