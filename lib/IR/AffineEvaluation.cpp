#include "sp/IR/AffineEvaluation.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

static std::optional<int64_t> evaluate(AffineExpr expr, unsigned dims,
                                       ArrayRef<int64_t> operands) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[dims + symbol.getPosition()];
  auto both = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> lhs = evaluate(both.getLHS(), dims, operands),
                         rhs = evaluate(both.getRHS(), dims, operands);
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t value = 0;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*lhs, *rhs, value) ? std::nullopt
                                                : std::optional(value);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*lhs, *rhs, value) ? std::nullopt
                                                : std::optional(value);
  default:
    break;
  }
  if (*rhs <= 0)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(*lhs, *rhs);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(*lhs, *rhs);
  default:
    return llvm::mod(*lhs, *rhs);
  }
}

std::optional<int64_t> mlir::sp::evaluate(AffineMap map,
                                          ArrayRef<int64_t> operands) {
  return ::evaluate(map.getResult(0), map.getNumDims(), operands);
}
