/// A world of processes that a launcher has started with a rank each, as
/// torchrun does: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT.
///
/// Process 0 listens, the others connect to it, and messages between two of
/// those pass through it. A thread of each process takes in whatever comes, so
/// that a send is done when it is on its way. It is for what a session says
/// beside its plan, which is little.
///
///     1 ──┐
///     2 ──0      2 to 1: 2, 0, 1
///     3 ──┘
///
/// A connection that ends without a farewell means that its process has died,
/// which process 0 tells the others.
#ifndef SPRT_LIB_COMMUNICATOR_SOCKETWORLD_H
#define SPRT_LIB_COMMUNICATOR_SOCKETWORLD_H

#include "communicator/Rendezvous.h"
#include "communicator/World.h"

#include <condition_variable>
#include <thread>

namespace sprt {

class SocketWorld : public World {
public:
  using Limit = std::chrono::duration<double>;

  /// Joins the world of the environment, once per process.
  static Status open(Limit limit, std::shared_ptr<World> &out_world);
  /// Returns once everybody is there.
  static Status join(const ProcessAddress &address, Limit limit,
                     std::shared_ptr<World> &out_world);
  ~SocketWorld() override;

  const char *kind() const override { return "processes"; }
  std::string starter(int64_t processes) const override {
    return "torchrun --no-python --nproc-per-node=" + std::to_string(processes);
  }
  std::unique_ptr<Communicator> endpoint() override;
  bool failureAnnounced() override { return announcer.load() >= 0; }

  Status send(int64_t peer, int channel, const Message &message, Limit limit);
  /// The number of the next message that this rank will ask for.
  int64_t expect(int64_t peer, int channel);
  enum Outcome { arrived, late, gone, failed };
  /// Sleeps until that message is there. `gone`: its sender is done.
  Outcome receive(int64_t peer, int channel, int64_t number, Limit limit,
                  std::vector<std::byte> &out_bytes);
  /// Ends every wait.
  void interrupt();

private:
  /// Sender, channel, number.
  using Key = std::tuple<int64_t, int, int64_t>;

  SocketWorld() = default;
  /// The thread that takes frames in.
  void serve();
  void take(int64_t from, Frame frame, std::vector<std::byte> payload);
  /// Process 0 passes on to all others what `frame` says of another.
  void spread(const Frame &frame);
  void lose(int64_t process);
  void tellOthers() override;
  /// Sends to a process, through 0.
  Status post(const Frame &frame, const void *data, Limit limit);
  Link &linkTo(int64_t other) { return *links[process == 0 ? other : 0]; }

  Links links;
  std::mutex mutex; ///< of what follows
  std::condition_variable changed;
  std::map<Key, std::vector<std::byte>> inbox;
  std::map<std::pair<int64_t, int>, int64_t> delivered, expected;
  std::map<int64_t, bool> departed; ///< processes that are done
  bool stopped = false;
  std::atomic<bool> closing{false};
  std::thread server;
};

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_SOCKETWORLD_H
