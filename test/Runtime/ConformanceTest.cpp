// What every communicator must do; see Ranks.h.

#include "Ranks.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include <sys/resource.h>

namespace sprt::test {
namespace {

int64_t neighbour(const Communicator &communicator, int64_t distance) {
  return (communicator.rank() + distance + communicator.ranks()) %
         communicator.ranks();
}

/// Sends one message to the next rank and receives one from the previous.
Status shift(Communicator &communicator, int channel, const Message &outgoing,
             const Message &incoming) {
  if (communicator.ranks() == 1) {
    copyMessage(incoming, outgoing);
    return Status::success();
  }
  RequestPtr sent, received;
  if (Status failure = communicator.send(neighbour(communicator, 1), channel,
                                         outgoing, sent))
    return failure;
  if (Status failure = communicator.receive(neighbour(communicator, -1),
                                            channel, incoming, received))
    return failure;
  if (Status failure = communicator.wait(*received))
    return failure;
  return communicator.wait(*sent);
}

TEST(Conformance, ringMovesDenseMessagesOfAnySize) {
  onRanks([](Communicator &communicator) {
    for (size_t size : {size_t(1), size_t(1000), size_t(3) << 20}) {
      std::vector<int32_t> out(size, static_cast<int32_t>(communicator.rank())),
          in(size, -1);
      if (Status failure =
              shift(communicator, kCommChannel, whole(out), whole(in)))
        return failure;
      EXPECT_EQ(in, std::vector<int32_t>(size, static_cast<int32_t>(neighbour(
                                                   communicator, -1))));
    }
    return Status::success();
  });
}

TEST(Conformance, piecesMayDifferOnBothSides) {
  onRanks([](Communicator &communicator) {
    // Out: 2 batches of 6 rows of 3 heads of some numbers, rows 0..1 and 4..5
    // of it. Many make a message that no cache should hold, of odd runs.
    for (int64_t numbers : {2, 5003}) {
      int64_t row = 3 * numbers;
      std::vector<int32_t> source(static_cast<size_t>(2 * 6 * row));
      std::iota(source.begin(), source.end(),
                static_cast<int32_t>(1000000 * communicator.rank()));
      Message outgoing;
      for (int64_t first : {0, 4}) {
        Piece piece;
        piece.base = reinterpret_cast<std::byte *>(source.data() + first * row);
        piece.counts[0] = 2;
        piece.counts[1] = 2;
        piece.counts[2] = 3;
        piece.strides[0] = 6 * row * 4;
        piece.strides[1] = row * 4;
        piece.strides[2] = numbers * 4;
        piece.inner = numbers * 4;
        outgoing.push_back(piece);
      }
      std::vector<int32_t> in(static_cast<size_t>(2 * 4 * row), -1);
      if (Status failure =
              shift(communicator, kCommChannel, outgoing, whole(in)))
        return failure;
      std::vector<int32_t> expected;
      for (int64_t first : {0, 4})
        for (int64_t batch : {0, 1})
          for (int64_t i = 0; i < 2 * row; ++i)
            expected.push_back(
                static_cast<int32_t>(1000000 * neighbour(communicator, -1) +
                                     (batch * 6 + first) * row + i));
      EXPECT_EQ(in, expected);
    }
    return Status::success();
  });
}

TEST(Conformance, transfersMatchInOrderWhateverOrderIsWaitedFor) {
  onRanks([](Communicator &communicator) {
    if (communicator.ranks() == 1)
      return Status::success();
    constexpr int32_t kCount = 20;
    std::vector<int32_t> out(kCount), in(kCount, -1);
    std::iota(out.begin(), out.end(),
              static_cast<int32_t>(100 * communicator.rank()));
    std::vector<RequestPtr> requests(2 * kCount);
    for (size_t i = 0; i < kCount; ++i) {
      if (Status failure =
              communicator.receive(neighbour(communicator, -1), kComputeChannel,
                                   denseMessage(&in[i], 4), requests[i]))
        return failure;
      if (Status failure =
              communicator.send(neighbour(communicator, 1), kComputeChannel,
                                denseMessage(&out[i], 4), requests[kCount + i]))
        return failure;
    }
    for (size_t i = kCount; i-- > 0;)
      if (Status failure = communicator.wait(*requests[i]))
        return failure;
    for (size_t i = kCount; i < requests.size(); ++i)
      if (Status failure = communicator.wait(*requests[i]))
        return failure;
    for (int32_t i = 0; i < kCount; ++i)
      EXPECT_EQ(in[static_cast<size_t>(i)],
                100 * neighbour(communicator, -1) + i);
    return Status::success();
  });
}

TEST(Conformance, channelsAreIndependent) {
  onRanks([](Communicator &communicator) {
    Status failures[3];
    std::vector<std::thread> streams;
    for (int channel : {kComputeChannel, kCommChannel, kBackChannel})
      streams.emplace_back([&, channel] {
        for (int round = 0; round < 50 && !failures[channel]; ++round) {
          std::vector<int32_t> out(64, round * 10 + channel), in(64, -1);
          failures[channel] =
              shift(communicator, channel, whole(out), whole(in));
          EXPECT_EQ(in, out);
        }
      });
    for (std::thread &stream : streams)
      stream.join();
    for (Status &failure : failures)
      if (failure)
        return std::move(failure);
    return Status::success();
  });
}

TEST(Conformance, bytesSentAreCountedOncePerTransfer) {
  onRanks([](Communicator &communicator) {
    std::vector<int32_t> out(100, 1), in(100);
    for (int channel :
         {kComputeChannel, kCommChannel, kBackChannel, kControlChannel})
      if (Status failure = shift(communicator, channel, whole(out), whole(in)))
        return failure;
    // Control traffic is the session's own.
    EXPECT_EQ(communicator.bytesSent(), communicator.ranks() == 1 ? 0 : 1200);
    EXPECT_EQ(communicator.flows(kCommChannel).size(),
              communicator.ranks() == 1 ? 0U : 2U);
    return Status::success();
  });
}

/// Seconds that the calling thread has computed.
double threadSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) +
           1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Ranks that spin share the cores: seven of them have a seventh of one at
// least. What waiting costs depends on the machine and on sanitizers.
TEST(Conformance, waitingDoesNotSpin) {
  static constexpr double kWait = 0.5;
  onRanks([](Communicator &communicator) {
    int32_t value = 0;
    if (communicator.ranks() == 1)
      return Status::success();
    RequestPtr request;
    if (communicator.rank() == 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(kWait));
      for (int64_t peer = 1; peer < communicator.ranks(); ++peer) {
        if (Status failure = communicator.send(
                peer, kCommChannel, denseMessage(&value, 4), request))
          return failure;
        if (Status failure = communicator.wait(*request))
          return failure;
      }
      return Status::success();
    }
    double before = threadSeconds();
    if (Status failure = communicator.receive(0, kCommChannel,
                                              denseMessage(&value, 4), request))
      return failure;
    Status failure = communicator.wait(*request);
    EXPECT_LT(threadSeconds() - before, 0.13 * kWait);
    return failure;
  });
}

