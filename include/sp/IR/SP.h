/// The `sp` dialect: one program through every stage of the compiler.
#ifndef SP_IR_SP_H
#define SP_IR_SP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "sp/StableHLO/Traits.h"
#include "sprt/algebra/Bands.h"
#include "sprt/algebra/Heads.h"
#include "sprt/algebra/Layout.h"
#include "sprt/algebra/Ring.h"

#include "sp/IR/SPDialect.h.inc"
#include "sp/IR/SPEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "sp/IR/SPAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "sp/IR/SPTypes.h.inc"

namespace mlir {
class PatternRewriter;
} // namespace mlir

namespace mlir::sp {
/// A partial result that an operation goes on with, in the old one's place.
struct Continued {
  OpOperand *operand;
  OpResult result;
};
} // namespace mlir::sp

#include "sp/IR/AttentionParts.h"

#include "sp/IR/SPInterfaces.h.inc"
#define GET_OP_CLASSES
#include "sp/IR/SPOps.h.inc"

namespace mlir::sp {

/// The algebra's view of a layout attribute.
sprt::algebra::Layout toAlgebra(LayoutAttr layout);

/// The algebra's view of a mask.
sprt::algebra::Bands toAlgebra(ArrayAttr bands);

/// The mask as keys see queries.
ArrayAttr transposed(ArrayAttr bands);

/// The mask attribute of algebra bands.
ArrayAttr toAttr(MLIRContext *context, const sprt::algebra::Bands &bands);

/// Most heads that a rank holds of a tensor with `headCount` heads when `heads`
/// deals the query heads.
int64_t getMaxHeads(LayoutAttr heads, int64_t headCount);

/// Heads of an attention that the mesh's tensor axis gives a rank; null where
/// it deals none.
HeadPartAttr headPartOf(MeshOp mesh, int64_t heads, int64_t kvHeads);
template <typename OpT> HeadPartAttr headPartOf(MeshOp mesh, OpT attention) {
  return headPartOf(mesh, attention.getQuery().getType().getDimSize(2),
                    attention.getKey().getType().getDimSize(2));
}

/// Whether values of that type lie in far memory.
bool isFar(Type type);

/// The type of the same value in far memory.
RankedTensorType toFar(RankedTensorType type);

/// The mesh of a module, or null.
MeshOp getMesh(Operation *moduleOp);

} // namespace mlir::sp

#endif // SP_IR_SP_H
