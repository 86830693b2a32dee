#include "communicator/World.h"

#include "communicator/MpiWorld.h"
#include "communicator/SocketWorld.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace sprt {

void World::join(int64_t number, int64_t processes) {
  rank = process = number;
  ranks = processes;
  processOf.resize(static_cast<size_t>(processes));
  std::iota(processOf.begin(), processOf.end(), 0);
}

Status World::number(std::vector<int64_t> numbers, bool isShared) {
  if (numbers != processOf && isShared)
    return fail(SPRT_UNSUPPORTED)
           << "another program with other placement of its ranks is open; "
              "close it first";
  processOf = std::move(numbers);
  rank = rankOf(process);
  return Status::success();
}

int64_t World::rankOf(int64_t number) const {
  return std::find(processOf.begin(), processOf.end(), number) -
         processOf.begin();
}

void World::announceFailure() {
  if (!failing.exchange(true) && !failureAnnounced())
    tellOthers();
}

int64_t World::culprit() const {
  int64_t first = announcer.load();
  return first < 0 ? -1 : rankOf(first);
}

Status openWorld(std::chrono::duration<double> limit,
                 std::shared_ptr<World> &out_world) {
  if (std::getenv("OMPI_COMM_WORLD_SIZE"))
    return MpiWorld::open(out_world);
  return SocketWorld::open(limit, out_world);
}

} // namespace sprt
