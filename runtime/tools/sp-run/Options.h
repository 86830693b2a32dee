/// What the command line of sp-run says.
#ifndef SP_RUN_OPTIONS_H
#define SP_RUN_OPTIONS_H

#include "CommandLine.h"

using namespace sprt::tools;

/// Results in a row that feed as many inputs.
struct Feed {
  int64_t result = 0;
  int64_t input = 0;
  int64_t count = 1;
};

struct Options : DataOptions {
  std::string program;
  std::string check;
  double rtol = -1; ///< -1: by element type
  double atol = 0;
  std::string communicator; ///< empty: the program's own
  std::string executor;     ///< empty: what the program is for
  std::string device;       ///< empty: the first
  std::string far;          ///< directory of far memory; empty: memory
  int64_t farLimit = 0;     ///< 0: any
  int threads = 0;
  double timeout = 0; ///< 0: not given
  std::string inject;
  int64_t injectRank = -1;
  int64_t injectCommand = 0;
  bool injectStall = false;
  int64_t steps = 0; ///< 0: no training
  std::string feed;
  std::vector<Feed> feeds;
  std::string save, load; ///< folders of checkpoints
  int repeat = 1;
  int warmup = 0;
  std::string trace, svg;
  std::string report, batchReport;
  bool explicitRepeat = false;
};

/// Fills in `options`. False when there is nothing to run: `out_exit` says why,
/// and the text has been printed.
bool parseOptions(int argc, char **argv, Options &options, int &out_exit);

/// Where none is given, the one that what has started this process suggests.
/// What is wrong with that, or "".
std::string chooseCommunicator(bool onGpus, Options &options);

#endif // SP_RUN_OPTIONS_H
