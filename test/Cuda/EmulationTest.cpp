// What a GPU would wait for for ever ends in emulation, and says for what.

#include "AttentionCheck.h"

#include "gmock/gmock.h"

using namespace sprt;
using namespace sprt::test;
using testing::HasSubstr;

namespace {

using Masked = cuda::ForwardConfig<BFloat16, 64, 64, 64, 2, 2>;

/// What a kernel's run throws, or "".
template <class RunT> std::string faultOf(RunT run) {
  try {
    run();
    return "";
  } catch (const cuda::emulation::Fault &fault) {
    return fault.what();
  }
}

std::string faultOf(int threads, const std::function<void()> &kernel) {
  cuda::emulation::Launch launch = {1, threads, 1024, 1};
  return faultOf([&] { cuda::emulation::run(launch, kernel); });
}

/// As many registers for the producer as three consumers leave it.
struct GreedyShape : cuda::ForwardShape {
  constexpr int producerRegisters() const { return 32; }
};
struct Greedy : Masked {
  static constexpr GreedyShape kShape = {Masked::kShape};
};

TEST(Registers, more_than_the_block_owns_are_waited_for) {
  Shape shape = {1, 64, 64, 1, 1};
  AttentionCheck<Masked> fits(shape, {{full(shape)}}, 1, 0.1);
  EXPECT_EQ(faultOf([&] { fits.run(1); }), "");
  AttentionCheck<Greedy> greedy(shape, {{full(shape)}}, 1, 0.1);
  std::string fault = faultOf([&] { greedy.run(1); });
  EXPECT_THAT(fault, HasSubstr("the kernel waits for ever: warp"));
  // The producer gave back 136 a thread; seven warps of eight took theirs.
  EXPECT_THAT(fault, HasSubstr(" for 72 more registers a thread of the block's "
                               "pool, which has 40 for a warp"));
}

TEST(Registers, are_taken_when_others_give_them_back) {
  EXPECT_EQ(faultOf(256,
                    [] {
                      if (ptx::thread() < 128)
                        ptx::lowerRegisters<240>();
                      else
                        ptx::raiseRegisters<256>();
                    }),
            "");
  EXPECT_THAT(faultOf(256, [] { ptx::lowerRegisters<264>(); }),
              HasSubstr("a warp that holds 256 registers a thread lowers them "
                        "to 264"));
}

TEST(NamedBarriers, arrivals_let_others_go_on) {
  EXPECT_EQ(faultOf(256,
                    [] {
                      for (int turn = 0; turn < 3; ++turn)
                        if (ptx::thread() < 128) {
                          ptx::namedArrive(1, 256);
                          ptx::namedSync(2, 256);
                        } else {
                          ptx::namedSync(1, 256);
                          ptx::namedArrive(2, 256);
                        }
                    }),
            "");
}

TEST(NamedBarriers, name_who_waits_and_for_how_many) {
  EXPECT_THAT(faultOf(256,
                      [] {
                        if (ptx::thread() >= 128)
                          ptx::namedSync(1, 256);
                      }),
              HasSubstr("the kernel waits for ever: warps 4 to 7 for the named "
                        "barrier 1, where 128 of 256 threads are"));
}

TEST(NamedBarriers, are_met_by_each_warp_once) {
  EXPECT_THAT(faultOf(256,
                      [] {
                        ptx::namedArrive(1, 512);
                        ptx::namedArrive(1, 512);
                      }),
              HasSubstr("a warp is twice at named barrier 1"));
}

TEST(NamedBarriers, leave_no_arrival_behind) {
  EXPECT_THAT(faultOf(256, [] { ptx::namedArrive(3, 512); }),
              HasSubstr("the kernel ended while the named barrier 3, where 256 "
                        "of 512 threads are"));
}

TEST(NamedBarriers, count_the_same_threads) {
  EXPECT_THAT(
      faultOf(128, [] { ptx::namedSync(1, ptx::thread() < 64 ? 128 : 64); }),
      HasSubstr("threads of named barrier 1"));
}

} // namespace
