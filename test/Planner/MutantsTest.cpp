// Plans that somebody has damaged: checkBatch refuses each.

#include "Draw.h"

#include <gtest/gtest.h>

using namespace sprt;

namespace {

/// A plan, and one thing in it that is no longer right; false where the plan
/// has nothing of the kind.
class Mutant {
public:
  Mutant(Draw &draw, const Case &drawn, BatchPlan &plan)
      : draw(draw), drawn(drawn), plan(plan) {}

  bool losePosition() {
    BatchPlan::Work *work =
        anyWork([](auto &each) { return each.pieces.size(); });
    if (!work)
      return false;
    size_t which = anyIndex(work->pieces.size());
    BatchPlan::Piece &piece = work->pieces[which];
    if (piece.end - piece.begin == 1)
      work->pieces.erase(work->pieces.begin() + int64_t(which));
    else if (draw.number(0, 1))
      ++piece.begin;
    else
      --piece.end;
    return true;
  }

  /// Where there is room for it.
  bool repeatPosition() {
    BatchPlan::Work *from =
        anyWork([](auto &each) { return each.pieces.size(); });
    if (!from)
      return false;
    BatchPlan::Piece piece = from->pieces[anyIndex(from->pieces.size())];
    piece.begin = draw.number(piece.begin, piece.end - 1);
    piece.end = piece.begin + 1;
    BatchPlan::Work *to = anyWork(
        [&](auto &each) { return tokens(each) < drawn.options.capacity; });
    if (!to)
      return false;
    add(*to, piece);
    return true;
  }

  bool shortenGroup() {
    return inGroup([&](int64_t first, int64_t size, size_t microBatch) {
      for (int64_t rank = first; rank < first + size - 1; ++rank)
        plan.work[size_t(rank)][microBatch].group.size = size - 1;
      plan.work[size_t(first + size - 1)][microBatch].group = {first + size - 1,
                                                               1};
      return true;
    });
  }

  /// One member believes something else of its group.
  bool disagree() {
    return inGroup([&](int64_t first, int64_t size, size_t microBatch) {
      int64_t rank = draw.number(first, first + size - 1);
      BatchPlan::Span &own = plan.work[size_t(rank)][microBatch].group;
      own = draw.number(0, 1) ? BatchPlan::Span{first, size - 1}
                              : BatchPlan::Span{first + 1, size - 1};
      return true;
    });
  }

  /// A stranger takes part in a group.
  bool joinGroup() {
    return inGroup([&](int64_t first, int64_t size, size_t microBatch) {
      int64_t rank = draw.number(0, drawn.options.ranks - 1);
      if (rank >= first && rank < first + size)
        return false;
      std::vector<BatchPlan::Work> &own = plan.work[size_t(rank)];
      if (microBatch >= own.size())
        return false;
      own[microBatch].group = {first, size};
      return true;
    });
  }

  bool exceedCapacity() {
    BatchPlan::Work *from = anyWork(
        [](auto &each) { return each.pieces.size() && each.group.size == 1; });
    if (!from)
      return false;
    BatchPlan::Piece piece = from->pieces.front();
    BatchPlan::Work *to = anyWork([&](auto &each) {
      return &each != from &&
             tokens(each) + piece.end - piece.begin > drawn.options.capacity;
    });
    if (!to)
      return false;
    from->pieces.erase(from->pieces.begin());
    add(*to, piece);
    return true;
  }

  bool swapMicroBatches() {
    return inGroup([&](int64_t first, int64_t size, size_t microBatch) {
      std::vector<BatchPlan::Work> &own =
          plan.work[size_t(draw.number(first, first + size - 1))];
      size_t other = anyIndex(own.size());
      std::swap(own[microBatch], own[other]);
      return other != microBatch;
    });
  }

  bool swapMembers() {
    return inGroup([&](int64_t first, int64_t size, size_t microBatch) {
      int64_t a = draw.number(first, first + size - 1);
      int64_t b = draw.number(first, first + size - 1);
      std::swap(plan.work[size_t(a)][microBatch].pieces,
                plan.work[size_t(b)][microBatch].pieces);
      return a != b;
    });
  }

