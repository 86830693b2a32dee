//===- sp-compile.cpp - StableHLO to a program for every rank -------------===//

#include "Arguments.h"
#include "Blocks.h"
#include "CommandLine.h"
#include "Documents.h"
#include "Explain.h"
#include "Levers.h"
#include "Memory.h"
#include "MemoryPeak.h"
#include "Options.h"
#include "Picture.h"
#include "Report.h"
#include "Units.h"
#include "Warnings.h"

#include "sp/Checkpoint/Passes.h"
#include "sp/Codegen/ArtifactLink.h"
#include "sp/Codegen/ProgramEmission.h"
#include "sp/IR/SP.h"
#include "sp/IR/Storage.h"
#include "sp/Import/Passes.h"
#include "sp/Memory/LivePlaces.h"
#include "sp/Partition/Passes.h"
#include "sp/StableHLO/ModelDiagnostics.h"
#include "sp/StableHLO/ModelText.h"
#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sprt/sprt.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>

using namespace mlir;
using namespace mlir::sp;
using namespace sprt::tools;

namespace {

/// Runs the stages, and stops where the user asked for text.
class Compilation {
public:
  Compilation(MLIRContext &context, const CompileOptions &options,
              RemarkLog &log)
      : context(context), options(options), log(log) {}

  LogicalResult run(ModuleOp module);

private:
  using Clock = std::chrono::steady_clock;

  LogicalResult runStage(ModuleOp module, StringRef name,
                         function_ref<void(OpPassManager &)> build);
  bool stopsAt(StringRef stage) const { return options.emit == stage; }
  LogicalResult import(ModuleOp module, const CompileOptions &options);
  LogicalResult chooseLevers(ModuleOp module, const Target &target);
  LogicalResult note(ModuleOp module);
  bool reports() const {
    return options.explain || !options.report.empty() || !options.svg.empty();
  }
  LogicalResult stop();
  LogicalResult checkMemory(ModuleOp module, int64_t peakBytes);
  LogicalResult checkConstants(ModuleOp module);
  LogicalResult emit(ModuleOp module, const Target &target);
  LogicalResult writeArtifact(const EmittedProgram &program);

