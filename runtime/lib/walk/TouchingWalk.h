/// A walk that notes what a run touches of the arena, without one.
#ifndef SPRT_LIB_WALK_TOUCHINGWALK_H
#define SPRT_LIB_WALK_TOUCHINGWALK_H

#include "walk/TouchedMemory.h"
#include "walk/Walk.h"

namespace sprt {

/// A rank whose memory is addresses only.
class Imagined : public RankView {
public:
  Imagined(const Program &program, int64_t number) : RankView(program, number) {
    arenaData = reinterpret_cast<std::byte *>(kArena);
    constantData = reinterpret_cast<const std::byte *>(kConstants);
    farData = reinterpret_cast<std::byte *>(kFar);
  }
  /// False for what is none of the arena's.
  bool arenaOffsetOf(const std::byte *data, int64_t &out_offset) const {
    out_offset = data - arenaData;
    return out_offset >= 0 && out_offset < program.plan->arena_bytes;
  }

private:
  static constexpr uintptr_t kArena = uintptr_t(1) << 61, kConstants = 1 << 20,
                             kFar = uintptr_t(1) << 60;
};

class TouchingWalk : public Walk {
protected:
  explicit TouchingWalk(Imagined &rank)
      : Walk(rank), rank(rank), memory(program.plan->arena_bytes),
        far(program.plan->far_bytes) {}

  Status touch(const plan::ViewT &view);
  Status touch(const std::vector<std::unique_ptr<plan::ViewT>> &views);
  /// The first rows of each batch of a dense tensor, of which all batches are
  /// there.
  Status touch(const plan::ViewT &view, const std::vector<int64_t> &strides,
               int64_t batches, int64_t rows);
  void touch(const Message &message);

  /// Of rows that documents deal, which nobody knows yet, a rank may have other
  /// ones than are counted, and as many as it holds.
  bool areOfAnyBatch(uint32_t layout);
  /// Sets how many there may be; whether it does.
  bool allowAnyBatch(const plan::RowsT &rows, int64_t &count);
  Status touchOfAnyBatch(const plan::SendRecvT &transfer);
  template <typename TableT> Status touchOfAnyBatch(const TableT &collective) {
    for (const auto &moved : collective.values)
      if (areOfAnyBatch(moved->layout))
        for (const plan::StridedT *side :
             {moved->source.get(), moved->target.get()})
          if (Status failure = touch(*side->view))
            return failure;
    return Status::success();
  }

  Imagined &rank;
  TouchedMemory memory, far;

private:
  /// So many runs of bytes, `stride` from each to the next.
  void touch(const std::byte *data, int64_t bytes, int64_t count,
             int64_t stride);
};

} // namespace sprt

#endif // SPRT_LIB_WALK_TOUCHINGWALK_H
