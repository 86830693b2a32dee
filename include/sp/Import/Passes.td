//===- Passes.td - Import -------------------------------------*- tablegen -*-===//

#ifndef SP_IMPORT_PASSES
#define SP_IMPORT_PASSES

include "mlir/Pass/PassBase.td"

def InlineCallsPass : Pass<"sp-inline-calls", "ModuleOp"> {
  let summary = "Copy called functions to their calls";
  let description = [{
    Calls and composites are replaced by the bodies they name, also inside loops,
    and private functions are erased. Recursion is an error.
    ```mlir
    %0 = call @_where(%m, %x, %c) : (tensor<8xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    // becomes
    %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %0 = stablehlo.select %m, %x, %b : tensor<8xi1>, tensor<8xf32>
    ```
  }];
}

def SimplifyReductionsPass : Pass<"sp-simplify-reductions", "func::FuncOp"> {
  let summary = "Write reductions as what they are";
  let description = [{
    A reduction of single integers or truths from a number that changes none is a
    reshape; a product of rows by rows is a sum of products of elements.
    ```mlir
    %r = stablehlo.reduce(%x init: %true) applies stablehlo.and across dimensions = [1] : (tensor<8x1xi1>, tensor<i1>) -> tensor<8xi1>
    // becomes
    %r = stablehlo.reshape %x : (tensor<8x1xi1>) -> tensor<8xi1>
    ```
  }];
}

def FoldConstantsPass : Pass<"sp-fold-constants", "func::FuncOp"> {
  let summary = "Evaluate scans and lookups of positions";
  let description = [{
    Scans, reductions, sorts and lookups of integers that depend on no argument
    are evaluated, so that masks made of them are known: documents from position
    ids that a model counts itself are one document. What has no elements is made of
    nothing, and a concatenation leaves it out.
    ```mlir
    %i = stablehlo.iota dim = 0 : tensor<8xi32>
    %r = stablehlo.reduce(%i init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
    // becomes
    %r = stablehlo.constant dense<28> : tensor<i32>
    ```
  }];
}

def UnrollLoopsPass : Pass<"sp-unroll-loops", "func::FuncOp"> {
  let summary = "Write short loops of arithmetic out";
  let description = [{
    A loop of at most eight trips whose body computes element by element is
    replaced by its trips, which then are one expression: random bits, mixed in
    five rounds, become a function of their position.
    ```mlir
    %r:2 = stablehlo.while(%i = %zero, %x = %x0) : tensor<i32>, tensor<64xui32>
    cond { %c = stablehlo.compare LT, %i, %two ... } do { %y = stablehlo.xor %x, %k ... }
    // becomes
    %y0 = stablehlo.xor %x0, %k : tensor<64xui32>
    %y1 = stablehlo.xor %y0, %k : tensor<64xui32>
    ```
  }];
}

def SplitResidualsPass : Pass<"sp-split-residuals", "func::FuncOp"> {
  let summary = "Save apart what a loop joins for another that cuts it";
  let description = [{
    A trip of `jax.lax.scan(..., unroll=2)` joins what two layers save, and its gradient
    cuts that again. Each is saved by itself.
    ```mlir
    // forward, saved by trip                    // backward
    %c = stablehlo.concatenate %a, %b, dim = 0   %c = stablehlo.dynamic_slice %saved_c, %at, ...
                                                 %a = stablehlo.slice %c [0:1, 0:8]
    // becomes
    // %a and %b saved by trip                   %a = stablehlo.dynamic_slice %saved_a, %at, ...
    ```
  }];
}

def RecomputeResidualsPass : Pass<"sp-recompute-residuals", "func::FuncOp"> {
  let summary = "Recompute weights of attention that one loop saves for another";
  let description = [{
    The gradient of a scan is a loop in reverse that reads what each trip of the
    forward loop saved. What is made of scores without another contraction (powers,
    their sums, weights) is recomputed from the queries and keys that are saved too,
    so that nothing of size queries x keys is.
    ```mlir
    // forward: %q, %k and %e are saved
    %s = stablehlo.dot_general %q, %k, ...
    %e = stablehlo.exponential %s
    // backward, trip i of N: %e is read at N - 1 - i
    %e = stablehlo.dynamic_slice %saved_e, %at, ...
    // becomes
    %s = stablehlo.dot_general %q, %k, ...
    %e = stablehlo.exponential %s
    ```
  }];
}

def RepeatResidualsPass : Pass<"sp-repeat-residuals", "func::FuncOp"> {
  let summary = "Save what a loop repeats for another before it is repeated";
  let description = [{
    What a trip of a scan broadcasts, as keys of grouped queries by `jnp.repeat`,
    its gradient reads as it was before, and broadcasts again.
    ```mlir
    // forward, saved by trip                // backward
    %r = stablehlo.broadcast_in_dim %k, ...  %r = stablehlo.dynamic_slice %saved_r, %at, ...
    // becomes                               %k = stablehlo.dynamic_slice %saved_k, %at, ...
    // %k saved by trip                      %r = stablehlo.broadcast_in_dim %k, ...
    ```
  }];
}

