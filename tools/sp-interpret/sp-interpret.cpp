//===- sp-interpret.cpp - Evaluates a module without compiling it ---------===//
#include "Arrays.h"
#include "CommandLine.h"
#include "Memory.h"
#include "Printing.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "sp/IR/SP.h"
#include "sp/Interpreter/RankProgram.h"
#include "sp/StableHLO/ModelDiagnostics.h"
#include "sp/StableHLO/ModelText.h"
#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sprt/sprt.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::interpreter;
using namespace sprt::tools;

namespace {
struct Options : DataOptions {
  std::string model, function = "main", precision = "f64", errors;
};
} // namespace

static int fail(const llvm::Twine &message) {
  llvm::errs() << "sp-interpret: error: " << message << "\n";
  return kFailed;
}

static std::string versionText() {
  return std::string("sp-interpret ") + sprt_version() + " (MLIR " +
         LLVM_VERSION_STRING + ", ABI " + std::to_string(sprt_abi_version()) +
         ")";
}

static void describe(CLI::App &app, Options &options) {
  app.set_version_flag("--version", versionText());
  app.add_option("MODEL", options.model,
                 "StableHLO text as JAX or torch prints it, or what sp-compile "
                 "--emit= makes of it up to memory; - is stdin")
      ->required()
      ->option_text(" ");
  app.add_option("--precision", options.precision,
                 "f64: every float type is computed in f64 (default); "
                 "program: each result is rounded to its own type")
      ->check(CLI::IsMember({"f64", "program"}))
      ->option_text("f64|program")
      ->group("Evaluation");
  app.add_option("--function", options.function,
                 "which function to evaluate (main)")
      ->option_text("NAME")
      ->group("Evaluation");
  addDataOptions(app, options);
  app.add_option(
         "--errors", options.errors,
         "write error0, error1, …: what rounding may do to each element "
         "of the results, with --precision=program")
      ->option_text("FILE.npz")
      ->group("Data");
  app.footer("Examples:\n"
             "  sp-interpret model.mlir --inputs=in.npz --outputs=ref.npz\n"
             "  sp-interpret model.mlir --random-inputs=1 "
             "--precision=program");
}

/// Elements of results: with Precision::F64 floats are f64, whatever the
/// program calls them.
static Tensor asStored(const Tensor &tensor, Precision precision) {
  if (precision == Precision::Program)
    return tensor;
  MLIRContext *context = tensor.getType().getContext();
  Type element = Float64Type::get(context);
  if (tensor.getStorage() == Storage::Complex)
    element = ComplexType::get(element);
  else if (tensor.getStorage() != Storage::Float)
    return tensor;
  return tensor.withType(RankedTensorType::get(tensor.getShape(), element));
}

/// Errors as f64; of integers, which have none, zeros.
static Tensor errorsOf(const Tensor &result) {
  auto type = RankedTensorType::get(
      result.getShape(), Float64Type::get(result.getType().getContext()));
  if (!result.getErrors())
    return Tensor::splat<double>(type, 0);
  if (result.getStorage() == Storage::Float)
    return result.getErrors()->withType(type);
  Tensor errors(type);
  llvm::transform(result.getErrors()->elements<std::complex<double>>(),
                  errors.mutableElements<double>().begin(),
                  [](std::complex<double> x) { return x.real(); });
  return errors;
}

static FailureOr<SmallVector<Tensor>> inputsFor(const Options &options,
                                                const Parameters &parameters,
                                                Precision precision,
                                                std::string &error) {
  if (!options.inputs.empty())
    return readInputs(options.inputs, parameters, precision, error);
  if (options.seed)
    return drawInputs(parameters, *options.seed, options.intLow,
                      options.intHigh, error);
  if (parameters.types.empty())
    return SmallVector<Tensor>();
  error = "expected --inputs=FILE or --random-inputs=SEED for the " +
          std::to_string(parameters.types.size()) + " arguments of @" +
          options.function;
  return failure();
}

