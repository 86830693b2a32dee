// RUN: sp-opt %s --sp-split-residuals --sp-simplify-loops --sp-simplify-loops | FileCheck %s

// Two layers a trip, as jax.lax.scan(..., unroll=2) has them: what both save is one
// stack, which is reshaped to all layers and back.
// CHECK-LABEL: @two_layers_a_trip
// CHECK: %[[SAVED:.*]]:4 = stablehlo.while
// CHECK: do {
// CHECK: %[[A:.*]] = stablehlo.tanh
// CHECK: %[[B:.*]] = stablehlo.tanh %[[A]]
// CHECK-NOT: stablehlo.concatenate
// CHECK: %[[AR:.*]] = stablehlo.reshape %[[A]] : (tensor<5xf32>) -> tensor<1x5xf32>
// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %[[AR]]
// CHECK: %[[BR:.*]] = stablehlo.reshape %[[B]] : (tensor<5xf32>) -> tensor<1x5xf32>
// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %[[BR]]
// CHECK: stablehlo.while({{.*}}= %[[SAVED]]#2, {{.*}}= %[[SAVED]]#3)
// CHECK: do {
// CHECK-DAG: %[[AS:.*]] = stablehlo.dynamic_slice %{{.*}}, %{{.*}}, sizes = [1, 5]
// CHECK-DAG: %[[AA:.*]] = stablehlo.reshape %[[AS]] : (tensor<1x5xf32>) -> tensor<5xf32>
// CHECK-NOT: stablehlo.slice
// CHECK: stablehlo.return
func.func @two_layers_a_trip(%x: tensor<5xf32>, %d: tensor<5xf32>) -> tensor<5xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %stack = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<3x2x5xf32>
  %r:3 = stablehlo.while(%i = %zero, %h = %x, %s = %stack) : tensor<i32>, tensor<5xf32>, tensor<3x2x5xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.tanh %h : tensor<5xf32>
    %b = stablehlo.tanh %a : tensor<5xf32>
    %ar = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<5xf32>) -> tensor<1x5xf32>
    %br = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<5xf32>) -> tensor<1x5xf32>
    %c = stablehlo.concatenate %ar, %br, dim = 0 : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<2x5xf32>
    %cr = stablehlo.reshape %c : (tensor<2x5xf32>) -> tensor<1x2x5xf32>
    %s1 = stablehlo.dynamic_update_slice %s, %cr, %i, %k0, %k0 : (tensor<3x2x5xf32>, tensor<1x2x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x5xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %b, %s1 : tensor<i32>, tensor<5xf32>, tensor<3x2x5xf32>
  }
  %layers = stablehlo.reshape %r#2 : (tensor<3x2x5xf32>) -> tensor<6x5xf32>
  %trips = stablehlo.reshape %layers : (tensor<6x5xf32>) -> tensor<3x2x5xf32>
  %g:3 = stablehlo.while(%i = %zero, %h = %d, %s = %trips) : tensor<i32>, tensor<5xf32>, tensor<3x2x5xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %k2 = stablehlo.constant dense<2> : tensor<i32>
    %at = stablehlo.subtract %k2, %i : tensor<i32>
    %row = stablehlo.dynamic_slice %s, %at, %k0, %k0, sizes = [1, 2, 5] : (tensor<3x2x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x5xf32>
    %c = stablehlo.reshape %row : (tensor<1x2x5xf32>) -> tensor<2x5xf32>
    %br = stablehlo.slice %c [1:2, 0:5] : (tensor<2x5xf32>) -> tensor<1x5xf32>
    %b = stablehlo.reshape %br : (tensor<1x5xf32>) -> tensor<5xf32>
    %h1 = stablehlo.multiply %h, %b : tensor<5xf32>
    %ar = stablehlo.slice %c [0:1, 0:5] : (tensor<2x5xf32>) -> tensor<1x5xf32>
    %a = stablehlo.reshape %ar : (tensor<1x5xf32>) -> tensor<5xf32>
    %h2 = stablehlo.multiply %h1, %a : tensor<5xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %h2, %s : tensor<i32>, tensor<5xf32>, tensor<3x2x5xf32>
  }
  return %g#1 : tensor<5xf32>
}

// Rows of both are read at once: it stays.
// CHECK-LABEL: @joined_again
// CHECK: stablehlo.concatenate
// CHECK: stablehlo.slice %{{.*}} [0:3]
func.func @joined_again(%x: tensor<2xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %stack = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  %r:3 = stablehlo.while(%i = %zero, %h = %x, %s = %stack) : tensor<i32>, tensor<2xf32>, tensor<3x4xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.tanh %h : tensor<2xf32>
    %c = stablehlo.concatenate %a, %h, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %cr = stablehlo.reshape %c : (tensor<4xf32>) -> tensor<1x4xf32>
    %s1 = stablehlo.dynamic_update_slice %s, %cr, %i, %k0 : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %a, %s1 : tensor<i32>, tensor<2xf32>, tensor<3x4xf32>
  }
  %g:3 = stablehlo.while(%i = %zero, %h = %d, %s = %r#2) : tensor<i32>, tensor<3xf32>, tensor<3x4xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %k2 = stablehlo.constant dense<2> : tensor<i32>
    %at = stablehlo.subtract %k2, %i : tensor<i32>
    %row = stablehlo.dynamic_slice %s, %at, %k0, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %c = stablehlo.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>
    %some = stablehlo.slice %c [0:3] : (tensor<4xf32>) -> tensor<3xf32>
    %h1 = stablehlo.multiply %h, %some : tensor<3xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %h1, %s : tensor<i32>, tensor<3xf32>, tensor<3x4xf32>
  }
  return %g#1 : tensor<3xf32>
}
