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

template <typename OpT>
static LogicalResult verifyScore(OpT op, SymbolTableCollection &symbols) {
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
  bool yields = type.getNumResults() >= 1 && type.getNumResults() <= 2 &&
                llvm::all_equal(type.getResults()) &&
                type.getResult(0) == scalar(element);
  if (type.getInputs() != ArrayRef<Type>(inputs) || !yields)
    return op.emitOpError()
           << "expected score function '" << *op.getScore() << "' to be "
           << builder.getFunctionType(inputs, scalar(element))
           << ", or with a weight of the same type, but got " << type;
  return success();
}

LogicalResult AttentionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C7)
  return verifyScore(*this, symbols);
}

LogicalResult AttendOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C5)
  return verifyScore(*this, symbols);
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
  SmallVector<int64_t> lseShape(q.drop_back());
  if (getScore())
    lseShape.push_back(2);
  if (lse.getShape() != ArrayRef<int64_t>(lseShape) ||
      !isStateType(lse.getElementType(), getQuery().getType().getElementType()))
    return emitOpError() << "expected lse to be "
                         << (getScore() ? "[batch, queries, heads, 2]"
                                        : "[batch, queries, heads]")
                         << " in fp32, or in fp64 for fp64 operands, but got "
                         << lse;
  return success();
}

bool AttendOp::hasWholeHeads(Value pair) {
  return cast<RankedTensorType>(pair.getType()).getDimSize(1) >
         getQuery().getType().getDimSize(2);
}

LogicalResult AttendOp::verify() {
  auto output = cast<RankedTensorType>(getOutput().getType());
  auto lse = cast<RankedTensorType>(getLse().getType());
  ArrayRef<int64_t> q = getQuery().getType().getShape();
  SmallVector<int64_t> lseShape(q.drop_back());
  if (getScore())
    lseShape.push_back(2);
  // (C1)
  if (output.getShape().drop_back() != q.drop_back() ||
      lse.getShape() != ArrayRef<int64_t>(lseShape) ||
      output.getShape().back() != getValue().getType().getShape().back() ||
      lse.getElementType() != output.getElementType())
    return emitOpError() << "expected a state [batch, queries, heads, dv] and "
                         << (getScore() ? "[batch, queries, heads, 2]"
                                        : "[batch, queries, heads]")
                         << " for queries " << getQuery().getType()
                         << " but got " << output << " and " << lse;
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
  int64_t headsEnd = getFirstHead() + getHeadCount();
  return verifyTerms(*this, {q[0], rows, keys, q[2], getKeys().getLength(),
                             headsEnd, /*isPart=*/true});
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
  ArrayRef<int64_t> q = getQuery().getType().getShape();
  ArrayRef<int64_t> k = getKey().getType().getShape();
  ArrayRef<int64_t> v = getValue().getType().getShape();
  // (C1)
  if (!agree(q, k, v, getOutput().getType().getShape()) ||
      getDOutput().getType().getShape() != getOutput().getType().getShape() ||
      getLse().getType().getShape() != q.drop_back())
    return emitOpError()
           << "expected [batch, queries, heads, d], [batch, keys, kvHeads, d], "
              "[batch, keys, kvHeads, dv], a result and its cotangent [batch, "
              "queries, heads, dv] and lse [batch, queries, heads] but got "
           << getQuery().getType() << ", " << getKey().getType() << ", "
           << getValue().getType() << ", " << getOutput().getType() << ", "
           << getDOutput().getType() << " and " << getLse().getType();
  // (C1), (C2), (C3)
  if (failed(verifyGradients(*this)) || failed(verifyKvHeads(*this)) ||
      failed(verifyBands(*this, q[1], k[1])))
    return failure();
  // (C4)
  return success(succeeded(verifyDisjoint(*this)) &&
                 succeeded(verifyNotUniform(*this)));
}

LogicalResult AttendBackwardOp::verify() {
  ArrayRef<int64_t> q = getQuery().getType().getShape();
  ArrayRef<int64_t> k = getKey().getType().getShape();
  ArrayRef<int64_t> v = getValue().getType().getShape();
  // (C1)
  if (!agree(q, k, v, getDOutput().getType().getShape()) ||
      getLse().getType().getShape() != q.drop_back() ||
      getDelta().getType().getShape() != q.drop_back())
    return emitOpError()
           << "expected [batch, queries, heads, d], [batch, keys, kvHeads, d], "
              "[batch, keys, kvHeads, dv], a cotangent [batch, queries, heads, "
              "dv], lse and delta [batch, queries, heads] but got "
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
  // (C4)
  return verifyNotUniform(*this);
}
