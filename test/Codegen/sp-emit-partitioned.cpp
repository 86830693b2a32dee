//===- sp-emit-partitioned.cpp - What is partitioned to a program ---------===//
//
//   sp-emit-partitioned FILE                its commands, and what they promise
//   sp-emit-partitioned FILE -o FILE.spx    and an artifact for this machine
//   sp-emit-partitioned FILE --cuda         what a GPU would be given
//   sp-emit-partitioned FILE --far=N        with far memory, to which a byte is
//                                           copied while N FLOPs are computed
//
// Schedule, Verify, Memory and Codegen by themselves, for programs that nobody
// partitions.
//
//===----------------------------------------------------------------------===//

#include "sp/Codegen/ArtifactLink.h"
#include "sp/Codegen/ProgramEmission.h"
#include "sp/IR/SP.h"
#include "sp/Memory/Passes.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/Verify/Passes.h"
#include "sprt/sprt.h"

#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::sp;

static llvm::cl::opt<std::string> input(llvm::cl::Positional,
                                        llvm::cl::Required);
static llvm::cl::opt<std::string> output("o");
static llvm::cl::opt<bool> cuda("cuda");
static llvm::cl::opt<int64_t> farFlopsPerByte("far");

static bool report(StringRef problem) {
  llvm::errs() << "sp-emit-partitioned: error: " << problem << "\n";
  return false;
}

static bool printCommands(ModuleOp module, const EmittedProgram &program) {
  char *text = nullptr;
  std::vector<sprt_prediction> predictions(
      getMesh(module).getRanks(),
      {sizeof(sprt_prediction), 0, 0, 0, 0, 0, 0, 0, 0});
  sprt_status *status =
      sprt_plan_text(program.plan.data(), program.plan.size(), &text);
  if (!status)
    status = sprt_plan_predict(
        program.plan.data(), program.plan.size(), program.signatures.data(),
        program.signatures.size(), predictions.size(), predictions.data());
  if (status) {
    std::string problem = sprt_status_text(status);
    sprt_status_free(status);
    return report(problem);
  }
  llvm::outs() << text;
  sprt_buffer_free(text);
  for (auto [rank, each] : llvm::enumerate(predictions))
    llvm::outs() << "rank " << rank << " sends " << each.bytes_sent
                 << " bytes, computes " << each.flops << " flops, touches "
                 << each.touched_bytes << " bytes, of far memory "
                 << each.far_touched_bytes << ", reads " << each.far_read_bytes
                 << " and writes " << each.far_written_bytes << " there\n";
  return true;
}

static bool emit(MLIRContext &context) {
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(input, sources, &context);
  if (!module)
    return false;
  PassManager manager(&context);
  buildSchedulePipeline(manager);
  buildMemoryPipeline(manager, {farFlopsPerByte});
  buildVerifyPipeline(manager);
  if (failed(manager.run(*module)))
    return false;
  std::string error;
  FailureOr<CPUTarget> cpu = resolveCPUTarget("native", error);
  if (failed(cpu))
    return report(error);
  Target target{*cpu, std::nullopt};
  if (cuda)
    target.cuda.emplace();
  FailureOr<EmittedProgram> program = emitProgram(*module, target);
  if (failed(program))
    return false;
  if (!printCommands(*module, *program))
    return false;
  if (output.empty())
    return true;
  ArtifactParts parts;
  for (const auto &object : program->objects)
    parts.objects.push_back(object);
  parts.plan = program->plan;
  parts.signatures = program->signatures;
  parts.constants = program->constants;
  SmallVector<char, 0> artifact;
  if (failed(linkArtifact(parts, artifact, error)))
    return report(error);
  sprt_status *status =
      sprt_file_write(output.c_str(), artifact.data(), artifact.size());
  return !status || report(sprt_status_text(status));
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerInputDialects(registry);
  registry.insert<SpDialect>();
  MLIRContext context(registry);
  return emit(context) ? 0 : 1;
}
