//===- LocalForms.cpp - Operations on a part of their rows -------------===//

#include "sp/IR/LocalForms.h"
#include "FactorRules.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sp;

void mlir::sp::fitAttributes(Operation *op) {
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
    SmallVector<int64_t> limits(slice.getLimitIndices());
    for (auto [dim, limit] : llvm::enumerate(limits))
      limit = std::min(limit, typeOf(slice.getOperand()).getDimSize(dim));
    slice.setLimitIndices(limits);
  }
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op)) {
    SmallVector<int64_t> sizes(slice.getSliceSizes());
    for (auto [dim, size] : llvm::enumerate(sizes))
      size = std::min(size, typeOf(slice.getOperand()).getDimSize(dim));
    slice.setSliceSizes(sizes);
  }
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op)) {
    SmallVector<int64_t> sizes(gather.getSliceSizes());
    for (auto [dim, size] : llvm::enumerate(sizes))
      size = std::min(size, typeOf(gather.getOperand()).getDimSize(dim));
    gather.setSliceSizes(sizes);
  }
  if (auto broadcast = dyn_cast<stablehlo::BroadcastOp>(op)) {
    SmallVector<int64_t> sizes(broadcast.getBroadcastSizes());
    for (auto [dim, size] : llvm::enumerate(sizes))
      size = typeOf(broadcast).getDimSize(dim);
    broadcast.setBroadcastSizes(sizes);
  }
}

Value mlir::sp::splat(OpBuilder &builder, Location loc, RankedTensorType type,
                      Attribute value) {
  return stablehlo::ConstantOp::create(builder, loc,
                                       DenseElementsAttr::get(type, value));
}

TypedAttr mlir::sp::neutralElement(Type type, Reduction kind) {
  Builder builder(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    switch (kind) {
    // The least number of a type without infinities is its most negative.
    case Reduction::Max:
    case Reduction::Min: {
      bool isNegative = kind == Reduction::Max;
      return FloatAttr::get(type,
                            APFloat::semanticsHasInf(semantics)
                                ? APFloat::getInf(semantics, isNegative)
                                : APFloat::getLargest(semantics, isNegative));
    }
    case Reduction::Mul:
      return FloatAttr::get(type, 1.0);
    default:
      return FloatAttr::get(type, 0.0);
    }
  }
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = type.isUnsignedInteger() || width == 1;
  switch (kind) {
  case Reduction::Max:
    return IntegerAttr::get(type, isUnsigned ? APInt(width, 0)
                                             : APInt::getSignedMinValue(width));
  case Reduction::Min:
    return IntegerAttr::get(type, isUnsigned ? APInt::getMaxValue(width)
                                             : APInt::getSignedMaxValue(width));
  case Reduction::Mul:
    return IntegerAttr::get(type, APInt(width, 1));
  case Reduction::And:
    return IntegerAttr::get(type, APInt::getAllOnes(width));
  default:
    return IntegerAttr::get(type, APInt(width, 0));
  }
}

Value mlir::sp::neutralSplat(OpBuilder &builder, Location loc,
                             RankedTensorType type, Reduction kind) {
  auto complexType = dyn_cast<ComplexType>(type.getElementType());
  if (!complexType)
    return splat(builder, loc, type,
                 neutralElement(type.getElementType(), kind));
  APFloat zero = APFloat::getZero(
      cast<FloatType>(complexType.getElementType()).getFloatSemantics());
  return stablehlo::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, std::complex<APFloat>(zero, zero)));
}

Value mlir::sp::neutralBroadcast(OpBuilder &builder, Location loc,
                                 RankedTensorType type, Reduction kind) {
  Value scalar =
      neutralSplat(builder, loc, type.clone(ArrayRef<int64_t>()), kind);
  if (type.getRank() == 0)
    return scalar;
  return stablehlo::BroadcastInDimOp::create(builder, loc, type, scalar,
                                             ArrayRef<int64_t>());
}

bool mlir::sp::isNeutral(Value init, Reduction kind) {
  if (auto broadcast = init.getDefiningOp<stablehlo::BroadcastInDimOp>())
    return isNeutral(broadcast.getOperand(), kind);
  DenseElementsAttr constant;
  if (!matchPattern(init, m_Constant(&constant)) || !constant.isSplat() ||
      isa<ComplexType>(constant.getElementType()))
    return false;
  return constant.getSplatValue<Attribute>() ==
         neutralElement(constant.getElementType(), kind);
}

Value mlir::sp::combine(OpBuilder &builder, Location loc, Value lhs, Value rhs,
                        Reduction kind) {
  switch (kind) {
  case Reduction::Sum:
    return stablehlo::AddOp::create(builder, loc, lhs, rhs);
  case Reduction::Max:
    return stablehlo::MaxOp::create(builder, loc, lhs, rhs);
  case Reduction::Min:
    return stablehlo::MinOp::create(builder, loc, lhs, rhs);
  case Reduction::Mul:
    return stablehlo::MulOp::create(builder, loc, lhs, rhs);
  case Reduction::And:
    return stablehlo::AndOp::create(builder, loc, lhs, rhs);
  case Reduction::Or:
    return stablehlo::OrOp::create(builder, loc, lhs, rhs);
  }
  return lhs;
}

bool mlir::sp::combinesBy(Operation *op, Reduction kind) {
  return reductionBy(op) == kind;
}

bool mlir::sp::isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 32;
}

Type mlir::sp::inF32(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return isNarrow(type) ? tensor.clone(Float32Type::get(type.getContext()))
                        : tensor;
}

Value mlir::sp::convertType(OpBuilder &builder, Location loc, Value value,
                            Type type) {
  return value.getType() == type
             ? value
             : stablehlo::ConvertOp::create(builder, loc, type, value);
}

Value mlir::sp::reshapeTo(OpBuilder &builder, Location loc, Value value,
                          ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), value);
}

void mlir::sp::addInF32(OpBuilder &builder, Operation *op) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  // A product takes narrow operands for what they are.
  bool isProduct = isa<stablehlo::DotGeneralOp, stablehlo::DotOp>(op);
  if (auto product = dyn_cast<stablehlo::DotGeneralOp>(op))
    product.removeAlgorithmAttr();
  for (OpOperand &operand : op->getOpOperands())
    if (!isProduct)
      operand.set(convertType(builder, op->getLoc(), operand.get(),
                              inF32(operand.get().getType())));
  op->walk([](Operation *inner) {
    for (Region &region : inner->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(inF32(argument.getType()));
    for (Value result : inner->getResults())
      result.setType(inF32(result.getType()));
  });
}
