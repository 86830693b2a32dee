// RUN: sp-opt %s --sp-repeat-residuals --sp-simplify-loops | FileCheck %s

// Keys are saved as they are before each goes to two heads.
// CHECK-LABEL: @repeated_again
// CHECK: stablehlo.while
// CHECK: do {
// CHECK-NOT: tensor<3x4x2x8xf32>
// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %{{.*}} : (tensor<3x4x8xf32>, tensor<1x4x8xf32>,
// CHECK: stablehlo.while
// CHECK: do {
// CHECK: %[[ROW:.*]] = stablehlo.dynamic_slice {{.*}} sizes = [1, 4, 8]
// CHECK: %[[K:.*]] = stablehlo.reshape %[[ROW]] : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
// CHECK: %[[R:.*]] = stablehlo.broadcast_in_dim %[[K]], dims = [0, 2] : (tensor<4x8xf32>) -> tensor<4x2x8xf32>
// CHECK: stablehlo.add %{{.*}}, %[[R]]
func.func @repeated_again(%x: tensor<4x8xf32>, %d: tensor<4x2x8xf32>) -> (tensor<4x8xf32>, tensor<4x2x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %rs = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<3x4x2x8xf32>
  %r:3 = stablehlo.while(%i = %zero, %h = %x, %s = %rs) : tensor<i32>, tensor<4x8xf32>, tensor<3x4x2x8xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %k = stablehlo.multiply %h, %h : tensor<4x8xf32>
    %b = stablehlo.broadcast_in_dim %k, dims = [0, 2] : (tensor<4x8xf32>) -> tensor<4x2x8xf32>
    %row = stablehlo.reshape %b : (tensor<4x2x8xf32>) -> tensor<1x4x2x8xf32>
    %s1 = stablehlo.dynamic_update_slice %s, %row, %i, %k0, %k0, %k0 : (tensor<3x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x2x8xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %k, %s1 : tensor<i32>, tensor<4x8xf32>, tensor<3x4x2x8xf32>
  }
  %b:3 = stablehlo.while(%i = %zero, %g = %d, %s = %r#2) : tensor<i32>, tensor<4x2x8xf32>, tensor<3x4x2x8xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %k2 = stablehlo.constant dense<2> : tensor<i32>
    %at = stablehlo.subtract %k2, %i : tensor<i32>
    %row = stablehlo.dynamic_slice %s, %at, %k0, %k0, %k0, sizes = [1, 4, 2, 8] : (tensor<3x4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x2x8xf32>
    %b = stablehlo.reshape %row : (tensor<1x4x2x8xf32>) -> tensor<4x2x8xf32>
    %sum = stablehlo.add %g, %b : tensor<4x2x8xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %sum, %s : tensor<i32>, tensor<4x2x8xf32>, tensor<3x4x2x8xf32>
  }
  return %r#1, %b#1 : tensor<4x8xf32>, tensor<4x2x8xf32>
}
