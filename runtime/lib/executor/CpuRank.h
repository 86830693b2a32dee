/// A rank of the executor "cpu": memory of the host, a thread for each stream,
/// and threads that share the tiles of its kernels.
#ifndef SPRT_LIB_EXECUTOR_CPURANK_H
#define SPRT_LIB_EXECUTOR_CPURANK_H

#include "executor/EventBoard.h"
#include "executor/FarStore.h"
#include "executor/Rank.h"
#include "executor/Region.h"
#include "tiles/SliceTable.h"
#include "tiles/TilePool.h"

namespace sprt {

class CpuRank : public Rank {
public:
  using Rank::Rank;

  /// Reserves arena and scratch memory and starts `threads` - 1 helpers. All
  /// streams have one thread if the rank `sharesCores` with others. Far memory
  /// is a file in `farDirectory` unless that is null.
  Status allocate(int threads, bool sharesCores, const char *farDirectory);

  void beginRun(bool tracing) override;
  void show(const Bindings &ofRun) override;
  Status execute() override;
  void interrupt() override;
  int64_t peakBytes() const override;
  int64_t farPeakBytes() const override {
    return far ? far->touchedBytes() : 0;
  }
  Status place(const Placement &placement, const std::byte *global,
               std::byte *local) override;
  Status collect(const Placement &placement, const std::byte *local,
                 std::byte *global) override;
  Status copy(std::byte *target, const std::byte *source,
              int64_t bytes) override;
  Status store(std::byte *target, const std::byte *source,
               int64_t bytes) override;
  Status fetch(const std::byte *local, int64_t bytes,
               const std::byte *&out_data) override;

  bool isFar(const std::byte *a, const std::byte *b) const {
    return Rank::isFar(a) || Rank::isFar(b);
  }
  std::byte *scratch(int worker) const {
    return scratches[static_cast<size_t>(worker)].data();
  }

  std::unique_ptr<FarStore> far; ///< null where the program needs none
  std::unique_ptr<TilePool> pool;
  std::unique_ptr<EventBoard> events;
  /// By stream, then by command, row of the batch and owners.
  std::map<std::tuple<int32_t, int64_t, int64_t, int64_t>, SliceTable>
      slices[kStreams];

private:
  /// Part by part of far memory from `local` on, with some of the host's.
  Status inParts(const std::byte *local, int64_t bytes,
                 const std::function<Status(std::byte *part, int64_t first,
                                            int64_t size)> &work);

  bool hasOneThread = false; ///< for all streams
  Region arena;
  std::vector<Region> scratches;
  std::vector<std::byte> fetched;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_CPURANK_H
