#include "Options.h"

#include "sprt/sprt.h"

#include <cstdlib>
#include <filesystem>

namespace {

/// "RANK:COMMAND" or "RANK:COMMAND:stall".
bool parseInject(Options &options) {
  std::string text = options.inject;
  const std::string stall = ":stall";
  if (text.size() > stall.size() &&
      text.compare(text.size() - stall.size(), stall.size(), stall) == 0) {
    options.injectStall = true;
    text.resize(text.size() - stall.size());
  }
  size_t colon = text.find(':');
  return colon != std::string::npos &&
         parseNumber(text.substr(0, colon), options.injectRank) &&
         parseNumber(text.substr(colon + 1), options.injectCommand) &&
         options.injectRank >= 0 && options.injectCommand >= 0;
}

/// "result1-62" or "result1": the first number and how many.
bool parseNumbers(std::string text, const std::string &prefix, int64_t &first,
                  int64_t &count) {
  if (text.rfind(prefix, 0) != 0)
    return false;
  text.erase(0, prefix.size());
  size_t dash = text.find('-');
  int64_t last = 0;
  if (!parseNumber(text.substr(0, dash), first) || first < 0)
    return false;
  if (dash == std::string::npos)
    last = first;
  else if (!parseNumber(text.substr(dash + 1), last))
    return false;
  bool isRange = first <= last && last < INT64_MAX;
  count = isRange ? last - first + 1 : 0;
  return isRange;
}

/// Ranges "result1-62:arg0-61", with commas between them.
bool parseFeeds(Options &options) {
  for (const std::string &text : CLI::detail::split(options.feed, ',')) {
    size_t colon = text.find(':');
    Feed feed;
    int64_t inputs = 0;
    if (colon == std::string::npos ||
        !parseNumbers(text.substr(0, colon), "result", feed.result,
                      feed.count) ||
        !parseNumbers(text.substr(colon + 1), "arg", feed.input, inputs) ||
        inputs != feed.count)
      return false;
    options.feeds.push_back(feed);
  }
  return true;
}

/// What is wrong with "DIR" or "DIR:LIMIT", or "".
std::string parseFar(Options &options) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  size_t colon = options.far.rfind(':');
  if (options.far.empty() || fs::is_directory(options.far, ignored))
    return "";
  std::string directory = options.far.substr(0, colon);
  if (colon == std::string::npos || !fs::is_directory(directory, ignored))
    return "expected --far=DIR or DIR:LIMIT, such as /tmp:8GiB, but \"" +
           options.far + "\" is no directory";
  std::optional<int64_t> limit = parseBytes(options.far.substr(colon + 1));
  if (!limit)
    return "expected --far=DIR:LIMIT with a size such as 8GiB but got \"" +
           options.far.substr(colon + 1) + "\"";
  options.farLimit = *limit;
  options.far = directory;
  return "";
}

/// What is wrong with the options together, or "".
std::string checkOptions(Options &options) {
  if (std::string wrong = checkDataOptions(options); !wrong.empty())
    return wrong;
  if (!options.inject.empty() && !parseInject(options))
    return "expected --inject=RANK:COMMAND or RANK:COMMAND:stall but got \"" +
           options.inject + "\"";
  if (!options.feed.empty() && !parseFeeds(options))
    return "expected --feed=result1-62:arg0-61, as many results as arguments, "
           "but got \"" +
           options.feed + "\"";
  if (std::string wrong = parseFar(options); !wrong.empty())
    return wrong;
  return checkArrayFile(options.check);
}

} // namespace

