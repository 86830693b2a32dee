/// Verify: proofs about the program as it will run, which they leave as it is.
#ifndef SP_VERIFY_PASSES_H
#define SP_VERIFY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "sp/IR/SP.h"

namespace mlir::sp {

#define GEN_PASS_DECL
#include "sp/Verify/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "sp/Verify/Passes.h.inc"

/// Adds the stage.
void buildVerifyPipeline(OpPassManager &pm);
void registerVerifyPipeline();

} // namespace mlir::sp

#endif // SP_VERIFY_PASSES_H
