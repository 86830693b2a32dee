//===- Flops.cpp - How long commands take ---------------------------------===//

#include "Flops.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;

/// Pairs of one head that an operation of attention computes, all batches.
template <typename OpT> static double pairsOf(OpT op) {
  ArrayRef<int64_t> query = op.getQuery().getType().getShape(),
                    key = op.getKey().getType().getShape();
  double all = double(op.getQueries().getLength()) *
               double(op.getKeys().getLength()),
         visible = double(toAlgebra(op.getBands()).area());
  if (all == 0)
    return 0;
  return double(query[0]) * query[1] * key[1] * (visible / all);
}

template <typename OpT>
static double flopsOf(OpT op, int64_t ofHead, int64_t ofValue) {
  ArrayRef<int64_t> query = op.getQuery().getType().getShape();
  int64_t value = op.getValue().getType().getDimSize(3);
  return 2 * pairsOf(op) * query[2] * (ofHead * query[3] + ofValue * value);
}

static double flopsOf(Region &region) {
  double sum = 0;
  for (Operation &op : region.front())
    sum += sp::flopsOf(&op);
  return sum;
}

double mlir::sp::flopsOf(Operation *op) {
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    double product = 2;
    for (int64_t size : gemm.getSizes())
      product *= size;
    return product;
  }
  // Scores and sums; scores, dQ and dK, dP and dV.
  if (auto attend = dyn_cast<AttendOp>(op))
    return ::flopsOf(attend, 1, 1);
  if (auto backward = dyn_cast<AttendBackwardOp>(op))
    return ::flopsOf(backward, 3, 2);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return double(mostTrips(loop).value_or(1)) *
           ::flopsOf(loop.getBodyRegion());
  }
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    auto trips = op->getAttrOfType<IntegerAttr>(kTrips);
    return (trips ? double(trips.getInt()) : 1) * ::flopsOf(loop.getBody());
  }
  double least = 0;
  for (auto [number, region] : llvm::enumerate(op->getRegions()))
    least =
        number == 0 ? ::flopsOf(region) : std::min(least, ::flopsOf(region));
  return least;
}
