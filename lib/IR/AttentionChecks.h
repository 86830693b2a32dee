//===- AttentionChecks.h - What all attention operations must agree in ----===//
#ifndef SP_LIB_IR_ATTENTIONCHECKS_H
#define SP_LIB_IR_ATTENTIONCHECKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sp/IR/SP.h"
#include "sp/StableHLO/TensorTypes.h"

namespace mlir::sp {

template <typename OpT>
LogicalResult verifyBands(OpT op, int64_t queries, int64_t keys) {
  for (BandAttr band : op.getBands().template getAsRange<BandAttr>())
    if (band.getQ0() < 0 || band.getQ1() > queries || band.getK0() < 0 ||
        band.getK1() > keys || band.getQ0() >= band.getQ1() ||
        band.getK0() >= band.getK1() || band.getLo() > band.getHi())
      return op.emitOpError()
             << "expected non-empty bands within " << queries << " queries and "
             << keys << " keys but got " << band;
  return success();
}

template <typename OpT> LogicalResult verifyDisjoint(OpT op) {
  if (auto shared = toAlgebra(op.getBands()).overlap())
    return op.emitOpError()
           << "expected disjoint bands but " << op.getBands()[shared->first]
           << " and " << op.getBands()[shared->second] << " share a pair";
  return success();
}

/// A uniform band has scores that do not depend on queries and keys.
template <typename OpT> LogicalResult verifyNotUniform(OpT op) {
  for (BandAttr band : op.getBands().template getAsRange<BandAttr>())
    if (band.getUniform())
      return op.emitOpError()
             << "expected bands that are not uniform but got " << band;
  return success();
}

bool agree(ArrayRef<int64_t> q, ArrayRef<int64_t> k, ArrayRef<int64_t> v,
           ArrayRef<int64_t> o);

template <typename OpT> LogicalResult verifyKvHeads(OpT op) {
  int64_t heads = op.getQuery().getType().getDimSize(2),
          kvHeads = op.getKey().getType().getDimSize(2);
  if (kvHeads == 0)
    return op.emitOpError()
           << "expected at least one head but got 0 kv heads for " << heads
           << " query heads";
  if (kvHeads > heads)
    return op.emitOpError()
           << "expected at most as many kv heads as query "
              "heads but got "
           << kvHeads << " kv heads for " << heads << " query heads";
  return success();
}

/// The element type of a softmax state.
bool isStateType(Type element, Type operand);

/// What terms of a score function run over; `columns` are the keys of a pair.
struct TermSizes {
  int64_t batch, queries, keys, heads, columns;
  /// The heads of what is whole in them: as many, or at least as many where
  /// heads come in groups.
  int64_t wholeHeads;
  bool isPart;
};

template <typename OpT> LogicalResult verifyKinds(OpT op) {
  ArrayRef<TermKind> kinds = op.getTermKinds().getKinds();
  if (kinds.size() != op.getTerms().size() || !llvm::is_sorted(kinds))
    return op.emitOpError()
           << "expected a kind for each of " << op.getTerms().size()
           << " terms, ascending, but got " << op.getTermKinds();
  for (auto [term, kind] : llvm::zip_equal(op.getTerms(), kinds)) {
    int64_t rank = kind == TermKind::Table ? 2 : 4;
    if (typeOf(term).getRank() != rank)
      return op.emitOpError()
             << "expected a " << stringifyTermKind(kind) << " term of " << rank
             << " dimensions but got " << term.getType();
  }
  if (!kinds.empty() && !op.getScore())
    return op.emitOpError() << "expected a score function that takes the terms";
  return success();
}

template <typename OpT>
LogicalResult verifyTerms(OpT op, const TermSizes &sizes) {
  if (failed(verifyKinds(op)))
    return failure();
  auto wholeHeads = [&](int64_t size) {
    return sizes.isPart ? std::max(size, sizes.wholeHeads) : sizes.wholeHeads;
  };
  auto largestOf = [&](ArrayRef<int64_t> shape,
                       TermKind kind) -> SmallVector<int64_t> {
    switch (kind) {
    case TermKind::PerQuery:
      return {sizes.batch, sizes.queries, 1, 1};
    case TermKind::PerKey:
      return {sizes.batch, sizes.keys, 1, 1};
    case TermKind::PerHead:
      return {sizes.batch, 1, wholeHeads(shape[2]), 1};
    case TermKind::Pair: {
      // Of a part, one row may be all that the rank has.
      bool isWhole = sizes.isPart ? shape[1] > sizes.heads : shape[2] == 1;
      return {sizes.batch, isWhole ? wholeHeads(shape[1]) : sizes.heads,
              sizes.queries, sizes.columns};
    }
    case TermKind::Table:
      return llvm::to_vector(shape);
    }
  };
  for (auto [term, kind] :
       llvm::zip_equal(op.getTerms(), op.getTermKinds().getKinds())) {
    SmallVector<int64_t> largest = largestOf(shapeOf(term), kind);
    for (auto [size, most] : llvm::zip_equal(shapeOf(term), largest))
      if (size != 1 && size != most)
        return op.emitOpError()
               << "expected a " << stringifyTermKind(kind) << " term of ["
               << largest << "], 1 where all share an element, but got "
               << term.getType();
  }
  return success();
}

/// Whether documents exist, of so many queries and keys.
LogicalResult verifyDocuments(Operation *op, DocumentsAttr documents,
                              SymbolTableCollection &symbols, int64_t queries,
                              int64_t keys);

/// Of whose results the first `least` always are there.
template <typename OpT>
LogicalResult verifyScore(OpT op, SymbolTableCollection &symbols,
                          unsigned least) {
  if (!op.getScore())
    return success();
  auto score =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(op, op.getScoreAttr());
  if (!score)
    return op.emitOpError()
           << "expected a score function called '" << *op.getScore() << "'";
  Builder builder(op.getContext());
  Type element = op.getQuery().getType().getElementType().isF64()
                     ? Type(builder.getF64Type())
                     : Type(builder.getF32Type());
  auto scalar = [](Type type) -> Type {
    return RankedTensorType::get({}, type);
  };
  SmallVector<Type> inputs = {scalar(element)};
  inputs.append(3, scalar(builder.getI32Type()));
  for (auto [term, kind] :
       llvm::zip_equal(op.getTerms(), op.getTermKinds().getKinds()))
    inputs.push_back(kind == TermKind::Table ? term.getType()
                                             : scalar(elementOf(term)));
  FunctionType type = score.getFunctionType();
  bool yields = type.getNumResults() >= least &&
                type.getNumResults() <= least + 1 &&
                llvm::all_equal(type.getResults()) &&
                type.getResult(0) == scalar(element);
  SmallVector<Type> results(least, scalar(element));
  if (type.getInputs() != ArrayRef<Type>(inputs) || !yields)
    return op.emitOpError()
           << "expected score function '" << *op.getScore() << "' to be "
           << builder.getFunctionType(inputs, results)
           << ", or with a weight of the same type, but got " << type;
  return success();
}

/// The shape of lse beside queries: with a score function the greatest exponent
/// and a sum.
template <typename OpT> SmallVector<int64_t> lseShape(OpT op) {
  SmallVector<int64_t> shape(op.getQuery().getType().getShape().drop_back());
  if (op.getScore())
    shape.push_back(2);
  return shape;
}

template <typename OpT> StringRef lseText(OpT op) {
  return op.getScore() ? "[batch, queries, heads, 2]"
                       : "[batch, queries, heads]";
}

template <typename OpT> bool hasWholeHeads(OpT op, Value pair) {
  return cast<RankedTensorType>(pair.getType()).getDimSize(1) >
         op.getQuery().getType().getDimSize(2);
}

/// The terms of a part of an attention.
template <typename OpT> LogicalResult verifyPartTerms(OpT op) {
  ArrayRef<int64_t> q = op.getQuery().getType().getShape();
  return verifyTerms(op, {q[0], q[1], op.getKey().getType().getDimSize(1), q[2],
                          op.getKeys().getLength(), op.getWholeHeads(),
                          /*isPart=*/true});
}

} // namespace mlir::sp

#endif // SP_LIB_IR_ATTENTIONCHECKS_H
