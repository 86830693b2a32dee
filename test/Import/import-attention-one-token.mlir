// Over one position the dimensions of a sequence have size 1 like a batch of one:
// which is which is read from the contractions.
//
// RUN: sp-opt %s -split-input-file -sp-import-attention | FileCheck %s

// CHECK-LABEL: func.func @causal
// CHECK: sp.attention(%arg0, %arg1, %arg2)
// CHECK-SAME: tensor<1x1x2x8xf32>
func.func @causal(%q: tensor<1x1x2x8xf32>, %k: tensor<1x1x2x8xf32>, %v: tensor<1x1x2x8xf32>) -> tensor<1x1x2x8xf32> {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>) -> tensor<1x2x1x1xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %lows = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<1x2x1x1xf32>
  %queries = stablehlo.iota dim = 0 : tensor<1x1xi32>
  %keys = stablehlo.iota dim = 1 : tensor<1x1xi32>
  %mask = stablehlo.compare GE, %queries, %keys, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
  %masks = stablehlo.broadcast_in_dim %mask, dims = [2, 3] : (tensor<1x1xi1>) -> tensor<1x2x1x1xi1>
  %5 = stablehlo.select %masks, %0, %lows : tensor<1x2x1x1xi1>, tensor<1x2x1x1xf32>
  %11 = stablehlo.exponential %5 : tensor<1x2x1x1xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %12 = stablehlo.reduce(%11 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x2x1x1xf32>, tensor<f32>) -> tensor<1x2x1xf32>
  %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x2x1xf32>) -> tensor<1x2x1x1xf32>
  %14 = stablehlo.divide %11, %13 : tensor<1x2x1x1xf32>
  %15 = stablehlo.dot_general %v, %14, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<1x1x2x8xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x8x1xf32>
  %16 = stablehlo.transpose %15, dims = [0, 3, 1, 2] : (tensor<1x2x8x1xf32>) -> tensor<1x1x2x8xf32>
  return %16 : tensor<1x1x2x8xf32>
}

// -----

// Five queries, one key, and a batch of one that a reshape adds.
// CHECK-LABEL: func.func @one_key
// CHECK: sp.attention
// CHECK-SAME: : tensor<1x5x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32> -> tensor<1x5x2x8xf32>
func.func @one_key(%q: tensor<5x2x8xf32>, %k: tensor<1x2x8xf32>, %v: tensor<1x2x8xf32>) -> tensor<1x5x2x8xf32> {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [1] x [1], contracting_dims = [2] x [2] : (tensor<5x2x8xf32>, tensor<1x2x8xf32>) -> tensor<2x5x1xf32>
  %11 = stablehlo.exponential %0 : tensor<2x5x1xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %12 = stablehlo.reduce(%11 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5xf32>
  %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
  %14 = stablehlo.divide %11, %13 : tensor<2x5x1xf32>
  %15 = stablehlo.dot_general %14, %v, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<2x5x1xf32>, tensor<1x2x8xf32>) -> tensor<2x5x8xf32>
  %16 = stablehlo.transpose %15, dims = [1, 0, 2] : (tensor<2x5x8xf32>) -> tensor<5x2x8xf32>
  %17 = stablehlo.reshape %16 : (tensor<5x2x8xf32>) -> tensor<1x5x2x8xf32>
  return %17 : tensor<1x5x2x8xf32>
}

// -----

// A head of its own group: three dimensions of one, of which the queries lack one.

// CHECK-LABEL: module @one_group
// CHECK-NOT: exponential
// CHECK: sp.attention({{.*}}, %arg1, %arg2)
module @one_group {
  func.func public @main(%arg0: tensor<3x1x1x4xf32>, %arg1: tensor<3x1x1x4xf32>, %arg2: tensor<3x1x1x4xf32>) -> (tensor<3x1x1x4xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<3x1x1x4xf32>) -> tensor<3x1x1x1x4xf32>
    %1 = stablehlo.dot_general %arg1, %0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4] : (tensor<3x1x1x4xf32>, tensor<3x1x1x1x4xf32>) -> tensor<3x1x1x1x1xf32>
    %2 = stablehlo.transpose %1, dims = [0, 1, 4, 3, 2] : (tensor<3x1x1x1x1xf32>) -> tensor<3x1x1x1x1xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.reduce(%2 init: %cst_1) applies stablehlo.maximum across dimensions = [4] : (tensor<3x1x1x1x1xf32>, tensor<f32>) -> tensor<3x1x1x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<3x1x1x1xf32>) -> tensor<3x1x1x1x1xf32>
    %12 = stablehlo.subtract %2, %11 : tensor<3x1x1x1x1xf32>
    %13 = stablehlo.exponential %12 : tensor<3x1x1x1x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_3) applies stablehlo.add across dimensions = [4] : (tensor<3x1x1x1x1xf32>, tensor<f32>) -> tensor<3x1x1x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<3x1x1x1xf32>) -> tensor<3x1x1x1x1xf32>
    %16 = stablehlo.divide %13, %15 : tensor<3x1x1x1x1xf32>
    %20 = stablehlo.dot_general %arg2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4] : (tensor<3x1x1x4xf32>, tensor<3x1x1x1x1xf32>) -> tensor<3x1x4x1x1xf32>
    %21 = stablehlo.transpose %20, dims = [0, 4, 1, 3, 2] : (tensor<3x1x4x1x1xf32>) -> tensor<3x1x1x1x4xf32>
    %22 = stablehlo.reshape %21 : (tensor<3x1x1x1x4xf32>) -> tensor<3x1x1x4xf32>
    return %22 : tensor<3x1x1x4xf32>
  }
}

// -----

