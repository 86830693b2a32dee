//===- AttentionOps.cpp - What attention and attend must agree in ---------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sp/IR/SP.h"

using namespace mlir;
using namespace mlir::sp;

template <typename OpT>
static LogicalResult verifyBands(OpT op, int64_t queries, int64_t keys) {
  for (BandAttr band : op.getBands().template getAsRange<BandAttr>())
    if (band.getQ0() < 0 || band.getQ1() > queries || band.getK0() < 0 ||
        band.getK1() > keys || band.getQ0() >= band.getQ1() ||
        band.getK0() >= band.getK1() || band.getLo() > band.getHi())
      return op.emitOpError()
             << "expected non-empty bands within " << queries << " queries and "
             << keys << " keys but got " << band;
  return success();
}

template <typename OpT> static LogicalResult verifyDisjoint(OpT op) {
  if (auto shared = toAlgebra(op.getBands()).overlap())
    return op.emitOpError()
           << "expected disjoint bands but " << op.getBands()[shared->first]
           << " and " << op.getBands()[shared->second] << " share a pair";
  return success();
}

/// A uniform band has scores that do not depend on queries and keys.
template <typename OpT> static LogicalResult verifyNotUniform(OpT op) {
  for (BandAttr band : op.getBands().template getAsRange<BandAttr>())
    if (band.getUniform())
      return op.emitOpError()
             << "expected bands that are not uniform but got " << band;
  return success();
}

static bool agree(ArrayRef<int64_t> q, ArrayRef<int64_t> k, ArrayRef<int64_t> v,
                  ArrayRef<int64_t> o) {
  return q[0] == k[0] && q[3] == k[3] && k.drop_back() == v.drop_back() &&
         q.drop_back() == o.drop_back() && o[3] == v[3];
}

template <typename OpT> static LogicalResult verifyKvHeads(OpT op) {
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
static bool isStateType(Type element, Type operand) {
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
static LogicalResult verifyTerms(OpT op, const TermSizes &sizes) {
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
static LogicalResult verifyScore(OpT op, SymbolTableCollection &symbols,
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

LogicalResult AttentionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C7)
  return verifyScore(*this, symbols, 1);
}

LogicalResult AttendOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C5)
  return verifyScore(*this, symbols, 1);
}

LogicalResult
AttentionBackwardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C5)
  return verifyScore(*this, symbols, 2);
}

LogicalResult
AttendBackwardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C5)
  return verifyScore(*this, symbols, 2);
}

/// The shape of lse beside queries: with a score function the greatest exponent
/// and a sum.
template <typename OpT> static SmallVector<int64_t> lseShape(OpT op) {
  SmallVector<int64_t> shape(op.getQuery().getType().getShape().drop_back());
  if (op.getScore())
    shape.push_back(2);
  return shape;
}

/// Whether the state of a part of an attention has such a shape. It may be sums
/// without a score function too.
static bool isStateShape(AttendOp op, ArrayRef<int64_t> lse) {
  SmallVector<int64_t> sums(op.getQuery().getType().getShape().drop_back());
  sums.push_back(2);
  return lse == ArrayRef<int64_t>(lseShape(op)) ||
         lse == ArrayRef<int64_t>(sums);
}

template <typename OpT> static StringRef lseText(OpT op) {
  return op.getScore() ? "[batch, queries, heads, 2]"
                       : "[batch, queries, heads]";
}

