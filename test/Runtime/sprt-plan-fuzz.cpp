//===- sprt-plan-fuzz.cpp - Plans with wrong numbers ----------------------===//
//
//   sprt-plan-fuzz [--runs=N] [--seed=S] [--first=I] [--verbose] ARTIFACT...
//
// Changes one to three numbers of each artifact's plan, loads it with the
// artifact's kernels, and runs what loads: a status is as good as a result. A
// fault says which numbers it was, and a run that does not end is a fault.
//
//===----------------------------------------------------------------------===//

#include "PlanFields.h"
#include "program/Program.h"
#include "sprt/artifact.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace sprt;

namespace {

struct Options {
  int64_t runs = 100, seed = 1, first = 0;
  bool isVerbose = false;
  std::vector<std::string> artifacts;
};

/// What is under way, for whoever dies of it.
char doing[1024];

void onSignal(int signal) {
  (void)!write(STDERR_FILENO, doing, std::strlen(doing));
  const char *what =
      signal == SIGALRM ? ": does not end\n" : ": ends by a signal\n";
  (void)!write(STDERR_FILENO, what, std::strlen(what));
  _exit(1);
}

using Random = std::mt19937_64;

/// A number unlike the one that was there, most often close to it or to where
/// numbers end.
int64_t other(int64_t was, Random &random) {
  auto any = [&](uint64_t below) {
    return static_cast<int64_t>(random() % below);
  };
  auto u = static_cast<uint64_t>(was);
  switch (any(12)) {
  case 0:
    return any(4);
  case 1:
    return -1 - any(3);
  case 2:
    return static_cast<int64_t>(u + 1);
  case 3:
    return static_cast<int64_t>(u - 1);
  case 4:
    return static_cast<int64_t>(u * 2);
  case 5:
    return was / 2;
  case 6:
    return static_cast<int64_t>(u + 64);
  case 7:
    return static_cast<int64_t>(u - 64);
  case 8:
    return static_cast<int64_t>(uint64_t(1) << any(64)) - any(2);
  case 9:
    return any(4096);
  case 10:
    return static_cast<int64_t>(u * static_cast<uint64_t>(3 + any(30)));
  default:
    return static_cast<int64_t>(random());
  }
}

class Artifact {
public:
  bool open(const std::string &file) {
    path = file[0] == '/' ? file : "./" + file;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const void *size = library ? dlsym(library, kPlanSizeSymbol) : nullptr;
    if (!size)
      return false;
    uint64_t count = 0;
    std::memcpy(&count, size, sizeof count);
    std::vector<algebra::Layout> layouts;
    Status failure =
        unpackPlan(dlsym(library, kPlanSymbol), count, nullptr, plan, layouts);
    if (failure)
      return false;
    bytes = test::writtenOut(*plan);
    std::map<std::string, std::vector<test::Field>> byName;
    for (test::Field &field : test::fieldsOf(bytes))
      byName[field.name].push_back(field);
    for (auto &entry : byName)
      fields.push_back(std::move(entry.second));
    return true;
  }

  /// One change; whether it loaded, and whether it ran to its end.
  void run(Random random, const Options &options, int64_t number) {
    std::vector<uint8_t> changed = bytes;
    std::string what = path + " " + std::to_string(number);
    for (int64_t left = 1 + std::max<int64_t>(0, int64_t(random() % 6) - 3);
         left > 0; --left)
      what += change(changed, random);
    std::snprintf(doing, sizeof doing, "%s", what.c_str());
    alarm(20);
    std::string text = runPlan(changed);
    alarm(0);
    if (options.isVerbose)
      std::printf("%s: %s\n", doing, text.c_str());
  }

  int64_t refused = 0, failed = 0, ran = 0, skipped = 0;

private:
  std::string change(std::vector<uint8_t> &changed, Random &random) {
    const std::vector<test::Field> &alike = fields[random() % fields.size()];
    const test::Field &field = alike[random() % alike.size()];
    uint8_t *at = changed.data() + field.at;
    int64_t was = 0;
    std::memcpy(&was, at, field.bytes);
    int shift = static_cast<int>(64 - 8 * field.bytes);
    was = static_cast<int64_t>(static_cast<uint64_t>(was) << shift) >> shift;
    int64_t now = field.bytes == 1 && random() % 4 != 0
                      ? static_cast<int64_t>(random() % 16)
                      : other(was, random);
    std::memcpy(at, &now, field.bytes);
    return ", " + field.name + " " + std::to_string(was) + " -> " +
           std::to_string(now);
  }

