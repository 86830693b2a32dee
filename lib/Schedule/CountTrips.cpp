//===- CountTrips.cpp - Loops of a constant count -------------------------===//
//
//   before   while(%i = 0, ...) cond { i < 4 } do { ... i + 1 ... }
//   after    the same with sp.trips = 4
//
//===----------------------------------------------------------------------===//

#include "sp/IR/Attributes.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/Loops.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {
#define GEN_PASS_DEF_COUNTTRIPSPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct CountTripsPass : mlir::sp::impl::CountTripsPassBase<CountTripsPass> {
  void runOnOperation() override {
    Builder builder(&getContext());
    getOperation().walk([&](stablehlo::WhileOp loop) {
      if (std::optional<int64_t> trips = countTrips(loop))
        loop->setAttr(kTrips, builder.getI64IntegerAttr(*trips));
    });
  }
};

} // namespace
