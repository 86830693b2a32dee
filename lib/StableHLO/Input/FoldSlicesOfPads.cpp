//===- FoldSlicesOfPads.cpp - Slices of padded values as pads -------------===//

#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_FOLDSLICESOFPADSPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

static bool isAll(ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [=](int64_t each) { return each == value; });
}

namespace {

/// A slice of pads, or of what element-wise operations make of some.
class SliceOfPads {
public:
  /// What `op` leaves of its first operand from these positions on.
  SliceOfPads(Operation *op, ArrayRef<int64_t> starts)
      : slice(op), starts(starts), builder(op) {}

  void fold() {
    Value whole = slice->getOperand(0);
    if (!isOfPads(whole, 64))
      return;
    slice->replaceAllUsesWith(ValueRange(sliced(whole)));
    slice->erase();
    for (Operation *op : replaced)
      if (op->use_empty())
        op->erase();
  }

private:
  bool isOfPads(Value value, unsigned depth) {
    Operation *op = value.getDefiningOp();
    if (auto pad = dyn_cast_or_null<stablehlo::PadOp>(op))
      return isAll(pad.getInteriorPadding(), 0) && keepsSome(pad);
    return op && depth > 0 && op->hasTrait<stablehlo::Elementwise>() &&
           op->hasOneUse() && op->getNumResults() == 1 &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return typeOf(operand).getShape() == shapeOf(value) &&
                    isOfPads(operand, depth - 1);
           });
  }

  /// Whether more than padding is left.
  bool keepsSome(stablehlo::PadOp pad) {
    auto [low, high] = edges(pad);
    for (auto [dim, size] : llvm::enumerate(shapeOf(slice->getResult(0))))
      if (low[dim] >= size || high[dim] >= size)
        return false;
    return true;
  }

  using Edges = SmallVector<int64_t>;
  std::pair<Edges, Edges> edges(stablehlo::PadOp pad) {
    Edges low(pad.getEdgePaddingLow()), high(pad.getEdgePaddingHigh());
    for (auto [dim, padded] : llvm::enumerate(shapeOf(pad.getResult()))) {
      low[dim] -= starts[dim];
      high[dim] -= padded - starts[dim] - shapeOf(slice->getResult(0))[dim];
    }
    return {low, high};
  }

  Value sliced(Value value) {
    Operation *op = value.getDefiningOp();
    replaced.insert(op);
    RankedTensorType type = typeOf(slice->getResult(0)).clone(elementOf(value));
    if (auto pad = dyn_cast<stablehlo::PadOp>(op)) {
      auto [low, high] = edges(pad);
      return stablehlo::PadOp::create(builder, slice->getLoc(), type,
                                      pad.getOperand(), pad.getPaddingValue(),
                                      low, high, pad.getInteriorPadding());
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(sliced(operand));
    Operation *made = builder.clone(*op);
    made->setOperands(operands);
    made->getResult(0).setType(type);
    return made->getResult(0);
  }

  Operation *slice;
  SmallVector<int64_t> starts;
  OpBuilder builder;
  SetVector<Operation *> replaced;
};

struct FoldSlicesOfPadsPass
    : sp::impl::FoldSlicesOfPadsPassBase<FoldSlicesOfPadsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto slice = dyn_cast<stablehlo::SliceOp>(op);
          slice && isAll(slice.getStrides(), 1))
        return SliceOfPads(op, slice.getStartIndices()).fold();
      if (auto pad = dyn_cast<stablehlo::PadOp>(op))
        foldPad(pad);
    });
  }

  /// Edges that are not positive slice, and none leaves all as it is.
  static void foldPad(stablehlo::PadOp pad) {
    SmallVector<int64_t> starts;
    for (int64_t low : pad.getEdgePaddingLow())
      starts.push_back(-low);
    auto isCut = [](int64_t edge) { return edge <= 0; };
    if (!isAll(pad.getInteriorPadding(), 0) ||
        !llvm::all_of(pad.getEdgePaddingLow(), isCut) ||
        !llvm::all_of(pad.getEdgePaddingHigh(), isCut))
      return;
    if (pad.getType() != pad.getOperand().getType())
      return SliceOfPads(pad, starts).fold();
    pad.replaceAllUsesWith(pad.getOperand());
    pad.erase();
  }
};
} // namespace
