//===- CountedAttention.cpp - What costs need of an attention -------------===//

#include "sp/Plan/AttentionCost.h"

#include "sp/IR/ShardingRules.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

/// What a value is before operations that only pass it on.
static Value lookThrough(Value value) {
  while (Operation *source = value.getDefiningOp()) {
    if (!isa<stablehlo::OptimizationBarrierOp>(source) &&
        !isShardingAnnotation(source))
      break;
    value = source->getOperand(cast<OpResult>(value).getResultNumber());
  }
  return value;
}

AttentionOp mlir::sp::findForward(AttentionBackwardOp op) {
  return lookThrough(op.getLse()).getDefiningOp<AttentionOp>();
}

bool mlir::sp::hasTermsByQueries(AttentionBackwardOp op) {
  return !op.getDTerms().empty() ||
         llvm::any_of(op.getTermsOf(TermKind::Pair), [](Value pair) {
           return cast<RankedTensorType>(pair.getType()).getDimSize(2) > 1;
         });
}

/// Whether queries, keys and values are those of the forward, so that what is
/// exchanged for heads there serves again.
static bool sharesOperands(AttentionBackwardOp op) {
  AttentionOp forward = findForward(op);
  return forward && llvm::all_of(llvm::seq(3), [&](unsigned number) {
           return lookThrough(op->getOperand(number)) ==
                  lookThrough(forward->getOperand(number));
         });
}

/// Terms of gradients without those that the forward exchanges for heads too.
static SmallVector<Type> withoutThose(ValueRange terms, ValueRange ofForward) {
  SmallVector<Type> others;
  for (Value term : terms)
    if (llvm::none_of(ofForward, [&](Value other) {
          return lookThrough(other) == lookThrough(term);
        }))
      others.push_back(term.getType());
  return others;
}

/// Bytes of a row of one head.
static int64_t rowBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return (type.getRank() < 4 ? 1 : type.getDimSize(3)) *
         elementBytes(type.getElementType());
}

static int64_t stateBytesOf(RankedTensorType query) {
  return query.getElementType().isF64() ? 8 : 4;
}

static RankedTensorType ofHeads(RankedTensorType type, int64_t heads) {
  SmallVector<int64_t> shape(type.getShape());
  shape[2] = heads;
  return type.clone(shape);
}

CountedAttention::CountedAttention(AttentionOp op, HeadPartAttr part)
    : bands(op.getBands()), query(op.getQuery().getType()),
      value(op.getValue().getType()),
      perQuery(op.getTermsOf(TermKind::PerQuery).getTypes()),
      perKey(op.getTermsOf(TermKind::PerKey).getTypes()),
      perQueryToHeads(op.getTermsOf(TermKind::PerQuery).getTypes()),
      perKeyToHeads(op.getTermsOf(TermKind::PerKey).getTypes()),
      keyBytes(rowBytes(op.getKey()) + rowBytes(op.getValue())),
      queryBytes(rowBytes(op.getQuery())), queriesToHeads(queryBytes),
      keysToHeads(keyBytes),
      queriesToRows(rowBytes(op.getResult()) +
                    (op.getLse() ? rowBytes(op.getLse()) : 0)),
      stateBytes(stateBytesOf(query)) {
  keepHeads(part);
}

void CountedAttention::keepHeads(HeadPartAttr part) {
  if (!part)
    return;
  query = ofHeads(query, part.getHeads());
  value = ofHeads(value, part.getKvHeads());
}

CountedAttention::CountedAttention(AttentionBackwardOp op, HeadPartAttr part)
    : bands(op.getBands()), query(op.getQuery().getType()),
      value(op.getValue().getType()),
      perQuery(op.getTermsOf(TermKind::PerQuery).getTypes()),
      perKey(op.getTermsOf(TermKind::PerKey).getTypes()),
      perQueryToHeads(op.getTermsOf(TermKind::PerQuery).getTypes()),
      perKeyToHeads(op.getTermsOf(TermKind::PerKey).getTypes()),
      keyBytes(rowBytes(op.getKey()) + rowBytes(op.getValue())),
      queriesToRows(rowBytes(op.getDQuery())),
      keysToRows(rowBytes(op.getDKey()) + rowBytes(op.getDValue())),
      stateBytes(stateBytesOf(query)) {
  keepHeads(part);
  queriesToHeads =
      rowBytes(op.getDOutput()) + rowBytes(op.getLse()) + stateBytes;
  queryBytes = rowBytes(op.getQuery()) + queriesToHeads;
  queryPartBytes = query.getDimSize(3) * stateBytes;
  keyPartBytes = queryPartBytes + value.getDimSize(3) * stateBytes;
  if (AttentionOp forward = findForward(op)) {
    perQueryToHeads = withoutThose(op.getTermsOf(TermKind::PerQuery),
                                   forward.getTermsOf(TermKind::PerQuery));
    perKeyToHeads = withoutThose(op.getTermsOf(TermKind::PerKey),
                                 forward.getTermsOf(TermKind::PerKey));
  }
  if (sharesOperands(op))
    return;
  queriesToHeads = queryBytes;
  keysToHeads = keyBytes;
}

SmallVector<int64_t> CountedAttention::key() const {
  SmallVector<int64_t> key = {keyBytes,     queryBytes,     queriesToHeads,
                              keysToHeads,  queriesToRows,  keysToRows,
                              keyPartBytes, queryPartBytes, stateBytes};
  auto add = [&](auto attributeOrType) {
    key.push_back(
        reinterpret_cast<intptr_t>(attributeOrType.getAsOpaquePointer()));
  };
  add(bands);
  add(query);
  add(value);
  for (ArrayRef<Type> terms :
       {ArrayRef<Type>(perQuery), ArrayRef<Type>(perKey),
        ArrayRef<Type>(perQueryToHeads), ArrayRef<Type>(perKeyToHeads)}) {
    for (Type term : terms)
      add(term);
    add(Type());
  }
  return key;
}