def SimplifyScansPass : Pass<"sp-simplify-scans", "func::FuncOp"> {
  let summary = "Compute of its counter which rows a trip of a loop takes and leaves";
  let description = [{
    A number that a trip takes of a stack of numbers in arithmetic progression, such
    as `jnp.arange(n)`, is computed of the loop's counter. Where each trip adds rows
    to a sum at a place of their own, as gradients of slices do, it writes them there.
    ```mlir
    %t = stablehlo.dynamic_slice %arange, %i, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %d = stablehlo.dynamic_update_slice %zeros, %rows, %at : (tensor<512xf32>, tensor<128xf32>, tensor<i32>) -> tensor<512xf32>
    %next = stablehlo.add %sum, %d : tensor<512xf32>
    // becomes, with what %sum starts from added behind the loop
    %t = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %next = stablehlo.dynamic_update_slice %sum, %rows, %at : (tensor<512xf32>, tensor<128xf32>, tensor<i32>) -> tensor<512xf32>
    ```
  }];
}

def JoinProductsPass : Pass<"sp-join-products", "func::FuncOp"> {
  let summary = "Make one product of scores that are a sum of products";
  let description = [{
    A sum of two contractions that an exponential is computed of is one over both
    of their contracted dimensions. A factor that lacks a dimension of the other
    is repeated along it; numbers that a contraction is multiplied by go to its
    left factor.
    ```mlir
    %a = stablehlo.dot_general %q0, %k0, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %q1, %k1, contracting_dims = [1] x [1] : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x8xf32>
    %s = stablehlo.add %a, %b : tensor<8x8xf32>
    // becomes
    %q = stablehlo.concatenate %q0, %q1, dim = 1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
    %k = stablehlo.concatenate %k0, %k1, dim = 1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
    %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x8xf32>
    ```
  }];
}

def SplitConcatenationsPass : Pass<"sp-split-concatenations", "func::FuncOp"> {
  let summary = "Compute on the parts of a softmax over scores and a column";
  let description = [{
    A softmax over scores with a column beside them (a sink, one more logit a
    head) that is cut off again becomes one over the scores whose sum has one
    more term. So does its gradient, which pads what was cut.
    ```mlir
    %c = stablehlo.concatenate %scores, %sink, dim = 3 : (tensor<1x4x8x8xf32>, tensor<1x4x8x1xf32>) -> tensor<1x4x8x9xf32>
    %e = stablehlo.exponential %c : tensor<1x4x8x9xf32>
    %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x4x8x9xf32>, tensor<f32>) -> tensor<1x4x8xf32>
    // becomes
    %e0 = stablehlo.exponential %scores : tensor<1x4x8x8xf32>
    %e1 = stablehlo.exponential %sink : tensor<1x4x8x1xf32>
    %s0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8xf32>
    %s1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x4x8x1xf32>, tensor<f32>) -> tensor<1x4x8xf32>
    %s = stablehlo.add %s0, %s1 : tensor<1x4x8xf32>
    ```
  }];
}

