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

def VerifyPartitionPass : Pass<"sp-verify-partition", "::mlir::ModuleOp"> {
  let summary = "Check that the program is that of one rank";
  let description = [{
    After Partition no `sp.attention` and no propagated sharding is left, every
    argument and result of `@main` says how it is cut, and its local type fits. A
    donated argument is cut as its result is.
  }];
}

#endif // SP_PARTITION_PASSES
