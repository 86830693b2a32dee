//===- UnrollLoops.cpp - Short loops of arithmetic, written out -----------===//
//
//   while(%i = 0, %x = %bits) cond { %i < 5 } do { mix(%x), %i + 1 }
//
// becomes mix(mix(mix(mix(mix(%bits))))), as random bits are mixed.
//
//===----------------------------------------------------------------------===//

#include "sp/Import/Passes.h"
#include "sp/StableHLO/Loops.h"
#include "sp/StableHLO/Operations.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::sp {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

static constexpr int64_t maxTrips = 8, maxUnrolled = 1024;

static bool isArithmetic(Operation &op) {
  return isElementwise(&op) ||
         isa<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp,
             stablehlo::IotaOp, stablehlo::ReshapeOp, stablehlo::SliceOp>(op);
}

/// Nothing where it is not worth it, or not known how often it runs.
static std::optional<int64_t> tripsToUnroll(stablehlo::WhileOp loop) {
  auto operations = loop.getBody().front().without_terminator();
  std::optional<int64_t> trips = countTrips(loop);
  int64_t count = std::distance(operations.begin(), operations.end());
  if (!trips || *trips > maxTrips || *trips * count > maxUnrolled ||
      !llvm::all_of(operations, isArithmetic))
    return std::nullopt;
  return trips;
}

static void unroll(stablehlo::WhileOp loop, int64_t trips) {
  OpBuilder builder(loop);
  Block &body = loop.getBody().front();
  SmallVector<Value> carried(loop->getOperands());
  for (int64_t trip = 0; trip < trips; ++trip) {
    IRMapping mapping;
    mapping.map(body.getArguments(), carried);
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    for (auto [value, next] :
         llvm::zip_equal(carried, body.getTerminator()->getOperands()))
      value = mapping.lookupOrDefault(next);
  }
  loop->replaceAllUsesWith(carried);
  loop.erase();
}

namespace {

struct UnrollLoopsPass : sp::impl::UnrollLoopsPassBase<UnrollLoopsPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::WhileOp loop) {
      if (std::optional<int64_t> trips = tripsToUnroll(loop))
        unroll(loop, *trips);
    });
    eraseDead(getOperation());
  }
};

} // namespace
