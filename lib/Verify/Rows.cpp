//===- Rows.cpp - Which rows of a stack are read and written --------------===//

#include "Rows.h"

#include "sp/IR/SP.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// The values of an index over all turns, or more, both ends included.
struct Span {
  int64_t least = 0, most = 0;
};

using OptionalSpan = std::optional<Span>;

} // namespace

/// The hull of what `combine` makes of the ends; none where one overflows.
template <typename CombineT>
static OptionalSpan combineEnds(Span a, Span b, CombineT combine) {
  Span hull{INT64_MAX, INT64_MIN};
  for (int64_t x : {a.least, a.most})
    for (int64_t y : {b.least, b.most}) {
      int64_t value;
      if (!combine(x, y, value))
        return std::nullopt;
      hull = {std::min(hull.least, value), std::max(hull.most, value)};
    }
  return hull;
}

static OptionalSpan spanOf(AffineExpr expr, ArrayRef<Span> dims,
                           ArrayRef<Span> symbols) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return Span{number.getValue(), number.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto both = cast<AffineBinaryOpExpr>(expr);
  OptionalSpan lhs = spanOf(both.getLHS(), dims, symbols),
               rhs = spanOf(both.getRHS(), dims, symbols);
  if (!lhs || !rhs)
    return std::nullopt;
  auto combine = [&](auto byEnds) { return combineEnds(*lhs, *rhs, byEnds); };
  auto divide = [&](auto rounding) -> OptionalSpan {
    if (rhs->least <= 0)
      return std::nullopt;
    return combine([&](int64_t x, int64_t y, int64_t &out) {
      out = rounding(x, y);
      return true;
    });
  };
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return combine([](int64_t x, int64_t y, int64_t &out) {
      return !llvm::AddOverflow(x, y, out);
    });
  case AffineExprKind::Mul:
    return combine([](int64_t x, int64_t y, int64_t &out) {
      return !llvm::MulOverflow(x, y, out);
    });
  case AffineExprKind::FloorDiv:
    return divide(llvm::divideFloorSigned<int64_t, int64_t>);
  case AffineExprKind::CeilDiv:
    return divide(llvm::divideCeilSigned<int64_t, int64_t>);
  case AffineExprKind::Mod: {
    OptionalSpan turns = divide(llvm::divideFloorSigned<int64_t, int64_t>);
    if (!turns || turns->least != turns->most || rhs->least != rhs->most)
      return turns ? OptionalSpan({0, rhs->most - 1}) : std::nullopt;
    return Span{lhs->least - turns->least * rhs->least,
                lhs->most - turns->least * rhs->least};
  }
  default:
    return std::nullopt;
  }
}

static OptionalSpan spanOf(Value index) {
  if (std::optional<int64_t> number = getConstantIntValue(index))
    return Span{*number, *number};
  if (auto counter = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(counter.getOwner()->getParentOp());
    if (!loop || loop.getInductionVar() != counter)
      return std::nullopt;
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                           upper = getConstantIntValue(loop.getUpperBound());
    if (!lower || !upper)
      return std::nullopt;
    // Of a loop that never runs any row will do.
    return Span{*lower, std::max(*lower, *upper - 1)};
  }
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return std::nullopt;
  SmallVector<Span> spans;
  for (Value operand : apply.getMapOperands()) {
    OptionalSpan span = spanOf(operand);
    if (!span)
      return std::nullopt;
    spans.push_back(*span);
  }
  AffineMap map = apply.getAffineMap();
  return spanOf(map.getResult(0), ArrayRef(spans).take_front(map.getNumDims()),
                ArrayRef(spans).drop_front(map.getNumDims()));
}

template <typename OpT> static LogicalResult checkRows(OpT op, Value rows) {
  int64_t count = typeOf(rows).getDimSize(op.getDim()),
          all = typeOf(op.getWhole()).getDimSize(op.getDim());
  OptionalSpan at = spanOf(op.getAt());
  if (at && at->least >= 0 && at->most <= all - count)
    return success();
  InFlightDiagnostic error = op.emitOpError() << "expected rows of a stack of "
                                              << all << " at every turn";
  if (at)
    error << " but got " << count << " from " << at->least << " to "
          << at->most;
  return error;
}

LogicalResult mlir::sp::checkRows(func::FuncOp func) {
  WalkResult result = func.walk([](Operation *op) -> WalkResult {
    if (auto take = dyn_cast<TakeOp>(op))
      return ::checkRows(take, take.getResult());
    if (auto put = dyn_cast<PutOp>(op))
      return ::checkRows(put, put.getBlock());
    if (auto fetch = dyn_cast<FetchRowsStartOp>(op))
      return ::checkRows(fetch, fetch.getResult());
    if (auto evict = dyn_cast<EvictRowsStartOp>(op))
      return ::checkRows(evict, evict.getBlock());
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
