// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Scores that a function makes of nothing but themselves and positions.

// CHECK-LABEL: module @soft_cap
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<3.000000e+01> : tensor<f32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.divide %[[S]], %[[C]] : tensor<f32>
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[R]] : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[TANH]], %[[C]] : tensor<f32>
// CHECK-NEXT: return %[[P]] : tensor<f32>
module @soft_cap {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<3.000000e+01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x4x6x6xf32>
    %3 = stablehlo.tanh %2 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<3.000000e+01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<2x4x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x4x6x6xf32>
    %12 = stablehlo.exponential %11 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %16 = stablehlo.divide %12, %15 : tensor<2x4x6x6xf32>
    %17 = stablehlo.dot_general %arg2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %18 = stablehlo.transpose %17, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %18 : tensor<2x6x4x8xf32>
  }
}

// -----

// What positions hide stays in the bands, and out of the function.

// CHECK-LABEL: module @soft_cap_causal
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<3.000000e+01> : tensor<f32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.divide %[[S]], %[[C]] : tensor<f32>
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[R]] : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[C]], %[[TANH]] : tensor<f32>
// CHECK-NEXT: return %[[P]] : tensor<f32>
module @soft_cap_causal {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %2 = stablehlo.iota dim = 0 : tensor<6xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %7 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<3.000000e+01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %9 = stablehlo.divide %7, %8 : tensor<2x4x6x6xf32>
    %10 = stablehlo.tanh %9 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<3.000000e+01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<2x4x6x6xf32>
    %13 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %15 = stablehlo.select %13, %12, %14 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %19 = stablehlo.subtract %15, %18 : tensor<2x4x6x6xf32>
    %20 = stablehlo.exponential %19 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %24 = stablehlo.divide %20, %23 : tensor<2x4x6x6xf32>
    %25 = stablehlo.dot_general %arg2, %24, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %26 = stablehlo.transpose %25, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %26 : tensor<2x6x4x8xf32>
  }
}

// -----

// The function computes as the kernel does: in f32 for bf16.

// CHECK-LABEL: module @soft_cap_bf16
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xbf16>, %[[ARG1:.*]]: tensor<2x6x4x8xbf16>, %[[ARG2:.*]]: tensor<2x6x4x8xbf16>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xbf16>, tensor<2x6x4x8xbf16>, tensor<2x6x4x8xbf16> -> tensor<2x6x4x8xbf16>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<3.000000e+01> : tensor<f32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.divide %[[S]], %[[C]] : tensor<f32>
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[R]] : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[C]], %[[TANH]] : tensor<f32>
// CHECK-NEXT: return %[[P]] : tensor<f32>
module @soft_cap_bf16 {
  func.func public @main(%arg0: tensor<2x6x4x8xbf16>, %arg1: tensor<2x6x4x8xbf16>, %arg2: tensor<2x6x4x8xbf16>) -> (tensor<2x6x4x8xbf16>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xbf16>, tensor<2x6x4x8xbf16>) -> tensor<2x4x6x6xbf16>
    %cst = stablehlo.constant dense<3.000000e+01> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x4x6x6xbf16>
    %2 = stablehlo.divide %0, %1 : tensor<2x4x6x6xbf16>
    %3 = stablehlo.tanh %2 : tensor<2x4x6x6xbf16>
    %cst_0 = stablehlo.constant dense<3.000000e+01> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2x4x6x6xbf16>
    %5 = stablehlo.multiply %4, %3 : tensor<2x4x6x6xbf16>
    %6 = stablehlo.convert %5 : (tensor<2x4x6x6xbf16>) -> tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %10 = stablehlo.subtract %6, %9 : tensor<2x4x6x6xf32>
    %11 = stablehlo.exponential %10 : tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %15 = stablehlo.divide %11, %14 : tensor<2x4x6x6xf32>
    %16 = stablehlo.convert %15 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xbf16>
    %17 = stablehlo.dot_general %arg2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xbf16>, tensor<2x4x6x6xbf16>) -> tensor<2x4x8x6xbf16>
    %18 = stablehlo.transpose %17, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xbf16>) -> tensor<2x6x4x8xbf16>
    return %18 : tensor<2x6x4x8xbf16>
  }
}

