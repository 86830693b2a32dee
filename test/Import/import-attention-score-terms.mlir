// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// What a score function reads: values of a query, a key or a head.

// CHECK-LABEL: module @segments
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<2x6xi32>)
// CHECK-NOT: exponential
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[ARG3]], dims = [0, 1] : (tensor<2x6xi32>) -> tensor<2x6x1xi32>
// CHECK: %[[W1:.*]] = stablehlo.broadcast_in_dim %[[ARG3]], dims = [0, 2] : (tensor<2x6xi32>) -> tensor<2x1x6xi32>
// CHECK: %[[T:.*]] = stablehlo.reshape %[[W]] : (tensor<2x6x1xi32>) -> tensor<2x6x1x1xi32>
// CHECK: %[[T1:.*]] = stablehlo.reshape %[[W1]] : (tensor<2x1x6xi32>) -> tensor<2x6x1x1xi32>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_query(%[[T]] : tensor<2x6x1x1xi32>) per_key(%[[T1]] : tensor<2x6x1x1xi32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] documents <queries @documents_0 keys @documents_0> scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<i32>, %[[TERM1:.*]]: tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[IS:.*]] = stablehlo.compare EQ, %[[TERM0]], %[[TERM1]], SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0.353553385> : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[S]], %[[C]] : tensor<f32>
// CHECK-NEXT: %[[C1:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[IS]], %[[P]], %[[C1]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: return %[[E]] : tensor<f32>
module @segments {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6xi32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4x6x6xf32>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1] : (tensor<2x6xi32>) -> tensor<2x6x1xi32>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [0, 2] : (tensor<2x6xi32>) -> tensor<2x1x6xi32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x6x1xi32>) -> tensor<2x6x6xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x1x6xi32>) -> tensor<2x6x6xi32>
    %7 = stablehlo.compare EQ, %5, %6, SIGNED : (tensor<2x6x6xi32>, tensor<2x6x6xi32>) -> tensor<2x6x6xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 2, 3] : (tensor<2x6x6xi1>) -> tensor<2x1x6x6xi1>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = call @_where(%8, %2, %cst_0) : (tensor<2x1x6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %12 = stablehlo.maximum %11, %10 : tensor<2x4x6xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %15 = stablehlo.subtract %9, %14 : tensor<2x4x6x6xf32>
    %16 = stablehlo.exponential %15 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %20 = stablehlo.divide %16, %19 : tensor<2x4x6x6xf32>
    %21 = stablehlo.dot_general %arg2, %20, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %22 = stablehlo.transpose %21, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %22 : tensor<2x6x4x8xf32>
  }
  func.func private @_where(%arg0: tensor<2x1x6x6xi1>, %arg1: tensor<2x4x6x6xf32>, %arg2: tensor<f32>) -> tensor<2x4x6x6xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    return %3 : tensor<2x4x6x6xf32>
  }
}

// -----

// Bands where positions decide, terms where data does.

// CHECK-LABEL: module @segments_causal
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<2x6xi32>)
// CHECK-NOT: exponential
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[ARG3]], dims = [0, 2] : (tensor<2x6xi32>) -> tensor<2x1x6x1xi32>
// CHECK: %[[W1:.*]] = stablehlo.broadcast_in_dim %[[ARG3]], dims = [0, 3] : (tensor<2x6xi32>) -> tensor<2x1x1x6xi32>
// CHECK: %[[T:.*]] = stablehlo.reshape %[[W]] : (tensor<2x1x6x1xi32>) -> tensor<2x6x1x1xi32>
// CHECK: %[[T1:.*]] = stablehlo.reshape %[[W1]] : (tensor<2x1x1x6xi32>) -> tensor<2x6x1x1xi32>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_query(%[[T]] : tensor<2x6x1x1xi32>) per_key(%[[T1]] : tensor<2x6x1x1xi32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] documents <queries @documents_0 keys @documents_0> scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<i32>, %[[TERM1:.*]]: tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[IS:.*]] = stablehlo.compare EQ, %[[TERM0]], %[[TERM1]], SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[IS]], %[[S]], %[[C]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: return %[[E]] : tensor<f32>
module @segments_causal {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6xi32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [0, 2] : (tensor<2x6xi32>) -> tensor<2x1x6x1xi32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [0, 3] : (tensor<2x6xi32>) -> tensor<2x1x1x6xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<2x1x6x1xi32>) -> tensor<2x1x6x6xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xi32>) -> tensor<2x1x6x6xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<2x1x6x6xi32>, tensor<2x1x6x6xi32>) -> tensor<2x1x6x6xi1>
    %5 = stablehlo.iota dim = 0 : tensor<6xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %7 = stablehlo.iota dim = 0 : tensor<6xi32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %9 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %11 = stablehlo.compare GE, %9, %10, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %12 = stablehlo.broadcast_in_dim %11, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x1x6x6xi1>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xi1>) -> tensor<2x1x6x6xi1>
    %14 = stablehlo.and %4, %13 : tensor<2x1x6x6xi1>
    %15 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %16 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %18 = stablehlo.select %16, %15, %17 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %22 = stablehlo.subtract %18, %21 : tensor<2x4x6x6xf32>
    %23 = stablehlo.exponential %22 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %27 = stablehlo.divide %23, %26 : tensor<2x4x6x6xf32>
    %28 = stablehlo.dot_general %arg2, %27, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %29 = stablehlo.transpose %28, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %29 : tensor<2x6x4x8xf32>
  }
}

// -----

