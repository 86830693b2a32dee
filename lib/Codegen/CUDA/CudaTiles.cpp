//===- CudaTiles.cpp - Which tiles an attention for GPUs takes ------------===//

#include "CUDA/CudaTiles.h"
#include "sp/IR/Attributes.h"

using namespace mlir;
using namespace mlir::sp;

static constexpr CudaTileRow kRows[] = {
#define SP_CUDA_TILE(mostHead, mostValue, mask, mostKeys, keyBlock, consumers, \
                     stages, order)                                            \
  {mostHead, mostValue, CudaMask::mask, mostKeys,                              \
   keyBlock, consumers, stages,         CudaOrder::order},
#include "CUDA/CudaTiles.def"
};

static constexpr bool areRowsValid() {
  for (const CudaTileRow &row : kRows)
    if (row.mostKeys < 0 ||
        !row.shapeFor(row.mostHead, row.mostValue).isValid())
      return false;
  return true;
}
static_assert(areRowsValid(), "a row that no kernel can have");

/// The forward kernel takes every size up to these.
static constexpr bool isComplete(CudaMask mask) {
  for (const CudaTileRow &row : kRows)
    if (row.fits(256, 256, mask, INT64_MAX))
      return true;
  return false;
}
static_assert(isComplete(CudaMask::Whole) && isComplete(CudaMask::Masked) &&
                  isComplete(CudaMask::Scored),
              "launches that no row fits");

ArrayRef<CudaTileRow> mlir::sp::cudaTiles() { return kRows; }

const CudaTileRow *mlir::sp::findCudaTile(ArrayRef<CudaTileRow> rows,
                                          int64_t head, int64_t value,
                                          CudaMask mask, int64_t keys) {
  const CudaTileRow *row = llvm::find_if(rows, [&](const CudaTileRow &each) {
    return each.fits(head, value, mask, keys);
  });
  return row == rows.end() ? nullptr : row;
}

static CudaMask maskOf(AttendOp op) {
  if (op.getScore())
    return CudaMask::Scored;
  bool showsAll =
      llvm::all_of(op.getBands().getAsRange<BandAttr>(), [](BandAttr band) {
        return band.getLo() == INT64_MIN && band.getHi() == INT64_MAX &&
               !band.getUniform();
      });
  return showsAll ? CudaMask::Whole : CudaMask::Masked;
}

static bool take(ArrayRef<int64_t> asked, CudaTileRow &row) {
  if (asked.size() < 3 || asked.size() > 5)
    return false;
  for (int64_t number : asked.take_front(3))
    if (number <= 0 || number > 256)
      return false;
  for (int64_t choice : asked.drop_front(3))
    if (choice != 0 && choice != 1)
      return false;
  row.keyBlock = static_cast<int>(asked[0]);
  row.consumers = static_cast<int>(asked[1]);
  row.stages = static_cast<int>(asked[2]);
  row.order = asked.size() > 3 && asked[3] == 1 ? CudaOrder::LightestFirst
                                                : CudaOrder::HeaviestFirst;
  if (asked.size() == 5)
    row.turns = asked[4] == 1;
  return true;
}

FailureOr<std::optional<CudaTileRow>> mlir::sp::tileOf(AttendOp op) {
  int64_t head = op.getQuery().getType().getDimSize(3),
          value = op.getValue().getType().getDimSize(3),
          keys = op.getKey().getType().getDimSize(1);
  const CudaTileRow *row =
      findCudaTile(cudaTiles(), head, value, maskOf(op), keys);
  if (!row)
    return std::optional<CudaTileRow>();
  CudaTileRow tile = *row;
  Attribute asked = op->getParentOfType<ModuleOp>()->getAttr(kAttentionTile);
  if (!asked)
    return std::optional(tile);
  auto numbers = dyn_cast<DenseI64ArrayAttr>(asked);
  if (numbers && take(numbers, tile) && tile.shapeFor(head, value).isValid())
    return std::optional(tile);
  return op.emitOpError()
         << "expected sp.attention_tile to hold keys at a time, consumers, "
            "stages and, if any, an order and turns (0 or 1) of a tile that "
            "heads of "
         << head << " and " << value << " elements can have but got " << asked;
}
