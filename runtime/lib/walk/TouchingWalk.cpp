#include "walk/TouchingWalk.h"

namespace sprt {

Status TouchingWalk::touch(const plan::ViewT &view) {
  int64_t offset = 0;
  if (view.space == plan::Space::far) {
    if (Status failure = rank.offsetOf(view, scope, offset))
      return failure;
    far.touch(offset, view.bytes);
    return Status::success();
  }
  std::byte *data = nullptr;
  if (Status failure = rank.resolve(view, scope, data))
    return failure;
  touch(data, view.bytes, 1, view.bytes);
  return Status::success();
}

Status
TouchingWalk::touch(const std::vector<std::unique_ptr<plan::ViewT>> &views) {
  for (const auto &view : views)
    if (Status failure = touch(*view))
      return failure;
  return Status::success();
}

Status TouchingWalk::touch(const plan::ViewT &view,
                           const std::vector<int64_t> &strides, int64_t batches,
                           int64_t rows) {
  std::byte *data = nullptr;
  if (Status failure = rank.resolve(view, scope, data))
    return failure;
  int64_t batch = view.bytes / batches;
  touch(data, strides[0] == 0 ? batch : batch / strides[0] * strides[1] * rows,
        batches, batch);
  return Status::success();
}

void TouchingWalk::touch(const Message &message) {
  for (const Piece &piece : message)
    touch(piece.base,
          (piece.counts[1] - 1) * piece.strides[1] +
              (piece.counts[2] - 1) * piece.strides[2] + piece.inner,
          piece.counts[0], piece.strides[0]);
}

bool TouchingWalk::areOfAnyBatch(uint32_t number) {
  const algebra::Layout &layout = here.layout(number);
  return layout.kind() == algebra::LayoutKind::batch && !layout.deal();
}

bool TouchingWalk::allowAnyBatch(const plan::RowsT &rows, int64_t &count) {
  if (!areOfAnyBatch(rows.layout))
    return false;
  count = here.layout(rows.layout).maxCount();
  return true;
}

Status TouchingWalk::touchOfAnyBatch(const plan::SendRecvT &transfer) {
  for (const auto &block : transfer.receives)
    if (areOfAnyBatch(block->rows->layout))
      if (Status failure = touch(*block->strided->view))
        return failure;
  return Status::success();
}

void TouchingWalk::touch(const std::byte *data, int64_t bytes, int64_t count,
                         int64_t stride) {
  int64_t offset = 0;
  if (rank.arenaOffsetOf(data, offset))
    memory.touch(offset, bytes, count, stride);
}

} // namespace sprt
