#include "CommandLine.h"

#include "sprt/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>

namespace sprt::tools {

namespace {

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// "LOW..HIGH".
bool parseRange(const std::string &text, int64_t &low, int64_t &high) {
  size_t dots = text.find("..", 1);
  if (dots == std::string::npos)
    return false;
  return parseNumber(text.substr(0, dots), low) &&
         parseNumber(text.substr(dots + 2), high) && low <= high;
}

/// Where a file is or will be, by whatever links it is named; empty for what is
/// written through, in which one output may follow another.
std::filesystem::path placeOf(const std::string &file) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;
  std::error_code failed;
  fs::path at = file;
  if (fs::exists(at, failed) && !fs::is_regular_file(at, failed))
    return {};
  // A link may lead to what is not there yet.
  for (int links = 0; links < kMostLinks && fs::is_symlink(at, failed); ++links)
    at = at.parent_path() / fs::read_symlink(at, failed);
  return fs::weakly_canonical(fs::absolute(at, failed), failed);
}

/// Whether a place is a folder, or one of them lies in the other.
bool overlap(const std::string &folder, const std::filesystem::path &place) {
  namespace fs = std::filesystem;
  if (folder.empty())
    return false;
  std::error_code failed;
  fs::path home = fs::weakly_canonical(fs::absolute(folder, failed), failed);
  if (!home.has_filename()) // "DIR/"
    home = home.parent_path();
  auto [restOfHome, restOfPlace] =
      std::mismatch(home.begin(), home.end(), place.begin(), place.end());
  return restOfHome == home.end() || restOfPlace == place.end();
}

/// A number that `holds`, or "expected `what`".
CLI::Validator numberThat(bool (*holds)(double), const char *what) {
  return CLI::Validator(
      [=](const std::string &text) -> std::string {
        double number;
        if (CLI::detail::lexical_cast(text, number) && holds(number))
          return "";
        return std::string("expected ") + what + " but got \"" + text + "\"";
      },
      "");
}

/// What a seed can be: CLI11 itself takes the nearest to any number.
CLI::Validator seed() {
  return CLI::Validator(
      [](const std::string &text) -> std::string {
        uint64_t number = 0;
        errno = 0;
        if (text.find('-') == std::string::npos &&
            CLI::detail::lexical_cast(text, number) && errno != ERANGE)
          return "";
        return "expected a whole number from 0 to " +
               std::to_string(UINT64_MAX) + " but got \"" + text + "\"";
      },
      "");
}

} // namespace

std::optional<int64_t> parseBytes(const std::string &text) {
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  static constexpr std::pair<const char *, double> units[] = {
      {"", 1},
      {"B", 1},
      {"KiB", 1024.0},
      {"MiB", 1048576.0},
      {"GiB", 1073741824.0},
      {"TiB", 1099511627776.0},
      {"KB", 1e3},
      {"MB", 1e6},
      {"GB", 1e9},
      {"TB", 1e12}};
  for (auto [unit, factor] : units)
    if (double bytes = number * factor; end != text.c_str() &&
                                        unit == std::string(end) &&
                                        bytes >= 1 && bytes < 0x1p63)
      return static_cast<int64_t>(bytes);
  return std::nullopt;
}

bool parseNumber(const std::string &text, int64_t &out_number) {
  errno = 0;
  return CLI::detail::lexical_cast(text, out_number) && errno != ERANGE;
}

CLI::Validator notNegative() {
  return numberThat([](double x) { return x >= 0; }, "a number of at least 0");
}

CLI::Validator positive() {
  return numberThat([](double x) { return x > 0; }, "a number above 0");
}

void addDataOptions(CLI::App &app, DataOptions &options) {
  CLI::Option *inputs =
      app.add_option("--inputs", options.inputs,
                     "arrays arg0, arg1, … (.npz, .safetensors)")
          ->option_text("FILE")
          ->group("Data");
  app.add_option("--random-inputs", options.seed,
                 "reproducible inputs from this seed")
      ->check(seed())
      ->excludes(inputs)
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
}

std::string checkArrayFile(const std::string &file) {
  if (file.empty() || endsWith(file, ".npz") || endsWith(file, ".safetensors"))
    return "";
  return "expected a name that ends in .npz or .safetensors but got \"" + file +
         "\"";
}

std::string checkDataOptions(DataOptions &options) {
  if (!parseRange(options.intRange, options.intLow, options.intHigh))
    return "expected --int-range=LOW..HIGH, numbers of 64 bits, but got \"" +
           options.intRange + "\"";
  // Known before a long run, not after it.
  for (const std::string *file :
       {&options.inputs, &options.saveInputs, &options.outputs})
    if (std::string wrong = checkArrayFile(*file); !wrong.empty())
      return wrong;
  return "";
}

std::string checkOutputs(std::initializer_list<std::string> files,
                         std::initializer_list<std::string> read,
                         std::initializer_list<std::string> checkpoints) {
  std::map<std::filesystem::path, std::string> places, sources;
  for (const std::string &file : read)
    if (!file.empty())
      sources.emplace(placeOf(file), file);
  for (const std::string &file : files) {
    if (file.empty())
      continue;
    if (sprt_status *status = sprt_file_check(file.c_str())) {
      std::string text = sprt_status_text(status);
      sprt_status_free(status);
      return text;
    }
    std::filesystem::path place = placeOf(file);
    if (place.empty())
      continue;
    for (const std::string &folder : checkpoints)
      if (overlap(folder, place))
        return "expected outputs outside of the checkpoint \"" + folder +
               "\" but got \"" + file +
               "\"; write it elsewhere, or have the checkpoint in a folder of "
               "its own";
    if (auto source = sources.find(place); source != sources.end())
      return "expected files for outputs that are not read but got \"" + file +
             "\", which is \"" + source->second + "\"";
    auto [other, isNew] = places.emplace(place, file);
    if (!isNew)
      return "expected a file for each output but got \"" + other->second +
             "\" and \"" + file + "\", which are the same";
  }
  return "";
}

/// CLI11 takes `--flag=anything` for the flag, or for a number of them.
static void refuseValuesOfFlags(CLI::App &app) {
  for (CLI::Option *option : app.get_options())
    if (option->get_items_expected_max() == 0)
      option->disable_flag_override();
  for (CLI::App *group : app.get_subcommands({}))
    refuseValuesOfFlags(*group);
}

int finishPrinting(const char *tool, int status, std::error_code lost) {
  if (!lost && (std::fflush(stdout) != 0 || std::ferror(stdout)))
    lost = std::error_code(errno, std::generic_category());
  if (!lost)
    return status;
  std::fprintf(stderr, "%s: error: standard output: cannot be written: %s\n",
               tool, lost.message().c_str());
  return kFailed;
}

int refuse(const CLI::App &app, const std::string &text, int status) {
  std::fprintf(stderr, "%s: error: %s\n", app.get_name().c_str(), text.c_str());
  return status;
}

std::optional<int> parseCommandLine(CLI::App &app, int argc, char **argv) {
  std::string help = "; see " + app.get_name() + " --help";
  std::string wrong;
  app.allow_extras();
  refuseValuesOfFlags(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    wrong = error.what();
  }
  if (std::vector<std::string> rest = app.remaining(); !rest.empty()) {
    bool isOption = rest.front().rfind("-", 0) == 0;
    wrong =
        (isOption ? "unknown option '" : "unexpected '") + rest.front() + "'";
  }
  if (!wrong.empty())
    return refuse(app, wrong + help);
  return std::nullopt;
}

} // namespace sprt::tools
