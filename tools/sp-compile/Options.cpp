//===- Options.cpp - The command line of sp-compile -----------------------===//

#include "Options.h"

#include "CommandLine.h"

#include "sp/Plan/Strategies.h"

#include "sprt/sprt.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::sp;
using namespace sprt::tools;

namespace {

/// Options that the interface names and this version does not have.
struct LaterOption {
  const char *name;
  const char *wayOut;
};
constexpr LaterOption kLater[] = {
    {"--machine", "leave it out: auto chooses by counted bytes"},
};

/// What this version does not have yet, or "".
std::string findLater(const CLI::App &app) {
  for (const LaterOption &later : kLater)
    if (app.count(later.name) > 0)
      return std::string("option ") + later.name + " is not supported yet; " +
             later.wayOut;
  return "";
}

/// What is wrong with the options for GPUs, or "".
std::string checkCuda(const CLI::App &app, const CompileOptions &options,
                      const std::string &target) {
  if (target != "cpu" && target != "cuda")
    return "expected --target to be cpu or cuda but got '" + target + "'";
  if (!options.cuda) {
    for (const char *name : {"--arch", "--emulation", "--no-cache"})
      if (app.count(name) > 0)
        return std::string("expected --target=cuda for ") + name;
    if (options.emit == "cuda" || options.emit == "ptx")
      return "expected --target=cuda for --emit=" + options.emit;
    return "";
  }
  if (options.cuda->architecture != "sm_90a")
    return "expected --arch to be sm_90a, the only one that kernels are for, "
           "but got '" +
           options.cuda->architecture + "'";
  return "";
}

/// What is wrong with the options together, or "".
std::optional<Checkpoint> checkpointOf(const std::string &name) {
  return llvm::StringSwitch<std::optional<Checkpoint>>(name)
      .Case("as-written", Checkpoint::AsWritten)
      .Case("none", Checkpoint::None)
      .Case("full", Checkpoint::Full)
      .Case("attention-out", Checkpoint::AttentionOut)
      .Default(std::nullopt);
}

std::string checkOptions(CompileOptions &options, const std::string &checkpoint,
                         const std::string &rowBlocks,
                         const std::string &offload,
                         const std::string &memoryLimit) {
  static constexpr const char *kEmits[] = {"spx",       "import",   "plan",
                                           "partition", "schedule", "memory",
                                           "commands",  "cuda",     "ptx"};
  if (std::find(std::begin(kEmits), std::end(kEmits), options.emit) ==
      std::end(kEmits))
    return "expected --emit to be spx, import, plan, partition, schedule, "
           "memory, commands, cuda or ptx but got '" +
           options.emit + "'";
  if (options.precision != "default" && options.precision != "f64")
    return "expected --precision to be default or f64 but got '" +
           options.precision + "'";
  if (options.zero == 0 && !options.zeroAxes.empty())
    return "expected --zero=1, 2 or 3 for --zero-axes";
  std::optional<Checkpoint> known = checkpointOf(checkpoint);
  if (!known)
    return "expected --checkpoint to be as-written, none, full or "
           "attention-out but got '" +
           checkpoint + "'";
  options.checkpoint = *known;
  if (rowBlocks != "auto" &&
      (llvm::StringRef(rowBlocks).getAsInteger(10, options.rowBlocks) ||
       options.rowBlocks < 1))
    return "expected --row-blocks to be auto or a number of blocks but got '" +
           rowBlocks + "'";
  options.offloadState = offload == "host+state";
  options.offload = offload == "host" || options.offloadState;
  if (!options.offload && offload != "none")
    return "expected --offload to be none, host or host+state but got '" +
           offload + "'";
  if (!memoryLimit.empty()) {
    options.memoryLimit = parseBytes(memoryLimit);
    if (!options.memoryLimit)
      return "expected --memory-limit to be a size such as 80GiB but got '" +
             memoryLimit + "'";
  }
  return "";
}

} // namespace

