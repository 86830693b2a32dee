//===- SimplifyReductions.cpp - Reductions as what they are ---------------===//
//
//   reduce(%x init: true) applies and across dimensions = [2] :
//   tensor<8x8x1xi1>
//
// becomes a reshape to tensor<8x8xi1>. Those of floats stay: a softmax over one
// key is one, too.
//
//   dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1]
//
// of tensor<8x4xf32> is a sum of eight rows: the product of elements and its
// reduction, as in what gradients of attention subtract, sum(dO * O).
//
//===----------------------------------------------------------------------===//

#include "sp/Import/Passes.h"
#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Matchers.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SIMPLIFYREDUCTIONSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Whether combining anything with the number changes nothing.
static bool isNeutral(stablehlo::ReduceOp op, const APInt &number) {
  return reducesBy<stablehlo::AndOp>(op)
             ? number.isAllOnes()
             : reducesBy<stablehlo::OrOp, stablehlo::AddOp>(op) &&
                   number.isZero();
}

static void simplify(stablehlo::ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getInputs()[0].getType());
  bool isOfOnes = llvm::all_of(op.getDimensions(), [&](int64_t dim) {
    return type.getDimSize(dim) == 1;
  });
  DenseIntElementsAttr init;
  if (!isOfOnes || !matchPattern(op.getInitValues()[0], m_Constant(&init)) ||
      !isNeutral(op, *init.value_begin<APInt>()))
    return;
  OpBuilder builder(op);
  op.getResult(0).replaceAllUsesWith(stablehlo::ReshapeOp::create(
      builder, op.getLoc(), op.getResult(0).getType(), op.getInputs()[0]));
  op.erase();
}

/// A product that has no dimension of one side only.
static void spellOutSum(stablehlo::DotGeneralOp op) {
  ContractionDims dims = contractionDims(op);
  auto type = cast<RankedTensorType>(op.getType());
  size_t rank = dims.lhsBatch.size() + dims.lhsContracting.size();
  Value lhs = op.getLhs(), rhs = op.getRhs();
  auto rankOf = [](Value value) {
    return static_cast<size_t>(
        cast<RankedTensorType>(value.getType()).getRank());
  };
  // The sum of everything is a product like any other.
  if (dims.lhsBatch.empty() || dims.lhsContracting.empty() ||
      rankOf(lhs) != rank || rankOf(rhs) != rank ||
      !isa<FloatType>(type.getElementType()))
    return;
  OpBuilder builder(op);
  Location location = op.getLoc();
  Type element = type.getElementType();
  Type wide =
      element.getIntOrFloatBitWidth() < 32 ? builder.getF32Type() : element;
  // The left side stays as it lies, its rows last or not.
  SmallVector<int64_t> right(rank), left(dims.lhsBatch), rows(dims.lhsBatch);
  for (auto [own, other] : llvm::zip_equal(dims.lhsBatch, dims.rhsBatch))
    right[own] = other;
  for (auto [own, other] :
       llvm::zip_equal(dims.lhsContracting, dims.rhsContracting))
    right[own] = other;
  Value sum = stablehlo::MulOp::create(
      builder, location, convertTo(builder, location, lhs, wide),
      convertTo(builder, location, transposed(builder, location, rhs, right),
                wide));
  llvm::sort(dims.lhsContracting, std::greater<>());
  for (int64_t dim : dims.lhsContracting)
    sum = sumOver(builder, location, sum, dim);
  llvm::sort(rows);
  for (int64_t &dim : left)
    dim = llvm::find(rows, dim) - rows.begin();
  sum = convertTo(builder, location, transposed(builder, location, sum, left),
                  element);
  op.replaceAllUsesWith(sum);
  op.erase();
}

namespace {

struct SimplifyReductionsPass
    : sp::impl::SimplifyReductionsPassBase<SimplifyReductionsPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::ReduceOp op) { simplify(op); });
    getOperation().walk([](stablehlo::DotGeneralOp op) { spellOutSum(op); });
  }
};

} // namespace
