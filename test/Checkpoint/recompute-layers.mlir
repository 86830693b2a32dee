// RUN: sp-opt %s --sp-recompute-layers --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sp-opt %s --sp-forget-checkpoints --split-input-file | FileCheck %s --check-prefix=FORGET

// Of two layers the first is computed again: from the arguments, in front of
// what reads its values.

// CHECK-LABEL: @main
// CHECK: %[[Q:.*]] = stablehlo.tanh %arg0
// CHECK: %[[O:.*]], %{{.*}} = sp.attention(%[[Q]], %[[Q]], %[[Q]])
// CHECK: %[[X:.*]] = stablehlo.cosine %[[O]]
// CHECK: %[[O1:.*]], %[[LSE1:.*]] = sp.attention(%[[X]], %[[X]], %[[X]])
// CHECK: %[[DQ:.*]], %{{.*}}, %{{.*}} = sp.attention_backward(%[[X]], %[[X]], %[[X]]) of(%[[O1]], %[[LSE1]])
// CHECK: %[[B:.*]]:2 = stablehlo.optimization_barrier %arg0, %[[DQ]]
// CHECK: %[[QB:.*]] = stablehlo.tanh %[[B]]#0
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

// The loss is made of a value larger than any of a layer: the last layer is
// computed again too. Tables are made of nothing and shared; the slope that the
// model writes early goes to its gradient; each layer waits for a gradient.

// CHECK-LABEL: @large_head
// CHECK: %[[TABLE:.*]] = stablehlo.iota
// CHECK-NOT: stablehlo.optimization_barrier
// CHECK-NOT: stablehlo.sine
// CHECK: stablehlo.dot_general {{.*}} -> tensor<1x8x256xf32>
// CHECK: %[[DO:.*]] = stablehlo.reshape {{.*}} -> tensor<1x8x2x4xf32>
// CHECK-NEXT: %[[B1:.*]]:2 = stablehlo.optimization_barrier %[[X1:.*]], %[[DO]]
// CHECK-NEXT: %[[R1:.*]], %{{.*}} = sp.attention(%[[B1]]#0, %[[B1]]#0, %[[B1]]#0) {{.*}}"layer1"
// CHECK-NEXT: sp.attention_backward(%[[X1]], %[[X1]], %[[X1]]) of(%[[R1]], {{.*}} by(%[[DO]])
// CHECK-NEXT: %[[DX:.*]] = stablehlo.reshape
// CHECK-NEXT: %[[B0:.*]]:2 = stablehlo.optimization_barrier %arg0, %[[DX]]
// CHECK-NEXT: stablehlo.multiply %[[B0]]#0, %[[TABLE]]
// CHECK: "layer0"
// CHECK: %[[SLOPE:.*]] = stablehlo.sine
// CHECK-NEXT: stablehlo.multiply %{{.*}}, %[[SLOPE]]
func.func public @large_head(%x: tensor<1x8x2x4xf32>, %w: tensor<8x256xf32>, %o: tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>, tensor<1x8x2x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %table = stablehlo.iota dim = 1 : tensor<1x8x2x4xf32>
  %q = stablehlo.multiply %x, %table : tensor<1x8x2x4xf32>
  %r, %lse = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer0"}
    : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
  %slope = stablehlo.sine %r : tensor<1x8x2x4xf32>
  %c = stablehlo.cosine %r : tensor<1x8x2x4xf32>
  %flat = stablehlo.reshape %c : (tensor<1x8x2x4xf32>) -> tensor<1x8x8xf32>
  %p = stablehlo.dot_general %flat, %o, contracting_dims = [2] x [0] : (tensor<1x8x8xf32>, tensor<8x8xf32>) -> tensor<1x8x8xf32>
  %x1 = stablehlo.reshape %p : (tensor<1x8x8xf32>) -> tensor<1x8x2x4xf32>
  %r1, %lse1 = sp.attention(%x1, %x1, %x1) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer1"}
    : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
  %y = stablehlo.reshape %r1 : (tensor<1x8x2x4xf32>) -> tensor<1x8x8xf32>
  %logits = stablehlo.dot_general %y, %w, contracting_dims = [2] x [0] : (tensor<1x8x8xf32>, tensor<8x256xf32>) -> tensor<1x8x256xf32>
  %loss = stablehlo.reduce(%logits init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x8x256xf32>, tensor<f32>) -> tensor<f32>
  %dy = stablehlo.dot_general %logits, %w, contracting_dims = [2] x [1] : (tensor<1x8x256xf32>, tensor<8x256xf32>) -> tensor<1x8x8xf32>
  %do1 = stablehlo.dot_general %dy, %o, contracting_dims = [2] x [1] : (tensor<1x8x8xf32>, tensor<8x8xf32>) -> tensor<1x8x8xf32>
  %dw = stablehlo.dot_general %dy, %y, contracting_dims = [0, 1] x [0, 1] : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<8x8xf32>
  %do = stablehlo.reshape %do1 : (tensor<1x8x8xf32>) -> tensor<1x8x2x4xf32>
  %dq1, %dk1, %dv1 = sp.attention_backward(%x1, %x1, %x1) of(%r1, %lse1) by(%do)
    bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer1"}
    : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>, tensor<1x8x2x4xf32>)
    -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
  %dp = stablehlo.reshape %dq1 : (tensor<1x8x2x4xf32>) -> tensor<1x8x8xf32>
  %dwo = stablehlo.dot_general %flat, %dp, contracting_dims = [0, 1] x [0, 1] : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<8x8xf32>
  %dc = stablehlo.dot_general %dp, %o, contracting_dims = [2] x [1] : (tensor<1x8x8xf32>, tensor<8x8xf32>) -> tensor<1x8x8xf32>
  %dr = stablehlo.reshape %dc : (tensor<1x8x8xf32>) -> tensor<1x8x2x4xf32>
  %ds = stablehlo.multiply %dr, %slope : tensor<1x8x2x4xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%r, %lse) by(%ds)
    bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer0"}
    : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>, tensor<1x8x2x4xf32>)
    -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
  %sum = stablehlo.add %dw, %dwo : tensor<8x8xf32>
  return %loss, %sum, %dq : tensor<f32>, tensor<8x8xf32>, tensor<1x8x2x4xf32>
}