static int evaluate(const Options &options, func::FuncOp function) {
  EvaluationOptions evaluation;
  if (options.precision == "program")
    evaluation.precision = Precision::Program;
  evaluation.memoryLimitBytes = availableMemory();
  evaluation.errors = !options.errors.empty();
  FailureOr<Parameters> parameters = parametersOf(function);
  if (failed(parameters))
    return kFailed;
  if (failed(checkMemory(function.getLoc(), "arguments",
                         llvm::to_vector_of<Type>(parameters->types),
                         evaluation.memoryLimitBytes)))
    return kFailed;
  std::string error;
  FailureOr<SmallVector<Tensor>> inputs =
      inputsFor(options, *parameters, evaluation.precision, error);
  if (failed(inputs))
    return fail(error);
  if (!options.saveInputs.empty() &&
      failed(writeArrays(options.saveInputs, "arg", *inputs, error)))
    return fail(error);
  SmallVector<Tensor> arguments = std::move(*inputs);
  FailureOr<SmallVector<Tensor>> results =
      isRankProgram(function)
          ? evaluateOnRanks(function, arguments, evaluation)
          : evaluateFunction(function, arguments, evaluation);
  if (failed(results))
    return kFailed;
  if (evaluation.errors) {
    SmallVector<Tensor> errors = llvm::map_to_vector(*results, errorsOf);
    if (failed(writeArrays(options.errors, "error", errors, error)))
      return fail(error);
  }
  for (Tensor &result : *results)
    result = asStored(result, evaluation.precision);
  if (options.outputs.empty()) {
    for (auto [i, result] : llvm::enumerate(*results))
      printTensor(llvm::outs() << "result" << i << ": ", result);
    return kDone;
  }
  if (failed(writeArrays(options.outputs, "result", *results, error)))
    return fail(error);
  return kDone;
}

static int run(const Options &options) {
  std::string error =
      checkOutputs({options.saveInputs, options.outputs, options.errors},
                   {options.model, options.inputs});
  if (!error.empty())
    return fail(error);
  std::unique_ptr<llvm::MemoryBuffer> file =
      sp::openModel(options.model, &error);
  if (!file)
    return fail(error);
  DialectRegistry registry;
  sp::registerInputDialects(registry);
  registry.insert<sp::SpDialect, affine::AffineDialect, arith::ArithDialect,
                  scf::SCFDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // Attributes of other dialects are carried along.
  context.allowUnregisteredDialects();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  sp::ModelDiagnostics diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return kFailed;
  PassManager passes(&context);
  passes.addPass(sp::createReplaceCustomCallsPass());
  if (failed(passes.run(*module)))
    return kFailed;
  auto function = module->lookupSymbol<func::FuncOp>(options.function);
  if (!function) {
    module->emitError() << "expected a function @" << options.function;
    return kFailed;
  }
  return evaluate(options, function);
}

static int interpret(int argc, char **argv) {
  CLI::App app("Evaluates a StableHLO module directly, or what a stage made of "
               "it: the reference that compiled programs are compared with.",
               "sp-interpret");
  Options options;
  describe(app, options);
  if (std::optional<int> status = parseCommandLine(app, argc, argv))
    return *status;
  if (std::string wrong = checkDataOptions(options); !wrong.empty())
    return refuse(app, wrong);
  if (!options.errors.empty() && options.precision != "program")
    return refuse(app, "expected --precision=program with --errors: f64 is "
                       "rounded as f64 whatever the program's types are");
  if (std::string wrong = checkArrayFile(options.errors); !wrong.empty())
    return refuse(app, wrong);
  int status = run(options);
  llvm::outs().flush();
  std::error_code lost = llvm::outs().error();
  llvm::outs().clear_error();
  return finishPrinting("sp-interpret", status, lost);
}

int main(int argc, char **argv) {
  try {
    return interpret(argc, argv);
  } catch (const std::exception &failure) { // of a library: out of memory
    return fail(failure.what());
  }
}
