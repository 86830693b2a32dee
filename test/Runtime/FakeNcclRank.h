/// A rank of the double of NCCL, FakeNccl.cpp: how its bytes travel, over
/// sockets of this machine with names made of the communicator's.
#ifndef SP_TEST_RUNTIME_FAKENCCLRANK_H
#define SP_TEST_RUNTIME_FAKENCCLRANK_H

#include "device/EmulatedStream.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nccl.h>

namespace sprt::test {

class Connection {
public:
  Connection() = default;
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;
  ~Connection();
  bool isOpen() const { return socket >= 0; }
  /// As many bytes as may be moved now.
  size_t write(const void *data, size_t bytes) const;
  size_t read(void *data, size_t bytes) const;

  int socket = -1;
};

/// A send or receive: the size, as many bytes, and back whether sizes agree.
struct Operation {
  bool sends;
  int peer;
  char *data;
  uint64_t bytes;
  uint64_t theirs = 0;
  size_t moved = 0; ///< of what the phase moves
  enum { size, content, answer, done } phase = size;
};

struct FakeRank {
  std::string id;
  int rank = 0, ranks = 1;
  std::mutex calling; ///< free, or the caller breaks a rule
  std::mutex working; ///< of what follows
  std::vector<std::unique_ptr<Connection>> to, from; ///< by peer
  Connection listener;
  std::vector<Operation> group; ///< has ended, but not started
  EmulatedStream *stream = nullptr;
  int groups = 0, running = 0;
  bool aborted = false, finalized = false;
  ncclResult_t error = ncclSuccess;

  /// Listens; false where another has its number.
  bool listen();
  /// Looks once for the peers that are missing.
  void connect();
  bool connected() const;
  /// False once nothing of it can go on for now.
  bool move(Operation &operation);
  bool progress(std::vector<Operation> &operations);
};

/// What the group that has ended puts on its stream.
std::function<bool()> workOf(const std::shared_ptr<FakeRank> &self);

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_FAKENCCLRANK_H
