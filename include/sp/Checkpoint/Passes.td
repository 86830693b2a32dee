//===- Passes.td - Checkpoint ---------------------------------*- tablegen -*-===//

#ifndef SP_CHECKPOINT_PASSES
#define SP_CHECKPOINT_PASSES

include "mlir/Pass/PassBase.td"

def SaveAttentionPass : Pass<"sp-save-attention", "func::FuncOp"> {
  let summary = "Save results of attention for the loop that would compute them again";
  let description = [{
    Where the gradient of a scan has an attention of what the forward had one of,
    its result and the logarithms of its sums are saved by trip instead: the
    gradient then computes no attention and exchanges nothing for one.
    ```mlir
    // forward, trip i                       backward, trip i of N
    %o = sp.attention(%q, %k, %v) ...        %o, %lse = sp.attention(%q, %k, %v) ...
    // becomes
    %o, %lse = sp.attention(%q, %k, %v) ...  %o = stablehlo.dynamic_slice %os, %at, ...
    %os = stablehlo.dynamic_update_slice ... %lse = stablehlo.dynamic_slice %lses, %at, ...
    ```
    A checkpoint stands for what the model would rather compute again. With
    `through-barriers` (Selective Checkpoint++ of LoongTrain, arXiv:2406.18485) it
    computes all but attention again, in loops and outside.
  }];
  let options = [
    Option<"throughBarriers", "through-barriers", "bool", /*default=*/"false",
           "Take attention of a checkpoint from the forward too.">
  ];
  let dependentDialects = ["sp::SpDialect", "stablehlo::StablehloDialect"];
}

def RecomputeLayersPass : Pass<"sp-recompute-layers", "func::FuncOp"> {
  let summary = "Compute layers again for their gradients";
  let description = [{
    A layer reaches from one attention to the next, cut where the fewest bytes of
    the forward live. What lives at a cut is saved; the other values of a layer
    that gradients read are computed again from it (arXiv:1604.06174), as late as
    the gradients come. Values made of constants alone belong to no layer. The last
    layer, whose gradients come at once, is computed again only if the loss is made
    of values behind it that are larger than its own.
    ```mlir
    %o, %lse = sp.attention(%q, %k, %v) ...
    // and in front of the layer's gradients
    %b = stablehlo.optimization_barrier %x : tensor<1x64x128xf32>
    %q2 = ...                                       // of %b
    %o2, %lse2 = sp.attention(%q2, %k2, %v2) ...
    ```
  }];
  let dependentDialects = ["sp::SpDialect", "stablehlo::StablehloDialect"];
}

#endif // SP_CHECKPOINT_PASSES
