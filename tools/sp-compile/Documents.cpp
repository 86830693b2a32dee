//===- Documents.cpp - A program of its own for numbers of documents ------===//

#include "Documents.h"

#include "sp/Codegen/ArtifactLink.h"
#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

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
  size_t known = log.size();
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

LogicalResult mlir::sp::checkDocuments(ModuleOp imported, StringRef wanted) {
  auto main = imported.lookupSymbol<func::FuncOp>("main");
  StringRef name = wanted;
  int64_t number = 0;
  int64_t arguments = main ? main.getNumArguments() : 0;
  if (!name.consume_front("arg") || name.getAsInteger(10, number) ||
      number < 0 || number >= arguments)
    return imported.emitError()
           << "expected --documents to name one of the " << arguments
           << " arguments, such as arg1, but got \"" << wanted << "\"";
  auto areBy = [&](FlatSymbolRefAttr numbers) {
    auto documents = imported.lookupSymbol<DocumentsOp>(numbers.getAttr());
    return llvm::is_contained(documents.getArguments(), number);
  };
  auto check = [&](auto op) -> WalkResult {
    DocumentsAttr documents = op.getDocumentsAttr();
    if (documents && areBy(documents.getQueries()) &&
        areBy(documents.getKeys()))
      return WalkResult::advance();
    InFlightDiagnostic error =
        op->emitError() << "expected every attention to be within documents "
                           "that "
                        << wanted << " tells apart but this one is within ";
    if (documents)
      error << "those of other arguments";
    else
      error << "none that its mask could be shown to keep apart; --explain "
               "says what its mask is";
    return error;
  };
  bool isRefused =
      imported.walk([&](AttentionOp op) { return check(op); })
          .wasInterrupted() ||
      imported.walk([&](AttentionBackwardOp op) { return check(op); })
          .wasInterrupted();
  return failure(isRefused);
}
