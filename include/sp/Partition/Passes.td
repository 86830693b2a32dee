//===- Passes.td - Partition: one program for every rank ---------*- tablegen -*-===//

#ifndef SP_PARTITION_PASSES
#define SP_PARTITION_PASSES

include "mlir/Pass/PassBase.td"

def ResolveDonationsPass : Pass<"sp-resolve-donations", "::mlir::ModuleOp"> {
  let summary = "Find the result that each donated argument is given for";
  let description = [{
    A donated argument is one that a result replaces: in a training that is run step
    by step the result is the argument of the next step. JAX says which with
    `tf.aliasing_output`, or leaves it open with `jax.buffer_donor`, which takes
    the first free result of the same type. Either becomes `sp.donated_to`; later
    passes deal argument and result alike.

    ```mlir
    // Before
    func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
    // After
    func.func @main(%w: tensor<4xf32> {sp.donated_to = 1 : i64}, %x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
    ```
  }];
}

def DealLoopsPass : Pass<"sp-deal-loops", "::mlir::ModuleOp"> {
  let summary = "Deal the trips of loops over rows that ranks share";
  let description = [{
    A loop that takes the rows of a dealt dimension in turn becomes a loop over the
    trips of one run of rows that a rank holds, for all runs at once. What trips
    write lies with the rows, what they sum up is summed over the runs at the end.
    A state that a trip multiplies and adds to, element by element, is carried from
    run to run: the loop is run twice, first for what each run makes of any state.
    Where rows are taken from both ends, or the state goes on otherwise, the loop
    stays, with a remark that says so.

    ```mlir
    // Before, %x and %y by <contiguous 4096 on "sp" of 4>
    %n, %y = while(%i = 0, %rows = %zeros) cond { %i < 4096 } do { ... dynamic_slice %x, %i, 0, sizes = [1, 64] ... }
    // After
    %p = stablehlo.reshape %x : (tensor<4096x64xf32>) -> tensor<4x1024x64xf32>
    %q, %z = while(%i = 0, %rows = %zeros) cond { %i < 1024 } do { ... dynamic_slice %p, 0, %i, 0, sizes = [4, 1, 64] ... }
    %y = stablehlo.reshape %z : (tensor<4x1024x64xf32>) -> tensor<4096x64xf32>
    ```
  }];
  let options = [
    ListOption<"shard", "shard", "std::string", "As of sp-propagate-shardings.">
  ];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def DealTensorsPass : Pass<"sp-deal-tensors", "::mlir::ModuleOp"> {
  let summary = "Deal hidden features of weights to a tensor axis";
  let description = [{
    Heads of attentions are dealt to the ranks of the mesh's tensor axis, and with
    them what weights make of them and for them. Any other dimension that begins in
    a weight and ends in a product with another, such as the features of a
    feed-forward network or a vocabulary, is dealt where the ranks share more work,
    or bytes of weights, than they send for it. What has a sharding stays. Where one
    product makes several such things side by side, each is dealt by itself.

    ```mlir
    // Before, on a mesh with tensor "tp" of 2
    func.func @main(%up: tensor<512x2048xf32>, %down: tensor<2048x512xf32>, ...)
    // After
    func.func @main(%up: ... {sp.sharding = #sp.sharding<[[512], [2048 by <contiguous 2048 on "tp" of 2>]]>},
                    %down: ... {sp.sharding = #sp.sharding<[[2048 by <contiguous 2048 on "tp" of 2>], [512]]>}, ...)
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def DealParametersPass : Pass<"sp-deal-parameters", "::mlir::ModuleOp"> {
  let summary = "Deal parameters and optimizer state to the ranks (ZeRO)";
  let description = [{
    Arguments that a training step donates are parameters where products, gathers
    or attention read them, and else state of an optimizer. With `zero` 1 or 2 state
    is dealt and parameters stay whole, with 3 both are dealt: along the first
    dimension that the ranks divide, but for one of which loops take parts. What is
    smaller than 64 KiB, and what has a sharding, stays.

    ```mlir
    // Before, with zero=1
    func.func @main(%w: tensor<512x256xf32> {sp.donated_to = 1 : i64}, %m: tensor<512x256xf32> {sp.donated_to = 2 : i64}, ...)
    // After
    func.func @main(%w: ... {sp.sharding = #sp.sharding<[[512], [256]]>}, %m: ... {sp.sharding = #sp.sharding<[[512 by <contiguous 512 on "sp" of 4>], [256]]>}, ...)
    ```
  }];
  let options = [
    Option<"zero", "zero", "int64_t", "0", "1 and 2: deal optimizer state; 3: parameters as well.">,
    Option<"zeroAxes", "axes", "std::string", "\"\"", "The axes that deal them, or parts: dp,sp:(2)4; nothing: all.">
  ];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def PropagateShardingsPass : Pass<"sp-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "Propagate the sequence and the batch from the attentions";
  let description = [{
    Deals the sequence of every planned attention to the ranks of its axis, and
    the batch to those of the batch axis, then runs these shardings back to the
    inputs and on to the results through token-local operations. Says what it
    found as `sp.sharding` on arguments and `sp.shardings` on operations.

    ```mlir
    // Before
    %y = stablehlo.add %x, %b : tensor<1x4096x512xf32>
    %o = sp.attention(%q, %k, %v) ... plan <axis = "sp", ...>
    // After
    %y = stablehlo.add %x, %b {sp.shardings = [#sp.sharding<[[1], [4096 by <zigzag 4096 on "sp" of 4>], [512]]>]} : ...
    ```
  }];
  let options = [
    ListOption<"shard", "shard", "std::string",
               "Axes of an argument's dimensions, which overrule what is derived: arg0=_,sp,_.">
  ];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def LocalizePass : Pass<"sp-localize", "::mlir::ModuleOp"> {
  let summary = "Rewrite global shapes to the shapes of one rank";
  let description = [{
    Consumes the propagated shardings. Token-local operations take local shapes;
    attention becomes exchanges and partial attention as its plan says; what is
    not token-local is reduced or gathered over the axis, with a remark that
    names the operation and the bytes a rank sends for it. Partial results are
    reduced once, over all axes that deal what they are made of; partial sums of
    numbers of 16 bits, and sums of a scatter, are made and added in f32, then
    rounded.

    ```mlir
    // Before
    %m = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x4096xf32>, tensor<f32>) -> tensor<2xf32>
    // After, x dealt to 4 ranks
    %p = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x1024xf32>, tensor<f32>) -> tensor<2xf32>
    %m = sp.all_reduce %p sum over ["sp"] of 4 : tensor<2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::affine::AffineDialect", "::mlir::stablehlo::StablehloDialect"];
}

def DealTurnsPass : Pass<"sp-deal-turns", "::mlir::ModuleOp"> {
  let summary = "Deal the batch to turns of a loop";
  let description = [{
    Says that the batch of every attention is dealt to as many micro-batches, which
    run in turn: a mesh whose ranks are turns. Passes of Partition make of it what
    one turn computes and what is combined of all, and `sp-fold-turns` the loop.

    ```mlir
    // After
    sp.mesh @sp_turns <["turns" = 4]> batch "turns" folded
    ```
  }];
  let options = [
    Option<"turns", "turns", "int64_t", "1", "Micro-batches.">,
  ];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def SinkReductionsPass : Pass<"sp-sink-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduce sums that a loop accumulates once, behind it";
  let description = [{
    What a loop adds up of reductions over ranks, the ranks add up by themselves;
    the sums are reduced behind the loop. So gradients of several micro-batches
    are reduced once. What lies between a reduction and its sum may be linear: a
    product with what every turn has alike is, which makes NaN of parts of both
    signs where that is infinite, or divides by 0. A stack of such results, which is zero before the loop, is
    reduced behind it where that is in a loop as well.

    ```mlir
    // Before, in a loop that carries %sum
    %r = sp.all_reduce %p sum over ["sp"] of 4 : tensor<8xf32>
    %next = stablehlo.add %sum, %r : tensor<8xf32>
    // After
    %next = stablehlo.add %sum, %p : tensor<8xf32>
    // behind the loop
    %r = sp.all_reduce %loop sum over ["sp"] of 4 : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect", "::mlir::stablehlo::StablehloDialect"];
}

def JoinSumsPass : Pass<"sp-join-sums", "::mlir::ModuleOp"> {
  let summary = "Reduce a sum of partial values once";
  let description = [{
    Where several terms of a sum are reductions over the same ranks, what the ranks
    have is added up first and reduced once. Terms may come of what is linear.

    ```mlir
    // Before
    %r = sp.all_reduce %p sum over ["tp"] of 2 : tensor<8xf32>
    %s = sp.all_reduce %q sum over ["tp"] of 2 : tensor<8xf32>
    %d = stablehlo.add %r, %s : tensor<8xf32>
    // After
    %t = stablehlo.add %p, %q : tensor<8xf32>
    %d = sp.all_reduce %t sum over ["tp"] of 2 : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect", "::mlir::stablehlo::StablehloDialect"];
}

def DealResidualsPass : Pass<"sp-deal-residuals", "::mlir::ModuleOp"> {
  let summary = "Deal rows between tensor-parallel layers";
  let description = [{
    Sums over a tensor axis, and what its ranks would all compute alike of them, such
    as residuals and norms, are dealt by rows; weights read them gathered. Rows that
    are read again behind an attention are gathered again. Gradients of what is whole,
    such as a norm's scale, become sums over the axis.

    ```mlir
    // Before
    %y = sp.all_reduce %p sum over ["tp"] of 2 : tensor<1x64x32xf32>
    %h = stablehlo.add %x, %y : tensor<1x64x32xf32>
    %u = stablehlo.dot_general %h, %up, contracting_dims = [2] x [0] : ...
    // After
    %y = sp.reduce_scatter %p sum dim 1 in <contiguous 64 on "tp" of 2> : tensor<1x64x32xf32> -> tensor<1x32x32xf32>
    %h = stablehlo.add %x_part, %y : tensor<1x32x32xf32>
    %n = sp.all_gather %h dim 1 in <contiguous 64 on "tp" of 2> : tensor<1x32x32xf32> -> tensor<1x64x32xf32>
    %u = stablehlo.dot_general %n, %up, contracting_dims = [2] x [0] : ...
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect", "::mlir::stablehlo::StablehloDialect"];
}

def FoldTurnsPass : Pass<"sp-fold-turns", "::mlir::ModuleOp"> {
  let summary = "Run the ranks of a folded mesh one after the other";
  let description = [{
    What differs from turn to turn runs in loops over them; what combines the values
    of all ends a loop, and is carried by it. An operation goes into the last loop
    that what reads it allows, so that forward and gradients are in one, even behind
    one that counts the tokens. What a later loop reads of each turn is a stack.

    ```mlir
    // Before
    %p = stablehlo.dot_general %x, %dy, ... : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<64x64xf32>
    %s = sp.all_reduce %p sum over ["turns"] of 4 : tensor<64x64xf32>
    // After
    %s:2 = stablehlo.while(%turn = %zero, %sum = %zeros) ... do {
      %x = stablehlo.dynamic_slice ... // of tensor<8x64xf32>
      %p = stablehlo.dot_general %x, %dy, ...
      %next = stablehlo.add %sum, %p : tensor<64x64xf32>
      stablehlo.return %turn1, %next
    }
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect", "::mlir::stablehlo::StablehloDialect"];
}

def VerifyPartitionPass : Pass<"sp-verify-partition", "::mlir::ModuleOp"> {
  let summary = "Check that the program is that of one rank";
  let description = [{
    After Partition no `sp.attention` and no propagated sharding is left, every
    argument and result of `@main` says how it is cut, and its local type fits. A
    donated argument is cut as its result is.
  }];
}

def VerifyAxesPass : Pass<"sp-verify-axes", "::mlir::ModuleOp"> {
  let summary = "Check what each value is along each axis of the mesh";
  let description = [{
    Types every value as equal, dealt, partial or varying along each axis, from what
    the arguments of `@main` promise (`sp/IR/AxisTypes.h`), and checks that:

    (C1) what is reduced is partial: a sum of equal values counts each rank's.
    (C2) what is partial goes through linear operations alone, beside what is 0 or
    partial too, until it is reduced by what it was made by.
    (C3) what is gathered is dealt, as the gather says.
    (C4) results are what they promise: what is whole is equal, neither a part nor a
    rank's own.

    A factor that all ranks multiply by, as 1/N of a mean, is of the model, and none is
    made by Partition: nothing says how many of them there should be. Nor do types say which
    version of a parameter is gathered, which is the operand's in value form, and
    of places is proved by `sp-verify-places`.

    ```mlir
    // expected operand 0 to be partial (sum) along axis "dp" but it is equal
    %once = sp.all_reduce %p sum over ["dp"] of 2 : tensor<8xf32>
    %twice = sp.all_reduce %once sum over ["dp"] of 2 : tensor<8xf32>
    ```
  }];
}

#endif // SP_PARTITION_PASSES
