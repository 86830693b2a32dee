// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Weights dropped by bits of their positions and of an input: dropped from what
// the softmax is multiplied with, not from its sums, so that causal bands stay
// and the bits are computed pair by pair.

// CHECK-LABEL: module @dropout
// CHECK: %[[BATCH:.*]] = stablehlo.iota dim = 0 : tensor<2xi32>
// CHECK: sp.attention({{.*}}) score @score_0 per_head(%{{.*}}, %{{.*}} : tensor<2x1x1x1xi32>, tensor<1x1x1x1xi32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>]
// CHECK: func.func private @score_0(%[[S:.*]]: tensor<f32>, %{{.*}}: tensor<i32>, %[[Q:.*]]: tensor<i32>, %[[K:.*]]: tensor<i32>, %[[B:.*]]: tensor<i32>, %[[SEED:.*]]: tensor<i32>) -> (tensor<f32>, tensor<f32>)
// CHECK: stablehlo.xor %{{.*}}, %[[SEED]]
// CHECK: %[[W:.*]] = stablehlo.select
// CHECK: return %[[S]], %[[W]]
module @dropout {
  func.func public @main(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x4x8xf32>, %v: tensor<2x6x4x8xf32>, %seed: tensor<i32>) -> tensor<2x4x6x8xf32> {
    %scores = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %i = stablehlo.iota dim = 2 : tensor<2x4x6x6xi32>
    %j = stablehlo.iota dim = 3 : tensor<2x4x6x6xi32>
    %shown = stablehlo.compare GE, %i, %j, SIGNED : (tensor<2x4x6x6xi32>, tensor<2x4x6x6xi32>) -> tensor<2x4x6x6xi1>
    %max = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %fill = stablehlo.broadcast_in_dim %max, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %s = stablehlo.select %shown, %scores, %fill : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %max) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %x = stablehlo.subtract %s, %ms : tensor<2x4x6x6xf32>
    %e = stablehlo.exponential %x : tensor<2x4x6x6xf32>
    %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %p = stablehlo.divide %e, %ls : tensor<2x4x6x6xf32>
    %b = stablehlo.iota dim = 0 : tensor<2x4x6x6xi32>
    %c36 = stablehlo.constant dense<36> : tensor<2x4x6x6xi32>
    %c6 = stablehlo.constant dense<6> : tensor<2x4x6x6xi32>
    %c3 = stablehlo.constant dense<3> : tensor<2x4x6x6xi32>
    %c0 = stablehlo.constant dense<0> : tensor<2x4x6x6xi32>
    %bb = stablehlo.multiply %b, %c36 : tensor<2x4x6x6xi32>
    %ii = stablehlo.multiply %i, %c6 : tensor<2x4x6x6xi32>
    %bi = stablehlo.add %bb, %ii : tensor<2x4x6x6xi32>
    %n = stablehlo.add %bi, %j : tensor<2x4x6x6xi32>
    %seeds = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<2x4x6x6xi32>
    %mixed = stablehlo.xor %n, %seeds : tensor<2x4x6x6xi32>
    %bits = stablehlo.and %mixed, %c3 : tensor<2x4x6x6xi32>
    %keep = stablehlo.compare NE, %bits, %c0, SIGNED : (tensor<2x4x6x6xi32>, tensor<2x4x6x6xi32>) -> tensor<2x4x6x6xi1>
    %none = stablehlo.constant dense<0.0> : tensor<2x4x6x6xf32>
    %w = stablehlo.select %keep, %p, %none : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %o = stablehlo.dot_general %w, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    return %o : tensor<2x4x6x8xf32>
  }
}

// -----

// A causal mask that has been a float, and a sum with exp(-m) in it: a sink of 0.

// CHECK-LABEL: module @float_mask
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK: sp.attention({{.*}}) sink(%{{.*}} : tensor<4xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>]
// CHECK-NOT: func.func private
module @float_mask {
  func.func public @main(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x4x8xf32>, %v: tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32> {
    %scores = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %i = stablehlo.iota dim = 1 : tensor<2x6xi32>
    %rows = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<2x6xi32>) -> tensor<2x6x6xi32>
    %columns = stablehlo.broadcast_in_dim %i, dims = [0, 2] : (tensor<2x6xi32>) -> tensor<2x6x6xi32>
    %truth = stablehlo.compare GE, %rows, %columns, SIGNED : (tensor<2x6x6xi32>, tensor<2x6x6xi32>) -> tensor<2x6x6xi1>
    %number = stablehlo.convert %truth : (tensor<2x6x6xi1>) -> tensor<2x6x6xf32>
    %none = stablehlo.constant dense<0.0> : tensor<2x6x6xf32>
    %again = stablehlo.compare NE, %number, %none, FLOAT : (tensor<2x6x6xf32>, tensor<2x6x6xf32>) -> tensor<2x6x6xi1>
    %shown = stablehlo.broadcast_in_dim %again, dims = [0, 2, 3] : (tensor<2x6x6xi1>) -> tensor<2x4x6x6xi1>
    %max = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %fill = stablehlo.broadcast_in_dim %max, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %s = stablehlo.select %shown, %scores, %fill : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.constant dense<0.0> : tensor<2x4x6xf32>
    %most = stablehlo.reduce(%s init: %max) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %m = stablehlo.maximum %most, %zeros : tensor<2x4x6xf32>
    %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %x = stablehlo.subtract %s, %ms : tensor<2x4x6x6xf32>
    %e = stablehlo.exponential %x : tensor<2x4x6x6xf32>
    %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %negated = stablehlo.negate %m : tensor<2x4x6xf32>
    %one = stablehlo.exponential %negated : tensor<2x4x6xf32>
    %sum = stablehlo.add %l, %one : tensor<2x4x6xf32>
    %ls = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %p = stablehlo.divide %e, %ls : tensor<2x4x6x6xf32>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    return %o : tensor<2x4x6x8xf32>
  }
}