LogicalResult AttentionOp::verify() {
  ArrayRef<int64_t> q = getQuery().getType().getShape();
  ArrayRef<int64_t> k = getKey().getType().getShape();
  ArrayRef<int64_t> v = getValue().getType().getShape();
  ArrayRef<int64_t> o = getResult().getType().getShape();
  // (C1)
  if (!agree(q, k, v, o))
    return emitOpError()
           << "expected [batch, queries, heads, d], [batch, keys, "
              "kvHeads, d], [batch, keys, kvHeads, dv] and a "
              "result [batch, queries, heads, dv] but got "
           << getQuery().getType() << ", " << getKey().getType() << ", "
           << getValue().getType() << " and " << getResult().getType();
  // (C2), (C3)
  if (failed(verifyKvHeads(*this)) || failed(verifyBands(*this, q[1], k[1])))
    return failure();
  // (C4)
  if (getEmpty() == Empty::Mean && !getMean() &&
      !toAlgebra(getBands()).emptyRows(q[1], k[1]).empty())
    return emitOpError() << "expected uniform bands over every row without "
                            "visible keys when 'empty' is mean";
  // (C5)
  if (failed(verifyDisjoint(*this)))
    return failure();
  // (C6)
  if (getSink() && getSink().getType().getDimSize(0) != q[2])
    return emitOpError() << "expected a sink for each of the " << q[2]
                         << " heads but got " << getSink().getType();
  if (getMean() && (!getScore() || getEmpty() != Empty::Mean))
    return emitOpError() << "expected a mean with 'empty' mean and a score "
                            "function only";
  if (getMean() &&
      getMean().getType().getShape() != ArrayRef<int64_t>{q[0], 1, q[2], v[3]})
    return emitOpError() << "expected a mean of [batch, 1, heads, dv] but got "
                         << getMean().getType();
  if (failed(verifyTerms(*this, {q[0], q[1], k[1], q[2], k[1], q[2],
                                 /*isPart=*/false})))
    return failure();
  // (C8)
  if (!getLse())
    return success();
  auto lse = cast<RankedTensorType>(getLse().getType());
  if (lse.getShape() != ArrayRef<int64_t>(lseShape(*this)) ||
      !isStateType(lse.getElementType(), getQuery().getType().getElementType()))
    return emitOpError() << "expected lse to be " << lseText(*this)
                         << " in fp32, or in fp64 for fp64 operands, but got "
                         << lse;
  return success();
}

template <typename OpT> static bool hasWholeHeads(OpT op, Value pair) {
  return cast<RankedTensorType>(pair.getType()).getDimSize(1) >
         op.getQuery().getType().getDimSize(2);
}

bool AttendOp::hasWholeHeads(Value pair) {
  return ::hasWholeHeads(*this, pair);
}

bool AttendBackwardOp::hasWholeHeads(Value pair) {
  return ::hasWholeHeads(*this, pair);
}

/// The terms of a part of an attention.
template <typename OpT> static LogicalResult verifyPartTerms(OpT op) {
  ArrayRef<int64_t> q = op.getQuery().getType().getShape();
  int64_t headsEnd = op.getFirstHead() + op.getHeadCount();
  return verifyTerms(op, {q[0], q[1], op.getKey().getType().getDimSize(1), q[2],
                          op.getKeys().getLength(), headsEnd, /*isPart=*/true});
}

LogicalResult AttendOp::verify() {
  auto output = cast<RankedTensorType>(getOutput().getType());
  auto lse = cast<RankedTensorType>(getLse().getType());
  ArrayRef<int64_t> q = getQuery().getType().getShape();
  // (C1)
  if (output.getShape().drop_back() != q.drop_back() ||
      !isStateShape(*this, lse.getShape()) ||
      output.getShape().back() != getValue().getType().getShape().back() ||
      lse.getElementType() != output.getElementType())
    return emitOpError() << "expected a state [batch, queries, heads, dv] and "
                         << lseText(*this) << " for queries "
                         << getQuery().getType() << " but got " << output
                         << " and " << lse;
  // (C2)
  if (getState() &&
      (getState().getType() != output || getStateLse().getType() != lse))
    return emitOpError() << "expected the continued state to have the types of "
                            "the new one";
  // (C3)
  int64_t rows = getQueries().getMaxCount(), keys = getKeys().getMaxCount();
  int64_t keyRows = getKey().getType().getDimSize(1);
  if (q[1] != rows || keyRows != keys)
    return emitOpError() << "expected " << rows << " local queries and " << keys
                         << " local keys, the most that a rank of the layouts "
                            "holds, but got "
                         << q[1] << " and " << keyRows;
  if (std::optional<LayoutAttr> heads = getHeads();
      heads && q[2] != heads->getMaxCount())
    return emitOpError() << "expected " << heads->getMaxCount()
                         << " local heads, the most that a rank of " << *heads
                         << " holds, but got " << q[2];
  // (C4)
  return verifyPartTerms(*this);
}

/// That gradients have the shapes of queries, keys and values.
template <typename OpT> static LogicalResult verifyGradients(OpT op) {
  for (auto [gradient, of] :
       {std::pair(op.getDQuery().getType(), op.getQuery().getType()),
        {op.getDKey().getType(), op.getKey().getType()},
        {op.getDValue().getType(), op.getValue().getType()}})
    if (gradient.getShape() != of.getShape())
      return op.emitOpError() << "expected the gradient of " << of
                              << " to have its shape but got " << gradient;
  return success();
}

