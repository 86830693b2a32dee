// Collectives over every communicator; see Ranks.h.

#include "Ranks.h"

#include <gtest/gtest.h>

namespace sprt::test {
namespace {

TEST(Collectives, barrierHoldsUntilAllArrive) {
  onRanks([](Communicator &communicator) {
    for (int round = 0; round < 20; ++round)
      if (Status failure =
              barrier(communicator, kControlChannel, allRanks(communicator)))
        return failure;
    return Status::success();
  });
}

TEST(Collectives, exchangeDeliversToEveryMember) {
  onRanks([](Communicator &communicator) {
    Group group = allRanks(communicator);
    std::vector<std::vector<int32_t>> out, in;
    std::vector<Message> outgoing, incoming;
    // Member i gets i + 1 numbers from everyone; empty messages to member 1.
    auto length = [](int64_t to) {
      return to == 1 ? size_t(0) : static_cast<size_t>(to + 1);
    };
    for (int64_t member : group.members) {
      out.emplace_back(length(member),
                       static_cast<int32_t>(10 * communicator.rank() + member));
      in.emplace_back(length(communicator.rank()), -1);
    }
    for (size_t i = 0; i < out.size(); ++i) {
      outgoing.push_back(whole(out[i]));
      incoming.push_back(whole(in[i]));
    }
    if (Status failure =
            exchange(communicator, kCommChannel, group, outgoing, incoming))
      return failure;
    for (int64_t member : group.members)
      EXPECT_EQ(in[static_cast<size_t>(member)],
                std::vector<int32_t>(
                    length(communicator.rank()),
                    static_cast<int32_t>(10 * member + communicator.rank())));
    return Status::success();
  });
}

TEST(Collectives, allReduceAddsAnyNumberOfElements) {
  onRanks([](Communicator &communicator) {
    for (size_t count : {size_t(0), size_t(1), size_t(7), size_t(50000)}) {
      std::vector<float> data(count);
      for (size_t i = 0; i < count; ++i)
        data[i] = static_cast<float>(communicator.rank() + 1) *
                  static_cast<float>(i % 100);
      communicator.beginRun(false);
      if (Status failure =
              allReduce(communicator, kCommChannel, allRanks(communicator),
                        plan::DType::f32, plan::Reduction::sum, whole(data)))
        return failure;
      int64_t n = communicator.ranks();
      float factor = static_cast<float>(n * (n + 1) / 2);
      for (size_t i = 0; i < count; ++i)
        if (data[i] != factor * static_cast<float>(i % 100))
          return Status(SPRT_FAILED, "element " + std::to_string(i));
      // Reduce-scatter and all-gather of parts that differ by at most one.
      int64_t own = static_cast<int64_t>(count) / n +
                    (communicator.rank() < static_cast<int64_t>(count) % n);
      EXPECT_EQ(communicator.bytesSent(),
                4 * ((static_cast<int64_t>(count) - own) + own * (n - 1)));
    }
    return Status::success();
  });
}

TEST(Collectives, allReduceOfSeveralValuesAddsAsOfEach) {
  onRanks([](Communicator &communicator) {
    std::vector<std::vector<float>> alone, together;
    Message values;
    for (size_t count : {1, 0, 7, 400, 3}) {
      std::vector<float> data(count);
      // Sums that depend on their order.
      for (size_t i = 0; i < count; ++i)
        data[i] = 1.0F / static_cast<float>(3 + i * 7 + count) *
                  static_cast<float>(communicator.rank() + 1);
      alone.push_back(data);
      together.push_back(std::move(data));
    }
    for (std::vector<float> &data : together)
      values.push_back(whole(data).front());
    Group group = allRanks(communicator);
    auto reduce = [&](const Message &data) {
      return allReduce(communicator, kCommChannel, group, plan::DType::f32,
                       plan::Reduction::sum, data);
    };
    communicator.beginRun(true);
    for (std::vector<float> &data : alone)
      if (Status failure = reduce(whole(data)))
        return failure;
    int64_t bytes = communicator.bytesSent();
    communicator.beginRun(true);
    if (Status failure = reduce(values))
      return failure;
    EXPECT_EQ(together, alone);
    EXPECT_EQ(communicator.bytesSent(), bytes);
    // A part to each peer, and the sum of one's own.
    int64_t sends = 0;
    for (const FlowEvent &flow : communicator.flows(kCommChannel))
      sends += flow.sends;
    EXPECT_EQ(sends, 2 * (group.size() - 1));
    return Status::success();
  });
}

TEST(Collectives, reduceScatterKeepsTheOwnRows) {
  onRanks([](Communicator &communicator) {
    int64_t n = communicator.ranks();
    // Member i keeps rows i, i + n, … of a matrix of 2n rows of 5000 numbers.
    std::vector<double> source(static_cast<size_t>(2 * n * 5000)),
        target(2 * 5000, -1);
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<double>(i / 5000) * 10 +
                  static_cast<double>(communicator.rank());
    std::vector<Message> parts;
    auto striped = [&](std::vector<double> &data, int64_t first,
                       int64_t stride) {
      Piece piece;
      piece.base = reinterpret_cast<std::byte *>(data.data() + first * 5000);
      piece.counts[1] = 2;
      piece.strides[1] = stride * 5000 * 8;
      piece.inner = 5000 * 8;
      return Message{piece};
    };
    for (int64_t member = 0; member < n; ++member)
      parts.push_back(striped(source, member, n));
    if (Status failure =
            reduceScatter(communicator, kComputeChannel, allRanks(communicator),
                          plan::DType::f64, plan::Reduction::sum, parts,
                          striped(target, 0, 1)))
      return failure;
    for (size_t row : {size_t(0), size_t(1)}) {
      double expected = static_cast<double>(n) * 10 *
                            static_cast<double>(communicator.rank() +
                                                static_cast<int64_t>(row) * n) +
                        static_cast<double>(n * (n - 1) / 2);
      EXPECT_EQ(target[row * 5000], expected);
      EXPECT_EQ(target[row * 5000 + 4999], expected);
    }
    return Status::success();
  });
}

TEST(Collectives, gatherBytesArriveAtTheFirstMember) {
  onRanks([](Communicator &communicator) {
    std::vector<std::string> all;
    std::string mine(static_cast<size_t>(communicator.rank() * 3),
                     static_cast<char>('a' + communicator.rank()));
    if (Status failure = gatherBytes(communicator, kControlChannel,
                                     allRanks(communicator), mine, all))
      return failure;
    if (communicator.rank() != 0)
      return Status::success();
    EXPECT_EQ(static_cast<int64_t>(all.size()), communicator.ranks());
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_EQ(all[i], std::string(i * 3, static_cast<char>('a' + i)));
    return Status::success();
  });
}

} // namespace
} // namespace sprt::test
