/// The registers of one emulated block: a warp that wants more than it was
/// launched with waits for what others give back.
#ifndef SPRT_CUDA_EMULATION_REGISTERS_H
#define SPRT_CUDA_EMULATION_REGISTERS_H

#include "sprt/cuda/RegisterPool.h"
#include "sprt/cuda/emulation/Fibers.h"

namespace sprt::cuda::emulation {

class Registers {
public:
  Registers(Fibers &fibers, int threads)
      : fibers(fibers), warps(static_cast<size_t>(threads / kWarp)) {
    for (Warp &warp : warps)
      warp.held = RegisterPool{threads}.atLaunch();
  }

  void lower(int count) {
    if (mine().held < count)
      refuse("lowers", count);
    change(count);
  }
  void raise(int count) {
    if (mine().held > count)
      refuse("raises", count);
    change(count);
  }

private:
  static constexpr int kWarp = Fibers::kWarp;

  struct Warp {
    int held; ///< registers of a thread
    int64_t lanes = 0, rounds = 0;
  };

  Warp &mine() { return warps[static_cast<size_t>(fibers.current() / kWarp)]; }

  [[noreturn]] void refuse(const char *what, int count) {
    fibers.fault("a warp that holds " + std::to_string(mine().held) +
                 " registers a thread " + what + " them to " +
                 std::to_string(count));
  }

  /// By every lane; the last one makes the change.
  void change(int count) {
    if (count % RegisterPool::kUnit != 0 || count < RegisterPool::kLeast ||
        count > RegisterPool::kMost)
      fibers.fault("a thread cannot hold " + std::to_string(count) +
                   " registers");
    Warp &warp = mine();
    int64_t round = warp.lanes++ / kWarp;
    fibers.await(
        [this, &warp, count] {
          return std::to_string(count - warp.held) +
                 " more registers a thread of the block's pool, which has " +
                 std::to_string(free / kWarp) + " for a warp";
        },
        [&] {
          return warp.rounds > round ||
                 (warp.lanes == (round + 1) * kWarp && take(warp, count));
        });
  }

  bool take(Warp &warp, int count) {
    int more = (count - warp.held) * kWarp;
    if (more > free)
      return false;
    free -= more;
    warp.held = count;
    ++warp.rounds;
    return true;
  }

  Fibers &fibers;
  std::vector<Warp> warps;
  int free = 0; ///< that no warp holds
};

} // namespace sprt::cuda::emulation

#endif // SPRT_CUDA_EMULATION_REGISTERS_H
