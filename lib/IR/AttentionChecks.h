//===- AttentionChecks.h - What all attention operations must agree in ----===//
#ifndef SP_LIB_IR_ATTENTIONCHECKS_H
#define SP_LIB_IR_ATTENTIONCHECKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sp/IR/SP.h"

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

inline bool agree(ArrayRef<int64_t> q, ArrayRef<int64_t> k, ArrayRef<int64_t> v,
                  ArrayRef<int64_t> o) {
  return q[0] == k[0] && q[3] == k[3] && k.drop_back() == v.drop_back() &&
         q.drop_back() == o.drop_back() && o[3] == v[3];
}

template <typename OpT> LogicalResult verifyKvHeads(OpT op) {
  int64_t heads = op.getQuery().getType().getDimSize(2),
          kvHeads = op.getKey().getType().getDimSize(2);
  if (kvHeads > heads)
    return op.emitOpError()
           << "expected at most as many kv heads as query "
              "heads but got "
           << kvHeads << " kv heads for " << heads << " query heads";
  return success();
}

/// The element type of a softmax state.
inline bool isStateType(Type element, Type operand) {
  return operand.isF64() ? element.isF64() : element.isF32();
}

/// What terms of a score function run over; `columns` are the keys of a pair.
struct TermSizes {
  int64_t batch, queries, keys, heads, columns;
  /// The heads of what is whole in them: as many, or at least as many where
  /// heads come in groups.
  int64_t wholeHeads;
  bool isPart;
};

template <typename OpT>
LogicalResult verifyTerms(OpT op, const TermSizes &sizes) {
  auto check = [&](ValueRange terms, StringRef name,
                   ArrayRef<int64_t> largest) -> LogicalResult {
    for (Value term : terms) {
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(term.getType()).getShape();
      for (auto [size, most] : llvm::zip_equal(shape, largest))
        if (size != 1 && size != most)
          return op.emitOpError()
                 << "expected a " << name << " term of [" << largest
                 << "], 1 where all share an element, but got "
                 << term.getType();
    }
    return success();
  };
  auto wholeHeads = [&](int64_t size) {
    return sizes.isPart ? std::max(size, sizes.wholeHeads) : sizes.wholeHeads;
  };
  for (Value term : op.getPair()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(term.getType()).getShape();
    // Of a part, one row may be all that the rank has.
    bool isWhole = sizes.isPart ? shape[1] > sizes.heads : shape[2] == 1;
    int64_t heads = isWhole ? wholeHeads(shape[1]) : sizes.heads;
    if (failed(check(term, "pair",
                     {sizes.batch, heads, sizes.queries, sizes.columns})))
      return failure();
  }
  for (Value term : op.getPerHead()) {
    int64_t heads =
        wholeHeads(cast<RankedTensorType>(term.getType()).getDimSize(2));
    if (failed(check(term, "per_head", {sizes.batch, 1, heads, 1})))
      return failure();
  }
  if (failed(check(op.getPerQuery(), "per_query",
                   {sizes.batch, sizes.queries, 1, 1})) ||
      failed(check(op.getPerKey(), "per_key", {sizes.batch, sizes.keys, 1, 1})))
    return failure();
  bool hasTerms = !op.getPerQuery().empty() || !op.getPerKey().empty() ||
                  !op.getPerHead().empty() || !op.getPair().empty() ||
                  !op.getTable().empty();
  if (hasTerms && !op.getScore())
    return op.emitOpError() << "expected a score function that takes the terms";
  return success();
}

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
  for (ValueRange terms :
       {ValueRange(op.getPerQuery()), ValueRange(op.getPerKey()),
        ValueRange(op.getPerHead()), ValueRange(op.getPair())})
    for (Value term : terms)
      inputs.push_back(scalar(getElementTypeOrSelf(term)));
  llvm::append_range(inputs, op.getTable().getTypes());
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
  int64_t headsEnd = op.getFirstHead() + op.getHeadCount();
  return verifyTerms(op, {q[0], q[1], op.getKey().getType().getDimSize(1), q[2],
                          op.getKeys().getLength(), headsEnd, /*isPart=*/true});
}

} // namespace mlir::sp

#endif // SP_LIB_IR_ATTENTIONCHECKS_H
