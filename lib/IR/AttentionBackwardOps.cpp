//===- AttentionBackwardOps.cpp - What gradients of attention agree in ----===//

#include "AttentionChecks.h"

using namespace mlir;
using namespace mlir::sp;

LogicalResult AttendOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C8)
  if (failed(verifyDocuments(*this, getDocumentsAttr(), symbols,
                             getQueries().getLength(), getKeys().getLength())))
    return failure();
  // (C5)
  return verifyScore(*this, symbols, 1);
}

LogicalResult
AttentionBackwardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C8)
  if (failed(verifyDocuments(*this, getDocumentsAttr(), symbols,
                             getQuery().getType().getDimSize(1),
                             getKey().getType().getDimSize(1))))
    return failure();
  // (C5)
  return verifyScore(*this, symbols, 2 + getDTerms().size());
}

LogicalResult
AttendBackwardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C8)
  if (failed(verifyDocuments(*this, getDocumentsAttr(), symbols,
                             getQueries().getLength(), getKeys().getLength())))
    return failure();
  // (C5)
  return verifyScore(*this, symbols, 2 + getDTerms().size());
}

bool AttendBackwardOp::hasWholeHeads(Value pair) {
  return mlir::sp::hasWholeHeads(*this, pair);
}

bool AttendBackwardOp::hasRows(Value term) {
  ArrayRef<int64_t> own = cast<RankedTensorType>(term.getType()).getShape(),
                    q = getQuery().getType().getShape();
  return own[1] == q[1] && own[2] == q[2];
}

/// That gradients of terms are sums over what pairs of `keys` give in `heads`
/// heads; those over queries in `wholeHeads`, or more.
template <typename OpT>
static LogicalResult verifyTermGradients(OpT op, int64_t heads, int64_t keys,
                                         int64_t wholeHeads) {
  ArrayRef<int64_t> q = op.getQuery().getType().getShape();
  Type element = op.getLse().getType().getElementType();
  for (Value term : op.getDTerms()) {
    auto type = cast<RankedTensorType>(term.getType());
    ArrayRef<int64_t> own = type.getShape();
    bool hasRows = own[1] == q[1] && own[2] == heads,
         isSum = own[1] == 1 && own[2] >= wholeHeads;
    if (own[0] != q[0] || (!hasRows && !isSum) ||
        (own[3] != 1 && own[3] != keys) || type.getElementType() != element)
      return op.emitOpError()
             << "expected a gradient of a term to be [" << q[0] << ", " << q[1]
             << ", " << heads << ", " << keys << " or 1] or, summed over "
             << "queries, [" << q[0] << ", 1, " << wholeHeads << ", " << keys
             << " or 1] of " << element << " but got " << type;
  }
  if (!op.getDTerms().empty() && !op.getScore())
    return op.emitOpError()
           << "expected a score function that gives derivatives by terms";
  return success();
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
  // (C7)
  if (Value cotangent = getDLse())
    if (cotangent.getType() !=
        lseOf.clone(getQuery().getType().getShape().drop_back()))
      return emitOpError() << "expected the cotangent of lse to be [batch, "
                              "queries, heads] of lse's element type but got "
                           << cotangent.getType();
  // (C1), (C2), (C3)
  if (failed(verifyGradients(*this)) || failed(verifyKvHeads(*this)) ||
      failed(verifyBands(*this, q[1], k[1])))
    return failure();
  // (C4), (C5), (C6)
  return success(
      succeeded(verifyDisjoint(*this)) && succeeded(verifyNotUniform(*this)) &&
      succeeded(verifyTerms(*this, {q[0], q[1], k[1], q[2], k[1], q[2],
                                    /*isPart=*/false})) &&
      succeeded(verifyTermGradients(*this, q[2], k[1], q[2])));
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
  bool isByTurn = getQueries().getTurns() > 1;
  if (getQuerySource() && getSource() && !isByTurn)
    return emitOpError("expected queries or keys of another rank but got both");
  if (isByTurn && !getQuerySource())
    return emitOpError() << "expected a query_source for queries by turn";
  // (C7)
  if (getOntoTerms().getTypes() != getDTerms().getTypes())
    return emitOpError("expected every gradient of a term to be continued by "
                       "its own type");
  if (failed(verifyTermGradients(*this, q[2], getKeys().getLength(),
                                 getWholeHeads())))
    return failure();
  // (C4), (C5)
  return success(succeeded(verifyNotUniform(*this)) &&
                 succeeded(verifyPartTerms(*this)));
}
