//===- Passes.td - Memory: where ---------------------------------*- tablegen -*-===//

#ifndef SP_MEMORY_PASSES
#define SP_MEMORY_PASSES

include "mlir/Pass/PassBase.td"

def PlaceFarPass : Pass<"sp-place-far", "::mlir::ModuleOp"> {
  let summary = "Let what waits long lie in far memory";
  let description = [{
    A value that nobody reads while much is computed goes to far memory behind its
    making, and comes back ahead of its next use, each on a stream of its own while
    the rest goes on: inputs of layers and results of attention that gradients read,
    for instance. Long is twice as long as both copies take, where `flops-per-byte`
    says how much is computed while a byte is copied. Arguments and results stay, but
    with `state` those that are donated and not read for long lie in far memory
    before and after: an optimizer's state but for its update. The largest and what
    waits longest goes first, until the peak is no higher than `arena-bytes`, or
    than what it would be if all that waits were away where that is more. The rest
    stays.

    ```mlir
    // Before
    %y = sp.gemm %x, %w ...
    ...
    %dw = sp.gemm %x, %dy ...
    // After
    %h, %gone = sp.evict_start %x : tensor<4096x64xf32> -> tensor<4096x64xf32, #sp.far>
    %y = sp.gemm %x, %w ...
    sp.wait %gone
    ...
    %x1, %came = sp.fetch_start %h : tensor<4096x64xf32, #sp.far> -> tensor<4096x64xf32>
    ...
    sp.wait %came
    %dw = sp.gemm %x1, %dy ...
    ```
  }];
  let options = [
    Option<"flopsPerByte", "flops-per-byte", "int64_t", "128",
           "What is computed while a byte is copied.">,
    Option<"arenaBytes", "arena-bytes", "int64_t", "0", "Bytes that the arena may have.">,
    Option<"state", "state", "bool", "false", "Whether donated arguments may go, too.">,
  ];
  let dependentDialects = ["::mlir::sp::SpDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"];
}

def WriteInPlacePass : Pass<"sp-write-in-place", "::mlir::ModuleOp"> {
  let summary = "Write a few elements of a value where it lies";
  let description = [{
    A kernel that changes some rows of a value, by a mask of rows, a slice or indices,
    and copies the others, is written onto that value where nothing needs it any more:
    a cache that is donated or carried, say. Then it writes what changes and reads
    nothing else of it.

    ```mlir
    // Before
    %next = sp.launch @update_0(%cache, %new, %at) : ...
    // After
    %next = sp.launch @update_0(%cache, %new, %at) onto 0 : ...
    func.func private @update_0(%old: tensor<512x64xf32> {sp.onto}, ...
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

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
  let options = [
    Option<"onlySizes", "only-sizes", "bool", "false",
           "say how much of each space a rank needs, but no places">
  ];
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
