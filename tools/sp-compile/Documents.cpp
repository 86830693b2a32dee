//===- Documents.cpp - A program of its own for numbers of documents ------===//

#include "Documents.h"

#include "sp/Codegen/ArtifactLink.h"
#include "sp/Import/Passes.h"

using namespace mlir;
using namespace mlir::sp;

FailureOr<DocumentsProgram> mlir::sp::compileDocuments(ModuleOp imported,
                                                       const Target &target,
                                                       RemarkLog &log) {
  DocumentsProgram documents;
  OwningOpRef<ModuleOp> model = documentsModel(imported, documents.inputs);
  if (!model)
    return documents;
  CompileOptions alone;
  alone.mesh = "sp=1";
  alone.strategy = "none";
  size_t known = log.lines().size();
  auto run = [&](function_ref<void(OpPassManager &)> build) {
    PassManager manager(imported.getContext());
    build(manager);
    return manager.run(*model);
  };
  if (failed(run(buildImportPipeline)))
    return failure();
  // Stages read what is chosen as they are built.
  MemoryChoices choices;
  for (const Stage &stage : stagesOf(alone, choices))
    if (failed(run(stage.build)))
      return failure();
  log.truncate(known);
  FailureOr<EmittedProgram> program =
      emitProgram(*model, Target{target.cpu, std::nullopt});
  std::string error;
  if (failed(program))
    return failure();
  if (failed(linkProgram(*program, /*isEmulated=*/false, documents.artifact,
                         error)))
    return imported.emitError() << error;
  return documents;
}
