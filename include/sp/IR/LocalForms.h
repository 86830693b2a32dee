/// Operations on a part of their rows: a rank's, or a block's.
///
/// What a factor deals (`ShardingRules.h`) is computed part by part; partial
/// results of a reduction are combined after that, and start from its neutral
/// element.
#ifndef SP_IR_LOCALFORMS_H
#define SP_IR_LOCALFORMS_H

#include "sp/IR/SP.h"

namespace mlir::sp {

/// Adapts attributes that repeat the shapes of operands or results.
void fitAttributes(Operation *op);

/// A splat constant tensor.
Value splat(OpBuilder &builder, Location loc, RankedTensorType type,
            Attribute value);

/// The combination that a reducer of one operation on its two arguments is.
std::optional<Reduction> reductionOf(Region &body);

/// The neutral element of a reduction over real numbers or booleans.
TypedAttr neutralElement(Type elementType, Reduction kind);

/// A tensor of neutral elements; of complex numbers for sums.
Value neutralSplat(OpBuilder &builder, Location loc, RankedTensorType type,
                   Reduction kind);

/// The same, written where it is read instead of kept as a constant.
Value neutralBroadcast(OpBuilder &builder, Location loc, RankedTensorType type,
                       Reduction kind);

/// Whether a reduction starts from its neutral element.
bool isNeutral(Value init, Reduction kind);

/// What a reduction makes of two values of a type.
Value combine(OpBuilder &builder, Location loc, Value lhs, Value rhs,
              Reduction kind);

/// Whether an operation makes that of its operands.
bool combinesBy(Operation *op, Reduction kind);

/// Floats of fewer than 32 bits.
bool isNarrow(Type type);

/// The same tensor of f32 where its numbers are narrow.
Type inF32(Type type);

/// The value as that tensor type, which may be of other elements.
Value convertType(OpBuilder &builder, Location loc, Value value, Type type);

/// The value with another shape of as many elements.
Value reshapeTo(OpBuilder &builder, Location loc, Value value,
                ArrayRef<int64_t> shape);

/// Makes `op` add in f32, so that partial sums of narrow numbers are rounded
/// once, behind the last sum.
void addInF32(OpBuilder &builder, Operation *op);

} // namespace mlir::sp

#endif // SP_IR_LOCALFORMS_H
