//===- Builders.cpp - Operations that many places make --------------------===//

#include "sp/StableHLO/Builders.h"

#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sp;

static Value number(OpBuilder &builder, Location location, Type element,
                    double value) {
  auto scalar = RankedTensorType::get({}, element);
  Attribute attribute =
      element.isInteger()
          ? Attribute(builder.getIntegerAttr(element, int64_t(value)))
          : builder.getFloatAttr(element, value);
  return stablehlo::ConstantOp::create(
      builder, location, DenseElementsAttr::get(scalar, attribute));
}

Value mlir::sp::splat(OpBuilder &builder, Location location,
                      RankedTensorType type, double value) {
  return stablehlo::BroadcastInDimOp::create(
      builder, location, type,
      number(builder, location, type.getElementType(), value),
      ArrayRef<int64_t>{});
}

Value mlir::sp::convertTo(OpBuilder &builder, Location location, Value value,
                          Type element) {
  RankedTensorType type = typeOf(value);
  if (type.getElementType() == element)
    return value;
  return stablehlo::ConvertOp::create(builder, location, type.clone(element),
                                      value);
}

Value mlir::sp::transposed(OpBuilder &builder, Location location, Value value,
                           ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  auto shape = llvm::map_to_vector(
      order, [&](int64_t dim) { return typeOf(value).getDimSize(dim); });
  return stablehlo::TransposeOp::create(
      builder, location, typeOf(value).clone(shape), value, order);
}

Value mlir::sp::contract(OpBuilder &builder, Location location, Value lhs,
                         Value rhs, const ContractionDims &dims, Type element,
                         ArrayAttr precision) {
  SmallVector<int64_t> shape;
  for (int64_t dim : dims.lhsBatch)
    shape.push_back(typeOf(lhs).getDimSize(dim));
  auto addOthers = [&](Value operand, ArrayRef<int64_t> batch,
                       ArrayRef<int64_t> contracting) {
    for (auto [dim, size] : llvm::enumerate(typeOf(operand).getShape()))
      if (!llvm::is_contained(batch, int64_t(dim)) &&
          !llvm::is_contained(contracting, int64_t(dim)))
        shape.push_back(size);
  };
  addOthers(lhs, dims.lhsBatch, dims.lhsContracting);
  addOthers(rhs, dims.rhsBatch, dims.rhsContracting);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      builder.getContext(), dims.lhsBatch, dims.rhsBatch, dims.lhsContracting,
      dims.rhsContracting);
  return stablehlo::DotGeneralOp::create(
      builder, location, RankedTensorType::get(shape, element), lhs, rhs,
      numbers, precision, stablehlo::DotAlgorithmAttr());
}

static bool areSameConstants(Value a, Value b) {
  Attribute known, other;
  return a == b || (matchPattern(a, m_Constant(&known)) &&
                    matchPattern(b, m_Constant(&other)) && known == other);
}

/// The edges of a pad behind which others are put or cut off, if it pads that
/// dimension alone and with the same; nothing where rows that it cuts off would
/// be back, but for those that may be anything.
static std::optional<std::pair<int64_t, int64_t>>
joinEdges(stablehlo::PadOp pad, Value padding, unsigned dim,
          std::pair<int64_t, int64_t> edges, std::pair<int64_t, int64_t> any) {
  for (auto [other, low, high, between] :
       llvm::enumerate(pad.getEdgePaddingLow(), pad.getEdgePaddingHigh(),
                       pad.getInteriorPadding()))
    if (between != 0 || (other != dim && (low != 0 || high != 0)))
      return std::nullopt;
  if (!areSameConstants(pad.getPaddingValue(), padding))
    return std::nullopt;
  int64_t low = pad.getEdgePaddingLow()[dim],
          high = pad.getEdgePaddingHigh()[dim],
          rows = typeOf(pad.getOperand()).getDimSize(dim);
  bool comesBack = std::min(-low, edges.first) > any.first ||
                   std::min(-high, edges.second) > any.second;
  std::pair<int64_t, int64_t> all(low + edges.first, high + edges.second);
  if (comesBack || std::min(all.first, all.second) <= -rows)
    return std::nullopt;
  return all;
}

Value mlir::sp::padRows(OpBuilder &builder, Location location, Value value,
                        Value padding, unsigned dim,
                        std::pair<int64_t, int64_t> edges, int64_t between,
                        std::pair<int64_t, int64_t> any) {
  if (auto pad = value.getDefiningOp<stablehlo::PadOp>(); pad && between == 0)
    if (auto all = joinEdges(pad, padding, dim, edges, any))
      return padRows(builder, location, pad.getOperand(), padding, dim, *all);
  if (edges == std::pair<int64_t, int64_t>(0, 0) && between == 0)
    return value;
  SmallVector<int64_t> interior(rankOf(value), 0), low(interior),
      high(interior), shape(shapeOf(value));
  std::tie(low[dim], high[dim]) = edges;
  interior[dim] = between;
  shape[dim] += edges.first + edges.second + (shape[dim] - 1) * between;
  return stablehlo::PadOp::create(builder, location, typeOf(value).clone(shape),
                                  value, padding, low, high, interior);
}

Value mlir::sp::rowOf(OpBuilder &builder, Location location, Value value,
                      unsigned dim, int64_t row) {
  SmallVector<int64_t> starts(rankOf(value), 0), ones(rankOf(value), 1),
      limits(shapeOf(value)), shape(limits);
  starts[dim] = row;
  limits[dim] = row + 1;
  shape[dim] = 1;
  Value one =
      stablehlo::SliceOp::create(builder, location, typeOf(value).clone(shape),
                                 value, starts, limits, ones);
  shape.erase(shape.begin() + dim);
  return stablehlo::ReshapeOp::create(builder, location,
                                      typeOf(value).clone(shape), one);
}

Value mlir::sp::sumOver(OpBuilder &builder, Location location, Value value,
                        ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  for (int64_t dim : llvm::reverse(dims))
    shape.erase(shape.begin() + dim);
  Type element = typeOf(value).getElementType();
  auto scalar = RankedTensorType::get({}, element);
  auto reduce = stablehlo::ReduceOp::create(
      builder, location, RankedTensorType::get(shape, element), value,
      number(builder, location, element, 0),
      builder.getDenseI64ArrayAttr(dims));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar},
                                    {location, location});
  Value sum = stablehlo::AddOp::create(builder, location, body->getArgument(0),
                                       body->getArgument(1));
  stablehlo::ReturnOp::create(builder, location, sum);
  return reduce.getResult(0);
}
