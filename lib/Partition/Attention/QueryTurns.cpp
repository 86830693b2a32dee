//===- QueryTurns.cpp - A loop over blocks of queries ---------------------===//
//
// Of one sequence, a turn's rows lie behind each other. Of several, those of
// each turn are brought together first, and the results back to their
// sequences:
//
//   [2, 12, x]   reshape [2, 3, 4, x]   transpose [3, 2, 4, x]   take at %t
//
//===----------------------------------------------------------------------===//

#include "Attention/QueryTurns.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::sp;

/// The tensor with `count` rows in a dimension.
static RankedTensorType withRows(RankedTensorType type, unsigned dim,
                                 int64_t count) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = count;
  return type.clone(shape);
}

/// Whether the rows of a turn lie behind each other.
static bool areTogether(RankedTensorType type, unsigned dim) {
  return llvm::all_of(type.getShape().take_front(dim),
                      [](int64_t size) { return size == 1; });
}

/// The shape with `dim` split into turns and the rows of each.
static SmallVector<int64_t> splitShape(RankedTensorType type, unsigned dim,
                                       int64_t turns) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= turns;
  shape.insert(shape.begin() + dim, turns);
  return shape;
}

/// The value with its dimensions in another order.
static Value reorder(OpBuilder &builder, Location loc, Value value,
                     ArrayRef<int64_t> order) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(dim));
  return stablehlo::TransposeOp::create(builder, loc, type.clone(shape), value,
                                        order);
}

Value QueryTurns::turnsFirst(Value whole, unsigned dim) {
  SmallVector<int64_t> split = splitShape(typeOf(whole), dim, turns);
  auto order = llvm::to_vector(llvm::seq<int64_t>(split.size()));
  std::rotate(order.begin(), order.begin() + dim, order.begin() + dim + 1);
  return reorder(builder, loc, reshapeTo(builder, loc, whole, split), order);
}

Value QueryTurns::turnsBack(Value stack, RankedTensorType type) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(typeOf(stack).getRank()));
  std::swap(order[0], order[1]);
  return reshapeTo(builder, loc, reorder(builder, loc, stack, order),
                   type.getShape());
}

Value QueryTurns::take(Value stack, unsigned dim, Value turn) {
  RankedTensorType type = typeOf(stack);
  int64_t count = type.getDimSize(dim) / turns;
  return TakeOp::create(builder, loc, withRows(type, dim, count), stack,
                        firstRow(builder, turn, count), dim);
}

Value QueryTurns::firstRow(OpBuilder &at, Value turn, int64_t rows) {
  if (rows == 1)
    return turn;
  AffineExpr number = at.getAffineDimExpr(0);
  return affine::AffineApplyOp::create(
      at, loc, AffineMap::get(1, 0, number * rows), turn);
}

QueryTurns::Made QueryTurns::run(ArrayRef<RowsOfTurns> given,
                                 ArrayRef<Value> carried, Body body) {
  const int64_t length = typeOf(given[0].whole).getDimSize(given[0].dim);
  SmallVector<RowsOfTurns> rows(given);
  SmallVector<Value> stacks;
  for (auto &[whole, dim] : rows) {
    whole =
        padded(whole, dim, llvm::alignTo(typeOf(whole).getDimSize(dim), turns));
    stacks.push_back(areTogether(typeOf(whole), dim) ? whole
                                                     : turnsFirst(whole, dim));
  }
  auto bound = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  auto loop = scf::ForOp::create(builder, loc, bound(0), bound(turns), bound(1),
                                 carried);
  Made made;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value turn = loop.getInductionVar();
    SmallVector<Value> parts;
    for (auto [row, stack] : llvm::zip_equal(rows, stacks)) {
      auto [whole, dim] = row;
      RankedTensorType type = typeOf(whole);
      parts.push_back(reshapeTo(
          builder, loc, take(stack, stack == whole ? dim : 0, turn),
          withRows(type, dim, type.getDimSize(dim) / turns).getShape()));
    }
    made = body(turn, parts, loop.getRegionIterArgs());
    if (!carried.empty())
      scf::YieldOp::create(builder, loc, made.carried);
  }

  IRRewriter rewriter(builder.getContext());
  rewriter.setInsertionPoint(loop);
  SmallVector<RankedTensorType> types;
  SmallVector<Value> empty;
  for (Value part : made.rows) {
    RankedTensorType type = typeOf(part);
    types.push_back(withRows(type, 1, type.getDimSize(1) * turns));
    SmallVector<int64_t> apart(type.getShape());
    apart.insert(apart.begin(), turns);
    empty.push_back(EmptyOp::create(rewriter, loc,
                                    areTogether(type, 1) ? types.back()
                                                         : type.clone(apart)));
  }
  auto put = [&](OpBuilder &inside, Location, ArrayRef<BlockArgument> before) {
    SmallVector<Value> after;
    for (auto [part, type, stack] : llvm::zip_equal(made.rows, types, before)) {
      auto whole = cast<scf::ForOp>(stack.getOwner()->getParentOp());
      unsigned dim = stack.getType() == type ? 1 : 0;
      SmallVector<int64_t> shape(typeOf(part).getShape());
      if (dim == 0)
        shape.insert(shape.begin(), 1);
      after.push_back(PutOp::create(
          inside, loc, stack.getType(), reshapeTo(inside, loc, part, shape),
          stack, firstRow(inside, whole.getInductionVar(), shape[dim]), dim));
    }
    return after;
  };
  auto whole = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, empty, /*replaceInitOperandUsesInLoop=*/false, put));
  whole->setAttr(kTurns, rewriter.getUnitAttr());
  SmallVector<Value> results = llvm::to_vector_of<Value>(whole.getResults());
  ArrayRef<Value> carriedOn = ArrayRef(results).take_front(carried.size());
  Made all = {{}, llvm::to_vector(carriedOn)};
  for (auto [stack, type] :
       llvm::zip_equal(ArrayRef(results).drop_front(carried.size()), types))
    all.rows.push_back(firstRows(
        stack.getType() == type ? stack : turnsBack(stack, type), length));
  return all;
}

