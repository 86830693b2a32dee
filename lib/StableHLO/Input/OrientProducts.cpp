//===- OrientProducts.cpp - Products in the shape that is read ---------===//

#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {
#define GEN_PASS_DEF_ORIENTPRODUCTSPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;
using stablehlo::DotGeneralOp;

/// Whether a transpose of a product of so many batch dimensions and free ones
/// of the left operand has those of the right one before them.
static bool swapsSides(ArrayRef<int64_t> permutation, int64_t batch,
                       int64_t left) {
  int64_t rank = permutation.size();
  for (auto [to, from] : llvm::enumerate(permutation)) {
    auto dim = static_cast<int64_t>(to);
    int64_t right = rank - batch - left, wanted = dim;
    if (dim >= batch)
      wanted = dim < batch + right ? dim + left : dim - right;
    if (from != wanted)
      return false;
  }
  return true;
}

/// The product with its operands the other way round.
static Value swapSides(DotGeneralOp op, RankedTensorType type) {
  stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  auto swapped = stablehlo::DotDimensionNumbersAttr::get(
      op.getContext(), dims.getRhsBatchingDimensions(),
      dims.getLhsBatchingDimensions(), dims.getRhsContractingDimensions(),
      dims.getLhsContractingDimensions());
  OpBuilder builder(op);
  ArrayAttr precision = op.getPrecisionConfigAttr();
  if (precision && precision.size() == 2)
    precision = builder.getArrayAttr({precision[1], precision[0]});
  return DotGeneralOp::create(builder, op.getLoc(), type, op.getRhs(),
                              op.getLhs(), swapped, precision,
                              stablehlo::DotAlgorithmAttr());
}

namespace {

struct OrientProductsPass
    : sp::impl::OrientProductsPassBase<OrientProductsPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::TransposeOp op) {
      auto product = op.getOperand().getDefiningOp<DotGeneralOp>();
      // An algorithm may name the types of either side.
      if (!product || !product->hasOneUse() || product.getAlgorithmAttr())
        return;
      stablehlo::DotDimensionNumbersAttr dims =
          product.getDotDimensionNumbers();
      int64_t batch = dims.getLhsBatchingDimensions().size(),
              left = rankOf(product.getLhs()) - batch -
                     dims.getLhsContractingDimensions().size();
      if (!swapsSides(op.getPermutation(), batch, left))
        return;
      op.replaceAllUsesWith(swapSides(product, op.getType()));
      op.erase();
      product.erase();
    });
  }
};

} // namespace
