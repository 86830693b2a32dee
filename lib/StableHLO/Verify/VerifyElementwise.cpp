//===- VerifyElementwise.cpp - Rules of element-wise operations -----------===//

#include "Verify/Verify.h"

using namespace mlir;
using namespace mlir::stablehlo;

/// Element type of the real and imaginary parts; of a real number itself.
static Type getPartType(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType();
  return element;
}

/// The result's elements are the operand's, or its parts when complex.
static LogicalResult verifyPart(Operation *op) {
  // (C1)
  Type expected = getPartType(op->getOperand(0));
  Type actual = getElementTypeOrSelf(op->getResult(0).getType());
  if (actual == expected)
    return success();
  return op->emitOpError() << "expected result elements of type " << expected
                           << " but got " << actual;
}

LogicalResult AbsOp::verify() { return verifyPart(*this); }
LogicalResult RealOp::verify() { return verifyPart(*this); }
LogicalResult ImagOp::verify() { return verifyPart(*this); }

LogicalResult ComplexOp::verify() {
  // (C1)
  Type expected = getPartType(getResult());
  Type actual = getElementTypeOrSelf(getLhs().getType());
  if (actual == expected)
    return success();
  return emitOpError() << "expected operand elements of type " << expected
                       << " but got " << actual;
}

static int64_t getBits(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return element.getIntOrFloatBitWidth();
}

LogicalResult BitcastConvertOp::verify() {
  // (C1)
  auto from = cast<RankedTensorType>(getOperand().getType());
  auto to = cast<RankedTensorType>(getType());
  int64_t fromBits = getBits(from.getElementType());
  int64_t toBits = getBits(to.getElementType());
  SmallVector<int64_t> expected(from.getShape());
  if (fromBits > toBits && fromBits % toBits == 0) {
    expected.push_back(fromBits / toBits);
  } else if (fromBits < toBits && toBits % fromBits == 0 && !expected.empty() &&
             sameSize(expected.back(), toBits / fromBits)) {
    expected.pop_back();
  } else if (fromBits != toBits) {
    return emitOpError() << "expected as many bits of " << to << " as of "
                         << from;
  }
  return verifyShape(*this, getResult(), expected);
}

LogicalResult CompareOp::verify() {
  // (C1)
  std::optional<ComparisonType> type = getCompareType();
  if (!type || *type == ComparisonType::NOTYPE)
    return success();
  Type element = getElementTypeOrSelf(getLhs().getType());
  bool isFloat = isa<FloatType, ComplexType>(element);
  bool wantsFloat =
      *type == ComparisonType::FLOAT || *type == ComparisonType::TOTALORDER;
  if (isFloat == wantsFloat)
    return success();
  return emitOpError() << "expected a compare_type for elements of type "
                       << element << " but got "
                       << stringifyComparisonType(*type);
}

LogicalResult SelectOp::verify() {
  // (C1)
  ArrayRef<int64_t> pred =
      cast<RankedTensorType>(getPred().getType()).getShape();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(getType()).getShape();
  if (pred.empty() || sameShape(pred, shape))
    return success();
  return emitOpError() << "expected a scalar predicate or one of shape "
                       << text(shape) << " but got " << text(pred);
}

LogicalResult ClampOp::verify() {
  // (C1)
  auto type = cast<RankedTensorType>(getType());
  for (auto [name, bound] :
       {std::pair("min", getMin()), std::pair("max", getMax())}) {
    auto boundType = cast<RankedTensorType>(bound.getType());
    if (boundType.getElementType() != type.getElementType() ||
        (boundType.getRank() != 0 &&
         !sameShape(boundType.getShape(), type.getShape())))
      return emitOpError() << "expected " << name << " to be a scalar of "
                           << type.getElementType() << " or " << type
                           << " but got " << boundType;
  }
  return success();
}
