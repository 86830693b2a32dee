/// One thread block of an emulated launch: its threads, barriers, shared memory
/// and the units that work beside them. Everything asynchronous happens at a
/// random moment that a seed repeats.
#ifndef SPRT_CUDA_EMULATION_BLOCK_H
#define SPRT_CUDA_EMULATION_BLOCK_H

#include "sprt/cuda/emulation/Barriers.h"
#include "sprt/cuda/emulation/Products.h"
#include "sprt/cuda/emulation/Registers.h"

#include <cstdio>
#include <deque>

namespace sprt::cuda::emulation {

/// What a launch says beside the kernel's arguments.
struct Launch {
  int blocks, threads;
  int sharedBytes;
  uint64_t seed;
};

class Block {
public:
  static constexpr int kWarp = Fibers::kWarp;
  /// Where shared memory begins in its window: not at 0, as on a GPU.
  static constexpr uint32_t kBase = 1024;

  Block(const Launch &launch, int number)
      : launch(launch), number(number),
        fibers(launch.threads, launch.seed * 0x9E3779B97F4A7C15 +
                                   static_cast<uint64_t>(number)),
        memory(kBase + static_cast<size_t>(launch.sharedBytes)),
        registers(fibers, launch.threads),
        warps(static_cast<size_t>(launch.threads / kWarp)),
        met(static_cast<size_t>(launch.threads)) {
    for (int first = 0; first < launch.threads; first += Products::kThreads)
      warpgroups.emplace_back(memory, fibers, first);
  }

  static Block &current() { return *active(); }

  void run(const std::function<void()> &kernel) {
    active() = this;
    fibers.run(kernel, [&] { return advance(); });
    barriers.finish();
    active() = nullptr;
  }

  // ---- Warps ----

  double shuffleXor(double value, int lanes) {
    int thread = fibers.current();
    Warp &warp = warps[static_cast<size_t>(thread / kWarp)];
    int64_t turn = met[static_cast<size_t>(thread)]++;
    auto &values = warp.values[turn & 1];
    values[static_cast<size_t>(thread % kWarp)] = value;
    ++warp.arrived;
    fibers.await("other lanes of the warp",
                 [&] { return warp.arrived >= kWarp * (turn + 1); });
    return values[static_cast<size_t>(thread % kWarp ^ lanes)];
  }

  // ---- Copies ----

  void copyIn(uint32_t to, const Box &box, uint32_t address) {
    memory.poison(to, box.bytes());
    bool isSlow = fibers.random() % 8 == 0;
    copies.push_back({[this, to, box, address] {
                        box.load(memory, to);
                        barriers.receive(address, box.bytes());
                      },
                      isSlow ? static_cast<int>(fibers.random() % 64) : 0});
  }
  Products &warpgroup() {
    return warpgroups[static_cast<size_t>(fibers.current() /
                                          Products::kThreads)];
  }

  const Launch launch;
  const int number;
  int64_t prefetches = 0;
  Fibers fibers;
  SharedMemory memory;
  Barriers barriers{fibers};
  Registers registers;

private:
  struct Warp {
    std::array<double, kWarp> values[2];
    int64_t arrived = 0;
  };

  struct Copy {
    std::function<void()> make;
    int delay; ///< rounds before it can be made
  };

  static Block *&active() {
    static thread_local Block *block = nullptr;
    return block;
  }

  /// Each copy that was issued is made with probability 1/2, in any order, but
  /// now and then one takes long.
  bool advance() {
    bool more = !copies.empty();
    std::vector<std::function<void()>> chosen;
    for (size_t i = copies.size(); i-- > 0;)
      if (copies[i].delay-- <= 0 && fibers.random() & 1) {
        chosen.push_back(std::move(copies[i].make));
        copies.erase(copies.begin() + static_cast<long>(i));
      }
    for (const auto &copy : chosen)
      copy();
    for (Products &products : warpgroups)
      more |= products.advance();
    return more;
  }

  std::vector<Warp> warps;
  std::deque<Products> warpgroups;
  std::vector<Copy> copies;
  std::vector<int64_t> met; ///< exchanges of each thread with its warp
};

/// Runs every block of a launch, one after another. Throws Fault. How many
/// prefetches there were, which change nothing that is computed.
template <class Kernel>
int64_t run(const Launch &launch, const Kernel &kernel) {
  int64_t prefetches = 0;
  for (int number = 0; number < launch.blocks; ++number) {
    Block block(launch, number);
    block.run(kernel);
    prefetches += block.prefetches;
  }
  return prefetches;
}

/// The same, as sprt_emulated_kernel says it.
template <class Kernel>
int run(const Launch &launch, const Kernel &kernel, char *error,
        int64_t errorBytes) {
  try {
    run(launch, kernel);
    return 0;
  } catch (const std::exception &failure) {
    std::snprintf(error, static_cast<size_t>(errorBytes), "%s", failure.what());
    return 1;
  }
}

} // namespace sprt::cuda::emulation

#endif // SPRT_CUDA_EMULATION_BLOCK_H
