/// What the command line of sp-run says.
#ifndef SP_RUN_OPTIONS_H
#define SP_RUN_OPTIONS_H

#include <cstdint>
#include <string>

struct Options {
  std::string program;
  std::string inputs;
  int64_t seed = -1; ///< of random inputs; -1: none
  std::string intRange = "0..63";
  int64_t intLow = 0;
  int64_t intHigh = 63;
  std::string saveInputs;
  std::string outputs;
  std::string check;
  double rtol = -1; ///< -1: by element type
  double atol = 0;
  std::string communicator;
  std::string executor = "cpu";
  int threads = 0;
  double timeout = 300;
  std::string inject;
  int64_t injectRank = -1;
  int64_t injectCommand = 0;
  bool injectStall = false;
  int repeat = 1;
  int warmup = 0;
  std::string trace;
  std::string report;
  bool explicitRepeat = false;
};

/// How the command line ends.
enum ExitCode { kDone = 0, kFailed = 1, kWrongUsage = 2 };

/// Fills in `options`. False when there is nothing to run: `out_exit` says why,
/// and the text has been printed.
bool parseOptions(int argc, char **argv, Options &options, int &out_exit);

#endif // SP_RUN_OPTIONS_H