  std::string runPlan(const std::vector<uint8_t> &changed) {
    sprt_program program;
    auto known = std::make_unique<Signatures>();
    const auto *table =
        static_cast<const std::byte *>(dlsym(library, kSignaturesSymbol));
    uint32_t size = 0;
    std::memcpy(&size, table, sizeof size);
    Status failure = known->read(table, sizeof size + size);
    auto lookup = [](const char *symbol, void *context) {
      return reinterpret_cast<sprt_kernel>(dlsym(context, symbol));
    };
    if (!failure)
      failure = program.create(changed.data(), changed.size(),
                               dlsym(library, kConstantsSymbol), lookup,
                               library, std::move(known));
    // What Artifact.cpp asks of an artifact's data.
    if (!failure && program.plan->constant_bytes > plan->constant_bytes)
      failure = fail(SPRT_DAMAGED) << "too few constants";
    if (failure) {
      ++refused;
      return "refused: " + failure->text;
    }
    return runProgram(program);
  }

  std::string runProgram(const sprt_program &program) {
    std::vector<std::vector<std::byte>> data;
    std::vector<sprt_array> inputs, results;
    constexpr int64_t most = int64_t(1) << 26;
    int64_t total = 0;
    for (const auto *list : {&program.inputs, &program.results})
      for (const ParameterInfo &info : *list) {
        int64_t bytes = static_cast<int64_t>(sprt_dtype_size(info.dtype));
        for (int64_t each : info.shape)
          bytes = std::min(most, bytes) * std::min(most, each);
        if ((total += bytes) > most)
          return ++skipped, "too large";
        auto &array =
            (list == &program.inputs ? inputs : results).emplace_back();
        data.emplace_back(static_cast<size_t>(bytes) + 1);
        array = {sizeof array, info.dtype,
                 static_cast<int32_t>(info.shape.size()), info.shape.data(),
                 data.back().data()};
      }
    for (size_t i = 0; i < inputs.size(); ++i)
      sprt_status_free(sprt_array_fill_random(&inputs[i], 1, i, 0, 7));
    sprt_session_options options;
    sprt_session_options_init(&options);
    options.threads_per_rank = 1;
    if (program.isForDevice())
      options.device = "emulated";
    options.timeout_seconds = 0.05;
    sprt_session *session = nullptr;
    sprt_status *status = sprt_session_create(&program, &options, &session);
    if (!status)
      status = sprt_session_run(
          session, inputs.data(), static_cast<int64_t>(inputs.size()),
          results.data(), static_cast<int64_t>(results.size()));
    sprt_session_free(session);
    ++(status ? failed : ran);
    std::string text = status ? sprt_status_text(status) : "ran";
    sprt_status_free(status);
    return text;
  }

  std::string path;
  void *library = nullptr;
  std::unique_ptr<plan::PlanT> plan;
  std::vector<uint8_t> bytes;
  /// Those of one name together: most are parts of expressions.
  std::vector<std::vector<test::Field>> fields;
};

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto takes = [&](const char *name, int64_t &value) {
      std::string prefix = std::string("--") + name + "=";
      if (argument.rfind(prefix, 0) != 0)
        return false;
      value = std::atoll(argument.c_str() + prefix.size());
      return true;
    };
    if (takes("runs", options.runs) || takes("seed", options.seed) ||
        takes("first", options.first))
      continue;
    if (argument == "--verbose")
      options.isVerbose = true;
    else
      options.artifacts.push_back(argument);
  }
  return !options.artifacts.empty();
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options))
    return 2;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
    std::signal(signal, onSignal);
  // No plan makes a machine swap.
  rlimit memory = {rlim_t(8) << 30, rlim_t(8) << 30};
  setrlimit(RLIMIT_AS, &memory);
  for (const std::string &path : options.artifacts) {
    Artifact artifact;
    if (!artifact.open(path)) {
      std::fprintf(stderr, "sprt-plan-fuzz: error: cannot load %s\n",
                   path.c_str());
      return 2;
    }
    for (int64_t number = options.first; number < options.first + options.runs;
         ++number)
      artifact.run(
          Random(static_cast<uint64_t>(options.seed * 1000003 + number)),
          options, number);
    std::printf(
        "%s: %lld refused, %lld ended by a status, %lld ran, %lld too large\n",
        path.c_str(), static_cast<long long>(artifact.refused),
        static_cast<long long>(artifact.failed),
        static_cast<long long>(artifact.ran),
        static_cast<long long>(artifact.skipped));
  }
  return 0;
}
