/// Plan: a strategy and a layout for every attention.
#ifndef SP_PLAN_PASSES_H
#define SP_PLAN_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "sp/IR/SP.h"

namespace mlir::sp {

#define GEN_PASS_DECL
#include "sp/Plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "sp/Plan/Passes.h.inc"

/// Adds the stage: assign the mesh, plan, verify.
void buildPlanPipeline(OpPassManager &pm,
                       const AssignMeshPassOptions &mesh = {},
                       const PlanAttentionPassOptions &plan = {});
void registerPlanPipeline();

} // namespace mlir::sp

#endif // SP_PLAN_PASSES_H
