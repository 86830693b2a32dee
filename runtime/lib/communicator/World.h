/// The processes of a run, each of them one rank, and how they talk to each
/// other on the host: what a session needs beside the transfers of its plan.
#ifndef SPRT_LIB_COMMUNICATOR_WORLD_H
#define SPRT_LIB_COMMUNICATOR_WORLD_H

#include "communicator/Communicator.h"

#include <atomic>

namespace sprt {

class World : public std::enable_shared_from_this<World> {
public:
  virtual ~World() = default;

  /// Numbers ranks anew: `numbers` has the process of each. Fails where other
  /// sessions are open (`isShared`) and have other numbers.
  Status number(std::vector<int64_t> numbers, bool isShared);

  int64_t rank = 0;
  int64_t ranks = 1;
  /// Among the processes of this machine; -1 where nobody says.
  int64_t localRank = -1;
  int64_t localRanks = 1;

  /// What to call the processes, and what starts so many of them.
  virtual const char *kind() const = 0;
  virtual std::string starter(int64_t processes) const = 0;
  /// This rank's end of a communicator for memory of the host.
  virtual std::unique_ptr<Communicator> endpoint() = 0;

  /// Tells every other process that the run has ended, unless another process
  /// has told them: who was ended by it is not to blame.
  void announceFailure();
  /// Whether another process has said so, or has died.
  virtual bool failureAnnounced() = 0;
  /// The rank of the first that did, or -1.
  int64_t culprit() const;

protected:
  void join(int64_t number, int64_t processes);
  int64_t rankOf(int64_t number) const;
  virtual void tellOthers() = 0;

  int64_t process = 0;
  std::vector<int64_t> processOf;     ///< by rank
  std::atomic<int64_t> announcer{-1}; ///< a process
  std::atomic<bool> failing{false};
};

/// The world that a launcher has started this process in: mpirun's, or that of
/// RANK, WORLD_SIZE and the like. `limit`: for the others to come.
Status openWorld(std::chrono::duration<double> limit,
                 std::shared_ptr<World> &out_world);

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_WORLD_H