  MLIRContext &context;
  CompileOptions options;
  RemarkLog &log;
  DocumentsProgram documents;
  std::string levers; ///< options that were taken for a limit
  MemoryChoices choices;
  nlohmann::json attentions = nlohmann::json::array();
  SmallVector<NotedArgument> arguments;
  SmallVector<DrawnAttention> drawn;
  Clock::time_point begin = Clock::now();
};

LogicalResult Compilation::runStage(ModuleOp module, StringRef name,
                                    function_ref<void(OpPassManager &)> build) {
  PassManager manager(&context);
  build(manager);
  if (failed(manager.run(module)))
    return failure();
  if (stopsAt(name)) {
    // Whole for a program that reads it, as sp-interpret does.
    OpPrintingFlags flags;
    if (llvm::outs().is_displayed())
      flags.elideLargeElementsAttrs(64);
    module->print(llvm::outs(), flags);
    llvm::outs() << "\n";
  }
  return success();
}

LogicalResult Compilation::checkMemory(ModuleOp module, int64_t peakBytes) {
  if (!options.memoryLimit || peakBytes <= *options.memoryLimit)
    return success();
  InFlightDiagnostic diagnostic = module.emitError();
  // Of what is needed all digits: a limit of so many bytes is kept to.
  diagnostic << "expected a rank to need at most "
             << bytesText(*options.memoryLimit) << " but the plan needs "
             << bytesText(peakBytes) << " (" << peakBytes << " bytes)";
  if (int64_t constants = constantBytesOf(module))
    diagnostic << ", " << bytesText(constants) << " of them for constants";
  if (choices.gatherGroups > 1)
    diagnostic << ", the least, with heads gathered in " << choices.gatherGroups
               << " groups";
  if (!levers.empty())
    diagnostic << (choices.gatherGroups > 1 ? " and " : ", the least, with ")
               << levers;
  bool trains = llvm::any_of(arguments, [](const NotedArgument &argument) {
    return argument.role == ArgumentRole::Parameter ||
           argument.role == ArgumentRole::State;
  });
  diagnostic << "; more ranks along the sequence";
  if (trains && options.zero != 3)
    diagnostic << ", --zero=3";
  if (options.rowBlocks == 0)
    return diagnostic << ", --strategy=ring, or smaller blocks of rows "
                         "(--row-blocks=N) may need less";
  return diagnostic << ", or --strategy=ring, may need less";
}

/// Whether this machine can write down the constants of a program.
LogicalResult Compilation::checkConstants(ModuleOp module) {
  Operation *main = module.lookupSymbol("main");
  int64_t bytes = constantBytesOf(module), available = availableMemory();
  if (bytes <= available)
    return success();
  Operation *largest = main;
  int64_t most = 0;
  main->walk([&](stablehlo::ConstantOp op) {
    if (int64_t own = storageBytes(op.getType()); own > most) {
      most = own;
      largest = op;
    }
  });
  return largest->emitError()
         << "expected the constants of the program to fit in the "
         << bytesText(available)
         << " of memory that are available but they take " << bytesText(bytes)
         << ", this one " << bytesText(most) << "; make large ones arguments";
}

static LogicalResult writeFile(const std::string &path, StringRef bytes) {
  sprt_status *status =
      sprt_file_write(path.c_str(), bytes.data(), bytes.size());
  if (!status)
    return success();
  llvm::errs() << "sp-compile: error: " << sprt_status_text(status) << "\n";
  sprt_status_free(status);
  return failure();
}

LogicalResult Compilation::writeArtifact(const EmittedProgram &program) {
  SmallVector<char, 0> artifact;
  std::string error;
  bool isEmulated = options.cuda && options.cuda->emulation;
  if (succeeded(linkProgram(program, isEmulated, artifact, error)))
    return writeFile(options.output,
                     StringRef(artifact.data(), artifact.size()));
  llvm::errs() << "sp-compile: error: " << error << "\n";
  return failure();
}

LogicalResult Compilation::emit(ModuleOp module, const Target &target) {
  if (stopsAt("cuda") || stopsAt("ptx")) {
    FailureOr<std::string> text =
        printCudaKernels(module, target, stopsAt("ptx"));
    if (succeeded(text))
      llvm::outs() << *text;
    return text;
  }
  // Constants are written out: what does not fit is known before.
  int64_t placedBytes = placedBytesOf(module);
  if (options.memoryLimit && placedBytes > *options.memoryLimit) {
    FailureOr<int64_t> scratch = scratchBytesOf(module, target);
    return failed(scratch) ? failure()
                           : checkMemory(module, placedBytes + *scratch);
  }
  if (failed(checkConstants(module)))
    return failure();
  auto main = module.lookupSymbol<func::FuncOp>("main");
  LivePlaces places(main);
  std::vector<int64_t> live = places.bytesOf(Space::Arena);
  FailureOr<EmittedProgram> program =
      emitProgram(module, target, documents,
                  [&](Operation *op) { return live[places.pointOf(op)]; });
  if (failed(program) ||
      failed(checkMemory(module, placedBytes + program->scratchBytes)))
    return failure();
  if (stopsAt("commands")) {
    char *text = nullptr;
    if (sprt_status *status =
            sprt_plan_text(program->plan.data(), program->plan.size(), &text)) {
      llvm::errs() << "sp-compile: error: " << sprt_status_text(status) << "\n";
      sprt_status_free(status);
      return failure();
    }
    llvm::outs() << text;
    sprt_buffer_free(text);
  }
  std::vector<Warning> warnings = findWarnings(log);
  if (failed(tell(warnings, options.strict)) ||
      (stopsAt("spx") && failed(writeArtifact(*program))))
    return failure();
  if (!reports())
    return success();
  FailureOr<nlohmann::json> report =
      makeReport(module, std::move(attentions), *program);
  if (failed(report))
    return failure();
  (*report)["arguments"] = describeArguments(module, arguments);
  MemoryBeside beside{constantBytesOf(module), program->scratchBytes};
  (*report)["atPeak"] = describePeak(module, arguments, beside);
  (*report)["warnings"] = describeWarnings(warnings);
  (*report)["decisions"] = describeDecisions(log);
  (*report)["seconds"] =
      std::chrono::duration<double>(Clock::now() - begin).count();
  if (options.explain)
    printExplanation(log, *report,
                     stopsAt("spx") ? llvm::outs() : llvm::errs());
  if (!options.svg.empty() &&
      failed(writeFile(options.svg, drawCompilation(module, drawn, arguments,
                                                    *program, *report))))
    return failure();
  if (options.report.empty())
    return success();
  // Names and locations are the model's and may hold any bytes.
  using nlohmann::json;
  return writeFile(options.report,
                   report->dump(1, ' ', false, json::error_handler_t::replace) +
                       "\n");
}

/// Keeps what a report says of the attentions and of how arguments are read,
/// which Partition consumes.
LogicalResult Compilation::note(ModuleOp module) {
  if (!reports())
    return success();
  attentions = describeAttentions(module);
  drawn = drawnAttentions(module);
  FailureOr<SmallVector<NotedArgument>> noted = noteArguments(module);
  if (succeeded(noted))
    arguments = std::move(*noted);
  return noted;
}

LogicalResult Compilation::import(ModuleOp module,
                                  const CompileOptions &options) {
  if (options.precision == "f64" &&
      failed(runStage(module, "precision", [](OpPassManager &pm) {
        pm.addPass(createVerifyInputPass());
        pm.addPass(createReplaceCustomCallsPass());
        pm.addPass(createRaisePrecisionPass());
      })))
    return failure();
  LogicalResult imported = runStage(module, "import", [&](OpPassManager &pm) {
    forgetCheckpoints(pm, options.checkpoint);
    buildImportPipeline(pm);
    buildCheckpointPipeline(pm, options.checkpoint);
    if (options.accumulate > 1)
      buildAccumulatePipeline(pm, options.accumulate);
    pm.addPass(createVerifyImportPass());
  });
  if (failed(imported) || options.documents.empty())
    return imported;
  return checkDocuments(module, options.documents);
}

/// Ends before there is a program to explain: decisions are all there is.
LogicalResult Compilation::stop() {
  if (options.explain)
    printDecisions(log, llvm::errs());
  return tell(findWarnings(log), options.strict);
}

/// What a memory limit changes of the options, and leaves to the arena.
LogicalResult Compilation::chooseLevers(ModuleOp module, const Target &target) {
  if (!options.memoryLimit)
    return success();
  std::string emits = std::exchange(options.emit, "spx");
  FailureOr<Levers> chosen = sp::chooseLevers(
      module, options, target,
      [&](ModuleOp copy, const CompileOptions &other) {
        return import(copy, other);
      },
      log);
  options.emit = emits;
  if (failed(chosen))
    return failure();
  options = chosen->options;
  options.emit = emits;
  levers = chosen->taken;
  choices.arenaBytes =
      std::max<int64_t>(*options.memoryLimit - chosen->needed.others, 0);
  return success();
}

LogicalResult Compilation::run(ModuleOp module) {
  std::string error;
  FailureOr<CPUTarget> cpu = resolveCPUTarget(options.cpu, error);
  if (failed(cpu) || failed(chooseBF16Products(options.bf16, *cpu, error))) {
    llvm::errs() << "sp-compile: error: " << error << "\n";
    return failure();
  }
  Target target{*cpu, options.cuda};
  if (failed(chooseLevers(module, target)) || failed(import(module, options)))
    return failure();
  if (stopsAt("import"))
    return stop();
  FailureOr<int64_t> groups = chooseGatherGroups(module, options, target, log);
  if (failed(groups))
    return failure();
  choices.gatherGroups = *groups;
  FailureOr<DocumentsProgram> numbering = compileDocuments(module, target, log);
  if (failed(numbering))
    return failure();
  documents = std::move(*numbering);
  for (const Stage &stage : stagesOf(options, choices)) {
    if (stage.name == "schedule" &&
        failed(chooseBlocks(module, options, choices, log)))
      return failure();
    if (failed(runStage(module, stage.name, stage.build)))
      return failure();
    if (stage.name == "plan" && failed(note(module)))
      return failure();
    if (stopsAt(stage.name))
      return stop();
  }
  return emit(module, target);
}

} // namespace

