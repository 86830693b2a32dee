//===- StackMoves.cpp - Chunks in a stack, and behind each other ----------===//

#include "Loops/StackMoves.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <numeric>

using namespace mlir;
using namespace mlir::sp;

/// The order that brings dimension `from` right before dimension `to`.
static SmallVector<int64_t> rightBefore(int64_t from, int64_t to,
                                        int64_t rank) {
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == to)
      order.push_back(from);
    if (dim != from)
      order.push_back(dim);
  }
  return order;
}

std::optional<unsigned> mlir::sp::dimBehindReshape(ArrayRef<int64_t> from,
                                                   unsigned dim,
                                                   ArrayRef<int64_t> to) {
  auto product = [](ArrayRef<int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                           std::multiplies<>());
  };
  int64_t before = product(from.take_front(dim));
  for (unsigned other = 0; other < to.size(); ++other)
    if (to[other] == from[dim] && product(to.take_front(other)) == before)
      return other;
  return std::nullopt;
}

bool mlir::sp::areAlike(Value value, unsigned dim) {
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast)
    return false;
  ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
  const auto *own = llvm::find(dims, int64_t(dim));
  return own == dims.end() ||
         shapeOf(broadcast.getOperand())[own - dims.begin()] == 1;
}

Value mlir::sp::joinRows(OpBuilder &builder, Location loc, Value stack,
                         StackRows rows, unsigned dim) {
  if (rows.dim == dim)
    return stack;
  Value moved = transposed(builder, loc, stack,
                           rightBefore(rows.dim, dim, rankOf(stack)));
  SmallVector<int64_t> shape(shapeOf(stack));
  shape[dim] *= shape[rows.dim];
  shape[rows.dim] = 1;
  return reshapeTo(builder, loc, moved, shape);
}

Value mlir::sp::cutRows(OpBuilder &builder, Location loc, Value joined,
                        StackRows rows, unsigned dim, RankedTensorType whole) {
  if (rows.dim == dim)
    return joined;
  SmallVector<int64_t> order = rightBefore(rows.dim, dim, whole.getRank());
  auto shape = llvm::map_to_vector(
      order, [&](int64_t other) { return whole.getDimSize(other); });
  return transposed(builder, loc, reshapeTo(builder, loc, joined, shape),
                    invertPermutationVector(order));
}

void mlir::sp::cancelMoves(Operation *root) {
  root->walk([](Operation *op) {
    Operation *first =
        op->getNumOperands() == 1 ? op->getOperand(0).getDefiningOp() : nullptr;
    if (!first || first->getName() != op->getName())
      return;
    if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op)) {
      reshape.getOperandMutable().assign(first->getOperand(0));
      if (reshape.getOperand().getType() == reshape.getType())
        reshape->replaceAllUsesWith(ValueRange(reshape.getOperand()));
    }
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
      ArrayRef<int64_t> inner =
          cast<stablehlo::TransposeOp>(first).getPermutation();
      auto order = llvm::map_to_vector(transpose.getPermutation(),
                                       [&](int64_t dim) { return inner[dim]; });
      transpose.getOperandMutable().assign(first->getOperand(0));
      transpose.setPermutation(order);
      if (llvm::is_sorted(order))
        transpose->replaceAllUsesWith(ValueRange(transpose.getOperand()));
    }
  });
}
