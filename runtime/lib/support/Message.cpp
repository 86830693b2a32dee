#include "support/Message.h"

#include <algorithm>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sprt {

namespace {

/// Larger messages go around the caches, as they would not stay there until
/// they are read, but displace what ranks compute with.
constexpr int64_t kMostCached = 256 * 1024;

/// How far ahead a message of short runs is asked for: the processor's own
/// prefetching starts anew at each run.
constexpr int64_t kAheadBytes = 8 * 1024, kShortRun = 16 * 1024;

/// Copies bytes that do not overlap, and asks for as many that lie `ahead` of
/// them, if not 0; `fenceStreams` orders them with what this thread writes
/// afterwards.
void streamBytes(std::byte *to, const std::byte *from, int64_t bytes,
                 [[maybe_unused]] int64_t ahead) {
#ifdef __SSE2__
  constexpr int64_t line = 64, lane = sizeof(__m128i), lanes = line / lane;
  if (ahead != 0)
    for (int64_t at = 0; at < bytes; at += line)
      _mm_prefetch(reinterpret_cast<const char *>(from + ahead + at),
                   _MM_HINT_NTA);
  int64_t begin = std::min<int64_t>(
      static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) % line), bytes);
  int64_t end = begin + (bytes - begin) / line * line;
  std::memcpy(to, from, static_cast<size_t>(begin));
  for (int64_t at = begin; at < end; at += line) {
    __m128i words[lanes];
    for (int64_t i = 0; i < lanes; ++i)
      words[i] = _mm_loadu_si128(
          reinterpret_cast<const __m128i *>(from + at + i * lane));
    for (int64_t i = 0; i < lanes; ++i)
      _mm_stream_si128(reinterpret_cast<__m128i *>(to + at + i * lane),
                       words[i]);
  }
  std::memcpy(to + end, from + end, static_cast<size_t>(bytes - end));
#else
  std::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

void fenceStreams() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/// Walks the contiguous runs of a message.
class Runs {
public:
  explicit Runs(const Message &message) : message(message) { openPiece(); }

  bool done() const { return piece == message.size(); }
  std::byte *data() const { return at; }
  int64_t left() const { return remaining; }

  /// From a byte to the one about kAheadBytes on, 0 where runs are long. At the
  /// end of a dimension it may lie elsewhere.
  int64_t ahead() const { return aheadBytes; }

  void advance(int64_t bytes) {
    at += bytes;
    remaining -= bytes;
    if (remaining == 0)
      nextRun();
  }

private:
  /// Starts at `piece`, joining dimensions that lie densely behind each other.
  void openPiece() {
    while (piece < message.size() && message[piece].bytes() == 0)
      ++piece;
    if (done())
      return;
    const Piece &from = message[piece];
    run = from.inner;
    outer = 3;
    while (outer > 0 &&
           (from.counts[outer - 1] == 1 || from.strides[outer - 1] == run)) {
      run *= from.counts[outer - 1];
      --outer;
    }
    bool isShort = outer > 0 && run < kShortRun;
    aheadBytes =
        isShort ? from.strides[outer - 1] * ((kAheadBytes + run - 1) / run) : 0;
    std::fill(index, index + 3, 0);
    beginRun(from.base);
  }

  void beginRun(std::byte *data) {
    begin = at = data;
    remaining = run;
  }

  void nextRun() {
    const Piece &from = message[piece];
    std::byte *data = begin;
    for (int dim = outer; dim-- > 0;) {
      data += from.strides[dim];
      if (++index[dim] < from.counts[dim])
        return beginRun(data);
      data -= from.counts[dim] * from.strides[dim];
      index[dim] = 0;
    }
    ++piece;
    openPiece();
  }

  const Message &message;
  size_t piece = 0;
  int outer = 0; ///< dimensions that are not part of a run
  int64_t index[3] = {0, 0, 0};
  int64_t run = 0;
  int64_t remaining = 0;
  int64_t aheadBytes = 0;
  std::byte *begin = nullptr; ///< of the run
  std::byte *at = nullptr;
};

} // namespace

int64_t messageBytes(const Message &message) {
  int64_t bytes = 0;
  for (const Piece &piece : message)
    bytes += piece.bytes();
  return bytes;
}

std::byte *contiguousData(const Message &message) {
  Runs runs(message);
  return !runs.done() && runs.left() == messageBytes(message) ? runs.data()
                                                              : nullptr;
}

void copyMessage(const Message &target, const Message &source) {
  Runs to(target);
  Runs from(source);
  bool streams = messageBytes(target) > kMostCached;
  while (!to.done() && !from.done()) {
    int64_t bytes = std::min(to.left(), from.left());
    bool isApart =
        to.data() + bytes <= from.data() || from.data() + bytes <= to.data();
    if (streams && isApart)
      streamBytes(to.data(), from.data(), bytes, from.ahead());
    else
      std::memmove(to.data(), from.data(), static_cast<size_t>(bytes));
    to.advance(bytes);
    from.advance(bytes);
  }
  if (streams)
    fenceStreams();
}

/// Adds a row to a rectangle, where it goes on as the rows before do: the
/// second one gives the pitches.
static bool extend(Rectangle &rectangle, const Rectangle &row) {
  if (row.width != rectangle.width)
    return false;
  int64_t target = row.target - rectangle.target;
  int64_t source = row.source - rectangle.source;
  if (rectangle.height == 1) {
    if (target < row.width || source < row.width)
      return false;
    rectangle.targetPitch = target;
    rectangle.sourcePitch = source;
  } else if (target != rectangle.height * rectangle.targetPitch ||
             source != rectangle.height * rectangle.sourcePitch) {
    return false;
  }
  ++rectangle.height;
  return true;
}

void forEachRectangle(const Message &target, const Message &source,
                      const std::function<void(const Rectangle &)> &visit) {
  Runs to(target);
  Runs from(source);
  Rectangle last = {};
  while (!to.done() && !from.done()) {
    Rectangle row = {to.data(), from.data(), std::min(to.left(), from.left())};
    to.advance(row.width);
    from.advance(row.width);
    if (extend(last, row))
      continue;
    if (last.width > 0)
      visit(last);
    last = row;
  }
  if (last.width > 0)
    visit(last);
}

void forEachRun(const Message &message,
                const std::function<void(std::byte *, int64_t)> &visit) {
  for (Runs runs(message); !runs.done(); runs.advance(runs.left()))
    visit(runs.data(), runs.left());
}

std::vector<Message> splitRows(const Message &message, int64_t limit) {
  std::vector<Message> blocks;
  int64_t room = 0; // of the last block
  for (const Piece &piece : message) {
    int64_t rowBytes = piece.counts[2] * piece.inner;
    int64_t rows = piece.counts[1];
    if (piece.bytes() == 0)
      continue;
    int64_t step = std::max<int64_t>(1, limit / rowBytes);
    for (int64_t batch = 0; batch < piece.counts[0]; ++batch)
      for (int64_t row = 0; row < rows; row += step) {
        Piece block = piece;
        block.base += batch * piece.strides[0] + row * piece.strides[1];
        block.counts[0] = 1;
        block.counts[1] = std::min(step, rows - row);
        if (blocks.empty() || block.bytes() > room) {
          blocks.emplace_back();
          room = limit;
        }
        room -= block.bytes();
        blocks.back().push_back(block);
      }
  }
  return blocks;
}

} // namespace sprt
