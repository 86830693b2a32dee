/// Tiles of the forward attention kernel for GPUs by what they are fastest for:
/// the table lib/Codegen/CUDA/CudaTiles.def.
#ifndef SP_LIB_CODEGEN_CUDATILES_H
#define SP_LIB_CODEGEN_CUDATILES_H

#include "sp/IR/SP.h"
#include "sprt/cuda/ForwardShape.h"

#include <optional>

namespace mlir::sp {

/// What a launch sees: every key, those that bands leave, or either through a
/// score function.
enum class CudaMask { Whole, Masked, Scored };

/// Which blocks of queries begin first, by the pairs that they see.
enum class CudaOrder { HeaviestFirst, LightestFirst };

/// One row: launches of heads and values of at most these sizes, under this
/// mask, with at most `mostKeys` local keys (0: any number).
struct CudaTileRow {
  int64_t mostHead, mostValue;
  CudaMask mask;
  int64_t mostKeys;
  int keyBlock, consumers, stages;
  CudaOrder order;
  /// Of consumers; nothing: as ForwardShape::takesTurns says.
  std::optional<bool> turns = std::nullopt;

  constexpr bool fits(int64_t head, int64_t value, CudaMask of,
                      int64_t keys) const {
    return head <= mostHead && value <= mostValue && of == mask &&
           (mostKeys == 0 || keys <= mostKeys);
  }
  constexpr ::sprt::cuda::ForwardShape shapeFor(int64_t head,
                                                int64_t value) const {
    int size = static_cast<int>(head);
    return {
        size,     static_cast<int>(value),
        keyBlock, consumers,
        stages,   turns.value_or(::sprt::cuda::ForwardShape::takesTurns(size))};
  }
};

/// The rows of CudaTiles.def.
ArrayRef<CudaTileRow> cudaTiles();

/// The first row that fits; null where none does.
const CudaTileRow *findCudaTile(ArrayRef<CudaTileRow> rows, int64_t head,
                                int64_t value, CudaMask mask, int64_t keys);

/// The tile of a partial attention without its sizes of heads, or the one that
/// its module asks for:
///
///     sp.attention_tile = array<i64: keys at a time, consumers, stages, order,
///                               turns>
///
/// where the last two may be left out: the order is 0 for the heaviest blocks
/// of queries first and 1 for the lightest; turns are 1 where consumers take
/// them. That is how tiles are compared on a GPU. Null where no row fits; fails
/// with a diagnostic where the forward kernel cannot have what is asked for.
FailureOr<std::optional<CudaTileRow>> tileOf(AttendOp op);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_CUDATILES_H
