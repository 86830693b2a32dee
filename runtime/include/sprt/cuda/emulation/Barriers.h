/// The barriers of one emulated block: in shared memory, and by name.
#ifndef SPRT_CUDA_EMULATION_BARRIERS_H
#define SPRT_CUDA_EMULATION_BARRIERS_H

#include "sprt/cuda/emulation/Fibers.h"

#include <map>

namespace sprt::cuda::emulation {

class Barriers {
public:
  explicit Barriers(Fibers &fibers) : fibers(fibers) {}

  // ---- Barriers in shared memory ----

  void initialise(uint32_t address, int count) {
    barriers[address] = {count, count, 0, 0};
  }
  void expect(uint32_t address, int bytes) {
    barrier(address).bytes += bytes;
    arrive(address);
  }
  void arrive(uint32_t address) {
    Barrier &it = barrier(address);
    if (it.missing == 0)
      fibers.fault("more arrivals than the barrier counts");
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
    fibers.await("a barrier in shared memory",
                 [&] { return (it.phase & 1) != parity; });
  }

  // ---- Named barriers ----

  void namedSync(int id, int threads) {
    Named &it = named[id];
    if (it.arrived > 0 && it.threads != threads)
      fibers.fault("threads name different numbers of threads of a barrier");
    it.threads = threads;
    int64_t mine = it.rounds;
    if (++it.arrived == threads) {
      it.arrived = 0;
      ++it.rounds;
    }
    fibers.await("a named barrier", [&] { return it.rounds > mine; });
  }

private:
  struct Barrier {
    int count, missing;
    int64_t bytes;
    uint32_t phase;

    void turn() {
      if (missing == 0 && bytes == 0) {
        ++phase;
        missing = count;
      }
    }
  };
  struct Named {
    int threads = 0, arrived = 0;
    int64_t rounds = 0;
  };

  Barrier &barrier(uint32_t address) {
    auto found = barriers.find(address);
    if (found == barriers.end())
      throw Fault("a barrier is used before it is initialised");
    return found->second;
  }

  Fibers &fibers;
  std::map<uint32_t, Barrier> barriers;
  std::map<int, Named> named;
};

} // namespace sprt::cuda::emulation

#endif // SPRT_CUDA_EMULATION_BARRIERS_H