def FindLogSumExpsPass : Pass<"sp-find-log-sum-exps", "func::FuncOp"> {
  let summary = "Name logarithms of sums of exponentials of scores";
  let description = [{
    The logarithm of a sum of exponentials that the program reads beside its softmax,
    or instead (z-loss, states of rings of its own), is named, and so is what its
    cotangent adds to the gradient of scores.
    ```mlir
    %e = stablehlo.exponential %shifted : tensor<8x8xf32>            // %s - %m
    %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %log = stablehlo.log %r : tensor<8xf32>
    %l = stablehlo.add %log, %m : tensor<8xf32>
    // becomes
    %l = sp.log_sum_exp %s along 1 : tensor<8x8xf32> -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["sp::SpDialect"];
}

def SplitSumsPass : Pass<"sp-split-sums", "func::FuncOp"> {
  let summary = "Split products of values with sums of softmaxes";
  let description = [{
    A product of values with a difference or a weighted sum of several softmaxes
    (differential attention) becomes that of their products; what a softmax is
    multiplied by, without being known for each pair, multiplies its product.
    Softmaxes that are parts of one, taken apart by slices of heads, stay in one
    product whose values are repeated. Gradients follow: each softmax has a product
    of its cotangent and values of its own, parts of one share it, and the gradient
    of a factor is a sum over features of its product instead of one over pairs.
    ```mlir
    %p = stablehlo.subtract %p0, %scaled : tensor<8x8xf32>            // %lambda * %p1
    %r = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    // becomes
    %0 = stablehlo.dot_general %p0, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.dot_general %p1, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.multiply %1, %l : tensor<8x4xf32>                  // of %lambda
    %r = stablehlo.subtract %0, %2 : tensor<8x4xf32>
    ```
  }];
}

def ImportAttentionPass : Pass<"sp-import-attention", "ModuleOp"> {
  let summary = "Find attention by its meaning";
  let description = [{
    Each exponential is followed back to the contraction of queries and keys and
    on to the contraction with values. What lies between is an attention if its
    values are those of the formula: masks are decided from their comparisons at
    true sizes, the rest by evaluating it on samples. It becomes `sp.attention`
    in canonical order (batch, sequence, head, feature). Where the weights are no
    exponential of a scaled product, what lies between is a function of single
    pairs, `@score_0`, which the attention names; what it reads of a query, a key,
    a head or a pair is handed over as a term. Gradients beside an
    attention become `sp.attention_backward`, with the derivative of the score
    function, `@score_0_gradient`, and what rows give the gradient of a sink
    operations on result, cotangent and sums. Gradients of terms are results of
    it too, summed over the queries or keys that their readers do not keep; where
    no term explains what is read, it is the gradient of the score, from which
    the program goes on itself. Anything else stays as it is, and a remark of this
    pass's category says what stopped it.
    ```mlir
    %s = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] ...
    ...                                    // scale, mask, softmax
    %o = stablehlo.dot_general %v, %p, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] ...
    %r = stablehlo.transpose %o, dims = [0, 3, 1, 2] ...
    // becomes
    %r = sp.attention(%q, %k, %v) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.250000e-01 {name = "layer0"} ...
    ```
  }];
  let dependentDialects = ["sp::SpDialect", "stablehlo::StablehloDialect", "func::FuncDialect"];
}

def SplitWindowsPass : Pass<"sp-split-windows", "func::FuncOp"> {
  let summary = "Write convolutions and reductions over a few tokens out";
  let description = [{
    A convolution along one dimension by a kernel of at most 16 places becomes a sum
    of products with rows that are moved by as many tokens each;
    its kernel's gradient, whose result is as short, a product over all tokens for
    each place. Reductions over such windows likewise. Moved rows come from
    neighbours, where a window would need a whole sequence.
    ```mlir
    %y = stablehlo.convolution(%x, %k) ... window = {pad = [[1, 0]]} : (tensor<1x8x4xf32>, tensor<2x1x4xf32>) -> tensor<1x8x4xf32>
    // becomes
    %x0 = stablehlo.pad %x, %zero, low = [0, 1, 0], high = [0, -1, 0], interior = [0, 0, 0] : (tensor<1x8x4xf32>, tensor<f32>) -> tensor<1x8x4xf32>
    %y0 = stablehlo.multiply %x0, %k0 : tensor<1x8x4xf32>
    %y1 = stablehlo.multiply %x, %k1 : tensor<1x8x4xf32>
    %y = stablehlo.add %y0, %y1 : tensor<1x8x4xf32>
    ```
  }];
}

def SplitStridesPass : Pass<"sp-split-strides", "func::FuncOp"> {
  let summary = "Write slices of every n-th row as reshapes";
  let description = [{
    A slice with a stride of n takes a column of rows that are read as runs of n; a
    pad between rows makes such runs. A rank that has whole runs takes from its own
    rows, where a stride would need them all.
    ```mlir
    %y = stablehlo.slice %x [1:8:2] : (tensor<8xf32>) -> tensor<4xf32>
    // becomes
    %runs = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<4x2xf32>
    %column = stablehlo.slice %runs [0:4, 1:2] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    %y = stablehlo.reshape %column : (tensor<4x1xf32>) -> tensor<4xf32>
    ```
  }];
}

def FindDocumentsPass : Pass<"sp-find-documents", "ModuleOp"> {
  let summary = "Find documents that are packed into a sequence";
  let description = [{
    Where a score function hides every pair of a query and a key whose elements in
    two arguments of the program (mostly one) are not equal, the attention says so:
    such pairs need not be computed, nor keys sent for them, once a run knows its
    arguments. The score function stays, and with it the meaning.
    ```mlir
    %o = sp.attention(%q, %k, %v) score @score_0 per_query(%s : tensor<1x64x1x1xi32>) per_key(%s : tensor<1x64x1x1xi32>) bands [...] scale 1.0
    // becomes, with sp.documents @documents_6 of 64 in arguments [6]
    %o = sp.attention(%q, %k, %v) score @score_0 ... bands [...] documents <queries @documents_6 keys @documents_6> scale 1.0
    ```
  }];
  let dependentDialects = ["sp::SpDialect"];
}

def VerifyImportPass : Pass<"sp-verify-import", "ModuleOp"> {
  let summary = "Check the output form of Import";
  let description = [{
    One public function `@main` of a single block, without calls, with static
    shapes, of `stablehlo`, `chlo`, `sdy` and `sp.attention` operations only,
    beside score functions.
  }];
}

#endif // SP_IMPORT_PASSES
