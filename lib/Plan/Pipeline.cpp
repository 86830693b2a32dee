//===- Pipeline.cpp - The stage Plan -------------------------------------===//

#include "sp/Plan/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

struct PlanPipelineOptions : PassPipelineOptions<PlanPipelineOptions> {
  Option<std::string> mesh{
      *this, "mesh",
      llvm::cl::desc("Axes and sizes, outermost first: dp=2,sp=4.")};
  Option<std::string> strategy{*this, "strategy",
                               llvm::cl::desc("Name of a strategy, or auto."),
                               llvm::cl::init("auto")};
  Option<std::string> layout{
      *this, "layout", llvm::cl::desc("auto, contiguous, zigzag or striped."),
      llvm::cl::init("auto")};
  Option<int64_t> heads{
      *this, "heads", llvm::cl::desc("Ranks that share a ring owner's heads."),
      llvm::cl::init(0)};
  Option<int64_t> inner{*this, "inner", llvm::cl::desc("Ranks of a window."),
                        llvm::cl::init(0)};
  Option<int64_t> turns{
      *this, "turns",
      llvm::cl::desc("Blocks of a rank's sequence, one after another."),
      llvm::cl::init(1)};
  Option<int64_t> tokensPerRank{
      *this, "tokens-per-rank",
      llvm::cl::desc("Tokens of a rank at most, where documents say which."),
      llvm::cl::init(0)};
  Option<bool> bidirectional{*this, "bidirectional",
                             llvm::cl::desc("Turn a ring both ways at once."),
                             llvm::cl::init(false)};
  Option<std::string> backward{
      *this, "backward",
      llvm::cl::desc("kv or q: what travels in a ring's backward.")};
};

} // namespace

void mlir::sp::buildPlanPipeline(OpPassManager &pm,
                                 const AssignMeshPassOptions &mesh,
                                 const PlanAttentionPassOptions &plan) {
  pm.addPass(createAssignMeshPass(mesh));
  pm.addPass(createPlanAttentionPass(plan));
  pm.addPass(createVerifyPlanPass());
}

void mlir::sp::registerPlanPipeline() {
  PassPipelineRegistration<PlanPipelineOptions>(
      "sp-plan-pipeline", "A strategy and a layout for every attention",
      [](OpPassManager &pm, const PlanPipelineOptions &options) {
        AssignMeshPassOptions mesh;
        mesh.mesh = options.mesh;
        PlanAttentionPassOptions plan;
        plan.strategy = options.strategy;
        plan.layout = options.layout;
        plan.heads = options.heads;
        plan.inner = options.inner;
        plan.turns = options.turns;
        plan.tokensPerRank = options.tokensPerRank;
        plan.bidirectional = options.bidirectional;
        plan.backward = options.backward;
        buildPlanPipeline(pm, mesh, plan);
      });
}
