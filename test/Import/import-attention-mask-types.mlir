// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Positions are what their types make of them.

// 80000 and 100000 are infinite: the last two queries see every key.
// CHECK-LABEL: module @f16_overflows
// CHECK: bands [#sp.band<q 0 to 4, k 0 to 4, lo -inf, hi 0>, #sp.band<q 4 to 6, k 0 to 6, lo -inf, hi inf>]
module @f16_overflows {
  func.func public @main(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x6x6xf32>
    %i = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %j = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %a = stablehlo.convert %i : (tensor<6x6xi32>) -> tensor<6x6xf16>
    %b = stablehlo.convert %j : (tensor<6x6xi32>) -> tensor<6x6xf16>
    %f = stablehlo.constant dense<20000.0> : tensor<6x6xf16>
    %af = stablehlo.multiply %a, %f : tensor<6x6xf16>
    %bf = stablehlo.multiply %b, %f : tensor<6x6xf16>
    %m = stablehlo.compare GE, %af, %bf : (tensor<6x6xf16>, tensor<6x6xf16>) -> tensor<6x6xi1>
    %mask = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x2x6x6xi1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<1x2x6x6xf32>
    %x = stablehlo.select %mask, %s, %hidden : tensor<1x2x6x6xi1>, tensor<1x2x6x6xf32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %max = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %max1 = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %d = stablehlo.subtract %x, %max1 : tensor<1x2x6x6xf32>
    %e = stablehlo.exponential %d : tensor<1x2x6x6xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %sum1 = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %w = stablehlo.divide %e, %sum1 : tensor<1x2x6x6xf32>
    %o = stablehlo.dot_general %w, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x6x6xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32>
    return %o : tensor<1x2x6x8xf32>
  }
}

// -----

// 300 is 44: the last query sees keys 0 and 5 alone, and others than the first see key 5.
// CHECK-LABEL: module @ui8_wraps
// CHECK: bands [#sp.band<q 0 to 4, k 0 to 4, lo -inf, hi 0>, #sp.band<q 1 to 4, k 5 to 6, lo -inf, hi inf>,
// CHECK-SAME: #sp.band<q 4 to 5, k 0 to 6, lo -inf, hi inf>, #sp.band<q 5 to 6, k 0 to 1, lo -inf, hi inf>, #sp.band<q 5 to 6, k 5 to 6, lo -inf, hi inf>]
module @ui8_wraps {
  func.func public @main(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x6x6xf32>
    %i = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %j = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %a = stablehlo.convert %i : (tensor<6x6xi32>) -> tensor<6x6xui8>
    %b = stablehlo.convert %j : (tensor<6x6xi32>) -> tensor<6x6xui8>
    %f = stablehlo.constant dense<60> : tensor<6x6xui8>
    %af = stablehlo.multiply %a, %f : tensor<6x6xui8>
    %bf = stablehlo.multiply %b, %f : tensor<6x6xui8>
    %m = stablehlo.compare GE, %af, %bf : (tensor<6x6xui8>, tensor<6x6xui8>) -> tensor<6x6xi1>
    %mask = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x2x6x6xi1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<1x2x6x6xf32>
    %x = stablehlo.select %mask, %s, %hidden : tensor<1x2x6x6xi1>, tensor<1x2x6x6xf32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %max = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %max1 = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %d = stablehlo.subtract %x, %max1 : tensor<1x2x6x6xf32>
    %e = stablehlo.exponential %d : tensor<1x2x6x6xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %sum1 = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %w = stablehlo.divide %e, %sum1 : tensor<1x2x6x6xf32>
    %o = stablehlo.dot_general %w, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x6x6xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32>
    return %o : tensor<1x2x6x8xf32>
  }
}

// -----

// The same in a score function: each operation rounds its result.
// CHECK-LABEL: module @f16_of_pairs
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: tensor<f32>, %{{.*}}: tensor<i32>, %[[I:.*]]: tensor<i32>, %[[J:.*]]: tensor<i32>)
// CHECK: %[[A:.*]] = stablehlo.convert %[[I]] : (tensor<i32>) -> tensor<f16>
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[A]] : (tensor<f16>) -> tensor<f32>
// CHECK: %[[PRODUCT:.*]] = stablehlo.multiply %[[WIDE]], %{{.*}} : tensor<f32>
// CHECK: %[[ROUNDED:.*]] = stablehlo.convert %[[PRODUCT]] : (tensor<f32>) -> tensor<f16>
// CHECK: stablehlo.compare GE, %[[ROUNDED]], %{{.*}} : (tensor<f16>, tensor<f16>)
module @f16_of_pairs {
  func.func public @main(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x6x6xf32>
    %i = stablehlo.iota dim = 2 : tensor<1x2x6x6xi32>
    %j = stablehlo.iota dim = 3 : tensor<1x2x6x6xi32>
    %a = stablehlo.convert %i : (tensor<1x2x6x6xi32>) -> tensor<1x2x6x6xf16>
    %b = stablehlo.convert %j : (tensor<1x2x6x6xi32>) -> tensor<1x2x6x6xf16>
    %f = stablehlo.constant dense<20000.0> : tensor<1x2x6x6xf16>
    %af = stablehlo.multiply %a, %f : tensor<1x2x6x6xf16>
    %bf = stablehlo.multiply %b, %f : tensor<1x2x6x6xf16>
    %m = stablehlo.compare GE, %af, %bf : (tensor<1x2x6x6xf16>, tensor<1x2x6x6xf16>) -> tensor<1x2x6x6xi1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<1x2x6x6xf32>
    %x = stablehlo.select %m, %s, %hidden : tensor<1x2x6x6xi1>, tensor<1x2x6x6xf32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %max = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %max1 = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %d = stablehlo.subtract %x, %max1 : tensor<1x2x6x6xf32>
    %e = stablehlo.exponential %d : tensor<1x2x6x6xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %sum1 = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %w = stablehlo.divide %e, %sum1 : tensor<1x2x6x6xf32>
    %o = stablehlo.dot_general %w, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x6x6xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32>
    return %o : tensor<1x2x6x8xf32>
  }
}