// -----

// What nobody computes again.

// FORGET-LABEL: @alone
// FORGET-SAME: (%[[X:.*]]: tensor<4xf32>)
// FORGET-NEXT: stablehlo.tanh %[[X]]
// expected-error @below {{expected two layers with gradients or more for --checkpoint=full, which computes them again, but found no attention that could be taken; --explain says why}}
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

// -----

// Gradients of a loop that makes its queries again: the model has a checkpoint
// around the body.
func.func public @checkpoint(%x: tensor<1x8x8xf32>, %w: tensor<8x8xf32>, %g: tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %by = %g) : tensor<i32>, tensor<1x8x2x4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %p = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<1x8x8xf32>, tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %q = stablehlo.reshape %p : (tensor<1x8x8xf32>) -> tensor<1x8x2x4xf32>
    // expected-error @below {{expected layers outside of loops to compute again with --checkpoint=full; the body of the loop is a jax.checkpoint already, so that its gradients compute it again as it is written: leave the option out, or use --checkpoint=attention-out}}
    %o, %lse = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer0"}
      : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
    %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%o, %lse) by(%by)
      bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer0"}
      : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>, tensor<1x8x2x4xf32>)
      -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
    stablehlo.return %j, %dq : tensor<i32>, tensor<1x8x2x4xf32>
  }
  return %0#1 : tensor<1x8x2x4xf32>
}

// -----

// No gradients at all.
func.func public @forward(%x: tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32> {
  // expected-error @below {{expected two layers with gradients or more for --checkpoint=full, which computes them again, but found 0; leave the option out}}
  %o = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer0"}
    : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
  return %o : tensor<1x8x2x4xf32>
}
