//===- ModelDiagnostics.cpp - Diagnostics with lines of the model ---------===//
#include "sp/StableHLO/ModelDiagnostics.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::sp;

ModelDiagnostics::ModelDiagnostics(llvm::SourceMgr &sources,
                                   MLIRContext *context)
    : SourceMgrDiagnosticHandler(sources, context) {
  setHandler([this](Diagnostic &diagnostic) {
    if (hasLine(diagnostic.getLocation()))
      return emitDiagnostic(diagnostic);
    emitDiagnostic(diagnostic.getLocation(), diagnostic.str(),
                   diagnostic.getSeverity(), /*displaySourceLine=*/false);
    for (Diagnostic &note : diagnostic.getNotes())
      emitDiagnostic(note.getLocation(), note.str(), note.getSeverity(),
                     hasLine(note.getLocation()));
  });
}

/// False for a line of the model that defines a location, says nothing, or is a
/// comment.
bool ModelDiagnostics::hasLine(Location location) const {
  auto place = location->findInstanceOf<FileLineColLoc>();
  unsigned model = mgr.getMainFileID();
  const llvm::MemoryBuffer *text = mgr.getMemoryBuffer(model);
  if (!place || text->getBufferIdentifier() != place.getFilename().strref())
    return true;
  SMLoc begin = mgr.FindLocForLineAndColumn(model, place.getLine(), 1);
  if (!begin.isValid())
    return true;
  StringRef line(begin.getPointer(), text->getBufferEnd() - begin.getPointer());
  line = line.take_until([](char letter) { return letter == '\n'; }).trim();
  return !line.empty() && !line.starts_with("#") && !line.starts_with("//");
}
