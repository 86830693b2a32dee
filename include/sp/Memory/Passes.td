//===- Passes.td - Memory: where ---------------------------------*- tablegen -*-===//

#ifndef SP_MEMORY_PASSES
#define SP_MEMORY_PASSES

include "mlir/Pass/PassBase.td"

def InsertCopiesPass : Pass<"sp-insert-copies", "::mlir::ModuleOp"> {
  let summary = "Copy values that loops and branches carry on";
  let description = [{
    A value carried by `stablehlo.while` or yielded by a branch has one place.
    What is computed elsewhere is copied there, before the loop and at the end of
    its body.

    ```mlir
    // Before
    stablehlo.return %next : tensor<8xf32>
    // After
    %carried = sp.copy %next : tensor<8xf32>
    stablehlo.return %carried : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def AssignOffsetsPass : Pass<"sp-assign-offsets", "::mlir::ModuleOp"> {
  let summary = "Give every value a range of the rank's arena";
  let description = [{
    Liveness over the schedule; a communication's buffers live from start to
    wait, results and arguments to the end, donated arguments to their last read. A
    softmax state or a gradient is continued in place, a reshape is another view, and
    the blocks that a ring hands on share two buffers in turn. Places are
    functions of the enclosing `scf.for` counters, outermost first; constants lie
    in the artifact's data.

    ```mlir
    // After
    %k2, %moved = sp.shift_start %kt ... {sp.places = [#sp.place<arena affine_map<(d0) -> (4096 + (d0 mod 2) * 512)>>]}
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def VerifyMemoryPass : Pass<"sp-verify-memory", "::mlir::ModuleOp"> {
  let summary = "Check that every value has a place";
  let description = [{
    Each tensor has a place by the counters of the loops around it, at a multiple
    of 64 bytes within its space, and constants lie among the constants. Whether
    places are free when they are written is Verify's to prove.
  }];
}

#endif // SP_MEMORY_PASSES
