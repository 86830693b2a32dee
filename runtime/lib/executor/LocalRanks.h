/// How a session comes to its ranks: communicator and executor.
#ifndef SPRT_LIB_EXECUTOR_LOCALRANKS_H
#define SPRT_LIB_EXECUTOR_LOCALRANKS_H

#include "executor/Rank.h"
#include "sprt/sprt.h"

namespace sprt {

class World;

/// The ranks of a program in this process.
struct LocalRanks {
  std::shared_ptr<World> world; ///< null where all ranks are threads
  /// They are gone before the world that carries their messages.
  std::vector<std::unique_ptr<Rank>> ranks;
  bool sharesCores = false; ///< ranks of this process outnumber its cores

  bool distributed() const { return world != nullptr; }
};

/// Longest time limit in seconds: what a condition variable can still count.
inline constexpr int64_t kLongestTimeout = 1'000'000;
/// How long a rank waits for another one.
std::chrono::duration<double> limitOf(const sprt_session_options &options);

/// Which communicator runs the program, if options and program agree.
Status chooseCommunicator(const Program &program,
                          const sprt_session_options &options,
                          std::string &out_communicator);
/// `control` outlives the ranks. After a failure `out_local` has the world, if
/// there is one, and some of the ranks.
Status openRanks(const Program &program, const sprt_session_options &options,
                 const std::string &communicator, RunControl &control,
                 LocalRanks &out_local);
/// Those of a program for devices: all of them on one, or one of them on this
/// process's own.
Status openOnDevice(const Program &program, const sprt_session_options &options,
                    RunControl &control, LocalRanks &out_local);

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_LOCALRANKS_H
