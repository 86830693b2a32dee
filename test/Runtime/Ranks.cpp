#include "Ranks.h"

#include "communicator/MpiWorld.h"
#include "communicator/ThreadCommunicator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace sprt::test {

bool underMpi() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr; }

void onRanks(const std::function<Status(Communicator &)> &body,
             double timeout) {
  auto run = [&](Communicator &communicator) {
    communicator.timeout = std::chrono::duration<double>(timeout);
    communicator.beginRun(true);
    Status failure = body(communicator);
    EXPECT_FALSE(failure) << "rank " << communicator.rank() << ": "
                          << failure->text;
  };
  if (underMpi()) {
    std::shared_ptr<MpiWorld> world;
    Status failure = MpiWorld::open(world);
    ASSERT_FALSE(failure) << failure->text;
    static MpiCommunicator communicator(world);
    run(communicator);
    return;
  }
  for (int64_t ranks : {1, 2, 3, 5}) {
    auto group = std::make_shared<ThreadGroup>(ranks);
    std::vector<std::thread> threads;
    for (int64_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        ThreadCommunicator communicator(group, rank, ranks);
        run(communicator);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
}

} // namespace sprt::test
