#include "planner/DealBatch.h"

#include "planner/BatchPlan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

using namespace sprt;
using algebra::Deal;
using algebra::Documents;
using algebra::OwnerGroup;
using algebra::Ranges;

namespace {

Documents documentsOf(const std::vector<int64_t> &numbers) {
  Documents documents;
  documents.addRow(numbers.data(), static_cast<int64_t>(numbers.size()));
  return documents;
}

/// Documents of these lengths, one behind another.
Documents ofLengths(const std::vector<int64_t> &lengths) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < lengths.size(); ++i)
    numbers.insert(numbers.end(), static_cast<size_t>(lengths[i]),
                   static_cast<int64_t>(i));
  return documentsOf(numbers);
}

std::shared_ptr<const Deal> dealtTo(const Documents &documents,
                                    const DealOptions &options) {
  std::shared_ptr<const Deal> deal;
  Status failure = dealBatch(documents.rows().front(), options, deal);
  EXPECT_FALSE(failure) << failure->text;
  return deal;
}

TEST(DealBatch, GivesDocumentsToAsFewOwnersAsHoldThem) {
  auto deal = dealtTo(ofLengths({4, 6, 2, 4}), {4, 5});
  ASSERT_TRUE(deal);
  int64_t whole = deal->find(0).owner;
  EXPECT_EQ(deal->ranges(whole), (Ranges{{0, 4, 1}}));
  EXPECT_EQ(deal->group(whole), (OwnerGroup{whole, 1}));
  int64_t shared = deal->find(4).owner;
  EXPECT_EQ(deal->group(shared).size, 2);
  EXPECT_EQ(deal->find(10).owner, deal->find(11).owner);
  EXPECT_EQ(deal->find(12).owner, deal->find(15).owner);
}

TEST(DealBatch, KeepsTogetherWhatLiesInADocumentThatComesBack) {
  auto deal = dealtTo(documentsOf({1, 1, 2, 1, 3, 3, 4, 4}), {2, 4});
  ASSERT_TRUE(deal);
  for (int64_t position = 0; position < 4; ++position)
    EXPECT_EQ(deal->find(position).owner, deal->find(0).owner);
  // All of them lie within the first, which two owners hold.
  auto shared = dealtTo(documentsOf({1, 2, 2, 3, 3, 1}), {3, 3});
  ASSERT_TRUE(shared);
  OwnerGroup group = shared->group(shared->find(0).owner);
  EXPECT_GE(group.size, 2);
  for (int64_t position = 0; position < 6; ++position)
    EXPECT_EQ(shared->group(shared->find(position).owner), group);
}

TEST(DealBatch, MakesOneGroupOfAllWhereFewerHaveNoRoom) {
  // Each owner has room for one of them, but there are three.
  auto deal = dealtTo(ofLengths({3, 3, 3}), {2, 5});
  ASSERT_TRUE(deal);
  for (int64_t owner = 0; owner < 2; ++owner)
    EXPECT_EQ(deal->group(owner), (OwnerGroup{0, 2}));
  // Nothing is left for the second at three of five, three and three.
  auto full = dealtTo(ofLengths({4, 3, 3, 5}), {3, 5});
  ASSERT_TRUE(full);
  for (int64_t owner = 0; owner < 3; ++owner)
    EXPECT_EQ(full->count(owner), 5);
  EXPECT_EQ(dealtTo(ofLengths({3, 3, 3}), {3, 3})->group(1).size, 1);
  EXPECT_FALSE(dealtTo(ofLengths({3, 3, 3}), {2, 4}));
}

TEST(DealBatch, SpreadsWhatCostsMoreThanAllOthersTogether) {
  std::vector<int64_t> lengths(25, 40);
  lengths[7] = 3000;
  auto deal = dealtTo(ofLengths(lengths), {4, 4000});
  ASSERT_TRUE(deal);
  EXPECT_EQ(deal->group(0), (OwnerGroup{0, 4}));
  // Where little is saved it stays.
  lengths[7] = 300;
  auto whole = dealtTo(ofLengths(lengths), {4, 4000});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->group(whole->find(7 * 40).owner).size, 1);
}

TEST(DealBatch, FillsOwnersWithPadding) {
  std::vector<int64_t> lengths = {700, 900, 333};
  lengths.resize(lengths.size() + 4096 - 1933, 1);
  auto deal = dealtTo(ofLengths(lengths), {4, 1024});
  ASSERT_TRUE(deal);
  for (int64_t owner = 0; owner < 4; ++owner)
    EXPECT_EQ(deal->count(owner), 1024);
}

TEST(DealBatch, LevelsWhatNeedsNobody) {
  auto deal = dealtTo(ofLengths(std::vector<int64_t>(50, 1)), {8, 30});
  ASSERT_TRUE(deal);
  for (int64_t owner = 0; owner < 8; ++owner)
    EXPECT_EQ(deal->count(owner), owner < 2 ? 7 : 6);
  // Of a ring of two nobody has more than its document, as long as others have
  // room.
  std::vector<int64_t> lengths(20, 1);
  lengths[3] = 12;
  auto shared = dealtTo(ofLengths(lengths), {4, 10});
  ASSERT_TRUE(shared);
  for (int64_t owner = 0; owner < 4; ++owner)
    EXPECT_EQ(shared->count(owner), shared->group(owner).size == 2 ? 6
                                    : owner == 2                   ? 10
                                                                   : 9);
}

TEST(DealBatch, FindsGroupsForFewDocuments) {
  // Each would have more than half of the ranks.
  auto deal = dealtTo(ofLengths({2817, 2572}), {12, 2048});
  ASSERT_TRUE(deal);
  EXPECT_LT(deal->group(deal->find(0).owner).size, 12);
  EXPECT_FALSE(deal->group(deal->find(0).owner) ==
               deal->group(deal->find(2817).owner));
}

RC_GTEST_PROP(DealBatch, NobodyMeetsAnOwnerOfAnotherGroup, ()) {
  DealOptions options;
  options.owners = *rc::gen::inRange<int64_t>(1, 9);
  options.capacity = *rc::gen::inRange<int64_t>(1, 20);
  std::vector<int64_t> numbers;
  auto room = options.owners * options.capacity;
  const auto length = *rc::gen::inRange<int64_t>(1, room + 1);
  while (static_cast<int64_t>(numbers.size()) < length)
    numbers.insert(numbers.end(),
                   static_cast<size_t>(*rc::gen::inRange<int64_t>(1, 12)),
                   *rc::gen::inRange<int64_t>(0, 40));
  numbers.resize(static_cast<size_t>(length));
  Documents documents = documentsOf(numbers);
  auto deal = dealtTo(documents, options);
  RC_ASSERT(deal);
  RC_CLASSIFY(documents.rows()[0].size() > 1);
  RC_ASSERT(deal->owners() == options.owners);
  RC_ASSERT(deal->length() == length);
  for (int64_t position = 0; position < length; ++position) {
    Deal::Place place = deal->find(position);
    RC_ASSERT(algebra::positionOf(deal->ranges(place.owner), place.row) ==
              position);
  }
  for (int64_t owner = 0; owner < options.owners; ++owner)
    RC_ASSERT(deal->count(owner) <= options.capacity);
  for (int64_t a = 0; a < length; ++a)
    for (int64_t b = 0; b < a; ++b)
      if (numbers[static_cast<size_t>(a)] == numbers[static_cast<size_t>(b)]) {
        OwnerGroup group = deal->group(deal->find(a).owner);
        RC_ASSERT(group == deal->group(deal->find(b).owner));
      }
}

} // namespace