static int compile(const CompileOptions &options) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerInputDialects(registry);
  registry.insert<SpDialect>();
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  // The model's own lines say enough; printing the whole operation buries them.
  context.printOpOnDiagnostic(false);

  bool isText = options.emit != "spx";
  if (isText && !options.output.empty())
    llvm::errs() << "sp-compile: warning: -o is passed over with --emit="
                 << options.emit << ", whose text is printed\n";
  std::string error =
      checkOutputs({isText ? "" : options.output, options.report, options.svg},
                   {options.model});
  std::unique_ptr<llvm::MemoryBuffer> file =
      error.empty() ? openModel(options.model, &error) : nullptr;
  if (!file) {
    llvm::errs() << "sp-compile: error: " << error << "\n";
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), SMLoc());
  ModelDiagnostics diagnostics(sources, &context);
  RemarkLog log(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;
  // JAX gives its module no location: what is about it names the file.
  if (isa<UnknownLoc>(module->getLoc()))
    module->getOperation()->setLoc(
        FileLineColLoc::get(&context, options.model, 1, 1));
  if (succeeded(Compilation(context, options, log).run(*module)))
    return 0;
  // Why an attention was not taken is most wanted where nothing could be done.
  if (options.explain)
    printDecisions(log, llvm::errs());
  return 1;
}

int main(int argc, char **argv) {
  try {
    std::optional<int> status;
    CompileOptions options = parseOptions(argc, argv, status);
    if (status)
      return *status;
    int exitCode = compile(options);
    llvm::outs().flush();
    std::error_code lost = llvm::outs().error();
    llvm::outs().clear_error();
    return finishPrinting("sp-compile", exitCode, lost);
  } catch (const std::exception &failure) { // of a library: out of memory
    llvm::errs() << "sp-compile: error: " << failure.what() << "\n";
    return 1;
  }
}
