// Processes that find each other through sockets, and what may go wrong then.
// That messages arrive is in the conformance suite.

#include "Ranks.h"

#include "communicator/SocketWorld.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace sprt::test {
namespace {

class Sockets : public testing::Test {
protected:
  Sockets() {
    address.host = "127.0.0.1";
    address.port = freePort();
  }
  /// Joins as so many processes at once; the texts of their statuses.
  std::vector<std::string> join(const std::vector<int64_t> &numbers,
                                int64_t processes, double limit = 30) {
    std::vector<std::thread> threads;
    std::vector<std::string> texts(numbers.size());
    worlds.resize(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i)
      threads.emplace_back([&, i] {
        ProcessAddress mine = address;
        mine.process = numbers[i];
        mine.processes = processes;
        if (Status failure =
                SocketWorld::join(mine, SocketWorld::Limit(limit), worlds[i]))
          texts[i] = failure->text;
      });
    for (std::thread &thread : threads)
      thread.join();
    return texts;
  }
  ~Sockets() override { leave(); }
  /// Process 0 last, which waits for the others.
  void leave() {
    while (!worlds.empty())
      worlds.pop_back();
  }

  ProcessAddress address;
  std::vector<std::shared_ptr<World>> worlds;
};

TEST_F(Sockets, aPortThatIsTakenIsAStatus) {
  Socket other;
  ASSERT_FALSE(
      Socket::listen(address.host, address.port, Socket::nobody, other));
  EXPECT_EQ(join({0}, 2).front(),
            "process 0: port " + std::to_string(address.port) +
                " of 127.0.0.1: Address already in use; name a port that is "
                "free in SPRT_PORT");
}

TEST_F(Sockets, whoDoesNotComeIsNamed) {
  std::vector<std::string> texts = join({0, 2}, 4, 3);
  std::string text = "expected 4 processes at port " +
                     std::to_string(address.port) +
                     " but 2 have not come: ranks 1, 3";
  EXPECT_EQ(texts[0], "process 0: " + text);
  // Whose limit ends first speaks first.
  if (texts[1].find("waits for others") == std::string::npos)
    EXPECT_EQ(texts[1], "process 2: " + text);
}

TEST_F(Sockets, processZeroThatDoesNotComeIsAStatus) {
  std::string text = join({1}, 2, 0.2).front();
  EXPECT_EQ(text.find("process 1: process 0 does not answer (port "), 0U)
      << text;
}

TEST_F(Sockets, whoIsDoneIsWaitedForNoLonger) {
  for (const std::string &text : join({0, 1}, 2))
    ASSERT_EQ(text, "");
  std::unique_ptr<Communicator> end = worlds[0]->endpoint();
  worlds.pop_back();
  int32_t value = 0;
  RequestPtr request;
  ASSERT_FALSE(
      end->receive(1, kControlChannel, denseMessage(&value, 4), request));
  Status status = end->wait(*request);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->text, "rank 1 has ended");
  EXPECT_EQ(status->peer, 1);
}

TEST_F(Sockets, failuresAreToldToEverybody) {
  for (const std::string &text : join({0, 1, 2}, 3))
    ASSERT_EQ(text, "");
  std::unique_ptr<Communicator> end = worlds[2]->endpoint();
  int32_t value = 0;
  RequestPtr request;
  ASSERT_FALSE(
      end->receive(0, kControlChannel, denseMessage(&value, 4), request));
  worlds[1]->announceFailure();
  Status status = end->wait(*request);
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->consequence);
  EXPECT_EQ(worlds[2]->culprit(), 1);
  EXPECT_FALSE(worlds[1]->failureAnnounced());
}

// Process 0 is told while it sends to another, and ends before it can pass on
// what it was told.
TEST_F(Sockets, whoEndedFirstIsToBlameForAll) {
  std::vector<char> large(4 << 20);
  for (int round = 0; round < 50; ++round) {
    for (const std::string &text : join({0, 1, 2, 3}, 4))
      ASSERT_EQ(text, "");
    std::unique_ptr<Communicator> end = worlds[0]->endpoint();
    std::thread sends([&] {
      RequestPtr sent;
      EXPECT_FALSE(end->send(1, kControlChannel,
                             denseMessage(large.data(), large.size()), sent));
    });
    std::thread told([&] {
      while (!worlds[0]->failureAnnounced())
        std::this_thread::yield();
      worlds[0]->announceFailure();
    });
    worlds[2]->announceFailure();
    for (size_t other : {0, 1, 3}) {
      while (!worlds[other]->failureAnnounced())
        std::this_thread::yield();
      EXPECT_EQ(worlds[other]->culprit(), 2) << "round " << round;
    }
    sends.join();
    told.join();
    end.reset();
    leave();
  }
}

