#include "Options.h"

#include "sprt/sprt.h"

#include <cstdio>
#include <cstdlib>

#include <CLI/CLI.hpp>

namespace {

/// "LOW..HIGH".
bool parseRange(const std::string &text, int64_t &low, int64_t &high) {
  size_t dots = text.find("..", 1);
  if (dots == std::string::npos)
    return false;
  return CLI::detail::lexical_cast(text.substr(0, dots), low) &&
         CLI::detail::lexical_cast(text.substr(dots + 2), high) && low <= high;
}

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
         CLI::detail::lexical_cast(text.substr(0, colon), options.injectRank) &&
         CLI::detail::lexical_cast(text.substr(colon + 1),
                                   options.injectCommand) &&
         options.injectRank >= 0 && options.injectCommand >= 0;
}

int wrongUsage(const std::string &text) {
  std::fprintf(stderr, "sp-run: error: %s\n", text.c_str());
  return kWrongUsage;
}

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// What the options say together; -1 when they make sense.
int checkOptions(Options &options) {
  if (!parseRange(options.intRange, options.intLow, options.intHigh))
    return wrongUsage("expected --int-range=LOW..HIGH but got \"" +
                      options.intRange + "\"");
  if (!options.inject.empty() && !parseInject(options))
    return wrongUsage(
        "expected --inject=RANK:COMMAND or RANK:COMMAND:stall but got \"" +
        options.inject + "\"");
  // Known before a long run, not after it.
  for (const std::string *file :
       {&options.inputs, &options.saveInputs, &options.outputs, &options.check})
    if (!file->empty() && !endsWith(*file, ".npz") &&
        !endsWith(*file, ".safetensors"))
      return wrongUsage(
          "expected a name that ends in .npz or .safetensors but got \"" +
          *file + "\"");
  if (options.communicator == "nccl" || options.communicator == "local")
    return wrongUsage(
        "communicator \"" + options.communicator +
        "\" is not available yet; use --communicator=thread or mpi");
  if (options.executor == "cuda")
    return wrongUsage(
        "executor \"cuda\" is not available yet; use --executor=cpu");
  if (options.communicator.empty())
    options.communicator =
        std::getenv("OMPI_COMM_WORLD_SIZE") ? "mpi" : "thread";
  return -1;
}

} // namespace

bool parseOptions(int argc, char **argv, Options &options, int &out_exit) {
  CLI::App app("Runs a program of sp-compile on its ranks: threads of this "
               "process, or processes under mpirun.",
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

  app.add_option("--inputs", options.inputs,
                 "arrays arg0, arg1, … (.npz, .safetensors)")
      ->option_text("FILE")
      ->group("Data");
  app.add_option("--random-inputs", options.seed,
                 "reproducible inputs from this seed")
      ->check(CLI::NonNegativeNumber)
      ->excludes("--inputs")
      ->option_text("SEED")
      ->group("Data");
  app.add_option("--int-range", options.intRange, "random integers (0..63)")
      ->option_text("LOW..HIGH")
      ->group("Data");
  app.add_option("--save-inputs", options.saveInputs, "write the inputs")
      ->option_text("FILE.npz")
      ->group("Data");
  app.add_option("--outputs", options.outputs, "write result0, result1, …")
      ->option_text("FILE.npz")
      ->group("Data");
  app.add_option("--check", options.check,
                 "compare every result with this file")
      ->option_text("FILE.npz")
      ->group("Data");
  app.add_option("--rtol", options.rtol,
                 "largest |a-b| / max|b| (by type: f64 1e-10, f32 1e-5)")
      ->check(CLI::NonNegativeNumber)
      ->option_text("X")
      ->group("Data");
  app.add_option("--atol", options.atol, "largest |a-b| allowed besides")
      ->check(CLI::NonNegativeNumber)
      ->option_text("X")
      ->group("Data");

  app.add_option("--communicator", options.communicator,
                 "default thread, under mpirun mpi")
      ->check(CLI::IsMember({"thread", "mpi", "nccl", "local"}))
      ->option_text("thread|mpi")
      ->group("Execution");
  app.add_option("--executor", options.executor, "default cpu")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->option_text("cpu")
      ->group("Execution");
  app.add_option("--threads", options.threads,
                 "per rank (default: cores / ranks)")
      ->check(CLI::Range(0, 1024))
      ->option_text("N")
      ->group("Execution");
  app.add_option("--timeout", options.timeout,
                 "how long a rank waits for another (300)")
      ->check(CLI::PositiveNumber)
      ->option_text("SECONDS")
      ->group("Execution");
  app.add_option("--inject", options.inject, "fail or stall there, for tests")
      ->option_text("RANK:COMMAND[:stall]")
      ->group("Execution");

  auto *repeat = app.add_option("--repeat", options.repeat,
                                "timed runs: minimum, median, per command")
                     ->check(CLI::Range(1, 1000000))
                     ->option_text("N")
                     ->group("Reports");
  app.add_option("--warmup", options.warmup, "runs before those")
      ->check(CLI::Range(0, 1000000))
      ->option_text("N")
      ->group("Reports");
  app.add_option("--trace", options.trace,
                 "write a Chrome/Perfetto trace (.json)")
      ->option_text("FILE.json")
      ->group("Reports");
  app.add_option("--report", options.report, "write statistics (.json)")
      ->option_text("FILE.json")
      ->group("Reports");

  std::string later;
  for (const char *name : {"--steps", "--feed", "--device"})
    app.add_option(name, later)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      out_exit = app.exit(error);
      return false;
    }
    out_exit = wrongUsage(std::string(error.what()) + "; see sp-run --help");
    return false;
  }
  for (const char *name : {"--steps", "--feed", "--device"})
    if (app.count(name) > 0) {
      out_exit = wrongUsage(std::string("option \"") + name +
                            "\" is not available yet");
      return false;
    }
  options.explicitRepeat = repeat->count() > 0;
  out_exit = checkOptions(options);
  return out_exit < 0;
}