// CHECK-LABEL: module @positions_as_input
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x9x4x8xf32>, %[[ARG2:.*]]: tensor<2x9x4x8xf32>, %[[ARG3:.*]]: tensor<2x6xi32>, %[[ARG4:.*]]: tensor<2x9xi32>)
// CHECK-NOT: exponential
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[ARG3]], dims = [0, 2] : (tensor<2x6xi32>) -> tensor<2x1x6x1xi32>
// CHECK: %[[W1:.*]] = stablehlo.broadcast_in_dim %[[ARG4]], dims = [0, 3] : (tensor<2x9xi32>) -> tensor<2x1x1x9xi32>
// CHECK: %[[T:.*]] = stablehlo.reshape %[[W]] : (tensor<2x1x6x1xi32>) -> tensor<2x6x1x1xi32>
// CHECK: %[[T1:.*]] = stablehlo.reshape %[[W1]] : (tensor<2x1x1x9xi32>) -> tensor<2x9x1x1xi32>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_query(%[[T]] : tensor<2x6x1x1xi32>) per_key(%[[T1]] : tensor<2x9x1x1xi32>) bands [#sp.band<q 0 to 6, k 0 to 9, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x9x4x8xf32>, tensor<2x9x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<i32>, %[[TERM1:.*]]: tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[IS:.*]] = stablehlo.compare GE, %[[TERM0]], %[[TERM1]], SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[IS]], %[[S]], %[[C]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: return %[[E]] : tensor<f32>
module @positions_as_input {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x9x4x8xf32>, %arg2: tensor<2x9x4x8xf32>, %arg3: tensor<2x6xi32>, %arg4: tensor<2x9xi32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [0, 2] : (tensor<2x6xi32>) -> tensor<2x1x6x1xi32>
    %1 = stablehlo.broadcast_in_dim %arg4, dims = [0, 3] : (tensor<2x9xi32>) -> tensor<2x1x1x9xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<2x1x6x1xi32>) -> tensor<2x1x6x9xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<2x1x1x9xi32>) -> tensor<2x1x6x9xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<2x1x6x9xi32>, tensor<2x1x6x9xi32>) -> tensor<2x1x6x9xi1>
    %5 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x9x4x8xf32>) -> tensor<2x4x6x9xf32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<2x1x6x9xi1>) -> tensor<2x4x6x9xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x9xf32>
    %8 = stablehlo.select %6, %5, %7 : tensor<2x4x6x9xi1>, tensor<2x4x6x9xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x9xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x9xf32>
    %12 = stablehlo.subtract %8, %11 : tensor<2x4x6x9xf32>
    %13 = stablehlo.exponential %12 : tensor<2x4x6x9xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x9xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x9xf32>
    %17 = stablehlo.divide %13, %16 : tensor<2x4x6x9xf32>
    %18 = stablehlo.dot_general %arg2, %17, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x9x4x8xf32>, tensor<2x4x6x9xf32>) -> tensor<2x4x8x6xf32>
    %19 = stablehlo.transpose %18, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %19 : tensor<2x6x4x8xf32>
  }
}

// -----

// CHECK-LABEL: module @temperature
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<f32>)
// CHECK-NOT: exponential
// CHECK: %[[T:.*]] = stablehlo.reshape %[[ARG3]] : (tensor<f32>) -> tensor<1x1x1x1xf32>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_head(%[[T]] : tensor<1x1x1x1xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[S]], %[[TERM0]] : tensor<f32>
// CHECK-NEXT: return %[[P]] : tensor<f32>
module @temperature {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<f32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %6 = stablehlo.subtract %2, %5 : tensor<2x4x6x6xf32>
    %7 = stablehlo.exponential %6 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %11 = stablehlo.divide %7, %10 : tensor<2x4x6x6xf32>
    %12 = stablehlo.dot_general %arg2, %11, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %13 = stablehlo.transpose %12, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %13 : tensor<2x6x4x8xf32>
  }
}

// -----

// CHECK-LABEL: module @slopes_of_heads
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<4xf32>)
// CHECK-NOT: exponential
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[ARG3]], dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
// CHECK: %[[T:.*]] = stablehlo.reshape %[[W]] : (tensor<4x1x1xf32>) -> tensor<1x1x4x1xf32>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_head(%[[T]] : tensor<1x1x4x1xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[DIFF:.*]] = stablehlo.subtract %[[KEY]], %[[QUERY]] : tensor<i32>
// CHECK-NEXT: %[[N:.*]] = stablehlo.convert %[[DIFF]] : (tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[TERM0]], %[[N]] : tensor<f32>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[S]], %[[P]] : tensor<f32>
// CHECK-NEXT: return %[[SUM]] : tensor<f32>
module @slopes_of_heads {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<4xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %2 = stablehlo.iota dim = 0 : tensor<6xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %7 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %8 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %9 = stablehlo.iota dim = 0 : tensor<6xi32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %11 = stablehlo.iota dim = 0 : tensor<6xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %15 = stablehlo.subtract %13, %14 : tensor<6x6xi32>
    %16 = stablehlo.convert %15 : (tensor<6x6xi32>) -> tensor<6x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %18 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<4x1x1xf32>) -> tensor<4x6x6xf32>
    %19 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<4x6x6xf32>
    %20 = stablehlo.multiply %18, %19 : tensor<4x6x6xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [1, 2, 3] : (tensor<4x6x6xf32>) -> tensor<1x4x6x6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<1x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %23 = stablehlo.add %7, %22 : tensor<2x4x6x6xf32>
    %24 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %26 = stablehlo.select %24, %23, %25 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %30 = stablehlo.subtract %26, %29 : tensor<2x4x6x6xf32>
    %31 = stablehlo.exponential %30 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %35 = stablehlo.divide %31, %34 : tensor<2x4x6x6xf32>
    %36 = stablehlo.dot_general %arg2, %35, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %37 = stablehlo.transpose %36, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %37 : tensor<2x6x4x8xf32>
  }
}
