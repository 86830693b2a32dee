// RUN: sp-opt %s --sp-recompute-layers --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sp-opt %s --sp-forget-checkpoints --split-input-file | FileCheck %s --check-prefix=FORGET

// Of two layers the first is computed again: from the arguments, in front of
// what reads its values.

// CHECK-LABEL: @main
// CHECK: %[[Q:.*]] = stablehlo.tanh %arg0
// CHECK: %[[O:.*]], %{{.*}} = sp.attention(%[[Q]], %[[Q]], %[[Q]])
// CHECK: %[[X:.*]] = stablehlo.cosine %[[O]]
// CHECK: %[[O1:.*]], %[[LSE1:.*]] = sp.attention(%[[X]], %[[X]], %[[X]])
// CHECK: sp.attention_backward(%[[X]], %[[X]], %[[X]]) of(%[[O1]], %[[LSE1]])
// CHECK: %[[B:.*]] = stablehlo.optimization_barrier %arg0
// CHECK: %[[QB:.*]] = stablehlo.tanh %[[B]]
// CHECK: %[[OB:.*]], %[[LSEB:.*]] = sp.attention(%[[QB]], %[[QB]], %[[QB]])
// CHECK: sp.attention_backward(%[[QB]], %[[QB]], %[[QB]]) of({{.*}}, %[[LSEB]])
func.func public @main(%x: tensor<1x8x2x4xf32>, %do: tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32> {
  %q = stablehlo.tanh %x : tensor<1x8x2x4xf32>
  %o, %lse = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer0"}
    : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
  %x1 = stablehlo.cosine %o : tensor<1x8x2x4xf32>
  %o1, %lse1 = sp.attention(%x1, %x1, %x1) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer1"}
    : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
  %dq1, %dk1, %dv1 = sp.attention_backward(%x1, %x1, %x1) of(%o1, %lse1) by(%do)
    bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer1"}
    : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>, tensor<1x8x2x4xf32>)
    -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%o, %lse) by(%dq1)
    bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer0"}
    : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>, tensor<1x8x2x4xf32>)
    -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
  %0 = stablehlo.add %dq, %dk1 : tensor<1x8x2x4xf32>
  return %0 : tensor<1x8x2x4xf32>
}

// -----

// What nobody computes again.

// FORGET-LABEL: @alone
// FORGET-SAME: (%[[X:.*]]: tensor<4xf32>)
// FORGET-NEXT: stablehlo.tanh %[[X]]
// expected-error @below {{expected two layers with gradients or more for --checkpoint=full, which computes all but the last again, but found 0; leave the option out}}
func.func public @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.optimization_barrier %x : tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func public @loop(%x: tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<1x8x2x4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    // expected-error @below {{expected layers outside of loops to compute again with --checkpoint=full; write jax.checkpoint around the body of the loop, or use --checkpoint=attention-out}}
    %o, %lse = sp.attention(%y, %y, %y) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer0"}
      : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
    stablehlo.return %j, %o : tensor<i32>, tensor<1x8x2x4xf32>
  }
  return %0#1 : tensor<1x8x2x4xf32>
}