TEST_F(Sockets, ranksMayBeNumberedAnew) {
  for (const std::string &text : join({0, 1, 2}, 3))
    ASSERT_EQ(text, "");
  std::vector<std::unique_ptr<Communicator>> ends(3);
  for (auto &world : worlds) {
    ASSERT_FALSE(world->number({2, 0, 1}, /*isShared=*/false));
    ends[static_cast<size_t>(world->rank)] = world->endpoint();
  }
  EXPECT_EQ(worlds[2]->rank, 0);
  EXPECT_EQ(worlds[0]->rank, 1);
  RequestPtr sent, received;
  int32_t out = 7, in = 0;
  ASSERT_FALSE(ends[0]->send(2, kControlChannel, denseMessage(&out, 4), sent));
  ASSERT_FALSE(
      ends[2]->receive(0, kControlChannel, denseMessage(&in, 4), received));
  ASSERT_FALSE(ends[2]->wait(*received));
  EXPECT_EQ(in, 7);
  EXPECT_EQ(worlds[0]->number({0, 1, 2}, /*isShared=*/true)->text,
            "another program with other placement of its ranks is open; close "
            "it first");
}

TEST(Environment, sayWhoAProcessIs) {
  constexpr const char *kNames[] = {
      "RANK",       "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
      "LOCAL_RANK", "SPRT_PORT",  "SPRT_SECRET", "LOCAL_WORLD_SIZE"};
  auto read = [&](std::vector<const char *> values, ProcessAddress &address) {
    values.resize(std::size(kNames));
    for (size_t i = 0; i < std::size(kNames); ++i)
      values[i] ? setenv(kNames[i], values[i], 1) : unsetenv(kNames[i]);
    Status failure = readAddress(address);
    for (const char *name : kNames)
      unsetenv(name);
    return failure ? failure->text : "";
  };
  ProcessAddress address;
  EXPECT_EQ(read({"3", "8", "node", "29500", "1", nullptr}, address), "");
  EXPECT_EQ(address.process, 3);
  EXPECT_EQ(address.processes, 8);
  EXPECT_EQ(address.localRank, 1);
  EXPECT_EQ(address.host, "node");
  EXPECT_EQ(address.port, 29501);
  EXPECT_EQ(read({"0", "1", "node", "29500", nullptr, "40000"}, address), "");
  EXPECT_EQ(address.port, 40000);
  EXPECT_EQ(address.localRank, -1);
  EXPECT_EQ(address.secret, "");
  EXPECT_EQ(address.audience, Socket::nobody);
  EXPECT_EQ(
      read({"0", "2", "node", "29500", "0", nullptr, nullptr, "2"}, address),
      "");
  EXPECT_EQ(address.audience, Socket::machine);
  EXPECT_EQ(
      read({"0", "2", "node", "29500", "0", nullptr, nullptr, "1"}, address),
      "");
  EXPECT_EQ(address.audience, Socket::nobody);
  EXPECT_EQ(
      read({"0", "2", "node", "29500", "0", nullptr, "sesame", "1"}, address),
      "");
  EXPECT_EQ(address.secret, "sesame");
  EXPECT_EQ(address.audience, Socket::everybody);
  EXPECT_EQ(read({"8", "8", "node", "29500", "1", nullptr}, address),
            "expected a number from 0 to 7 in RANK of the environment but got "
            "\"8\"");
  EXPECT_EQ(read({"0", "many", "node", "29500", "1", nullptr}, address),
            "expected a number from 1 to 1048576 in WORLD_SIZE of the "
            "environment but got \"many\"");
  EXPECT_EQ(read({"0", "8", "node", "", "1", nullptr}, address),
            "expected a number from 1 to 65535 in MASTER_PORT of the "
            "environment but got \"\"");
  EXPECT_EQ(read({"0", "8", "node", "29500", "1", "65536"}, address),
            "expected a number from 1 to 65535 in SPRT_PORT of the environment "
            "but got \"65536\"");
  EXPECT_NE(read({"0", nullptr, nullptr, "29500", "1", nullptr}, address)
                .find("has no WORLD_SIZE, MASTER_ADDR;"),
            std::string::npos);
}

} // namespace
} // namespace sprt::test
