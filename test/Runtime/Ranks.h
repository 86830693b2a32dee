/// Runs a body on every rank of a communicator: of "thread", "socket", and over
/// emulated devices "local" and "nccl", for several numbers of ranks; or, under
/// mpirun, on this process's rank of "mpi".
#ifndef SP_TEST_RUNTIME_RANKS_H
#define SP_TEST_RUNTIME_RANKS_H

#include "communicator/Collectives.h"

#include <functional>
#include <string>

namespace sprt::test {

bool underMpi();

/// Of communicators that this process has all ends of.
std::vector<std::string> kinds();

std::vector<std::unique_ptr<Communicator>> connect(const std::string &kind,
                                                   int64_t ranks);

/// Runs `body` on every rank and expects success; but not of a communicator
/// that does not do what the test is about.
void onRanks(const std::function<Status(Communicator &)> &body,
             double timeout = 60, const std::string &except = "");

/// A port of this machine that nobody listens on.
int freePort();

/// All of a vector's memory.
template <typename T> Message whole(std::vector<T> &data) {
  return denseMessage(data.data(),
                      static_cast<int64_t>(data.size() * sizeof(T)));
}

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_RANKS_H
