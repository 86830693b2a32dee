/// MPI as this runtime uses it: Open MPI's library, opened at run time.
///
/// Nothing of MPI is needed to build; a machine without it gets a status. The
/// few constants below are Open MPI's binary interface, unchanged from 1.8
/// to 5.0; another MPI lacks its symbols and is refused.
#ifndef SPRT_LIB_COMMUNICATOR_MPIWORLD_H
#define SPRT_LIB_COMMUNICATOR_MPIWORLD_H

#include "communicator/World.h"

#include <map>
#include <mutex>

namespace sprt {

class MpiWorld : public World {
public:
  using Handle =
      void *; ///< MPI_Comm, MPI_Datatype and MPI_Request are pointers

  /// Opens the library and initialises MPI, once per process.
  static Status open(std::shared_ptr<World> &out_world);
  ~MpiWorld() override;

  const char *kind() const override { return "MPI processes"; }
  std::string starter(int64_t processes) const override {
    return "mpirun -n " + std::to_string(processes);
  }
  std::unique_ptr<Communicator> endpoint() override;
  bool failureAnnounced() override;

  /// Non-blocking transfers of at most 2^30 bytes.
  Status send(const void *data, int64_t bytes, int64_t peer, int tag,
              Handle &out_request);
  Status receive(void *data, int64_t bytes, int64_t peer, int tag,
                 Handle &out_request);
  /// Whether the transfer is complete; a receive tells how many bytes came.
  Status test(Handle &request, bool &out_done, int64_t &out_bytes);

private:
  struct Symbols;
  struct MpiStatus {
    int source, tag, error, cancelled;
    size_t bytes;
  };

  MpiWorld() = default;
  Status load();
  Status initialise();
  Status check(int code, const char *call) const;
  void tellOthers() override;

  std::unique_ptr<Symbols> mpi;
  Handle world = nullptr;
  Handle byteType = nullptr;
  /// Held around calls where the library does not allow several threads at
  /// once.
  std::mutex serial;
  bool concurrent = false;
};

/// One process is one rank. Waiting polls MPI with growing pauses, up to a
/// millisecond, so that a waiting rank leaves its core to others.
class MpiCommunicator : public Communicator {
public:
  explicit MpiCommunicator(std::shared_ptr<MpiWorld> world)
      : Communicator(world->rank, world->ranks), world(std::move(world)) {}

  void interrupt() override;

protected:
  Status postSend(int64_t peer, int channel, Message message,
                  RequestPtr &out_request) override;
  Status postReceive(int64_t peer, int channel, Message message,
                     RequestPtr &out_request) override;
  Status finish(Request &request) override;

private:
  Status post(bool sends, int64_t peer, int channel, Message message,
              RequestPtr &out_request);

  std::shared_ptr<MpiWorld> world;
  std::atomic<bool> stopped{false};
  std::map<int64_t, int64_t> sequences[kChannels][2]; ///< receives, sends
};

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_MPIWORLD_H