bool parseOptions(int argc, char **argv, Options &options, int &out_exit) {
  CLI::App app("Runs a program of sp-compile on its ranks: threads of this "
               "process, or processes of mpirun or torchrun.",
               "sp-run");
  app.set_version_flag("--version", std::string("sp-run ") + sprt_version() +
                                        ", runtime ABI " +
                                        std::to_string(sprt_abi_version()));
  app.footer(
      "Examples:\n"
      "  sp-run model.spx --inputs=in.npz --check=ref.npz --trace=trace.json\n"
      "  mpirun -n 8 sp-run model.spx --random-inputs=1 --outputs=out.npz");
  app.add_option("program", options.program,
                 "model.spx, as sp-compile writes it")
      ->required();

  addDataOptions(app, options);
  app.add_option("--check", options.check,
                 "compare every result with this file")
      ->option_text("FILE.npz")
      ->group("Data");
  app.add_option("--rtol", options.rtol,
                 "largest |a-b| / max|b| (by type: f64 1e-10, f32 1e-5)")
      ->check(notNegative())
      ->option_text("X")
      ->group("Data");
  app.add_option("--atol", options.atol, "largest |a-b| allowed besides")
      ->check(notNegative())
      ->option_text("X")
      ->group("Data");

  app.add_option("--communicator", options.communicator,
                 "default thread, on GPUs local; of processes mpi, nccl")
      ->check(CLI::IsMember({"thread", "mpi", "nccl", "local"}))
      ->option_text("thread|mpi|local|nccl")
      ->group("Execution");
  app.add_option("--executor", options.executor,
                 "default: what the program is for")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->option_text("cpu|cuda")
      ->group("Execution");
  app.add_option("--device", options.device,
                 "which GPU (0); emulated runs its program on the CPU")
      ->option_text("N|emulated")
      ->group("Execution");
  app.add_option("--threads", options.threads,
                 "per rank (default: cores / ranks)")
      ->check(CLI::Range(0, 1024))
      ->option_text("N")
      ->group("Execution");
  app.add_option("--far", options.far,
                 "far memory in a file there, so much a rank at most "
                 "(default: memory)")
      ->option_text("DIR[:LIMIT]")
      ->group("Execution");
  app.add_option("--timeout", options.timeout,
                 "how long a rank waits for another (300), and how "
                 "long a loop or a kernel of it may take (for ever)")
      ->check(positive())
      ->option_text("SECONDS")
      ->group("Execution");
  app.add_option("--inject", options.inject, "fail or stall there, for tests")
      ->option_text("RANK:COMMAND[:stall]")
      ->group("Execution");

  CLI::Option *steps =
      app.add_option("--steps", options.steps,
                     "training: results feed donated arguments")
          ->check(CLI::Range(int64_t(1), int64_t(1000000000)))
          ->option_text("N")
          ->group("Execution");
  app.add_option("--feed", options.feed, "and these ones, without donation")
      ->needs(steps)
      ->option_text("result1-62:arg0-61")
      ->group("Execution");
  app.add_option("--save", options.save,
                 "write what was trained, as safetensors with an index")
      ->needs(steps)
      ->option_text("DIR")
      ->group("Execution");
  app.add_option("--load", options.load,
                 "begin with what was saved, on any mesh")
      ->needs(steps)
      ->option_text("DIR")
      ->group("Execution");

  auto *repeat = app.add_option("--repeat", options.repeat,
                                "timed runs: minimum, median, per command")
                     ->check(CLI::Range(1, 1000000))
                     ->excludes(steps)
                     ->option_text("N")
                     ->group("Reports");
  app.add_option("--warmup", options.warmup, "runs before those")
      ->check(CLI::Range(0, 1000000))
      ->excludes(steps)
      ->option_text("N")
      ->group("Reports");
  app.add_option("--trace", options.trace,
                 "write a Chrome/Perfetto trace (.json)")
      ->option_text("FILE.json")
      ->group("Reports");
  app.add_option("--svg", options.svg,
                 "draw the last run: what ranks did when, by stream")
      ->option_text("FILE.svg")
      ->group("Reports");
  app.add_option("--report", options.report, "write statistics (.json)")
      ->option_text("FILE.json")
      ->group("Reports");
  app.add_option("--batch-report", options.batchReport,
                 "write which rank had which documents, a step a line")
      ->option_text("FILE.json")
      ->group("Reports");

  if (std::optional<int> status = parseCommandLine(app, argc, argv)) {
    out_exit = *status;
    return false;
  }
  if (std::string wrong = checkOptions(options); !wrong.empty()) {
    out_exit = refuse(app, wrong);
    return false;
  }
  options.explicitRepeat = repeat->count() > 0;
  return true;
}

std::string chooseCommunicator(bool onGpus, Options &options) {
  if (!options.communicator.empty())
    return "";
  if (std::getenv("OMPI_COMM_WORLD_SIZE")) {
    options.communicator = onGpus ? "nccl" : "mpi";
    return "";
  }
  for (const char *name : {"RANK", "MASTER_ADDR", "MASTER_PORT"})
    if (!std::getenv(name))
      return "";
  const char *processes = std::getenv("WORLD_SIZE");
  if (!processes || processes == std::string("1"))
    return "";
  if (!onGpus)
    return std::string("a launcher has started this as process ") +
           std::getenv("RANK") + " of " + processes +
           ", but ranks of a program for CPUs are processes of mpirun; start "
           "with mpirun -n " +
           processes + ", or give --communicator=thread";
  options.communicator = "nccl";
  return "";
}
