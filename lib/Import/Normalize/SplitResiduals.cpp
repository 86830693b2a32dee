//===- SplitResiduals.cpp - Residuals of the layers of an unrolled scan ---===//
//
//   forward                              backward, in reverse
//     %c = concatenate %a, %b              %c = read saved c
//     save %c                              %a = slice %c, %b = slice %c
//
//   becomes: save %a, %b                   %a = read saved a, ...
//
//===----------------------------------------------------------------------===//

#include "sp/Import/Passes.h"
#include "sp/StableHLO/LoopPairs.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SPLITRESIDUALSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// The number of the part that a slice takes whole.
static std::optional<size_t> partOf(stablehlo::ConcatenateOp joined,
                                    stablehlo::SliceOp slice) {
  uint64_t dim = joined.getDimension();
  int64_t first = 0;
  for (auto [number, part] : llvm::enumerate(joined.getInputs())) {
    if (slice.getType() == part.getType() &&
        slice.getStartIndices()[dim] == first)
      return number;
    first += shapeOf(part)[dim];
  }
  return std::nullopt;
}

/// What reads the residual takes whole parts of it.
static bool readsParts(stablehlo::ConcatenateOp joined,
                       const Residual &residual) {
  return llvm::all_of(residual.uses, [&](Value use) {
    return llvm::all_of(use.getUsers(), [&](Operation *user) {
      auto slice = dyn_cast<stablehlo::SliceOp>(user);
      return slice && partOf(joined, slice);
    });
  });
}

/// Has the parts of one residual saved by themselves.
static bool split(LoopPair &loops) {
  for (const Residual &residual : loops.residuals) {
    auto joined = residual.saved.getDefiningOp<stablehlo::ConcatenateOp>();
    bool isRead =
        llvm::any_of(residual.uses, [](Value use) { return !use.use_empty(); });
    if (!joined || !isRead || joined->getBlock() != &loops.ahead() ||
        !readsParts(joined, residual))
      continue;
    SmallVector<Value> parts;
    for (Value part : joined.getInputs()) {
      Value own = withoutRow(part);
      Value read = loops.handOver(own ? own : part, residual, residual.read);
      OpBuilder builder(residual.read);
      if (own)
        read = stablehlo::ReshapeOp::create(builder, part.getLoc(),
                                            part.getType(), read);
      parts.push_back(read);
    }
    for (Value use : residual.uses)
      for (Operation *user : llvm::make_early_inc_range(use.getUsers())) {
        user->replaceAllUsesWith(
            ValueRange{parts[*partOf(joined, cast<stablehlo::SliceOp>(user))]});
        user->erase();
      }
    return true;
  }
  return false;
}

namespace {

struct SplitResidualsPass
    : sp::impl::SplitResidualsPassBase<SplitResidualsPass> {
  void runOnOperation() override {
    while (changeLoopPair(getOperation(), split))
      ;
    eraseDead(getOperation());
  }
};

} // namespace
