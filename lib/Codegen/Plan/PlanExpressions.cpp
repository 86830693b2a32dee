//===- PlanExpressions.cpp - Index values and places as expressions -------===//

#include "Plan/PlanExpressions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "sp/IR/PlacedValues.h"
#include "sp/IR/Storage.h"

using namespace mlir;
using namespace mlir::sp;
namespace plan = sprt::plan;

static ExprPtr copyOf(const ExprPtr &expr) {
  return std::make_unique<plan::ExprT>(*expr);
}

static ExprPtr leaf(plan::ExprOp op, int64_t value) {
  auto expr = std::make_unique<plan::ExprT>();
  expr->terms.push_back(plan::Term(op, value));
  return expr;
}

ExprPtr mlir::sp::constant(int64_t value) {
  return leaf(plan::ExprOp::constant, value);
}

ExprPtr mlir::sp::combine(ExprPtr a, ExprPtr b, plan::ExprOp op) {
  llvm::append_range(a->terms, b->terms);
  a->terms.push_back(plan::Term(op, 0));
  return a;
}

ExprPtr mlir::sp::behind(int64_t before, ExprPtr number) {
  if (before == 0)
    return number;
  return combine(constant(before), std::move(number), plan::ExprOp::add);
}

ExprPtr PlanExpressions::coordinate(AxisAttr axis) {
  if (mesh.getAxisSize(axis) == 1)
    return constant(0);
  return leaf(plan::ExprOp::coordinate, tables.factorNumber(axis));
}

ExprPtr PlanExpressions::owner(LayoutAttr layout) {
  return layout.getRanks() == 1 ? constant(0) : coordinate(layout.getAxis());
}

/// What layout `number` says of an owner, or of what else is on the stack.
static ExprPtr said(plan::ExprOp what, uint32_t number, ExprPtr owner) {
  owner->terms.push_back(plan::Term(what, number));
  return owner;
}

ExprPtr PlanExpressions::rowCount(LayoutAttr layout, ExprPtr owner) {
  return said(plan::ExprOp::rows, tables.layoutNumber(layout),
              std::move(owner));
}

ExprPtr PlanExpressions::firstOf(LayoutAttr layout) {
  // The first (length mod ranks) owners hold one more.
  int64_t base = layout.getLength() / layout.getRanks(),
          more = layout.getLength() % layout.getRanks();
  ExprPtr first = combine(owner(layout), constant(base), plan::ExprOp::mul);
  return combine(std::move(first),
                 combine(owner(layout), constant(more), plan::ExprOp::min),
                 plan::ExprOp::add);
}

ExprPtr PlanExpressions::firstKvHead(LayoutAttr heads, int64_t kvHeads) {
  return combine(combine(firstOf(heads), constant(kvHeads), plan::ExprOp::mul),
                 constant(heads.getLength()), plan::ExprOp::floordiv);
}

ExprPtr PlanExpressions::kvHeadCount(LayoutAttr heads, int64_t kvHeads) {
  // floor((first + count - 1) * kv / total) - floor(first * kv / total) + 1, or
  // none.
  using Op = plan::ExprOp;
  ExprPtr last =
      combine(combine(firstOf(heads), rowCount(heads, owner(heads)), Op::add),
              constant(-1), Op::add);
  last = combine(combine(std::move(last), constant(kvHeads), Op::mul),
                 constant(heads.getLength()), Op::floordiv);
  ExprPtr count = combine(
      combine(std::move(last),
              combine(firstKvHead(heads, kvHeads), constant(-1), Op::mul),
              Op::add),
      constant(1), Op::add);
  ExprPtr some = combine(rowCount(heads, owner(heads)), constant(1), Op::min);
  return combine(std::move(count), std::move(some), Op::mul);
}

ExprPtr PlanExpressions::rankAt(AxisAttr axis, ExprPtr coordinate) {
  ExprPtr rank = constant(0);
  auto add = [&](ExprPtr own, int64_t stride) {
    rank = combine(std::move(rank),
                   combine(std::move(own), constant(stride), plan::ExprOp::mul),
                   plan::ExprOp::add);
  };
  uint32_t wanted = tables.factorNumber(axis);
  for (auto [number, factor] : llvm::enumerate(tables.factors()))
    if (!factor->is_part)
      add(number == wanted ? copyOf(coordinate)
                           : leaf(plan::ExprOp::coordinate, number),
          factor->stride);
  if (const plan::FactorT &factor = *tables.factors()[wanted]; factor.is_part) {
    add(std::move(coordinate), factor.stride);
    add(leaf(plan::ExprOp::coordinate, wanted), -factor.stride);
  }
  return rank;
}

ExprPtr PlanExpressions::groupSize(LayoutAttr layout, ExprPtr owner) {
  return said(plan::ExprOp::group_size, tables.layoutNumber(layout),
              std::move(owner));
}

ExprPtr PlanExpressions::groupSource(LayoutAttr layout, ExprPtr owner,
                                     ExprPtr distance) {
  llvm::append_range(owner->terms, distance->terms);
  return said(plan::ExprOp::group_source, tables.layoutNumber(layout),
              std::move(owner));
}

