#include "Ranks.h"

#include "communicator/LocalCommunicator.h"
#include "communicator/MpiWorld.h"
#include "communicator/SocketWorld.h"
#include "device/EmulatedDevice.h"
#ifdef SP_FAKE_NCCL
#include "communicator/NcclCommunicator.h"
#endif

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sprt::test {

namespace {

using Ends = std::vector<std::unique_ptr<Communicator>>;

std::shared_ptr<RankStreams>
createStreams(const std::shared_ptr<Device> &device, int64_t rank) {
  auto streams = std::make_shared<RankStreams>();
  for (std::unique_ptr<Device::Stream> &stream : *streams)
    EXPECT_FALSE(device->createStream(rank, stream));
  return streams;
}

/// A rank of "socket" or "nccl".
std::unique_ptr<Communicator> joinAs(const std::string &kind,
                                     const ProcessAddress &address) {
  std::shared_ptr<World> world;
  Status failure = SocketWorld::join(address, std::chrono::seconds(30), world);
  EXPECT_FALSE(failure) << failure->text;
  if (failure || kind == "socket")
    return failure ? nullptr : world->endpoint();
#ifdef SP_FAKE_NCCL
  auto device = std::make_shared<EmulatedDevice>(/*seed=*/1);
  auto end = std::make_unique<NcclCommunicator>(
      world, device, createStreams(device, address.process));
  end->timeout = std::chrono::seconds(30);
  failure = end->connect({kComputeChannel, kCommChannel, kBackChannel},
                         /*emulated=*/true);
  EXPECT_FALSE(failure) << failure->text;
  // Of 4 processors, those are taken that have blocks beside attention's.
  EXPECT_EQ(device->blocksAtOnce(0), address.processes > 1 ? 2 : 4);
  return end;
#else
  return nullptr;
#endif
}

Ends joinAll(const std::string &kind, int64_t ranks) {
  Ends ends(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  ProcessAddress address;
  address.processes = ranks;
  address.host = "127.0.0.1";
  address.port = freePort();
  for (std::unique_ptr<Communicator> &end : ends) {
    threads.emplace_back(
        [&end, &kind, address] { end = joinAs(kind, address); });
    ++address.process;
  }
  for (std::thread &thread : threads)
    thread.join();
  return ends;
}

Ends share(int64_t ranks) {
  Ends ends;
  auto device = std::make_shared<EmulatedDevice>(/*seed=*/1);
  std::shared_ptr<ThreadGroup> group = localGroup(ranks, device);
  for (int64_t rank = 0; rank < ranks; ++rank)
    ends.push_back(std::make_unique<LocalCommunicator>(
        group, rank, ranks, device, createStreams(device, rank)));
  return ends;
}

} // namespace

bool underMpi() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr; }

std::vector<std::string> kinds() {
  std::vector<std::string> all = {"thread", "local", "socket"};
#ifdef SP_FAKE_NCCL
  // The double is known by its name, libnccl.so.2, before anybody asks for it.
  static void *library = dlopen(SP_FAKE_NCCL, RTLD_NOW);
  EXPECT_TRUE(library) << dlerror();
  for (const char *name : {"NCCL_MAX_CTAS", "FAKE_NCCL_CTAS"})
    setenv(name, "1", /*overwrite=*/1);
  all.emplace_back("nccl");
#endif
  return all;
}

int freePort() {
  int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto *general = reinterpret_cast<sockaddr *>(&address);
  EXPECT_EQ(bind(probe, general, length), 0);
  EXPECT_EQ(getsockname(probe, general, &length), 0);
  close(probe);
  return ntohs(address.sin_port);
}

Ends connect(const std::string &kind, int64_t ranks) {
  if (kind == "local")
    return share(ranks);
  if (kind != "thread")
    return joinAll(kind, ranks);
  Ends ends;
  auto group = std::make_shared<ThreadGroup>(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank)
    ends.push_back(std::make_unique<ThreadCommunicator>(group, rank, ranks));
  return ends;
}

void onRanks(const std::function<Status(Communicator &)> &body, double timeout,
             const std::string &except) {
  auto run = [&](Communicator &communicator) {
    communicator.timeout = std::chrono::duration<double>(timeout);
    communicator.beginRun(true);
    Status failure = body(communicator);
    EXPECT_FALSE(failure) << "rank " << communicator.rank() << ": "
                          << failure->text;
  };
  if (underMpi()) {
    std::shared_ptr<World> world;
    Status failure = MpiWorld::open(world);
    ASSERT_FALSE(failure) << failure->text;
    static std::unique_ptr<Communicator> communicator = world->endpoint();
    run(*communicator);
    return;
  }
  for (const std::string &kind : kinds())
    for (int64_t ranks : {1, 2, 3, 5}) {
      if (kind == except)
        continue;
      SCOPED_TRACE(kind + ", " + std::to_string(ranks) + " ranks");
      Ends ends = connect(kind, ranks);
      std::vector<std::thread> threads;
      for (auto &end : ends)
        threads.emplace_back([&] { run(*end); });
      for (std::thread &thread : threads)
        thread.join();
      // Rank 0 of a world waits until the others are gone.
      while (!ends.empty())
        ends.pop_back();
    }
}

} // namespace sprt::test
