//===- Passes.h - Passes over the input -------------------------*- C++ -*-===//

#ifndef SP_STABLEHLO_PASSES_H
#define SP_STABLEHLO_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

#define GEN_PASS_DECL
#include "sp/StableHLO/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "sp/StableHLO/Passes.h.inc"

} // namespace mlir::sp

#endif // SP_STABLEHLO_PASSES_H