ExprPtr PlanExpressions::ownerBehind(LayoutAttr layout, AxisAttr axis,
                                     ExprPtr owner, int64_t distance) {
  using Op = plan::ExprOp;
  if (layout.isOfBatch())
    return groupSource(layout, std::move(owner), constant(distance));
  MeshOp::Factor part = *mesh.findFactor(axis),
                 whole = *mesh.findFactor(layout.getAxis());
  int64_t stride = part.stride / whole.stride;
  auto digit = [&]() {
    return stride == 1 ? copyOf(owner)
                       : combine(copyOf(owner), constant(stride), Op::floordiv);
  };
  ExprPtr behind = combine(combine(digit(), constant(-distance), Op::add),
                           constant(part.size), Op::mod);
  if (part.size == whole.size)
    return behind;
  // Only that digit of the owner changes.
  ExprPtr change =
      combine(std::move(behind),
              combine(combine(digit(), constant(part.size), Op::mod),
                      constant(-1), Op::mul),
              Op::add);
  return combine(std::move(owner),
                 combine(std::move(change), constant(stride), Op::mul),
                 Op::add);
}

static ExprPtr expressionOf(AffineExpr expr, ArrayRef<ExprPtr> operands) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return constant(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
  case AffineExprKind::SymbolId:
    // Symbols follow the dimensions among the operands; see the callers.
    return copyOf(operands[isa<AffineDimExpr>(expr)
                               ? cast<AffineDimExpr>(expr).getPosition()
                               : cast<AffineSymbolExpr>(expr).getPosition()]);
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  ExprPtr lhs = expressionOf(binary.getLHS(), operands),
          rhs = expressionOf(binary.getRHS(), operands);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return combine(std::move(lhs), std::move(rhs), plan::ExprOp::add);
  case AffineExprKind::Mul:
    return combine(std::move(lhs), std::move(rhs), plan::ExprOp::mul);
  case AffineExprKind::Mod:
    return combine(std::move(lhs), std::move(rhs), plan::ExprOp::mod);
  case AffineExprKind::FloorDiv:
    return combine(std::move(lhs), std::move(rhs), plan::ExprOp::floordiv);
  default:
    return combine(std::move(lhs), std::move(rhs), plan::ExprOp::ceildiv);
  }
}

/// The number of counting loops around an operation: the depth of a loop's
/// counter. A `while` has none.
static int64_t depthOf(Operation *op) {
  int64_t depth = 0;
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isa<scf::ForOp>(parent))
      ++depth;
  return depth;
}

ExprPtr PlanExpressions::expression(Value index) {
  if (auto argument = dyn_cast<BlockArgument>(index))
    return leaf(plan::ExprOp::counter,
                depthOf(argument.getOwner()->getParentOp()));
  Operation *op = index.getDefiningOp();
  if (auto rank = dyn_cast<RankOp>(op))
    return coordinate(rank.getAxis());
  if (auto number = dyn_cast<arith::ConstantIndexOp>(op))
    return constant(number.value());
  if (auto size = dyn_cast<GroupSizeOp>(op))
    return groupSize(size.getLayout(), owner(size.getLayout()));
  if (auto source = dyn_cast<GroupSourceOp>(op))
    return groupSource(source.getLayout(), owner(source.getLayout()),
                       expression(source.getSteps()));
  auto apply = cast<affine::AffineApplyOp>(op);
  // Symbols become dimensions behind the others, so that positions are
  // operands.
  AffineMap map = apply.getAffineMap();
  SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < map.getNumSymbols(); ++i)
    symbols.push_back(
        getAffineDimExpr(map.getNumDims() + i, mesh.getContext()));
  AffineExpr expr = map.getResult(0).replaceSymbols(symbols);
  SmallVector<ExprPtr> operands;
  for (Value operand : apply.getMapOperands())
    operands.push_back(expression(operand));
  return expressionOf(expr, operands);
}

std::unique_ptr<plan::RowsT> PlanExpressions::rows(LayoutAttr layout,
                                                   ExprPtr owner) {
  auto rows = std::make_unique<plan::RowsT>();
  rows->layout = tables.layoutNumber(layout);
  rows->owner = std::move(owner);
  return rows;
}

static plan::Space spaceOf(Space space) {
  switch (space) {
  case Space::Arena:
    return plan::Space::arena;
  case Space::Constants:
    return plan::Space::constant;
  case Space::Far:
    return plan::Space::far;
  }
  llvm_unreachable("every space is above");
}

ViewPtr PlanExpressions::view(Value value) {
  auto result = std::make_unique<plan::ViewT>();
  PlaceAttr place = placeOf(value);
  result->space = spaceOf(place.getSpace());
  result->bytes = storageBytes(value.getType());
  AffineMap map = place.getOffset().getValue();
  SmallVector<ExprPtr> counters;
  for (unsigned depth = 0; depth < map.getNumDims(); ++depth)
    counters.push_back(leaf(plan::ExprOp::counter, depth));
  result->offset = expressionOf(map.getResult(0), counters);
  return result;
}

plan::CopyT PlanExpressions::copy(Value from, Value to) {
  plan::CopyT table;
  table.source = view(from);
  table.target = view(to);
  return table;
}

ViewPtr PlanExpressions::rows(Value stack, Value at, int64_t dim,
                              int64_t bytes) {
  ViewPtr rows = view(stack);
  int64_t rowBytes = rowBytesOf(cast<RankedTensorType>(stack.getType()), dim);
  rows->offset =
      combine(std::move(rows->offset),
              combine(expression(at), constant(rowBytes), plan::ExprOp::mul),
              plan::ExprOp::add);
  rows->bytes = bytes;
  return rows;
}
