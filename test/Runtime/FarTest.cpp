// Far memory: what is copied there comes back, in memory, in a file and beside
// a device, and as much is counted as was foreseen.

#include "PlanBuilder.h"
#include "Programs.h"

#include "executor/FarStore.h"
#include "program/Program.h"
#include "walk/Prediction.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include <sys/resource.h>

using namespace sprt;
using namespace sprt::test;

namespace {

constexpr int64_t kPage = 4096, kTurns = kFarRows, kRow = kFarWidth,
                  kRowBytes = 4 * kRow;

Prediction predictionOf(const PlanBuilder &builder) {
  Program program;
  std::vector<uint8_t> bytes = builder.bytes();
  Status failure = program.read(bytes.data(), bytes.size(), nullptr);
  EXPECT_FALSE(failure) << failure->text;
  std::vector<Prediction> predictions;
  EXPECT_FALSE(predict(program, predictions));
  return predictions.back();
}

std::string folder() { return std::filesystem::temp_directory_path(); }

TEST(Far, comesBackAndIsCountedAsForeseen) {
  std::vector<float> x = ramp(kTurns * kRow);
  std::string directory = folder();
  for (plan::Target target : kTargets)
    for (const char *far : {(const char *)nullptr, directory.c_str()})
      // With one thread for all streams, and with one each.
      for (int64_t ranks : {1, 64}) {
        bool onCpu = target == plan::Target::cpu;
        if (far && !onCpu)
          continue;
        PlanBuilder builder = throughFar(ranks);
        builder.target(target);
        Prediction foreseen = predictionOf(builder);
        EXPECT_EQ(foreseen.farWritten, kTurns * kRowBytes);
        EXPECT_EQ(foreseen.farRead, kTurns * kRowBytes);
        EXPECT_EQ(foreseen.farTouchedBytes, kTurns * kPage);
        Runner runner(builder);
        runner.options.far_directory = far;
        for (int run = 0; run < 3; ++run) {
          ASSERT_EQ(runner.run({x}), "");
          EXPECT_EQ(runner.results[0], farReference(x));
          sprt_rank_statistics measured = runner.statistics(ranks - 1);
          EXPECT_EQ(measured.far_peak_bytes, kTurns * kPage);
          EXPECT_EQ(measured.far_read_bytes, foreseen.farRead);
          EXPECT_EQ(measured.far_written_bytes, foreseen.farWritten);
        }
      }
}

TEST(Far, storesKeepWhatIsWritten) {
  std::string directory = folder();
  constexpr int64_t kBytes = 3 * (1 << 20) + 5;
  std::vector<std::byte> data(kBytes), back(kBytes);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<std::byte>(i * 7 + i / 251);
  for (const char *where : {(const char *)nullptr, directory.c_str()}) {
    std::unique_ptr<FarStore> store;
    ASSERT_FALSE(openFarStore(2 * kPage + kBytes, where, store));
    EXPECT_EQ(store->touchedBytes(), 0);
    // One byte beside many, neither a whole number of pages.
    std::byte one{42}, read{0};
    ASSERT_FALSE(store->write(kPage, data.data(), kBytes));
    ASSERT_FALSE(store->write(0, &one, 1));
    ASSERT_FALSE(store->read(back.data(), kPage, kBytes));
    ASSERT_FALSE(store->read(&read, 0, 1));
    EXPECT_EQ(data, back);
    EXPECT_EQ(read, one);
    EXPECT_GE(store->touchedBytes(), kPage + kBytes);
    // Rows lie where they are written, and beside them what was there.
    std::vector<std::byte> rows(10001, std::byte(99));
    ASSERT_FALSE(store->write(kPage + 5000, rows.data(), 10001));
    std::copy(rows.begin(), rows.end(), data.begin() + 5000);
    ASSERT_FALSE(store->read(back.data() + 7, kPage + 7, kBytes - 7));
    EXPECT_EQ(data, back);
  }
}

TEST(Far, filesLeaveNothingBehind) {
  std::filesystem::path own =
      std::filesystem::path(folder()) / "sprt-far-test-files";
  std::filesystem::remove_all(own);
  std::filesystem::create_directory(own);
  std::unique_ptr<FarStore> store;
  ASSERT_FALSE(openFarStore(kPage, own.c_str(), store));
  EXPECT_TRUE(std::filesystem::is_empty(own));
  // The store goes on without its directory.
  std::filesystem::remove(own);
  std::byte value{3}, read{0};
  ASSERT_FALSE(store->write(0, &value, 1));
  ASSERT_FALSE(store->read(&read, 0, 1));
  EXPECT_EQ(read, value);
}

TEST(Far, directoriesThatCannotServeAreTold) {
  std::unique_ptr<FarStore> store;
  Status none = openFarStore(kPage, "/nowhere/at/all", store);
  ASSERT_TRUE(none);
  EXPECT_THAT_CONTAINS(none->text, "cannot open far memory in /nowhere/at/all: "
                                   "No such file or directory");
  // As a full disk does, this system refuses to hold so much.
  struct rlimit before = {}, small = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = {kPage, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status full = openFarStore(3 * kPage - 1, folder().c_str(), store);
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(full);
  EXPECT_THAT_CONTAINS(full->text,
                       "far memory of 12288 bytes a rank does not fit into " +
                           folder());
  EXPECT_THAT_CONTAINS(full->text, "give --far another directory");
}

TEST(Far, sessionsRefuseWhatDoesNotFit) {
  auto open = [](const PlanBuilder &builder, const char *directory,
                 int64_t limit) {
    Runner runner(builder);
    runner.options.far_directory = directory;
    runner.options.far_limit_bytes = limit;
    return runner.open(runner.options);
  };
  std::string directory = folder();
  EXPECT_EQ(open(throughFar(2), directory.c_str(), kTurns * kPage), "");
  EXPECT_THAT_CONTAINS(open(throughFar(2), directory.c_str(), kPage),
                       "a rank needs 20480 bytes of far memory, 16384 more "
                       "than the limit of 4096");
  EXPECT_THAT_CONTAINS(open(throughFar(2), nullptr, -1),
                       "expected a limit of far memory of 0 or more but got "
                       "-1");
  PlanBuilder onDevice = throughFar(2);
  onDevice.target(plan::Target::cuda);
  EXPECT_THAT_CONTAINS(open(onDevice, directory.c_str(), 0),
                       "far memory of a program for GPUs is the host's");
  PlanBuilder near = ringSum(2, 4, plan::LayoutKind::contiguous);
  EXPECT_THAT_CONTAINS(open(near, directory.c_str(), 0),
                       "the program keeps nothing in far memory");
}

/// A plan of one copy, or of something else, and what its loader says.
std::string loadCopy(std::unique_ptr<plan::ViewT> from,
                     std::unique_ptr<plan::ViewT> to) {
  PlanBuilder builder(1);
  builder.arena(kPage);
  builder.plan.far_bytes = 2 * kPage;
  plan::CopyT copy;
  copy.source = std::move(from);
  copy.target = std::move(to);
  builder.add(std::move(copy));
  sprt_program *program = nullptr;
  std::string text = builder.load(&program);
  sprt_program_free(program);
  return text;
}

TEST(Far, onlyCopiesReachIt) {
  auto far = [](const Expr &offset, int64_t bytes = 64) {
    return view(offset, bytes, plan::Space::far);
  };
  EXPECT_EQ(loadCopy(view(0, 64), far(kPage)), "");
  EXPECT_THAT_CONTAINS(loadCopy(far(0), far(kPage)),
                       "a copy from far memory to far memory");
  EXPECT_THAT_CONTAINS(loadCopy(view(0, 64), far(2 * kPage)),
                       "the target of a copy from byte 8192 to 8256 of 8192");
  EXPECT_THAT_CONTAINS(loadCopy(far(-kPage), view(0, 64)),
                       "from byte -4096 to -4032 of 8192");
  PlanBuilder builder(1);
  builder.arena(kPage);
  builder.plan.far_bytes = kPage;
  plan::FillT fill;
  fill.target = far(0);
  builder.add(std::move(fill));
  sprt_program *program = nullptr;
  EXPECT_THAT_CONTAINS(builder.load(&program),
                       "the target of a fill lies in far memory, which only "
                       "copies reach");
  PlanBuilder huge = throughFar(1);
  huge.plan.far_bytes = (int64_t(1) << 46) + 1;
  EXPECT_THAT_CONTAINS(huge.load(&program), "expected far memory of 0 to");
}

} // namespace