TEST(Conformance, peersThatDoNotExistAreRefused) {
  onRanks([](Communicator &communicator) {
    RequestPtr request;
    for (int64_t peer :
         {communicator.rank(), communicator.ranks(), int64_t(-1)}) {
      Status status = communicator.send(peer, kCommChannel, {}, request);
      EXPECT_TRUE(status);
      EXPECT_NE(status->text.find("expected a peer among"), std::string::npos);
    }
    return Status::success();
  });
}

// The tests below leave transfers behind, so that they come last.

TEST(Conformance, differentSizesAreAStatus) {
  // NCCL leaves it open what such transfers do.
  onRanks(
      [](Communicator &communicator) {
        if (communicator.ranks() == 1)
          return Status::success();
        std::vector<int32_t> out(10, 1), in(11, 0);
        Status status =
            shift(communicator, kComputeChannel, whole(out), whole(in));
        EXPECT_TRUE(status);
        EXPECT_NE(status->text.find("expected 44 bytes from rank"),
                  std::string::npos)
            << status->text;
        EXPECT_EQ(status->peer, neighbour(communicator, -1));
        return Status::success();
      },
      60, "nccl");
}

TEST(Conformance, waitingLongerThanTheLimitIsAStatus) {
  onRanks(
      [](Communicator &communicator) {
        if (communicator.ranks() == 1)
          return Status::success();
        int32_t value = 0;
        RequestPtr request;
        if (Status failure = communicator.receive(
                neighbour(communicator, -1), kComputeChannel,
                denseMessage(&value, 4), request))
          return failure;
        Clock::time_point start = Clock::now();
        Status status = communicator.wait(*request);
        EXPECT_TRUE(status);
        EXPECT_EQ(status->code, SPRT_TIMEOUT);
        EXPECT_EQ(status->peer, neighbour(communicator, -1));
        EXPECT_LT(std::chrono::duration<double>(Clock::now() - start).count(),
                  15);
        return Status::success();
      },
      0.2);
}

TEST(Conformance, interruptEndsEveryWait) {
  if (underMpi())
    GTEST_SKIP() << "an interrupt ends an MPI world; sp-run's tests do that";
  for (const std::string &kind : kinds()) {
    // Its sends are over once they are on their way.
    if (kind == "socket")
      continue;
    std::vector<std::unique_ptr<Communicator>> ends = connect(kind, 2);
    Communicator &waiting = *ends[0];
    int32_t value = 0;
    RequestPtr receive, send;
    ASSERT_FALSE(
        waiting.receive(1, kCommChannel, denseMessage(&value, 4), receive));
    ASSERT_FALSE(
        waiting.send(1, kComputeChannel, denseMessage(&value, 4), send));
    std::thread thread([&] {
      for (RequestPtr *request : {&receive, &send}) {
        Status status = waiting.wait(**request);
        EXPECT_TRUE(status);
        EXPECT_TRUE(status->consequence);
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ends[1]->interrupt();
    thread.join();
  }
}

} // namespace
} // namespace sprt::test
