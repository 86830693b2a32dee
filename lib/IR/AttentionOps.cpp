//===- AttentionOps.cpp - What attention and attend must agree in ---------===//

#include "AttentionChecks.h"

using namespace mlir;
using namespace mlir::sp;

bool mlir::sp::agree(ArrayRef<int64_t> q, ArrayRef<int64_t> k,
                     ArrayRef<int64_t> v, ArrayRef<int64_t> o) {
  return q[0] == k[0] && q[3] == k[3] && k.drop_back() == v.drop_back() &&
         q.drop_back() == o.drop_back() && o[3] == v[3];
}

bool mlir::sp::isStateType(Type element, Type operand) {
  return operand.isF64() ? element.isF64() : element.isF32();
}

LogicalResult mlir::sp::verifyDocuments(Operation *op, DocumentsAttr documents,
                                        SymbolTableCollection &symbols,
                                        int64_t queries, int64_t keys) {
  if (!documents)
    return success();
  for (auto [name, length] : {std::pair(documents.getQueries(), queries),
                              std::pair(documents.getKeys(), keys)}) {
    auto of = symbols.lookupNearestSymbolFrom<DocumentsOp>(op, name);
    if (!of || int64_t(of.getLength()) != length)
      return op->emitOpError()
             << "expected documents of " << length << " positions called '"
             << name.getValue() << "'";
  }
  return success();
}

LogicalResult AttentionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C9)
  if (failed(verifyDocuments(*this, getDocumentsAttr(), symbols,
                             getQuery().getType().getDimSize(1),
                             getKey().getType().getDimSize(1))))
    return failure();
  // (C7)
  return verifyScore(*this, symbols, 1);
}

/// Whether a state of such a form has an lse of such a shape.
static bool isStateShape(AttendOp op, ArrayRef<int64_t> lse) {
  SmallVector<int64_t> shape(op.getQuery().getType().getShape().drop_back());
  if (op.keepsSums())
    shape.push_back(2);
  return lse == ArrayRef<int64_t>(shape);
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

bool AttendOp::hasWholeHeads(Value pair) {
  return mlir::sp::hasWholeHeads(*this, pair);
}

LogicalResult AttendOp::verify() {
  auto output = cast<RankedTensorType>(getOutput().getType());
  auto lse = cast<RankedTensorType>(getLse().getType());
  ArrayRef<int64_t> q = getQuery().getType().getShape();
  // (C1)
  if (output.getShape().drop_back() != q.drop_back() ||
      !isStateShape(*this, lse.getShape()) ||
      output.getShape().back() != getValue().getType().getShape().back())
    return emitOpError() << "expected a state [batch, queries, heads, dv] and "
                         << (keepsSums() ? "[batch, queries, heads, 2]"
                                         : "[batch, queries, heads]")
                         << " for queries " << getQuery().getType()
                         << " but got " << output << " and " << lse;
  // (C2)
  bool endsHere = !getState() && !keepsSums() &&
                  getElementTypeOrSelf(getQuery()) == output.getElementType();
  if (isFinished() && !endsHere)
    return emitOpError() << "expected a state of one element type, or without "
                            "one and without sums a result in that of the "
                            "queries, but got "
                         << output << " and " << lse << " for "
                         << getQuery().getType();
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
  if (failed(verifyPartTerms(*this)))
    return failure();
  // (C7)
  if ((getQueries().getTurns() > 1) != (getQuerySource() != nullptr))
    return emitOpError() << "expected a query_source for queries by turn, and "
                            "only for those, but got "
                         << getQueries();
  // (C6)
  SoftmaxForm sums =
      getScore() ? SoftmaxForm::SumsBaseE : SoftmaxForm::SumsBase2;
  bool mayBeMean = !(getState() && getScore());
  if (getForm() == sums || (getForm() == SoftmaxForm::Mean && mayBeMean))
    return success();
  return emitOpError() << "expected a state "
                       << (getScore() ? "with" : "without")
                       << " a score function "
                       << (mayBeMean ? "" : "that is continued ") << "to be "
                       << (mayBeMean ? "mean or " : "")
                       << stringifySoftmaxForm(sums) << " but got "
                       << stringifySoftmaxForm(getForm());
}
