/// Attentions among what is localized.
#ifndef SP_LIB_PARTITION_LOCALIZEATTENTIONS_H
#define SP_LIB_PARTITION_LOCALIZEATTENTIONS_H

#include "Localizer.h"

namespace mlir::sp {

/// Brings the operands of an attention, or of its gradients, as its plan and
/// the mesh deal batch, rows and heads, emits what ranks do, and defines the
/// results.
void localizeAttention(Localizer &localizer, OpBuilder &builder, MeshOp mesh,
                       AttentionOp op);
void localizeAttention(Localizer &localizer, OpBuilder &builder, MeshOp mesh,
                       AttentionBackwardOp op);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_LOCALIZEATTENTIONS_H
