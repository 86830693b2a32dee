//===- StableHLO.h - The input dialects: stablehlo, chlo, sdy ---*- C++ -*-===//

#ifndef SP_STABLEHLO_STABLEHLO_H
#define SP_STABLEHLO_STABLEHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "sp/StableHLO/Traits.h"

#include "sp/StableHLO/StableHLOEnums.h.inc"

#include "sp/StableHLO/SdyEnums.h.inc"

#include "sp/StableHLO/StableHLODialect.h.inc"

#include "sp/StableHLO/CHLODialect.h.inc"

#include "sp/StableHLO/SdyDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "sp/StableHLO/StableHLOAttrs.h.inc"

#define GET_ATTRDEF_CLASSES
#include "sp/StableHLO/SdyAttrs.h.inc"

#define GET_OP_CLASSES
#include "sp/StableHLO/StableHLOOps.h.inc"

#define GET_OP_CLASSES
#include "sp/StableHLO/CHLO.h.inc"

#define GET_OP_CLASSES
#include "sp/StableHLO/Sdy.h.inc"

namespace mlir::sp {
/// Registers `stablehlo`, `chlo`, `sdy` and `func`, with what inlining needs.
void registerInputDialects(DialectRegistry &registry);
} // namespace mlir::sp

#endif // SP_STABLEHLO_STABLEHLO_H