CompileOptions mlir::sp::parseOptions(int argc, char **argv,
                                      std::optional<int> &status) {
  CompileOptions options;
  CudaTarget cuda;
  std::string target = "cpu", checkpoint = "as-written", memoryLimit,
              rowBlocks = "auto", offload = "none";
  CLI::App app(
      "Compiles a StableHLO model into a program for every rank of a mesh.",
      "sp-compile");
  app.set_version_flag("--version",
                       std::string("sp-compile ") + sprt_version() + " (MLIR " +
                           LLVM_VERSION_STRING + ", ABI " +
                           std::to_string(sprt_abi_version()) + ")");
  app.add_option("MODEL", options.model,
                 "StableHLO text as JAX or torch prints it; - is stdin")
      ->required();
  app.add_option("-o", options.output,
                 "artifact to write, MODEL.spx; text is printed");
  auto list = [](bool (*takes)(const Strategy &), StringRef last = ", ") {
    return listStrategies(takes, last);
  };
  auto *spread = app.add_option_group("Spreading");
  spread->add_option("--mesh", options.mesh,
                     "axes and sizes, outermost first: dp=2,sp=4");
  spread->add_option("--seq-axis", options.seqAxis,
                     "axis that shards the sequence");
  spread->add_option("--batch-axis", options.batchAxis,
                     "axis that shards the batch");
  spread->add_option("--tensor-axis", options.tensorAxis,
                     "axis that shards heads and hidden features");
  spread
      ->add_option("--strategy", options.strategy,
                   "auto, " + list([](auto &) { return true; }, " or "))
      ->capture_default_str();
  spread
      ->add_option("--heads", options.heads,
                   list([](auto &one) { return one.takesHeads; }) +
                       ": ranks that exchange heads, beside a ring")
      ->check(positive());
  spread
      ->add_option("--inner", options.inner, list([](auto &one) {
                                               return one.takesInner;
                                             }) + ": ranks of an inner ring")
      ->check(positive());
  spread->add_flag("--bidirectional", options.bidirectional,
                   list([](auto &one) { return one.hasRing; }) +
                       ": a ring that turns both ways at once");
  spread
      ->add_option("--head-groups", options.headGroups,
                   list([](auto &one) { return one.takesGroups; }) +
                       ": one moves while another computes")
      ->check(positive());
  spread
      ->add_option("--placement", options.placement,
                   "head-first or context-first: which neighbours do")
      ->capture_default_str();
  spread->add_option("--backward", options.backward,
                     "kv or q: what travels in a ring's backward; default: "
                     "fewer bytes");
  spread
      ->add_option("--layout", options.layout,
                   "auto, contiguous, zigzag or striped")
      ->capture_default_str();
  spread
      ->add_option("--checkpoint", checkpoint,
                   "what gradients compute again: as-written, none, full, or "
                   "attention-out: all but attention")
      ->capture_default_str();
  spread
      ->add_option("--row-blocks", rowBlocks,
                   "auto, or in how many blocks of rows what lies between "
                   "attentions runs")
      ->capture_default_str();
  spread
      ->add_option("--chunks", options.chunks,
                   "turns in which a rank's queries meet the keys, a block of "
                   "the sequence each")
      ->check(positive())
      ->capture_default_str();
  spread
      ->add_option("--tokens-per-rank", options.tokensPerRank,
                   "most tokens a rank has of a batch whose documents are "
                   "dealt to as few ranks as hold them")
      ->check(positive());
  spread
      ->add_option("--accumulate", options.accumulate,
                   "micro-batches that run in turn, before one update")
      ->check(positive())
      ->capture_default_str();
  spread
      ->add_option("--offload", offload,
                   "none, host: what waits long lies in far memory, or "
                   "host+state: optimizer state does, too")
      ->capture_default_str();
  spread->add_option("--documents", options.documents,
                     "the argument that tells packed documents apart, arg1: "
                     "an error unless all attentions are found to be within "
                     "its documents");
  spread
      ->add_option("--zero", options.zero,
                   "1, 2: an optimizer's state lies dealt to the ranks; 3: "
                   "parameters do, too")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  spread->add_option("--zero-axes", options.zeroAxes,
                     "axes of the ranks that they are dealt to, or parts of "
                     "them: dp,sp:(2)4 (all)");
  spread->add_option("--shard", options.shard,
                     "axes of an argument's dimensions: arg0=_,sp,_; several "
                     "of one, dp*sp, or a part of an axis, sp:(2)4");
  auto *machine = app.add_option_group("Machine");
  machine->add_option("--target", target, "cpu or cuda")->capture_default_str();
  machine->add_option("--arch", cuda.architecture, "cuda: sm_90a");
  machine->add_flag("--emulation", cuda.emulation,
                    "cuda: kernels for the CPU too, for sp-run "
                    "--device=emulated");
  machine->add_flag("!--no-cache", cuda.useCache,
                    "cuda: compile kernels that were compiled before");
  machine->add_option("--cpu", options.cpu, "native, x86-64-v3 or x86-64-v4")
      ->capture_default_str();
  machine
      ->add_option("--bf16", options.bf16,
                   "fastest, dots or conversions: how attention multiplies it")
      ->capture_default_str();
  machine
      ->add_option("--precision", options.precision, "default, or f64 to check")
      ->capture_default_str();
  machine->add_option("--memory-limit", memoryLimit,
                      "most a rank may use: 80GiB; far memory, checkpoints "
                      "and chunks that were not asked for are tried for it, "
                      "and " +
                          list([](auto &one) { return one.gathersKeys; }) +
                          " groups heads");
  auto *output = app.add_option_group("Output");
  output
      ->add_option("--emit", options.emit,
                   "spx, or text of import, plan, partition, schedule, "
                   "memory, commands, cuda or ptx")
      ->capture_default_str();
  output->add_flag("--explain", options.explain,
                   "say why: attentions, plans, bytes, memory");
  output->add_option("--report", options.report, "the same as JSON, FILE.json");
  output->add_option("--svg", options.svg,
                     "a picture: who computes what when, and memory over the "
                     "program, FILE.svg");
  output->add_flag("--strict", options.strict,
                   "refuse what is warned of: gathers, repeated work, idle "
                   "ranks");
  app.footer("Examples:\n  sp-compile model.mlir --mesh=sp=8 -o model.spx\n"
             "  sp-compile model.mlir --mesh=dp=2,sp=4 --strategy=ring "
             "--explain --emit=plan");
  std::string later;
  for (const LaterOption &option : kLater)
    app.add_option(option.name, later)->expected(0, 1)->group("");
  if ((status = parseCommandLine(app, argc, argv)))
    return options;
  if (target == "cuda")
    options.cuda = cuda;
  options.offloadGiven = app.count("--offload") > 0;
  options.checkpointGiven = app.count("--checkpoint") > 0;
  options.chunksGiven = app.count("--chunks") > 0;
  std::string wrong = findLater(app);
  if (wrong.empty())
    wrong = checkCuda(app, options, target);
  if (wrong.empty())
    wrong = checkOptions(options, checkpoint, rowBlocks, offload, memoryLimit);
  if (!wrong.empty())
    status = refuse(app, wrong, kFailed);
  else if (options.emit == "spx" && options.output.empty())
    status = refuse(app, "expected -o MODEL.spx to name the artifact, or "
                         "--emit to name a text");
  return options;
}
