//===- ModelTrial.cpp - Any bytes as a model ------------------------------===//

#include "ModelTrial.h"

#include "sp/Checkpoint/Passes.h"
#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"
#include "sp/StableHLO/ModelText.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::sp;

static const DialectRegistry &registry() {
  static const DialectRegistry all = [] {
    DialectRegistry dialects;
    registerAllDialects(dialects);
    registerAllExtensions(dialects);
    registerInputDialects(dialects);
    dialects.insert<SpDialect>();
    return dialects;
  }();
  return all;
}

static OwningOpRef<ModuleOp> parse(std::unique_ptr<llvm::MemoryBuffer> text,
                                   MLIRContext &context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), SMLoc());
  return parseSourceFile<ModuleOp>(sources, &context);
}

static std::string print(Operation *op, OpPrintingFlags flags = {}) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, flags);
  return text;
}

namespace {

/// Formats diagnostics as a tool would, and keeps the last error.
class ErrorLog {
public:
  explicit ErrorLog(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          std::string text = diagnostic.str();
          for (Diagnostic &note : diagnostic.getNotes())
            text += "\n" + note.str();
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            last = std::move(text);
        }) {}

  std::string last;

private:
  ScopedDiagnosticHandler handler;
};

/// Tells what a pass refuses from what the pass manager's verifier finds after
/// it, which is no mistake of the user's.
struct CheckFailedPass : PassInstrumentation {
  explicit CheckFailedPass(std::string &defect) : defect(defect) {}

  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (defect.empty() && failed(verify(op)))
      defect = pass->getName().str() + " left an invalid program";
  }

  std::string &defect;
};

/// What is wrong, or "".
std::string checkRoundTrip(ModuleOp module) {
  std::string once = print(module);
  // Elsewhere, for resources have names in a context.
  MLIRContext elsewhere(registry(), MLIRContext::Threading::DISABLED);
  elsewhere.allowUnregisteredDialects();
  ErrorLog problems(elsewhere);
  OwningOpRef<ModuleOp> again =
      parse(llvm::MemoryBuffer::getMemBufferCopy(once), elsewhere);
  if (!again)
    return "does not parse back: " + problems.last + "\n" + once;
  std::string twice = print(*again);
  if (once == twice)
    return "";
  return "changes when it is parsed back, from\n" + once + "to\n" + twice;
}

class Trial {
public:
  explicit Trial(MLIRContext &context) : context(context), errors(context) {}

  ModelTrial run(StringRef text);

private:
  LogicalResult import(ModuleOp module, std::string &defect);

  MLIRContext &context;
  ErrorLog errors;
};

LogicalResult Trial::import(ModuleOp module, std::string &defect) {
  PassManager manager(&context);
  manager.addInstrumentation(std::make_unique<CheckFailedPass>(defect));
  buildImportPipeline(manager);
  buildCheckpointPipeline(manager);
  return manager.run(module);
}

/// MLIR 22 takes the width of index, which has none, and reads address 0.
static bool endsParserOfMLIR(StringRef text) {
  std::string dense = llvm::join(llvm::split(text, ' '), "");
  return StringRef(dense).contains("array<index");
}

ModelTrial Trial::run(StringRef text) {
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> model =
      readModel(llvm::MemoryBuffer::getMemBufferCopy(text, "model"), &problem);
  ModelTrial trial;
  if (!model || endsParserOfMLIR(text))
    return trial;
  OwningOpRef<ModuleOp> module = parse(std::move(model), context);
  if (!module) {
    if (errors.last.empty())
      trial.defect = "is not parsed, without an error";
    return trial;
  }
  trial.outcome = Outcome::Refused;
  trial.defect = checkRoundTrip(*module);
  if (!trial.defect.empty())
    return trial;
  errors.last.clear();
  LogicalResult imported = import(*module, trial.defect);
  if (!trial.defect.empty()) {
    trial.defect += ": " + errors.last + "\n" + print(*module);
    return trial;
  }
  if (failed(imported)) {
    if (errors.last.empty())
      trial.defect = "is refused without an error";
    return trial;
  }
  trial.outcome = Outcome::Imported;
  trial.defect = checkRoundTrip(*module);
  return trial;
}

} // namespace

ModelTrial mlir::sp::tryModel(StringRef text) {
  MLIRContext context(registry(), MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  return Trial(context).run(text);
}

std::string mlir::sp::toGenericForm(StringRef text) {
  MLIRContext context(registry(), MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  ErrorLog problems(context);
  OwningOpRef<ModuleOp> module =
      parse(llvm::MemoryBuffer::getMemBufferCopy(text), context);
  return module ? print(*module, OpPrintingFlags().printGenericOpForm())
                : text.str();
}
