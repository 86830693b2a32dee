#include "Ranks.h"

#include "communicator/LocalCommunicator.h"
#include "communicator/MpiWorld.h"
#include "device/EmulatedDevice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace sprt::test {

bool underMpi() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr; }

std::vector<std::unique_ptr<Communicator>> connect(const std::string &kind,
                                                   int64_t ranks) {
  std::vector<std::unique_ptr<Communicator>> ends;
  if (kind == "thread") {
    auto group = std::make_shared<ThreadGroup>(ranks);
    for (int64_t rank = 0; rank < ranks; ++rank)
      ends.push_back(std::make_unique<ThreadCommunicator>(group, rank, ranks));
    return ends;
  }
  auto device = std::make_shared<EmulatedDevice>(/*seed=*/1);
  std::shared_ptr<ThreadGroup> group = localGroup(ranks, device);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    auto streams = std::make_shared<RankStreams>();
    for (std::unique_ptr<Device::Stream> &stream : *streams)
      EXPECT_FALSE(device->createStream(rank, stream));
    ends.push_back(std::make_unique<LocalCommunicator>(group, rank, ranks,
                                                       device, streams));
  }
  return ends;
}

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
  for (const char *kind : {"thread", "local"})
    for (int64_t ranks : {1, 2, 3, 5}) {
      SCOPED_TRACE(std::string(kind) + ", " + std::to_string(ranks) + " ranks");
      std::vector<std::unique_ptr<Communicator>> ends = connect(kind, ranks);
      std::vector<std::thread> threads;
      for (auto &end : ends)
        threads.emplace_back([&] { run(*end); });
      for (std::thread &thread : threads)
        thread.join();
    }
}

} // namespace sprt::test
