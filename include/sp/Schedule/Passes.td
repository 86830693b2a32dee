//===- Passes.td - Schedule: when, and on which stream -----------*- tablegen -*-===//

#ifndef SP_SCHEDULE_PASSES
#define SP_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def CountLoopsPass : Pass<"sp-count-loops", "::mlir::ModuleOp"> {
  let summary = "Turn loops of a constant count into scf.for";
  let description = [{
    A `stablehlo.while` that counts a carried integer from a constant to a constant
    becomes an `scf.for`, which carries only what its turns change. Where it reads
    or writes dense rows of a stack by its turn, as scans do, these become `sp.take`
    and `sp.put`. What runs more than 65 536 times stays a `while` and gets the
    number of its turns as `sp.trips`.

    ```mlir
    // Before: for (i = 0; i < 24; i += 1)
    %r:3 = stablehlo.while(%i = %zero, %x = %x0, %w = %stack) ...
      %l = stablehlo.dynamic_slice %w, %i, %zero, sizes = [1, 64] : ...
    // After
    %r = scf.for %turn = %c0 to %c24 step %c1 iter_args(%x = %x0) ...
      %l = sp.take %stack at %turn dim 0 : tensor<24x64xf32> -> tensor<1x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def BlockRowsPass : Pass<"sp-block-rows", "::mlir::ModuleOp"> {
  let summary = "Run regions in which rows do not meet in blocks of rows";
  let description = [{
    Between attentions and communication every row is computed by itself. Such a
    region becomes a loop over blocks of rows, so that only what enters and leaves
    it is there for all rows at once; sums over rows, such as gradients of weights,
    are added to block by block, narrow ones in fp32. What is left over when rows
    are cut into blocks comes behind the loop.

    ```mlir
    // Before
    %h = stablehlo.dot_general %x, %w, ... : (tensor<1x4096x64xf32>, tensor<64x256xf32>) -> tensor<1x4096x256xf32>
    %y = stablehlo.tanh %h : tensor<1x4096x256xf32>
    %z = stablehlo.dot_general %y, %v, ... -> tensor<1x4096x64xf32>
    // After
    %e = sp.empty : tensor<1x4096x64xf32>
    %z = scf.for %turn = %c0 to %c4 step %c1 iter_args(%rows = %e) {
      %first = affine.apply affine_map<(d0) -> (d0 * 1024)>(%turn)
      %a = sp.take %x at %first dim 1 : tensor<1x4096x64xf32> -> tensor<1x1024x64xf32>
      %h = stablehlo.dot_general %a, %w, ... -> tensor<1x1024x256xf32>
      %y = stablehlo.tanh %h : tensor<1x1024x256xf32>
      %b = stablehlo.dot_general %y, %v, ... -> tensor<1x1024x64xf32>
      %next = sp.put %b into %rows at %first dim 1 : tensor<1x1024x64xf32>, tensor<1x4096x64xf32>
      scf.yield %next
    }
    ```
  }];
  let options = [
    Option<"blocks", "blocks", "int64_t", "1", "Blocks of every region.">,
    ListOption<"rows", "rows", "int64_t",
               "Instead, tokens of a block of each region, in order, the last one for "
               "the rest.">,
  ];
  let dependentDialects = ["::mlir::sp::SpDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def ConvertGemmPass : Pass<"sp-convert-gemm", "::mlir::ModuleOp"> {
  let summary = "Turn contractions into vendor matrix products";
  let description = [{
    Contractions of f32 and bf16 become `sp.gemm` where batch, free and contracted
    dimensions of an operand each collapse to one stride; an operand of which
    they do not is transposed first. Other types stay and are generated.

    ```mlir
    // Before
    %y = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<1x8x4xf32>, tensor<4x16xf32>) -> tensor<1x8x16xf32>
    // After
    %y = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : ...
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def FuseEpiloguesPass : Pass<"sp-fuse-epilogues", "::mlir::ModuleOp"> {
  let summary = "Let products add biases and apply activations, and attention round";
  let description = [{
    What follows a product, and nothing else reads, becomes part of it where
    cuBLASLt has a function for it: a bias of the result's type that is the same in
    every row, then ReLU (`maximum` with 0), or in bf16 GELU in its form by tanh, in
    any spelling. GELU by erf, and GELU of more digits than cuBLASLt's has, stay,
    and so do products with vectors.
    Sums stay in f32 until the end, so what the program rounds to bf16 on the way
    is no longer rounded; what ReLU makes of a NaN is up to the library. Attention
    of a single step, after which nothing goes on with its state, leaves its result
    in the type of its queries, where that is what it is converted to; not where
    the module has `sp.attention_state`, by which kernels are compared. Runs for
    GPUs only.

    ```mlir
    // Before
    %p = sp.gemm %x, %w sizes [1, 8, 16, 4] ... : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
    %s = stablehlo.add %p, %b : tensor<8x16xf32>
    %y = stablehlo.maximum %s, %zero : tensor<8x16xf32>
    // After
    %y = sp.gemm %x, %w bias %v then relu sizes [1, 8, 16, 4] ...
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def SinkConstantsPass : Pass<"sp-sink-constants", "::mlir::ModuleOp"> {
  let summary = "Give comparators and reducers constants of their own";
  let description = [{
    Scalar code inside operations uses no constant from outside, also where
    canonicalisation and CSE have moved one out.

    ```mlir
    // Before
    %c = stablehlo.constant dense<0> : tensor<i32>
    "stablehlo.sort"(%x) ({ ^bb0(%a: tensor<i32>, %b: tensor<i32>): ... %c ... })
    // After
    "stablehlo.sort"(%x) ({ ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.constant dense<0> : tensor<i32> ... %c ... })
    ```
  }];
}

def OutlineKernelsPass : Pass<"sp-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Group token-local operations into fused kernels";
  let description = [{
    Maximal groups of token-local operations that can work row by row become
    private functions, called by `sp.launch`. Constants, iota, broadcasts and what
    follows from them are repeated in each kernel that reads them; reshapes
    between kernels stay outside, where they cost nothing. Kernels with the same
    body are one function.

    ```mlir
    // Before
    %0 = stablehlo.multiply %x, %y : tensor<8x64xf32>
    %1 = stablehlo.exponential %0 : tensor<8x64xf32>
    // After
    %1 = sp.launch @exponential_0(%x, %y) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect", "::mlir::func::FuncDialect"];
}

def RaiseUpdatesPass : Pass<"sp-raise-updates", "::mlir::ModuleOp"> {
  let summary = "Update donated arguments as soon as their gradients are there";
  let description = [{
    What makes the result that an argument is donated for, and what is made for
    such updates alone, moves up to the last operation that makes an operand or
    reads what is replaced. The gradient is free then, and state that lies in far
    memory has the rest of the backward pass to come and go. What would keep more
    than it frees stays.

    ```mlir
    // Before
    %dw1 = sp.gemm ...
    %dx = sp.gemm ...
    %dw0 = sp.gemm ...
    %m1 = sp.launch @adam(%dw1, %arg1) : ...
    // After
    %dw1 = sp.gemm ...
    %m1 = sp.launch @adam(%dw1, %arg1) : ...
    %dx = sp.gemm ...
    %dw0 = sp.gemm ...
    ```
  }];
}

def BucketReductionsPass : Pass<"sp-bucket-reductions", "::mlir::ModuleOp"> {
  let summary = "Join sums of partial gradients, and gathers, into buckets";
  let description = [{
    Sums over the same axes and of the same element type, of which none is used
    before the last one's operand is there, become one all-reduce of several values
    in the place of the last; each value is summed as before. So do sums that one axis
    deals, each along its own dimension: one reduce-scatter. A bucket is full at an
    eighth of the sums that a block has of the kind, but at 1 MiB at least, and never
    larger than `bucket-bytes`. What is made of sums moves behind what the rest of
    the program computes, unless that would keep larger operands, and not behind the
    next bucket but one, so that at most two buckets of a kind wait to be used. A sum
    that is needed before the next one is there stays alone, as does one that a later
    one of its kind needs, and sums of different blocks: what a loop's body sums it sums
    in each of its iterations. Gathers along one axis that follow each other and would
    start at the same place, such as those of a layer's dealt parameters, become one in
    the place of the first, of no more than `bucket-bytes`.

    ```mlir
    // Before
    %a = sp.all_reduce %dw2 sum over ["sp"] of 4 : tensor<64x64xf32>
    %b = sp.launch @transpose_0(%a) : ...
    %dw1 = sp.gemm ...
    %c = sp.all_reduce %dw1 sum over ["sp"] of 4 : tensor<64x32xf32>
    %dx = sp.gemm ...
    // After
    %dw1 = sp.gemm ...
    %a, %c = sp.all_reduce %dw2, %dw1 sum over ["sp"] of 4 : tensor<64x64xf32>, tensor<64x32xf32>
    %dx = sp.gemm ...
    %b = sp.launch @transpose_0(%a) : ...
    ```
  }];
  let options = [
    // The bucket_cap_mb of PyTorch's DistributedDataParallel.
    Option<"bucketBytes", "bucket-bytes", "int64_t", "25 * 1024 * 1024",
           "Most bytes of a bucket; a larger value is one of its own.">,
  ];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def GatherAheadPass : Pass<"sp-gather-ahead", "::mlir::ModuleOp"> {
  let summary = "Gather what a turn of a loop reads in the turn before";
  let description = [{
    An all-gather in a counted loop, of operands that depend on the counter and on
    what no turn changes, is made for the next turn: of a layer's weights in a scan,
    one layer ahead. The loop carries what was gathered, before it comes what its
    first turn reads. The last turn gathers nothing, which `sp.ahead` says; the rows
    it names are the first ones. What every turn gathers alike, and what is made of
    an operand by a kernel that others read as well, stays.

    ```mlir
    // Before
    %y = scf.for %i = %c0 to %c24 step %c1 iter_args(%x = %x0) {
      %t = sp.take %stack at %i dim 0 : tensor<24x8x64xf32> -> tensor<1x8x64xf32>
      %w = sp.all_gather %t dim 1 in <contiguous 64 on "sp" of 8> : ...
      %next = sp.gemm %x, %w ...
      scf.yield %next
    }
    // After
    %t0 = sp.take %stack at %c0 dim 0 : tensor<24x8x64xf32> -> tensor<1x8x64xf32>
    %w0 = sp.all_gather %t0 dim 1 in <contiguous 64 on "sp" of 8> : ...
    %y:2 = scf.for %i = %c0 to %c24 step %c1 iter_args(%x = %x0, %w = %w0) {
      %j = affine.apply affine_map<(d0) -> ((d0 + 1) mod 24)>(%i)
      %t = sp.take %stack at %j dim 0 : tensor<24x8x64xf32> -> tensor<1x8x64xf32>
      %v = sp.all_gather %t dim 1 in <contiguous 64 on "sp" of 8> {sp.ahead} : ...
      %next = sp.gemm %x, %w ...
      scf.yield %next, %v
    }
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def StartCommunicationPass : Pass<"sp-start-communication", "::mlir::ModuleOp"> {
  let summary = "Split communication into start and wait";
  let description = [{
    Every communication starts as soon as its operands are there and is waited
    for before its first use, so that what lies between hides it. Communications
    keep their order, which is the same on every rank.

    ```mlir
    // Before
    %k1 = sp.shift %k from %src by 1 in ...
    %o1, %l1 = sp.attend(%q, %k, ...) ...
    // After
    %k1, %moved = sp.shift_start %k from %src by 1 in ...
    %o1, %l1 = sp.attend(%q, %k, ...) ...
    sp.wait %moved
    ```
  }];
  let dependentDialects = ["::mlir::sp::SpDialect"];
}

def VerifySchedulePass : Pass<"sp-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "Check that the program is a list of commands";
  let description = [{
    After Schedule `@main` holds launches, products, partial attention and its gradients, started
    communication and waits, in loops and branches; every token is waited for
    once, before what it started is used.
  }];
}

#endif // SP_SCHEDULE_PASSES
