//===- AttentionParts.cpp - Terms, and operations made of structs ---------===//

#include "sp/IR/SP.h"
#include "sp/StableHLO/TensorTypes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sp;

std::pair<size_t, size_t> mlir::sp::findKind(ArrayRef<TermKind> kinds,
                                             TermKind kind) {
  auto [first, end] = std::equal_range(kinds.begin(), kinds.end(), kind);
  return {first - kinds.begin(), end - first};
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

ArrayRef<Value> AttentionTerms::of(TermKind kind) const {
  auto [first, count] = findKind(kinds, kind);
  return ArrayRef(values).slice(first, count);
}

MutableArrayRef<Value> AttentionTerms::of(TermKind kind) {
  auto [first, count] = findKind(kinds, kind);
  return MutableArrayRef(values).slice(first, count);
}

void AttentionTerms::add(TermKind kind, Value value) {
  auto [first, count] = findKind(kinds, kind);
  values.insert(values.begin() + first + count, value);
  kinds.insert(kinds.begin() + first + count, kind);
}

void AttentionTerms::replace(TermKind kind, ArrayRef<Value> others) {
  llvm::copy(others, of(kind).begin());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static TermKindsAttr kindsOf(OpBuilder &builder, const AttentionTerms &terms) {
  return TermKindsAttr::get(builder.getContext(), terms.kinds);
}

static IntegerAttr firstHead(OpBuilder &builder, const AttendBlocks &blocks) {
  return builder.getI64IntegerAttr(blocks.firstHead);
}

void AttentionOp::build(OpBuilder &builder, OperationState &state, Type result,
                        Type lse, ArrayRef<Value> operands,
                        const AttentionTerms &terms, Value sink, Value mean,
                        Empty empty, const PairScores &scores) {
  build(builder, state, result, lse, operands[0], operands[1], operands[2],
        terms.values, kindsOf(builder, terms), sink, mean, scores.bands,
        scores.documents, scores.scale,
        EmptyAttr::get(builder.getContext(), empty), scores.function,
        scores.name, PlanAttr());
}

void AttentionBackwardOp::build(OpBuilder &builder, OperationState &state,
                                TypeRange gradients, ArrayRef<Value> operands,
                                AttentionOp forward, Value cotangent,
                                Value lseCotangent, const PairScores &scores) {
  build(builder, state, gradients[0], gradients[1], gradients[2],
        gradients.drop_front(3), operands[0], operands[1], operands[2],
        forward.getResult(), forward.getLse(), cotangent, forward.getTerms(),
        forward.getTermKinds(), lseCotangent, scores.bands, scores.documents,
        scores.scale, scores.function, scores.name, PlanAttr());
}

void AttendOp::build(OpBuilder &builder, OperationState &state, Type output,
                     Type lse, const AttendBlocks &blocks,
                     const SoftmaxState &onto, SoftmaxForm form,
                     const PairScores &scores) {
  build(builder, state, output, lse, blocks.query, blocks.key, blocks.value,
        onto.output, onto.lse, blocks.querySource, blocks.source,
        blocks.terms.values, kindsOf(builder, blocks.terms), blocks.queries,
        blocks.keys, blocks.heads, blocks.kvHeads, firstHead(builder, blocks),
        blocks.headPart, scores.bands, scores.documents, scores.scale,
        SoftmaxFormAttr::get(builder.getContext(), form), scores.function,
        scores.name);
}

void AttendBackwardOp::build(OpBuilder &builder, OperationState &state,
                             const AttendBlocks &blocks,
                             const BackwardRows &rows,
                             const AttentionGradients &onto,
                             const PairScores &scores) {
  auto gradientOf = [&](Value value) {
    return typeOf(value).clone(elementOf(rows.delta));
  };
  build(builder, state, gradientOf(blocks.query), gradientOf(blocks.key),
        gradientOf(blocks.value), ValueRange(onto.terms).getTypes(),
        blocks.query, blocks.key, blocks.value, rows.cotangent, rows.lse,
        rows.delta, onto.query, onto.key, onto.value, onto.terms,
        blocks.querySource, blocks.source, blocks.terms.values,
        kindsOf(builder, blocks.terms), blocks.queries, blocks.keys,
        blocks.heads, blocks.kvHeads, firstHead(builder, blocks),
        blocks.headPart, scores.bands, scores.documents, scores.scale,
        scores.function, scores.name);
}
