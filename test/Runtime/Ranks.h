/// Runs a body on every rank of a communicator: on threads for several numbers
/// of ranks, or, under mpirun, on this process's rank of "mpi".
#ifndef SP_TEST_RUNTIME_RANKS_H
#define SP_TEST_RUNTIME_RANKS_H

#include "communicator/Collectives.h"

#include <functional>

namespace sprt::test {

bool underMpi();

/// Runs `body` on every rank and expects success.
void onRanks(const std::function<Status(Communicator &)> &body,
             double timeout = 60);

/// All of a vector's memory.
template <typename T> Message whole(std::vector<T> &data) {
  return denseMessage(data.data(),
                      static_cast<int64_t>(data.size() * sizeof(T)));
}

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_RANKS_H
