#include "device/EmulatedGrid.h"

#include <cstddef>
#include <cstring>

namespace sprt {

namespace {

using cuda::emulation::Fibers;

struct GridBlock {
  GridBlock(const EmulatedGrid &grid, int number)
      : fibers(grid.threads,
               grid.seed * 0x9E3779B97F4A7C15 + static_cast<uint64_t>(number)),
        threads(grid.threads), met(static_cast<size_t>(grid.threads)) {}

  void meet(int64_t thread) {
    int64_t turn = ++met[static_cast<size_t>(thread)];
    ++arrived;
    fibers.await("a barrier", [&] { return arrived >= turn * threads; });
  }

  Fibers fibers;
  int64_t threads;
  std::vector<int64_t> met; ///< barriers that each thread has come to
  int64_t arrived = 0;      ///< at all of them
};

/// What a kernel is given, and where it meets the others.
struct GridThread : sprt_grid_thread {
  GridBlock *owner = nullptr;
};

} // namespace

void emulateGrid(sprt_emulated_thread kernel, void *const *arguments,
                 const EmulatedGrid &grid) {
  std::vector<std::max_align_t> shared(
      static_cast<size_t>(grid.sharedBytes) / sizeof(std::max_align_t) + 1);
  for (int number = 0; number < grid.blocks; ++number) {
    GridBlock block(grid, number);
    // NaNs, as memory that nobody has written.
    std::memset(shared.data(), 0xFF, shared.size() * sizeof(std::max_align_t));
    block.fibers.run(
        [&] {
          GridThread thread;
          thread.thread = block.fibers.current();
          thread.block = number;
          thread.blocks = grid.blocks;
          thread.shared = shared.data();
          thread.barrier = [](sprt_grid_thread *self) {
            static_cast<GridThread *>(self)->owner->meet(self->thread);
          };
          thread.owner = &block;
          kernel(arguments, &thread);
        },
        [] { return false; });
  }
}

} // namespace sprt
