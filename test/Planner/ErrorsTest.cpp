// What planBatch refuses, and what it says then.

#include "Draw.h"

#include <gtest/gtest.h>

using namespace sprt;

namespace {

std::string refusal(const std::vector<int64_t> &lengths,
                    const BatchOptions &options) {
  BatchPlan plan;
  Status status = planBatch(lengths, options, plan);
  if (!status)
    return "planned";
  EXPECT_EQ(status->code, SPRT_INVALID_ARGUMENT);
  return status->text;
}

BatchOptions on(int64_t ranks, int64_t capacity, int64_t maxMicroBatches = 0) {
  BatchOptions options;
  options.ranks = ranks;
  options.capacity = capacity;
  options.maxMicroBatches = maxMicroBatches;
  return options;
}

TEST(BatchErrors, OfOptions) {
  EXPECT_EQ(refusal({1}, on(0, 4)), "expected 1 to 65536 ranks but got 0");
  EXPECT_EQ(refusal({1}, on(65537, 4)),
            "expected 1 to 65536 ranks but got 65537");
  EXPECT_EQ(refusal({1}, on(1, 0)),
            "expected a capacity of at least 1 token but got 0");
  EXPECT_EQ(refusal({1}, on(1, 1, -1)), "expected at least 0 micro-batches (0: "
                                        "as many as needed) but got -1");
  BatchOptions options = on(1, 1);
  options.tokenCost = -2;
  EXPECT_EQ(refusal({1}, options),
            "expected a token to cost at least 0 but got -2");
  options.tokenCost = 0;
  options.pairCost = -3;
  EXPECT_EQ(refusal({1}, options),
            "expected a pair to cost at least 0 but got -3");
}

TEST(BatchErrors, OfLengths) {
  EXPECT_EQ(refusal({3, 0}, on(1, 4)),
            "expected documents of at least 1 token but document 1 has 0");
  EXPECT_EQ(refusal({3, INT64_MIN}, on(1, 4)),
            "expected documents of at least 1 token but document 1 has "
            "-9223372036854775808");
}

TEST(BatchErrors, OfDocumentsThatAreTooLong) {
  EXPECT_EQ(refusal({9, 70000}, on(8, 8192)),
            "expected documents of at most 65536 tokens (8 ranks with a "
            "capacity of 8192) but document 1 has 70000; it fits on 9 ranks, "
            "or with a capacity of 8750");
  EXPECT_EQ(refusal({70000}, on(65536, 1)),
            "expected documents of at most 65536 tokens (65536 ranks with a "
            "capacity of 1) but document 0 has 70000; it fits with a capacity "
            "of 2");
  EXPECT_EQ(refusal({INT64_MAX}, on(2, 1)),
            "expected documents of at most 2 tokens (2 ranks with a capacity "
            "of 1) but document 0 has 9223372036854775807; it fits with a "
            "capacity of 4611686018427387904");
}

TEST(BatchErrors, OfTooManyTokens) {
  EXPECT_EQ(refusal({8, 8, 1}, on(2, 4, 2)),
            "expected at most 16 tokens in 2 micro-batches (2 ranks with a "
            "capacity of 4) but got 17; they need at least 3 micro-batches");
  EXPECT_EQ(refusal({3, 3, 2}, on(1, 4, 2)),
            "expected room for document 2 of 2 tokens in 2 micro-batches of 1 "
            "ranks with a capacity of 4 but the others leave none; allow more "
            "micro-batches");
  // Both need two of three ranks, at a time.
  EXPECT_EQ(refusal({6, 5}, on(3, 4, 1)),
            "expected room for document 1 of 5 tokens in 1 micro-batches of 3 "
            "ranks with a capacity of 4 but the others leave none; allow more "
            "micro-batches");
}

TEST(BatchErrors, OfSums) {
  EXPECT_EQ(refusal({int64_t(1) << 40, 1}, on(1, INT64_MAX)),
            "expected a batch to cost at most 9223372036854775807 but "
            "documents 0 to 0 cost more; give smaller costs of tokens and "
            "pairs");
  BatchOptions options = on(65536, INT64_MAX);
  options.pairCost = 0;
  EXPECT_EQ(refusal({int64_t(1) << 40}, options), "planned");
  EXPECT_EQ(refusal({int64_t(1) << 40, 1}, options),
            "expected at most 1099511627776 tokens in a batch but documents 0 "
            "to 1 have more");
  EXPECT_EQ(refusal({INT64_MAX, INT64_MAX}, options),
            "expected at most 1099511627776 tokens in a batch but documents 0 "
            "to 0 have more");
  options.tokenCost = options.pairCost = INT64_MAX;
  EXPECT_EQ(refusal({1}, options),
            "expected a batch to cost at most 9223372036854775807 but "
            "documents 0 to 0 cost more; give smaller costs of tokens and "
            "pairs");
  options.pairCost = 0;
  EXPECT_EQ(refusal({1}, options), "planned");
}

} // namespace
