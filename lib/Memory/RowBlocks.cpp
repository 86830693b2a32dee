//===- RowBlocks.cpp - Blocks of rows that fit -------------------------===//
//
// A block's own values, and no others, grow with its rows: what else lives
// while a loop runs leaves room for so many rows more.
//
//===----------------------------------------------------------------------===//

#include "sp/Memory/RowBlocks.h"

#include "LiveBytes.h"
#include "Places.h"
#include "sp/IR/Attributes.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Bytes that live at once, at most.
struct Peaks {
  int64_t ofBlock = 0, others = 0;
};

} // namespace

static Peaks measure(Places &places, scf::ForOp loop) {
  auto [first, last] = places.pointsOf(loop);
  LiveBytes ofBlock(last - first + 1), others(last - first + 1);
  for (const Place &place : places.all()) {
    if (place.space != Space::Arena || place.end < first || place.begin > last)
      continue;
    bool isOfBlock = place.begin > first && place.end < last;
    (isOfBlock ? ofBlock : others)
        .add(std::max(place.begin, first) - first,
             std::min(place.end, last) - first, bytesOf(place));
  }
  return {ofBlock.most(0, last - first), others.most(0, last - first)};
}

/// The rows of blocks of which none has more than `most`: a part of all of
/// them, where there is one of not too many blocks.
static int64_t evenRows(int64_t length, int64_t most) {
  int64_t blocks = llvm::divideCeil(length, most);
  for (int64_t more = blocks; more < 2 * blocks; ++more)
    if (length % more == 0)
      return length / more;
  return llvm::divideCeil(length, blocks);
}

SmallVector<int64_t> mlir::sp::chooseBlockRows(func::FuncOp placed,
                                               int64_t limit) {
  Places places(placed);
  SmallVector<int64_t> chosen;
  placed.walk([&](scf::ForOp loop) {
    auto attr = loop->getAttrOfType<DenseI64ArrayAttr>(kRowBlocks);
    if (!attr)
      return;
    auto number = static_cast<size_t>(attr[0]);
    int64_t length = attr[1], least = attr[2];
    Peaks live = measure(places, loop);
    int64_t most = length;
    if (live.ofBlock > 0)
      most = std::max<int64_t>((limit - live.others) / live.ofBlock, 1) * least;
    chosen.resize(std::max(chosen.size(), number + 1));
    chosen[number] =
        most >= length ? length : std::max(least, evenRows(length, most));
  });
  return chosen;
}