  bool nameAnotherDocument() {
    BatchPlan::Work *work =
        anyWork([](auto &each) { return each.pieces.size(); });
    if (!work)
      return false;
    int64_t &document = work->pieces[anyIndex(work->pieces.size())].document;
    int64_t other = draw.number(-1, int64_t(drawn.lengths.size()));
    std::swap(document, other);
    return document != other;
  }

  /// Of the pieces of a whole document, one lies elsewhere.
  bool splitDocument() {
    BatchPlan::Work *from = anyWork([](auto &each) {
      return each.group.size == 1 && each.pieces.size() &&
             each.pieces[0].end - each.pieces[0].begin > 1;
    });
    BatchPlan::Work *to = anyWork([&](auto &each) {
      return &each != from && tokens(each) < drawn.options.capacity;
    });
    if (!from || !to)
      return false;
    BatchPlan::Piece &piece = from->pieces[0];
    add(*to, {piece.document, piece.end - 1, piece.end});
    --piece.end;
    return true;
  }

  bool changeCost() {
    plan.costs[anyIndex(plan.costs.size())] += draw.oneOf({-1, 1});
    return true;
  }

private:
  static int64_t tokens(const BatchPlan::Work &work) {
    int64_t sum = 0;
    for (const BatchPlan::Piece &piece : work.pieces)
      sum += piece.end - piece.begin;
    return sum;
  }
  static void add(BatchPlan::Work &work, BatchPlan::Piece piece) {
    work.pieces.push_back(piece);
    std::sort(work.pieces.begin(), work.pieces.end(),
              [](const auto &a, const auto &b) { return a.begin < b.begin; });
  }

  size_t anyIndex(size_t count) {
    return size_t(draw.number(0, int64_t(count) - 1));
  }
  /// Any that is like this, or null.
  template <typename Like> BatchPlan::Work *anyWork(const Like &like) {
    std::vector<BatchPlan::Work *> found;
    for (std::vector<BatchPlan::Work> &own : plan.work)
      for (BatchPlan::Work &each : own)
        if (like(each))
          found.push_back(&each);
    return found.empty() ? nullptr : found[anyIndex(found.size())];
  }
  template <typename Body> bool inGroup(const Body &body) {
    BatchPlan::Work *work =
        anyWork([](auto &each) { return each.group.size > 1; });
    if (!work)
      return false;
    auto [first, size] = work->group;
    for (int64_t rank = first; rank < first + size; ++rank)
      for (size_t i = 0; i < plan.work[size_t(rank)].size(); ++i)
        if (&plan.work[size_t(rank)][i] == work)
          return body(first, size, i);
    return false;
  }

  Draw &draw;
  const Case &drawn;
  BatchPlan &plan;
};

struct Kind {
  const char *name;
  bool (Mutant::*change)();
};
constexpr Kind kinds[] = {{"LosePosition", &Mutant::losePosition},
                          {"RepeatPosition", &Mutant::repeatPosition},
                          {"ShortenGroup", &Mutant::shortenGroup},
                          {"Disagree", &Mutant::disagree},
                          {"JoinGroup", &Mutant::joinGroup},
                          {"ExceedCapacity", &Mutant::exceedCapacity},
                          {"SwapMicroBatches", &Mutant::swapMicroBatches},
                          {"SwapMembers", &Mutant::swapMembers},
                          {"NameAnotherDocument", &Mutant::nameAnotherDocument},
                          {"SplitDocument", &Mutant::splitDocument},
                          {"ChangeCost", &Mutant::changeCost}};

class Mutants : public testing::TestWithParam<Kind> {};

TEST_P(Mutants, AreRefused) {
  int64_t refused = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Draw draw(seed);
    Case drawn = draw.batch();
    BatchPlan plan;
    ASSERT_EQ(text(planBatch(drawn.lengths, drawn.options, plan)), "");
    Mutant mutant(draw, drawn, plan);
    if (!(mutant.*GetParam().change)())
      continue;
    Status status = checkBatch(plan, drawn.lengths, drawn.options);
    ASSERT_TRUE(status) << "seed " << seed << "\n" << text(plan);
    ++refused;
  }
  EXPECT_GT(refused, 40);
}

INSTANTIATE_TEST_SUITE_P(All, Mutants, testing::ValuesIn(kinds),
                         [](const testing::TestParamInfo<Kind> &info) {
                           return info.param.name;
                         });

} // namespace
