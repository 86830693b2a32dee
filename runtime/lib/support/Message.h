/// What one transfer moves: strided pieces of memory, in order.
#ifndef SPRT_LIB_SUPPORT_MESSAGE_H
#define SPRT_LIB_SUPPORT_MESSAGE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sprt {

/// batch x rows x heads runs of `inner` bytes; strides in bytes.
struct Piece {
  std::byte *base = nullptr;
  int64_t counts[3] = {1, 1, 1};
  int64_t strides[3] = {0, 0, 0};
  int64_t inner = 0;

  int64_t bytes() const { return counts[0] * counts[1] * counts[2] * inner; }
};

/// Sender and receiver describe the same sequence of bytes; how each cuts it
/// into pieces and runs is its own affair.
using Message = std::vector<Piece>;

/// One dense piece.
inline Message denseMessage(void *data, int64_t bytes) {
  Piece piece;
  piece.base = static_cast<std::byte *>(data);
  piece.inner = bytes;
  return {piece};
}

int64_t messageBytes(const Message &message);

/// Where a message lies when it is one contiguous run, else null.
std::byte *contiguousData(const Message &message);

/// Copies `source` to `target`; both have the same number of bytes.
void copyMessage(const Message &target, const Message &source);

/// Rows of `width` bytes, `pitch` apart: what a device copies at once.
struct Rectangle {
  std::byte *target;
  const std::byte *source;
  int64_t width;
  int64_t height = 1;
  int64_t targetPitch = 0, sourcePitch = 0;
};

/// Cuts the copy of `source` to `target`, which have the same number of bytes,
/// into few rectangles.
void forEachRectangle(const Message &target, const Message &source,
                      const std::function<void(const Rectangle &)> &visit);

/// Calls `visit` with every contiguous run.
void forEachRun(const Message &message,
                const std::function<void(std::byte *, int64_t)> &visit);

/// Cuts a message into messages of whole rows of at most `limit` bytes, as few
/// as keep the order, or of one row where a row is larger.
std::vector<Message> splitRows(const Message &message, int64_t limit);

} // namespace sprt

#endif // SPRT_LIB_SUPPORT_MESSAGE_H
