//===- Passes.td - Plan: what will be done -----------------------*- tablegen -*-===//

#ifndef SP_PLAN_PASSES
#define SP_PLAN_PASSES

include "mlir/Pass/PassBase.td"

def AssignMeshPass : Pass<"sp-assign-mesh", "::mlir::ModuleOp"> {
  let summary = "Declare the mesh and the roles of its axes";
  let description = [{
    The mesh is the option's, or the module's `sdy.mesh`. The sequence axis is
    the option's, or one called sp, seq, cp or context, or the only one; the
    batch axis is the option's, or one called dp or data. Any other axis of more
    than one rank is refused.

    ```mlir
    // After, with mesh="dp=2,sp=4"
    sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
    ```
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"\"", "Axes and sizes, outermost first: dp=2,sp=4.">,
    Option<"seqAxis", "seq-axis", "std::string", "\"\"", "Axis that shards the sequence.">,
    Option<"batchAxis", "batch-axis", "std::string", "\"\"", "Axis that shards the batch.">
  ];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def PlanAttentionPass : Pass<"sp-plan-attention", "::mlir::ModuleOp"> {
  let summary = "Choose a strategy and a layout for every attention";
  let description = [{
    A plan that an attention already has is kept. `auto` takes the strategy of
    which a rank sends fewest bytes, the ring where all-gather sends as many; one
    layout serves every attention of a sequence, zigzag where a mask is causal.
    Each choice is a remark with its numbers.

    ```mlir
    // Before
    %o = sp.attention(%q, %k, %v) bands [...] scale 0.125 : ...
    // After, strategy=ring on a mesh of sp = 4
    %o = sp.attention(%q, %k, %v) bands [...] scale 0.125
      plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first> : ...
    ```
  }];
  let options = [
    Option<"strategy", "strategy", "std::string", "\"auto\"", "auto, none, allgather, ulysses or ring.">,
    Option<"layout", "layout", "std::string", "\"auto\"", "auto, contiguous, zigzag or striped.">
  ];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def VerifyPlanPass : Pass<"sp-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Check that every attention has a plan of the mesh";
  let description = [{
    After Plan the module declares its mesh, every attention has a plan whose
    factors multiply to the size of its axis (or to 1), and attentions of one
    sequence share a layout.
  }];
}

#endif // SP_PLAN_PASSES
