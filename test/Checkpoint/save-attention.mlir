// RUN: sp-opt %s --sp-save-attention | FileCheck %s --check-prefixes=CHECK,WRITTEN
// RUN: sp-opt %s --sp-save-attention=through-barriers | FileCheck %s --check-prefixes=CHECK,SAVED
// RUN: sp-opt %s --sp-save-attention=through-barriers --remarks-filter=sp-save-attention -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A checkpoint computes attention again as it is written, or takes it from the forward.
// CHECK-LABEL: @of_a_checkpoint
// WRITTEN: sp.attention(%arg0, %arg0, %arg0) {{.*}} -> tensor<1x8x2x4xf32>{{$}}
// WRITTEN: %[[AGAIN:.*]] = stablehlo.optimization_barrier %arg0
// WRITTEN: sp.attention(%[[AGAIN]], %[[AGAIN]], %[[AGAIN]])
// SAVED: %[[O:.*]], %[[LSE:.*]] = sp.attention(%arg0, %arg0, %arg0) {{.*}}tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
// SAVED-NOT: sp.attention(
// SAVED: sp.attention_backward(%{{.*}}) of(%[[O]], %[[LSE]])
// REMARK: attention {{.*}}name=again{{.*}}of=first
func.func @of_a_checkpoint(%x: tensor<1x8x2x4xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) {
  %o = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5 {name = "first"}
     : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
  %y = stablehlo.optimization_barrier %x : tensor<1x8x2x4xf32>
  %o1, %lse = sp.attention(%y, %y, %y) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5 {name = "again"}
     : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
  %dq, %dk, %dv = sp.attention_backward(%y, %y, %y) of(%o1, %lse) by(%o) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5
     : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>, tensor<1x8x2x4xf32>)
     -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
  return %o, %dq : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>
}

// Another mask, or another scale, is another attention.
// CHECK-LABEL: @of_another_mask
// CHECK-COUNT-3: sp.attention(
func.func @of_another_mask(%x: tensor<1x8x2x4xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) {
  %o = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5
     : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
  %o1 = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 1>] scale 0.5
     : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
  %o2 = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.25
     : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
  return %o, %o1, %o2 : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>
}