LogicalResult AttentionBackwardOp::verify() {
  auto lseOf = cast<RankedTensorType>(getLse().getType());
  ArrayRef<int64_t> q = getQuery().getType().getShape();
  ArrayRef<int64_t> k = getKey().getType().getShape();
  ArrayRef<int64_t> v = getValue().getType().getShape();
  // (C1)
  if (!agree(q, k, v, getOutput().getType().getShape()) ||
      getDOutput().getType().getShape() != getOutput().getType().getShape() ||
      lseOf.getShape() != ArrayRef<int64_t>(lseShape(*this)))
    return emitOpError()
           << "expected [batch, queries, heads, d], [batch, keys, kvHeads, d], "
              "[batch, keys, kvHeads, dv], a result and its cotangent [batch, "
              "queries, heads, dv] and lse "
           << lseText(*this) << " but got " << getQuery().getType() << ", "
           << getKey().getType() << ", " << getValue().getType() << ", "
           << getOutput().getType() << ", " << getDOutput().getType() << " and "
           << getLse().getType();
  // (C1), (C2), (C3)
  if (failed(verifyGradients(*this)) || failed(verifyKvHeads(*this)) ||
      failed(verifyBands(*this, q[1], k[1])))
    return failure();
  // (C4), (C5)
  return success(succeeded(verifyDisjoint(*this)) &&
                 succeeded(verifyNotUniform(*this)) &&
                 succeeded(verifyTerms(*this, {q[0], q[1], k[1], q[2], k[1],
                                               q[2], /*isPart=*/false})));
}

LogicalResult AttendBackwardOp::verify() {
  auto lseOf = cast<RankedTensorType>(getLse().getType());
  ArrayRef<int64_t> q = getQuery().getType().getShape();
  ArrayRef<int64_t> k = getKey().getType().getShape();
  ArrayRef<int64_t> v = getValue().getType().getShape();
  // (C1)
  if (!agree(q, k, v, getDOutput().getType().getShape()) ||
      lseOf.getShape() != ArrayRef<int64_t>(lseShape(*this)) ||
      getDelta().getType().getShape() != q.drop_back())
    return emitOpError()
           << "expected [batch, queries, heads, d], [batch, keys, kvHeads, d], "
              "[batch, keys, kvHeads, dv], a cotangent [batch, queries, heads, "
              "dv], lse "
           << lseText(*this) << " and delta [batch, queries, heads] but got "
           << getQuery().getType() << ", " << getKey().getType() << ", "
           << getValue().getType() << ", " << getDOutput().getType() << ", "
           << getLse().getType() << " and " << getDelta().getType();
  if (failed(verifyGradients(*this)))
    return failure();
  // (C2)
  Type element = getDQuery().getType().getElementType();
  if (!isStateType(element, getQuery().getType().getElementType()))
    return emitOpError() << "expected gradients in fp32, or in fp64 for fp64 "
                            "operands, but got "
                         << getDQuery().getType();
  for (Value part : {Value(getLse()), Value(getDelta()), Value(getDKey()),
                     Value(getDValue())})
    if (getElementTypeOrSelf(part) != element)
      return emitOpError() << "expected gradients, lse and delta of one "
                              "element type but got "
                           << getDQuery().getType() << " and "
                           << part.getType();
  for (auto [onto, gradient] :
       {std::pair(Value(getOntoQuery()), Value(getDQuery())),
        {Value(getOntoKey()), Value(getDKey())},
        {Value(getOntoValue()), Value(getDValue())}})
    if (onto && onto.getType() != gradient.getType())
      return emitOpError() << "expected a continued gradient to have the type "
                              "of the new one, "
                           << gradient.getType() << ", but got "
                           << onto.getType();
  if (!getOntoKey() != !getOntoValue())
    return emitOpError() << "expected the gradients of keys and of values to "
                            "be continued together";
  // (C3)
  int64_t rows = getQueries().getMaxCount(), keys = getKeys().getMaxCount();
  if (q[1] != rows || k[1] != keys)
    return emitOpError() << "expected " << rows << " local queries and " << keys
                         << " local keys, the most that a rank of the layouts "
                            "holds, but got "
                         << q[1] << " and " << k[1];
  if (std::optional<LayoutAttr> heads = getHeads();
      heads && q[2] != heads->getMaxCount())
    return emitOpError() << "expected " << heads->getMaxCount()
                         << " local heads, the most that a rank of " << *heads
                         << " holds, but got " << q[2];
  // (C6)
  if (getQuerySource() && getSource())
    return emitOpError("expected queries or keys of another rank but got both");
  // (C4), (C5)
  return success(succeeded(verifyNotUniform(*this)) &&
                 succeeded(verifyPartTerms(*this)));
}