// -----

// In f64 for f64.

// CHECK-LABEL: module @scores_squared_f64
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf64>, %[[ARG1:.*]]: tensor<2x6x4x8xf64>, %[[ARG2:.*]]: tensor<2x6x4x8xf64>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf64>, tensor<2x6x4x8xf64>, tensor<2x6x4x8xf64> -> tensor<2x6x4x8xf64>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f64>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>) -> tensor<f64>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[S]], %[[S]] : tensor<f64>
// CHECK-NEXT: return %[[P]] : tensor<f64>
module @scores_squared_f64 {
  func.func public @main(%arg0: tensor<2x6x4x8xf64>, %arg1: tensor<2x6x4x8xf64>, %arg2: tensor<2x6x4x8xf64>) -> (tensor<2x6x4x8xf64>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf64>, tensor<2x6x4x8xf64>) -> tensor<2x4x6x6xf64>
    %1 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf64>, tensor<2x6x4x8xf64>) -> tensor<2x4x6x6xf64>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4x6x6xf64>
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf64>, tensor<f64>) -> tensor<2x4x6xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x4x6xf64>) -> tensor<2x4x6x1xf64>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf64>) -> tensor<2x4x6x6xf64>
    %6 = stablehlo.subtract %2, %5 : tensor<2x4x6x6xf64>
    %7 = stablehlo.exponential %6 : tensor<2x4x6x6xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf64>, tensor<f64>) -> tensor<2x4x6xf64>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x4x6xf64>) -> tensor<2x4x6x1xf64>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf64>) -> tensor<2x4x6x6xf64>
    %11 = stablehlo.divide %7, %10 : tensor<2x4x6x6xf64>
    %12 = stablehlo.dot_general %arg2, %11, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf64>, tensor<2x4x6x6xf64>) -> tensor<2x4x8x6xf64>
    %13 = stablehlo.transpose %12, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf64>) -> tensor<2x6x4x8xf64>
    return %13 : tensor<2x6x4x8xf64>
  }
}

// -----

// Positions that are compared with nothing are read by the function.

// CHECK-LABEL: module @bias_of_distance
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[DIFF:.*]] = stablehlo.subtract %[[QUERY]], %[[KEY]] : tensor<i32>
// CHECK-NEXT: %[[N:.*]] = stablehlo.convert %[[DIFF]] : (tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[C]], %[[N]] : tensor<f32>
// CHECK-NEXT: %[[DIFF1:.*]] = stablehlo.subtract %[[S]], %[[P]] : tensor<f32>
// CHECK-NEXT: return %[[DIFF1]] : tensor<f32>
module @bias_of_distance {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %2 = stablehlo.iota dim = 0 : tensor<6xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %7 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %8 = stablehlo.iota dim = 0 : tensor<6xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %10 = stablehlo.iota dim = 0 : tensor<6xi32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %12 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %14 = stablehlo.subtract %12, %13 : tensor<6x6xi32>
    %15 = stablehlo.convert %14 : (tensor<6x6xi32>) -> tensor<6x6xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %17 = stablehlo.multiply %16, %15 : tensor<6x6xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [2, 3] : (tensor<6x6xf32>) -> tensor<1x1x6x6xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xf32>) -> tensor<2x4x6x6xf32>
    %20 = stablehlo.subtract %7, %19 : tensor<2x4x6x6xf32>
    %21 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %23 = stablehlo.select %21, %20, %22 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %27 = stablehlo.subtract %23, %26 : tensor<2x4x6x6xf32>
    %28 = stablehlo.exponential %27 : tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %32 = stablehlo.divide %28, %31 : tensor<2x4x6x6xf32>
    %33 = stablehlo.dot_general %arg2, %32, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %34 = stablehlo.transpose %33, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %34 : tensor<2x6x4x8xf32>
  }
}
