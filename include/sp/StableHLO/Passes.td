//===- Passes.td - Passes over the input --------------------*- tablegen -*-===//

#ifndef SP_STABLEHLO_PASSES
#define SP_STABLEHLO_PASSES

include "mlir/Pass/PassBase.td"

def VerifyInputPass : Pass<"sp-verify-input", "::mlir::ModuleOp"> {
  let summary = "Refuse programs outside of what the compiler reads";
  let description = [{
    The first thing that is not supported ends in one error at its location, with
    the way out: a missing `@main`, an operation of another dialect, a dynamic or
    unsupported type, an unknown custom call, a form of cuDNN's attention that
    cannot be expanded (gradients, dropout, FP8, ALiBi, pages, packed sequences),
    numbers drawn by the device.
    ```mlir
    %0 = stablehlo.custom_call @cholesky(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // error: custom call '@cholesky' is not supported; ...
    ```
  }];
}

def ReplaceCustomCallsPass : Pass<"sp-replace-custom-calls", "::mlir::ModuleOp"> {
  let summary = "Turn custom calls into the operations they stand for";
  let description = [{
    `jax.export` writes some functions as calls so that older readers accept them,
    and GSPMD marks shardings with an identity. The attention that JAX asks of
    cuDNN (`implementation='cudnn'`) becomes two products and a softmax in f32; a
    row that sees no key gives 0, and -inf as logarithm of its sum.
    ```mlir
    %0 = stablehlo.custom_call @mhlo.erf(%x) {...} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {...} : (tensor<8xf32>) -> tensor<8xf32>
    // becomes
    %0 = chlo.erf %x : tensor<8xf32> -> tensor<8xf32>

    %2:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %k, %v) {backend_config = "..."}
      : (tensor<1x8x4x64xbf16>, tensor<1x8x4x64xbf16>, tensor<1x8x4x64xbf16>) -> (tensor<1x4x8x64xbf16>, tensor<0xui8>)
    // becomes
    %2 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]
      : (tensor<1x8x4x64xbf16>, tensor<1x8x4x64xbf16>) -> tensor<1x4x8x8xf32>
    // scale, bias, select of -inf where the mask hides, softmax over the last dimension: %3
    %4 = stablehlo.dot_general %3, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1]
      : (tensor<1x4x8x8xbf16>, tensor<1x8x4x64xbf16>) -> tensor<1x4x8x64xf32>
    %5 = stablehlo.convert %4 : (tensor<1x4x8x64xf32>) -> tensor<1x4x8x64xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::chlo::ChloDialect"];
}

def RaisePrecisionPass : Pass<"sp-raise-precision", "::mlir::ModuleOp"> {
  let summary = "Compute in f64";
  let description = [{
    Every float type becomes f64, for checking: what then differs is not rounding.
    `bitcast_convert` and `reduce_precision` are about bits and keep their types.
    ```mlir
    %y = stablehlo.add %x, %x : tensor<4xbf16>
    // becomes
    %y = stablehlo.add %x, %x : tensor<4xf64>
    ```
  }];
}

def ForgetCheckpointsPass : Pass<"sp-forget-checkpoints", "::mlir::func::FuncOp"> {
  let summary = "Take away the barriers of checkpoints";
  let description = [{
    What a checkpoint computes again is then the same as in the forward, and
    merged with it.
    ```mlir
    %b = stablehlo.optimization_barrier %x : tensor<4x8xf32>
    %again = stablehlo.tanh %b : tensor<4x8xf32>
    // becomes
    %again = stablehlo.tanh %x : tensor<4x8xf32>
    ```
  }];
}

def PairBatchesPass : Pass<"sp-pair-batches", "::mlir::func::FuncOp"> {
  let summary = "Write indices that count a batch as batch dimensions";
  let description = [{
    Of `x[arange(B), i]` one component of the indices is the position along the
    batch, that of the operand and that of the indices. As batch dimensions these
    are dealt together.
    ```mlir
    %at = stablehlo.concatenate %counts, %i, dim = 1 : 3x2
    %y = "stablehlo.scatter"(%x, %at, %u) ... inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]
    // becomes
    %y = "stablehlo.scatter"(%x, %i, %u) ... inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1]
    ```
  }];
}

def SliceScattersPass : Pass<"sp-slice-scatters", "::mlir::func::FuncOp"> {
  let summary = "Write a scatter of one update at a constant as a slice";
  let description = [{
    Where the update replaces what it covers and lies inside.
    ```mlir
    %y = "stablehlo.scatter"(%x, %c128, %u) ... : (tensor<256x8xf32>, tensor<1xi32>, tensor<64x8xf32>)
    // becomes
    %y = stablehlo.dynamic_update_slice %x, %u, %c128, %c0
    ```
  }];
}

def SelectScattersPass : Pass<"sp-select-scatters", "::mlir::func::FuncOp"> {
  let summary = "Write a scatter of one update a row as a choice";
  let description = [{
    Where every row of what a scatter makes anew gets one update at most, at an
    index of its own: gradients of logits, of which a loss picks one a token.
    An index outside of a row writes nothing in either form.
    ```mlir
    %g = "stablehlo.scatter"(%zeros, %index, %update) ... : (tensor<4x8xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>)
    // becomes
    %here = stablehlo.compare EQ, %positions, %indices : tensor<4x8xi1>
    %sum = stablehlo.add %zeros, %updates : tensor<4x8xf32>
    %g = stablehlo.select %here, %sum, %zeros : tensor<4x8xf32>
    ```
  }];
}

def FoldSlicesOfPadsPass : Pass<"sp-fold-slices-of-pads", "::mlir::func::FuncOp"> {
  let summary = "Write slices of padded values as pads of what was padded";
  let description = [{
    A convolution over some tokens, written out, pads a sequence and takes slices
    of its length, and its gradient is a slice of a sum of pads: no layout deals the
    longer ones. A slice of a pad is a pad whose edges may be negative.
    ```mlir
    %p = stablehlo.pad %x, %zero, low = [3], high = [0], interior = [0] : 8 -> 11
    %y = stablehlo.slice %p [2:10] : 11 -> 8
    // becomes
    %y = stablehlo.pad %x, %zero, low = [1], high = [-1], interior = [0] : 8 -> 8
    ```
  }];
}

def OrientProductsPass : Pass<"sp-orient-products", "::mlir::func::FuncOp"> {
  let summary = "Compute products in the shape in which they are read";
  let description = [{
    A gradient of weights comes as `dy^T x`, of which the transpose is read: that is
    `x^T dy`, which moves nothing and can be added to in place.
    ```mlir
    %p = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0] : (tensor<8x6xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
    %d = stablehlo.transpose %p, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
    // becomes
    %d = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    ```
  }];
}

def MergeDuplicatesPass : Pass<"sp-merge-duplicates", "::mlir::func::FuncOp"> {
  let summary = "Compute equal values of a block once";
  let description = [{
    Operations without effects, with equal operands and attributes, become one.
    Blocks are looked at one by one, so that a loop body reads nothing from
    outside that it did not read before.
    ```mlir
    %a = stablehlo.iota dim = 0 : tensor<8xi32>
    %b = stablehlo.iota dim = 0 : tensor<8xi32>
    %c = stablehlo.add %a, %b : tensor<8xi32>
    // becomes
    %a = stablehlo.iota dim = 0 : tensor<8xi32>
    %c = stablehlo.add %a, %a : tensor<8xi32>
    ```
  }];
}

def SimplifyLoopsPass : Pass<"sp-simplify-loops", "::mlir::ModuleOp"> {
  let summary = "Remove values that loops carry for nothing";
  let description = [{
    A carried value goes when it is needed only to be handed on: its result is
    not used, and inside the loop nothing but values like it depends on it. A
    result that the loop never changes becomes the initial value.
    ```mlir
    %r:2 = stablehlo.while(%m = %mask, %x = %x0) : tensor<64x64xi1>, tensor<f32> ...
    // becomes, when only the body of an attention read %m
    %r = stablehlo.while(%x = %x0) : tensor<f32> ...
    ```
  }];
}

#endif // SP_STABLEHLO_PASSES
