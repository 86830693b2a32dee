// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Which of two shared dimensions is the batch: 2 sequences, 3 heads.
// CHECK-COUNT-2: sp.attention({{.*}} : tensor<2x6x3x8xf32>, tensor<2x6x3x8xf32>, tensor<2x6x3x8xf32> -> tensor<2x6x3x8xf32>

// Queries, keys and values side by side, in front of the batch.
func.func @main(%qkv: tensor<3x2x3x6x8xf32>) -> tensor<2x3x6x8xf32> {
  %0 = stablehlo.slice %qkv [0:1, 0:2, 0:3, 0:6, 0:8] : (tensor<3x2x3x6x8xf32>) -> tensor<1x2x3x6x8xf32>
  %q = stablehlo.reshape %0 : (tensor<1x2x3x6x8xf32>) -> tensor<2x3x6x8xf32>
  %1 = stablehlo.slice %qkv [1:2, 0:2, 0:3, 0:6, 0:8] : (tensor<3x2x3x6x8xf32>) -> tensor<1x2x3x6x8xf32>
  %k = stablehlo.reshape %1 : (tensor<1x2x3x6x8xf32>) -> tensor<2x3x6x8xf32>
  %2 = stablehlo.slice %qkv [2:3, 0:2, 0:3, 0:6, 0:8] : (tensor<3x2x3x6x8xf32>) -> tensor<1x2x3x6x8xf32>
  %v = stablehlo.reshape %2 : (tensor<1x2x3x6x8xf32>) -> tensor<2x3x6x8xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>) -> tensor<2x3x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %s : tensor<2x3x6x6xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x3x6x6xf32>, tensor<f32>) -> tensor<2x3x6xf32>
  %all = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x3x6xf32>) -> tensor<2x3x6x6xf32>
  %p = stablehlo.divide %e, %all : tensor<2x3x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x6x6xf32>, tensor<2x3x6x8xf32>) -> tensor<2x3x6x8xf32>
  return %o : tensor<2x3x6x8xf32>
}

// -----

// The sequence first, as projections of [sequence, batch, features] leave it;
// the batch and the heads are one dimension of the products.
func.func @main(%q0: tensor<6x2x24xf32>, %k0: tensor<6x2x24xf32>, %v0: tensor<6x2x24xf32>) -> tensor<6x6x8xf32> {
  %q = stablehlo.reshape %q0 : (tensor<6x2x24xf32>) -> tensor<6x6x8xf32>
  %k = stablehlo.reshape %k0 : (tensor<6x2x24xf32>) -> tensor<6x6x8xf32>
  %v = stablehlo.reshape %v0 : (tensor<6x2x24xf32>) -> tensor<6x6x8xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [1] x [1], contracting_dims = [2] x [2] : (tensor<6x6x8xf32>, tensor<6x6x8xf32>) -> tensor<6x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %s : tensor<6x6x6xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<6x6x6xf32>, tensor<f32>) -> tensor<6x6xf32>
  %all = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<6x6xf32>) -> tensor<6x6x6xf32>
  %p = stablehlo.divide %e, %all : tensor<6x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<6x6x6xf32>, tensor<6x6x8xf32>) -> tensor<6x6x8xf32>
  return %o : tensor<6x6x8xf32>
}