// The loop in reverse reads the result and the logarithms of its sums.
// CHECK-LABEL: @of_a_scan
// CHECK: do {
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(
// CHECK: %[[ROW:.*]] = stablehlo.reshape %[[O]] : (tensor<1x8x2x4xf32>) -> tensor<1x1x8x2x4xf32>
// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %[[ROW]], %iterArg,
// CHECK: %[[SUMS:.*]] = stablehlo.reshape %[[LSE]] : (tensor<1x8x2xf32>) -> tensor<1x1x8x2xf32>
// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %[[SUMS]], %iterArg,
// CHECK: do {
// CHECK-NOT: sp.attention(
// CHECK: %[[AT:.*]] = stablehlo.subtract
// CHECK: %[[SAVED:.*]] = stablehlo.dynamic_slice %{{.*}}, %[[AT]], {{.*}} sizes = [1, 1, 8, 2, 4]
// CHECK: stablehlo.dynamic_slice %{{.*}}, %[[AT]], {{.*}} sizes = [1, 1, 8, 2]
// CHECK: sp.attention_backward(
func.func @of_a_scan(%x: tensor<1x8x2x4xf32>, %d: tensor<1x8x2x4xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %hs = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<3x1x8x2x4xf32>
  %r:3 = stablehlo.while(%i = %zero, %h = %x, %saved = %hs) : tensor<i32>, tensor<1x8x2x4xf32>, tensor<3x1x8x2x4xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %o = sp.attention(%h, %h, %h) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5 {name = "layer0"}
       : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    %row = stablehlo.reshape %h : (tensor<1x8x2x4xf32>) -> tensor<1x1x8x2x4xf32>
    %next = stablehlo.dynamic_update_slice %saved, %row, %i, %k0, %k0, %k0, %k0 : (tensor<3x1x8x2x4xf32>, tensor<1x1x8x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x1x8x2x4xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %o, %next : tensor<i32>, tensor<1x8x2x4xf32>, tensor<3x1x8x2x4xf32>
  }
  %b:3 = stablehlo.while(%i = %zero, %g = %d, %saved = %r#2) : tensor<i32>, tensor<1x8x2x4xf32>, tensor<3x1x8x2x4xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %k2 = stablehlo.constant dense<2> : tensor<i32>
    %at = stablehlo.subtract %k2, %i : tensor<i32>
    %row = stablehlo.dynamic_slice %saved, %at, %k0, %k0, %k0, %k0, sizes = [1, 1, 8, 2, 4] : (tensor<3x1x8x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x8x2x4xf32>
    %h = stablehlo.reshape %row : (tensor<1x1x8x2x4xf32>) -> tensor<1x8x2x4xf32>
    %o, %lse = sp.attention(%h, %h, %h) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5 {name = "layer1"}
       : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
    %dq, %dk, %dv = sp.attention_backward(%h, %h, %h) of(%o, %lse) by(%g) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5
       : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>, tensor<1x8x2x4xf32>)
       -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
    %sum = stablehlo.add %dq, %dk : tensor<1x8x2x4xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %sum, %saved : tensor<i32>, tensor<1x8x2x4xf32>, tensor<3x1x8x2x4xf32>
  }
  return %r#1, %b#1 : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>
}

// Queries, keys and values are what they were before they were reshaped.
// CHECK-LABEL: @of_a_scan_that_saves_another_shape
// CHECK: do {
// CHECK: sp.attention(
// CHECK: do {
// CHECK-NOT: sp.attention(
// CHECK: sp.attention_backward(
func.func @of_a_scan_that_saves_another_shape(%x: tensor<1x8x2x4xf32>, %d: tensor<1x8x2x4xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %hs = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<3x16x4xf32>
  %r:3 = stablehlo.while(%i = %zero, %h = %x, %saved = %hs) : tensor<i32>, tensor<1x8x2x4xf32>, tensor<3x16x4xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %o = sp.attention(%h, %h, %h) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5 {name = "layer0"}
       : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    %flat = stablehlo.reshape %h : (tensor<1x8x2x4xf32>) -> tensor<16x4xf32>
    %row = stablehlo.reshape %flat : (tensor<16x4xf32>) -> tensor<1x16x4xf32>
    %next = stablehlo.dynamic_update_slice %saved, %row, %i, %k0, %k0 : (tensor<3x16x4xf32>, tensor<1x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x4xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %o, %next : tensor<i32>, tensor<1x8x2x4xf32>, tensor<3x16x4xf32>
  }
  %b:3 = stablehlo.while(%i = %zero, %g = %d, %saved = %r#2) : tensor<i32>, tensor<1x8x2x4xf32>, tensor<3x16x4xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %k2 = stablehlo.constant dense<2> : tensor<i32>
    %at = stablehlo.subtract %k2, %i : tensor<i32>
    %row = stablehlo.dynamic_slice %saved, %at, %k0, %k0, sizes = [1, 16, 4] : (tensor<3x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x4xf32>
    %flat = stablehlo.reshape %row : (tensor<1x16x4xf32>) -> tensor<16x4xf32>
    %h = stablehlo.reshape %flat : (tensor<16x4xf32>) -> tensor<1x8x2x4xf32>
    %o, %lse = sp.attention(%h, %h, %h) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5 {name = "layer1"}
       : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
    %dq, %dk, %dv = sp.attention_backward(%h, %h, %h) of(%o, %lse) by(%g) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5
       : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>, tensor<1x8x2x4xf32>)
       -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
    %sum = stablehlo.add %dq, %dk : tensor<1x8x2x4xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %sum, %saved : tensor<i32>, tensor<1x8x2x4xf32>, tensor<3x16x4xf32>
  }
  return %r#1, %b#1 : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>
}
