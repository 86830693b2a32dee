//===- Passes.td - Plan: what will be done -----------------------*- tablegen -*-===//

#ifndef SP_PLAN_PASSES
#define SP_PLAN_PASSES

include "mlir/Pass/PassBase.td"

def AssignMeshPass : Pass<"sp-assign-mesh", "::mlir::ModuleOp"> {
  let summary = "Declare the mesh and the roles of its axes";
  let description = [{
    The mesh is the option's, or the module's `sdy.mesh`. The sequence axis is
    the option's, or one called sp, seq, cp or context, or the only one; the
    batch axis is the option's, or one called dp or data; the tensor axis is the
    option's, or one called tp, tensor or model. Any other axis of more than one rank
    is refused.

    ```mlir
    // After, with mesh="dp=2,sp=4"
    sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
    ```
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"\"", "Axes and sizes, outermost first: dp=2,sp=4.">,
    Option<"seqAxis", "seq-axis", "std::string", "\"\"", "Axis that shards the sequence.">,
    Option<"batchAxis", "batch-axis", "std::string", "\"\"", "Axis that shards the batch.">,
    Option<"tensorAxis", "tensor-axis", "std::string", "\"\"", "Axis that shards heads and hidden features.">
  ];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def PlanAttentionPass : Pass<"sp-plan-attention", "::mlir::ModuleOp"> {
  let summary = "Choose a strategy and a layout for every attention";
  let description = [{
    A plan that an attention already has is kept. `auto` takes the strategy of
    which a rank sends fewest bytes, the ring where all-gather sends as many. One
    layout serves every attention of a sequence, zigzag where a mask is causal, and
    `auto` takes it with the strategies: it counts them all under each layout, those
    too that `2d` deals rows by and, where the mask of another attention needs zigzag,
    contiguous ones. Time that ranks lose under a plan that leaves them without heads
    or with fewer pairs than others counts before bytes. A ring whose blocks few ranks
    see, as of a window, becomes a `halo`: rows go straight to those that see them.
    `2d` without `heads` gives a ring owner as many ranks as there are kv heads, at
    most, so that none is copied. A `bidirectional` ring has all blocks after half
    as many steps, of two blocks each; in a double ring it is the inner one.
    Where heads are exchanged or gathered in groups, one is under way while
    another is computed; gathering so needs the memory of two groups.
    Gradients get the plan of their attention, whose bytes are counted with theirs.
    In their rings keys and values travel with their gradients or, with `backward=q`,
    queries do with what belongs to them; by default what takes fewer bytes. In `turns`
    a rank's sequence is cut into as many blocks, and queries come one block after
    another; keys are not gathered then, and they travel in backward rings. Keys
    travel where a score function reads a term of each pair, which ranks have by
    queries. With `tokens-per-rank` the documents of a batch say which rank has which
    tokens, so many at most.
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
    Option<"strategy", "strategy", "std::string", "\"auto\"", "Name of a strategy, or auto.">,
    Option<"layout", "layout", "std::string", "\"auto\"", "auto, contiguous, zigzag or striped.">,
    Option<"heads", "heads", "int64_t", "0", "Ranks that share a ring owner's heads; 0: chosen.">,
    Option<"inner", "inner", "int64_t", "0", "Ranks of a window; 0: one window.">,
    Option<"headGroups", "head-groups", "int64_t", "1", "Groups in which heads are exchanged or gathered.">,
    Option<"gatherGroups", "gather-groups", "int64_t", "1", "Groups in which heads are gathered where head-groups does not say: at most as many as an attention has kv heads.">,
    Option<"tokensPerRank", "tokens-per-rank", "int64_t", "0", "Tokens of a rank at most, where documents say which; 0: a layout says it.">,
    Option<"turns", "turns", "int64_t", "1", "Blocks of a rank's sequence whose queries come one after another.">,
    Option<"bidirectional", "bidirectional", "bool", "false", "Turn a ring both ways at once.">,
    Option<"backward", "backward", "std::string", "\"\"", "kv or q: what travels in a ring's backward; nothing: what takes fewer bytes.">,
    Option<"placement", "placement", "std::string", "\"head-first\"", "head-first or context-first: which factor takes neighbouring processes.">
  ];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def VerifyPlanPass : Pass<"sp-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Check that every attention has a plan of the mesh";
  let description = [{
    After Plan the module declares its mesh, every attention and the gradients of
    each have a plan whose factors multiply to the size of its axis (or to 1), and
    attentions of one sequence share a layout.
  }];
}

#endif // SP_PLAN_PASSES
