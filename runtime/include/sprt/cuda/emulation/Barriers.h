/// The barriers of one emulated block: in shared memory, and by number.
#ifndef SPRT_CUDA_EMULATION_BARRIERS_H
#define SPRT_CUDA_EMULATION_BARRIERS_H

#include "sprt/cuda/emulation/Fibers.h"

#include <map>

namespace sprt::cuda::emulation {

class Barriers {
public:
  explicit Barriers(Fibers &fibers) : fibers(fibers) {}

  // ---- Barriers in shared memory ----

  void initialise(uint32_t address, int count, const std::string &name) {
    barriers[address] = {name, count, count, 0, 0, false};
  }
  /// Shows what was initialised to the other threads, and to copies.
  void fence() {
    for (auto &[address, it] : barriers)
      it.isShown = true;
  }
  void expect(uint32_t address, int bytes) {
    barrier(address).bytes += bytes;
    arrive(address);
  }
  void arrive(uint32_t address) {
    Barrier &it = barrier(address);
    if (it.missing == 0)
      fibers.fault("more arrivals than the barrier '" + it.name + "' counts");
    --it.missing;
    it.turn();
  }
  /// A copy has brought bytes.
  void receive(uint32_t address, uint32_t bytes) {
    Barrier &it = barrier(address);
    it.bytes -= bytes;
    it.turn();
  }
  void wait(uint32_t address, uint32_t parity) {
    Barrier &it = barrier(address);
    fibers.await([&it] { return it.describe(); },
                 [&] { return (it.phase & 1) != parity; });
  }

  // ---- Named barriers ----

  void namedSync(int id, int threads) {
    Named &it = arriveAt(id, threads);
    int64_t mine = it.rounds - (it.warps.empty() ? 1 : 0);
    fibers.await([&it, id] { return it.describe(id); },
                 [&] { return it.rounds > mine; });
  }
  void namedArrive(int id, int threads) { arriveAt(id, threads); }

  /// Every thread has returned.
  void finish() const {
    for (const auto &[id, it] : named)
      if (!it.warps.empty())
        throw Fault("the kernel ended while " + it.describe(id));
  }

private:
  struct Barrier {
    std::string name;
    int count, missing;
    int64_t bytes;
    uint32_t phase;
    bool isShown;

    void turn() {
      if (missing == 0 && bytes == 0) {
        ++phase;
        missing = count;
      }
    }
    std::string describe() const {
      return "the barrier '" + name + "', where " + std::to_string(missing) +
             " of " + std::to_string(count) + " arrivals and " +
             std::to_string(bytes) + " bytes are missing";
    }
  };
  /// Counts warps, as the hardware does: a warp is there when its lanes are.
  struct Named {
    int threads = 0;
    std::map<int, int> warps; ///< lanes of each that are there
    int64_t rounds = 0;

    int arrived() const {
      int lanes = 0;
      for (const auto &[warp, count] : warps)
        lanes += count;
      return lanes;
    }
    std::string describe(int id) const {
      return "the named barrier " + std::to_string(id) + ", where " +
             std::to_string(arrived()) + " of " + std::to_string(threads) +
             " threads are";
    }
  };

  /// A round ends with the arrival of the last thread.
  Named &arriveAt(int id, int threads) {
    if (id < 0 || id >= kNamed || threads % Fibers::kWarp != 0)
      fibers.fault("a named barrier " + std::to_string(id) + " of " +
                   std::to_string(threads) + " threads cannot be");
    Named &it = named[id];
    if (!it.warps.empty() && it.threads != threads)
      fibers.fault("threads name " + std::to_string(threads) + " and " +
                   std::to_string(it.threads) + " threads of named barrier " +
                   std::to_string(id));
    it.threads = threads;
    int warp = fibers.current() / Fibers::kWarp;
    if (++it.warps[warp] > Fibers::kWarp)
      fibers.fault("a warp is twice at named barrier " + std::to_string(id) +
                   " before others have met it");
    if (it.arrived() == threads) {
      it.warps.clear();
      ++it.rounds;
    }
    return it;
  }

  Barrier &barrier(uint32_t address) {
    auto found = barriers.find(address);
    if (found == barriers.end())
      throw Fault("a barrier is used before it is initialised");
    if (!found->second.isShown)
      throw Fault("the barrier '" + found->second.name +
                  "' is used before a fence shows it to other threads");
    return found->second;
  }

  static constexpr int kNamed = 16; ///< of a block

  Fibers &fibers;
  std::map<uint32_t, Barrier> barriers;
  std::map<int, Named> named;
};

} // namespace sprt::cuda::emulation

#endif // SPRT_CUDA_EMULATION_BARRIERS_H
