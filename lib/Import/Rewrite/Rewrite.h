/// Puts what was found in place of the operations that it was found in.
#ifndef SP_LIB_IMPORT_REWRITE_H
#define SP_LIB_IMPORT_REWRITE_H

#include "Gradients/Gradient.h"

#include "sp/IR/SP.h"

namespace mlir::sp {

/// The element type attention runs in.
Type chooseElement(const AttentionMatch &match);

/// Puts `sp.attention` in place of a match; `leavesSums` for its gradients.
AttentionOp replaceAttention(const AttentionMatch &match, StringRef name,
                             const ScoreFunction &function, bool leavesSums);

/// Puts `sp.attention_backward` in place of gradients, beside the attention
/// that took the place of their forward. `score` is what `differentiateScore`
/// made of its score function.
void replaceGradients(const AttentionMatch &match,
                      const GradientMatch &gradients, AttentionOp attention,
                      func::FuncOp score);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_REWRITE_H
