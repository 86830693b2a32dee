//===- SimplifyReductions.cpp - No reductions of single elements ----------===//
//
//   reduce(%x init: true) applies and across dimensions = [2] :
//   tensor<8x8x1xi1>
//
// becomes a reshape to tensor<8x8xi1>. Those of floats stay: a softmax over one
// key is one, too.
//
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include "sp/Import/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Matchers.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SIMPLIFYREDUCTIONSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Whether combining anything with the number changes nothing.
static bool isNeutral(StringRef kind, const APInt &number) {
  return llvm::StringSwitch<bool>(kind)
      .Case("stablehlo.and", number.isAllOnes())
      .Cases({"stablehlo.or", "stablehlo.add"}, number.isZero())
      .Default(false);
}

static void simplify(stablehlo::ReduceOp op) {
  StringRef kind = reductionKind(op);
  if (kind.empty())
    return;
  auto type = cast<RankedTensorType>(op.getInputs()[0].getType());
  bool isOfOnes = llvm::all_of(op.getDimensions(), [&](int64_t dim) {
    return type.getDimSize(dim) == 1;
  });
  DenseIntElementsAttr init;
  if (!isOfOnes || !matchPattern(op.getInitValues()[0], m_Constant(&init)) ||
      !isNeutral(kind, *init.value_begin<APInt>()))
    return;
  OpBuilder builder(op);
  op.getResult(0).replaceAllUsesWith(stablehlo::ReshapeOp::create(
      builder, op.getLoc(), op.getResult(0).getType(), op.getInputs()[0]));
  op.erase();
}

namespace {

struct SimplifyReductionsPass
    : sp::impl::SimplifyReductionsPassBase<SimplifyReductionsPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::ReduceOp op) { simplify(op); });
  }
};

} // namespace