// Positions of one token are 0 whichever dimension they lie in: comparisons of them
// and of their chunks hide nothing.

// CHECK-LABEL: module @one_group_in_a_window
// CHECK-NOT: exponential
// CHECK: sp.attention({{.*}}, %arg1, %arg2) bands [#sp.band<q 0 to 1, k 0 to 1, lo -inf, hi inf>]
module @one_group_in_a_window {
  func.func public @main(%arg0: tensor<1x1x1x4xf32>, %arg1: tensor<1x1x1x4xf32>, %arg2: tensor<1x1x1x4xf32>) -> (tensor<1x1x1x4xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<1x1x1x4xf32>) -> tensor<1x1x1x1x4xf32>
    %1 = stablehlo.dot_general %arg1, %0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4] : (tensor<1x1x1x4xf32>, tensor<1x1x1x1x4xf32>) -> tensor<1x1x1x1x1xf32>
    %2 = stablehlo.transpose %1, dims = [0, 1, 4, 3, 2] : (tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
    %5 = stablehlo.iota dim = 0 : tensor<1x1xi32>
    %6 = stablehlo.iota dim = 1 : tensor<1x1xi32>
    %7 = stablehlo.subtract %6, %5 : tensor<1x1xi32>
    %behind = stablehlo.constant dense<-2> : tensor<1x1xi32>
    %8 = stablehlo.compare GT, %7, %behind, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
    %ahead = stablehlo.constant dense<0> : tensor<1x1xi32>
    %9 = stablehlo.compare LE, %7, %ahead, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
    %two = stablehlo.constant dense<2> : tensor<1x1xi32>
    %of_query = stablehlo.divide %5, %two : tensor<1x1xi32>
    %of_key = stablehlo.divide %6, %two : tensor<1x1xi32>
    %chunk = stablehlo.compare EQ, %of_query, %of_key, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
    %inside = stablehlo.and %8, %9 : tensor<1x1xi1>
    %10 = stablehlo.and %inside, %chunk : tensor<1x1xi1>
    %11 = stablehlo.reshape %10 : (tensor<1x1xi1>) -> tensor<1x1x1x1x1xi1>
    %low = stablehlo.constant dense<0xFF800000> : tensor<1x1x1x1x1xf32>
    %12 = stablehlo.select %11, %2, %low : tensor<1x1x1x1x1xi1>, tensor<1x1x1x1x1xf32>
    %13 = stablehlo.exponential %12 : tensor<1x1x1x1x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_3) applies stablehlo.add across dimensions = [4] : (tensor<1x1x1x1x1xf32>, tensor<f32>) -> tensor<1x1x1x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
    %16 = stablehlo.divide %13, %15 : tensor<1x1x1x1x1xf32>
    %20 = stablehlo.dot_general %arg2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4] : (tensor<1x1x1x4xf32>, tensor<1x1x1x1x1xf32>) -> tensor<1x1x4x1x1xf32>
    %21 = stablehlo.transpose %20, dims = [0, 4, 1, 3, 2] : (tensor<1x1x4x1x1xf32>) -> tensor<1x1x1x1x4xf32>
    %22 = stablehlo.reshape %21 : (tensor<1x1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
    return %22 : tensor<1x1x1x4xf32>
  }
}

// -----

// A query of a decoder's next token beside keys of segments: it has no axis of
// queries, in which rows without keys would be looked for.
// CHECK-LABEL: func.func @one_query_in_segments
// CHECK: sp.attention(%arg0, %arg1, %arg2) score @score_0
// CHECK-SAME: : tensor<1x1x1x4xf32>, tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32> -> tensor<1x1x1x4xf32>
func.func @one_query_in_segments(%q: tensor<1x1x1x4xf32>, %k: tensor<1x2x1x4xf32>, %v: tensor<1x2x1x4xf32>, %of_query: tensor<1x1xi32>, %of_keys: tensor<1x2xi32>) -> tensor<1x1x1x4xf32> {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x1x1x4xf32>, tensor<1x2x1x4xf32>) -> tensor<1x1x1x2xf32>
  %3 = stablehlo.broadcast_in_dim %of_query, dims = [0, 2] : (tensor<1x1xi32>) -> tensor<1x1x1x1xi32>
  %4 = stablehlo.broadcast_in_dim %of_keys, dims = [0, 3] : (tensor<1x2xi32>) -> tensor<1x1x1x2xi32>
  %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<1x1x1x2xi32>
  %6 = stablehlo.compare EQ, %5, %4, SIGNED : (tensor<1x1x1x2xi32>, tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xi1>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %lows = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<1x1x1x2xf32>
  %7 = stablehlo.select %6, %0, %lows : tensor<1x1x1x2xi1>, tensor<1x1x1x2xf32>
  %8 = stablehlo.reduce(%7 init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<1x1x1x2xf32>, tensor<f32>) -> tensor<1x1x1xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x1x2xf32>
  %13 = stablehlo.subtract %7, %9 : tensor<1x1x1x2xf32>
  %14 = stablehlo.exponential %13 : tensor<1x1x1x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %15 = stablehlo.reduce(%14 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x1x1x2xf32>, tensor<f32>) -> tensor<1x1x1xf32>
  %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x1x2xf32>
  %18 = stablehlo.divide %14, %16 : tensor<1x1x1x2xf32>
  %21 = stablehlo.dot_general %v, %18, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<1x2x1x4xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x4x1xf32>
  %22 = stablehlo.transpose %21, dims = [0, 3, 1, 2] : (tensor<1x1x4x1xf32>) -> tensor<1x1x1x4xf32>
  return %22 : tensor<1x1x1x4xf32>
}
