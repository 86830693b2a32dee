// RUN: sp-opt %s --sp-import-attention | FileCheck %s

// The logarithm of sums is read beside the result, in the order of its scores.

// CHECK-LABEL: func.func @read
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}} -> tensor<2x8x3x4xf32>, tensor<2x8x3xf32>
// CHECK: %[[L:.*]] = stablehlo.transpose %[[LSE]], dims = [0, 2, 1]
// CHECK-NOT: tensor<2x3x8x8xf32>
func.func @read(%q: tensor<2x8x3x4xf32>, %k: tensor<2x8x3x4xf32>, %v: tensor<2x8x3x4xf32>) -> (tensor<2x3x8x4xf32>, tensor<2x3x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> tensor<2x3x8x8xf32>
  %l = sp.log_sum_exp %s along 3 : tensor<2x3x8x8xf32> -> tensor<2x3x8xf32>
  %e = stablehlo.exponential %s : tensor<2x3x8x8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x3x8x8xf32>, tensor<f32>) -> tensor<2x3x8xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0, 1, 2] : (tensor<2x3x8xf32>) -> tensor<2x3x8x8xf32>
  %p = stablehlo.divide %e, %b : tensor<2x3x8x8xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x3x8x8xf32>, tensor<2x8x3x4xf32>) -> tensor<2x3x8x4xf32>
  return %o, %l : tensor<2x3x8x4xf32>, tensor<2x3x8xf32>
}

// Sums of all scores, where weights are of those that a mask leaves after the
// exponentials: spelled out again, and no attention.

// CHECK-LABEL: func.func @other_sums
// CHECK-NOT: sp.attention
// CHECK-NOT: sp.log_sum_exp
// CHECK: stablehlo.log
// CHECK: return
func.func @other_sums(%q: tensor<2x8x3x4xf32>, %k: tensor<2x8x3x4xf32>, %v: tensor<2x8x3x4xf32>) -> (tensor<2x3x8x4xf32>, tensor<2x3x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<2x3x8x8xf32>
  %i = stablehlo.iota dim = 2 : tensor<2x3x8x8xi32>
  %j = stablehlo.iota dim = 3 : tensor<2x3x8x8xi32>
  %mask = stablehlo.compare GE, %i, %j : (tensor<2x3x8x8xi32>, tensor<2x3x8x8xi32>) -> tensor<2x3x8x8xi1>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> tensor<2x3x8x8xf32>
  %l = sp.log_sum_exp %s along 3 : tensor<2x3x8x8xf32> -> tensor<2x3x8xf32>
  %all = stablehlo.exponential %s : tensor<2x3x8x8xf32>
  %e = stablehlo.select %mask, %all, %zeros : tensor<2x3x8x8xi1>, tensor<2x3x8x8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x3x8x8xf32>, tensor<f32>) -> tensor<2x3x8xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0, 1, 2] : (tensor<2x3x8xf32>) -> tensor<2x3x8x8xf32>
  %p = stablehlo.divide %e, %b : tensor<2x3x8x8xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x3x8x8xf32>, tensor<2x8x3x4xf32>) -> tensor<2x3x8x4xf32>
  return %o, %l : tensor<2x3x8x4xf32>, tensor<2x3x8xf32>
}
