//===- CountTrips.cpp - Loops of a constant count -------------------------===//
//
//   before   while(%i = 0, ...) cond { i < 4 } do { ... i + 1 ... }
//   after    the same with sp.trips = 4
//
//===----------------------------------------------------------------------===//

#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace mlir::sp {
#define GEN_PASS_DEF_COUNTTRIPSPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

std::optional<int64_t> constantOf(Value value) {
  DenseIntElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)) || attr.getNumElements() != 1 ||
      attr.getElementType().getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  return (*attr.value_begin<APInt>()).getSExtValue();
}

/// The count of `for (i = first; i < last; i += 1)`, in the forms that scans
/// take.
std::optional<int64_t> countTrips(stablehlo::WhileOp loop) {
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  auto compare =
      cond.getTerminator()->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare ||
      compare.getComparisonDirection() != stablehlo::ComparisonDirection::LT)
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != &cond)
    return std::nullopt;
  unsigned index = counter.getArgNumber();
  auto add =
      body.getTerminator()->getOperand(index).getDefiningOp<stablehlo::AddOp>();
  if (!add)
    return std::nullopt;
  Value own = body.getArgument(index);
  Value step = add.getLhs() == own ? add.getRhs() : add.getLhs();
  if ((add.getLhs() != own && add.getRhs() != own) || constantOf(step) != 1)
    return std::nullopt;
  std::optional<int64_t> first = constantOf(loop->getOperand(index)),
                         last = constantOf(compare.getRhs());
  // The bound may be carried unchanged.
  if (auto bound = dyn_cast<BlockArgument>(compare.getRhs());
      bound && bound.getOwner() == &cond)
    if (body.getTerminator()->getOperand(bound.getArgNumber()) ==
        body.getArgument(bound.getArgNumber()))
      last = constantOf(loop->getOperand(bound.getArgNumber()));
  if (!first || !last)
    return std::nullopt;
  return std::max<int64_t>(*last - *first, 0);
}

struct CountTripsPass : mlir::sp::impl::CountTripsPassBase<CountTripsPass> {
  void runOnOperation() override {
    Builder builder(&getContext());
    getOperation().walk([&](stablehlo::WhileOp loop) {
      if (std::optional<int64_t> trips = countTrips(loop))
        loop->setAttr("sp.trips", builder.getI64IntegerAttr(*trips));
    });
  }
};

} // namespace
