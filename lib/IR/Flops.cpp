//===- Flops.cpp - How much operations compute ----------------------------===//

#include "sp/IR/Flops.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/SP.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

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

/// Of an attention in global shapes.
template <typename OpT> static double allPairsOf(OpT op) {
  ArrayRef<int64_t> query = op.getQuery().getType().getShape();
  int64_t keys = op.getKey().getType().getDimSize(1);
  return double(query[0]) *
         double(toAlgebra(op.getBands()).clipped(query[1], keys).area());
}

template <typename OpT>
static double flopsOf(OpT op, double pairs, int64_t ofHead, int64_t ofValue) {
  ArrayRef<int64_t> query = op.getQuery().getType().getShape();
  int64_t value = op.getValue().getType().getDimSize(3);
  return 2 * pairs * double(query[2]) *
         double(ofHead * query[3] + ofValue * value);
}

/// Each element of the result is a sum of so many products.
static double productFlops(Operation *op, double summands) {
  return 2 * double(typeOf(op->getResult(0)).getNumElements()) * summands;
}

static double contractionFlops(Operation *op) {
  ArrayRef<int64_t> left = typeOf(op->getOperand(0)).getShape();
  double summands = 1;
  for (int64_t dim : contractionDims(op).lhsContracting)
    summands *= double(left[dim]);
  return productFlops(op, summands);
}

static double flopsOf(stablehlo::ConvolutionOp op) {
  RankedTensorType kernel = typeOf(op.getRhs());
  int64_t features = kernel.getDimSize(
      op.getDimensionNumbers().getKernelOutputFeatureDimension());
  return features == 0 ? 0
                       : productFlops(op, double(kernel.getNumElements()) /
                                              double(features));
}

static double flopsOf(Region &region) {
  double sum = 0;
  for (Operation &op : region.front())
    sum += sp::flopsOf(&op);
  return sum;
}

bool mlir::sp::isProduct(Operation *op) {
  return isContraction(op) || isa<stablehlo::ConvolutionOp>(op);
}

double mlir::sp::flopsOf(Operation *op) {
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    double product = 2;
    for (int64_t size : gemm.getSizes())
      product *= size;
    return product;
  }
  if (isContraction(op))
    return contractionFlops(op);
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
    return ::flopsOf(convolution);
  if (auto launch = dyn_cast<LaunchOp>(op))
    return sp::flopsOf(
        SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr()));
  // Scores and sums; scores, dQ and dK, dP and dV.
  if (auto attend = dyn_cast<AttendOp>(op))
    return ::flopsOf(attend, pairsOf(attend), 1, 1);
  if (auto attention = dyn_cast<AttentionOp>(op))
    return ::flopsOf(attention, allPairsOf(attention), 1, 1);
  if (auto backward = dyn_cast<AttendBackwardOp>(op))
    return ::flopsOf(backward, pairsOf(backward), 3, 2);
  if (auto backward = dyn_cast<AttentionBackwardOp>(op))
    return ::flopsOf(backward, allPairsOf(backward), 3, 2);
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