/// Terms by query, and over pairs where they are not the same for all queries.
static SmallVector<unsigned> numbersOfRows(const AttentionTerms &terms) {
  SmallVector<unsigned> numbers;
  for (auto [number, kind] : llvm::enumerate(terms.kinds))
    if (kind == TermKind::PerQuery ||
        (kind == TermKind::Pair &&
         typeOf(terms.values[number]).getDimSize(2) > 1))
      numbers.push_back(number);
  return numbers;
}

SmallVector<RowsOfTurns> QueryTurns::rowsOf(const AttentionTerms &terms) {
  SmallVector<RowsOfTurns> rows;
  for (unsigned number : numbersOfRows(terms)) {
    unsigned dim = terms.kinds[number] == TermKind::Pair ? 2 : 1;
    Value term = terms.values[number];
    rows.push_back(
        {dim == 2 ? padded(term, dim, queries.getMaxCount() * turns) : term,
         dim});
  }
  return rows;
}

void QueryTurns::replaceRows(AttentionTerms &terms, ArrayRef<Value> parts) {
  for (auto [number, part] : llvm::zip_equal(numbersOfRows(terms), parts))
    terms.values[number] = part;
}

/// Rows of all positions in order, and those of one rank, may be fewer than
/// those of the turns.
Value QueryTurns::padded(Value whole, unsigned dim, int64_t length) {
  RankedTensorType type = typeOf(whole);
  SmallVector<int64_t> none(type.getRank(), 0), behind(none);
  behind[dim] = length - type.getDimSize(dim);
  if (behind[dim] == 0)
    return whole;
  Value zero = neutralSplat(builder, loc, type.clone(ArrayRef<int64_t>()),
                            Reduction::Sum);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] += behind[dim];
  return stablehlo::PadOp::create(builder, loc, type.clone(shape), whole, zero,
                                  none, behind, none);
}

Value QueryTurns::firstRows(Value rows, int64_t count) {
  RankedTensorType type = typeOf(rows);
  if (type.getDimSize(1) == count)
    return rows;
  SmallVector<int64_t> none(type.getRank(), 0), limit(type.getShape()),
      step(type.getRank(), 1);
  limit[1] = count;
  return stablehlo::SliceOp::create(builder, loc, type.clone(limit), rows, none,
                                    limit, step);
}

Value QueryTurns::owner(Value turn) {
  if (queries.getRanks() == 1)
    return turn;
  Value rank =
      RankOp::create(builder, loc, builder.getIndexType(), queries.getAxis());
  AffineExpr number = builder.getAffineDimExpr(0),
             coordinate = builder.getAffineDimExpr(1);
  return affine::AffineApplyOp::create(
      builder, loc,
      AffineMap::get(2, 0, number * queries.getRanks() + coordinate),
      ValueRange{turn, rank});
}
