#ifndef SP_LIB_IMPORT_LOGSUMEXP_H
#define SP_LIB_IMPORT_LOGSUMEXP_H

#include "Expression/Rearranger.h"
#include "Gradients/Gradient.h"
#include "Match/Match.h"

#include "sp/IR/SP.h"

namespace mlir::sp {

/// The logarithms of sums of a match's exponentials that the program reads.
SmallVector<LogSumExpOp> logSumExpsOf(const AttentionMatch &match);

/// Why logarithms of sums that the program reads are not those of the match, or
/// none if they are.
std::optional<Refusal>
refuseLogSumExps(const AttentionMatch &match,
                 const std::optional<GradientMatch> &gradients);

/// Puts `lse` of the attention in their place. Operations that then come too
/// early in their block are left to `sortBlock`.
void replaceLogSumExps(const AttentionMatch &match, AttentionOp attention);

/// The cotangent of lse that the gradients have, [batch, queries, heads], or
/// null.
Value cotangentOfSums(OpBuilder &builder, const AttentionMatch &match,
                      const GradientMatch &gradients, Type element);

/// Puts operations of a block behind what they read.
void sortBlock(Block &block);

/// Spells out what no attention took.
void lowerLogSumExps(Operation *root);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_LOGSUMEXP_H
