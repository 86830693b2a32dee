/// What the command lines of all tools share.
#ifndef SPRT_TOOLS_COMMON_COMMANDLINE_H
#define SPRT_TOOLS_COMMON_COMMANDLINE_H

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>

namespace sprt::tools {

/// How a tool ends: done, the input or a check failed, or wrong usage.
enum ExitCode { kDone = 0, kFailed = 1, kWrongUsage = 2 };

/// Reads a whole number; false for what is none, or needs more than 64 bits.
bool parseNumber(const std::string &text, int64_t &out_number);

/// "1.5GiB", "512MB", "4096": a positive size in bytes.
std::optional<int64_t> parseBytes(const std::string &text);

/// Checks of numbers whose bounds CLI11's own would print in 309 digits.
CLI::Validator notNegative();
CLI::Validator positive();

/// Where arguments come from and results go.
struct DataOptions {
  std::string inputs;
  std::optional<uint64_t> seed; ///< of random inputs
  std::string intRange = "0..63";
  int64_t intLow = 0;
  int64_t intHigh = 63;
  std::string saveInputs;
  std::string outputs;
};
void addDataOptions(CLI::App &app, DataOptions &options);
/// What is wrong with them together, or "".
std::string checkDataOptions(DataOptions &options);

/// "expected a name that ends in ..." if `file` is neither empty nor such a
/// name, or "".
std::string checkArrayFile(const std::string &file);

/// What keeps one of these files from being written, or from being kept when
/// the others are, or "", as where it would replace one that is `read` or lies
/// in the folder of one of these `checkpoints`; those without a name are passed
/// over. To be asked before work that they would end.
std::string checkOutputs(std::initializer_list<std::string> files,
                         std::initializer_list<std::string> read,
                         std::initializer_list<std::string> checkpoints = {});

/// Ends output that was printed: `status`, or kFailed after a diagnostic where
/// some of it was lost, as another stream than stdout may know.
int finishPrinting(const char *tool, int status, std::error_code lost = {});

/// Parses a command line; returns the exit status if there is nothing to run,
/// and has then printed why. An unknown option is told before a missing one.
std::optional<int> parseCommandLine(CLI::App &app, int argc, char **argv);

/// Prints "TOOL: error: TEXT" on stderr and returns `status`.
int refuse(const CLI::App &app, const std::string &text,
           int status = kWrongUsage);

} // namespace sprt::tools

#endif // SPRT_TOOLS_COMMON_COMMANDLINE_H
