// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// What hides pairs, and what a row gives whose pairs are all hidden.

// A row that sees no key is NaN.

// CHECK-LABEL: module @infinite_fill_gives_nan
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<2x6xi1>)
// CHECK-NOT: exponential
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[ARG3]], dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
// CHECK: %[[T:.*]] = stablehlo.reshape %[[W]] : (tensor<2x1x1x6xi1>) -> tensor<2x6x1x1xi1>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_key(%[[T]] : tensor<2x6x1x1xi1>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<i1>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[TERM0]], %[[S]], %[[C]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: return %[[E]] : tensor<f32>
module @infinite_fill_gives_nan {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6xi1>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
    %1 = stablehlo.iota dim = 0 : tensor<6xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %3 = stablehlo.iota dim = 0 : tensor<6xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x1x6x6xi1>
    %9 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xi1>) -> tensor<2x1x6x6xi1>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xi1>) -> tensor<2x1x6x6xi1>
    %11 = stablehlo.and %9, %10 : tensor<2x1x6x6xi1>
    %12 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %15 = stablehlo.select %13, %12, %14 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %19 = stablehlo.subtract %15, %18 : tensor<2x4x6x6xf32>
    %20 = stablehlo.exponential %19 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %24 = stablehlo.divide %20, %23 : tensor<2x4x6x6xf32>
    %25 = stablehlo.dot_general %arg2, %24, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %26 = stablehlo.transpose %25, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %26 : tensor<2x6x4x8xf32>
  }
}

// -----

// Its mean, over all keys: fills of bands and those of data are the same number.

// CHECK-LABEL: module @finite_fill_gives_mean
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<2x6xi1>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_key(%{{.*}} : tensor<2x6x1x1xi1>) mean(%{{.*}} : tensor<2x1x4x8xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 empty mean {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<i1>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[TERM0]], %[[S]], %[[C]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: %[[C1:.*]] = stablehlo.constant dense<-5.000000e+29> : tensor<f32>
// CHECK-NEXT: %[[IS:.*]] = stablehlo.compare LE, %[[E]], %[[C1]] : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[C2:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[E1:.*]] = stablehlo.select %[[IS]], %[[C2]], %[[E]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: return %[[E1]] : tensor<f32>
module @finite_fill_gives_mean {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6xi1>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
    %1 = stablehlo.iota dim = 0 : tensor<6xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %3 = stablehlo.iota dim = 0 : tensor<6xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x1x6x6xi1>
    %9 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xi1>) -> tensor<2x1x6x6xi1>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xi1>) -> tensor<2x1x6x6xi1>
    %11 = stablehlo.and %9, %10 : tensor<2x1x6x6xi1>
    %12 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %15 = stablehlo.select %13, %12, %14 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %19 = stablehlo.subtract %15, %18 : tensor<2x4x6x6xf32>
    %20 = stablehlo.exponential %19 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %24 = stablehlo.divide %20, %23 : tensor<2x4x6x6xf32>
    %25 = stablehlo.dot_general %arg2, %24, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %26 = stablehlo.transpose %25, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %26 : tensor<2x6x4x8xf32>
  }
}

// -----

// Fills that have no band are numbers like others.

// CHECK-LABEL: module @finite_fill_without_bands
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<2x6xi1>)
// CHECK-NOT: exponential
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[ARG3]], dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
// CHECK: %[[T:.*]] = stablehlo.reshape %[[W]] : (tensor<2x1x1x6xi1>) -> tensor<2x6x1x1xi1>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_key(%[[T]] : tensor<2x6x1x1xi1>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<i1>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[TERM0]], %[[S]], %[[C]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: return %[[E]] : tensor<f32>
module @finite_fill_without_bands {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6xi1>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
    %1 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %4 = stablehlo.select %2, %1, %3 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %8 = stablehlo.subtract %4, %7 : tensor<2x4x6x6xf32>
    %9 = stablehlo.exponential %8 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %13 = stablehlo.divide %9, %12 : tensor<2x4x6x6xf32>
    %14 = stablehlo.dot_general %arg2, %13, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %15 = stablehlo.transpose %14, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %15 : tensor<2x6x4x8xf32>
  }
}

// -----

// Or 0.

// CHECK-LABEL: module @infinite_fill_gives_zero
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<2x6xi1>)
// CHECK-NOT: exponential
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[ARG3]], dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
// CHECK: %[[T:.*]] = stablehlo.reshape %[[W]] : (tensor<2x1x1x6xi1>) -> tensor<2x6x1x1xi1>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_key(%[[T]] : tensor<2x6x1x1xi1>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 empty zero {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<i1>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[TERM0]], %[[S]], %[[C]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: return %[[E]] : tensor<f32>
module @infinite_fill_gives_zero {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6xi1>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
    %1 = stablehlo.iota dim = 0 : tensor<6xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %3 = stablehlo.iota dim = 0 : tensor<6xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x1x6x6xi1>
    %9 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xi1>) -> tensor<2x1x6x6xi1>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xi1>) -> tensor<2x1x6x6xi1>
    %11 = stablehlo.and %9, %10 : tensor<2x1x6x6xi1>
    %12 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %15 = stablehlo.select %13, %12, %14 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %19 = stablehlo.subtract %15, %18 : tensor<2x4x6x6xf32>
    %20 = stablehlo.exponential %19 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %24 = stablehlo.divide %20, %23 : tensor<2x4x6x6xf32>
    %25 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %27 = stablehlo.select %25, %24, %26 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %28 = stablehlo.dot_general %arg2, %27, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %29 = stablehlo.transpose %28, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %29 : tensor<2x6x4x8xf32>
  }
}

// -----

// Fills that are added differ where both hide a pair, and -1e4 does not absorb scores:
// no band is kept.

// CHECK-LABEL: module @fills_added_twice
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<2x6xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_key(%{{.*}} : tensor<2x6x1x1xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[IS:.*]] = stablehlo.compare GE, %[[QUERY]], %[[KEY]], SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[C1:.*]] = stablehlo.constant dense<-1.000000e+04> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[IS]], %[[C]], %[[C1]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: %[[N:.*]] = stablehlo.convert %[[E]] : tensor<f32>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[S]], %[[N]] : tensor<f32>
// CHECK-NEXT: %[[SUM1:.*]] = stablehlo.add %[[SUM]], %[[TERM0]] : tensor<f32>
// CHECK-NEXT: return %[[SUM1]] : tensor<f32>
module @fills_added_twice {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %1 = stablehlo.iota dim = 0 : tensor<6xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %3 = stablehlo.iota dim = 0 : tensor<6xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<-1.000000e+04> : tensor<f32>
    %8 = call @_where(%7, %cst, %cst_0) : (tensor<6x6xi1>, tensor<f32>, tensor<f32>) -> tensor<6x6xf32>
    %9 = stablehlo.convert %8 : tensor<6x6xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [2, 3] : (tensor<6x6xf32>) -> tensor<1x1x6x6xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xf32>) -> tensor<2x4x6x6xf32>
    %12 = stablehlo.add %0, %11 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %14 = stablehlo.subtract %13, %arg3 : tensor<2x6xf32>
    %cst_2 = stablehlo.constant dense<-1.000000e+04> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %16 = stablehlo.multiply %14, %15 : tensor<2x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 3] : (tensor<2x6xf32>) -> tensor<2x1x1x6xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xf32>) -> tensor<2x4x6x6xf32>
    %19 = stablehlo.add %12, %18 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %23 = stablehlo.subtract %19, %22 : tensor<2x4x6x6xf32>
    %24 = stablehlo.exponential %23 : tensor<2x4x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %28 = stablehlo.divide %24, %27 : tensor<2x4x6x6xf32>
    %29 = stablehlo.dot_general %arg2, %28, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %30 = stablehlo.transpose %29, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %30 : tensor<2x6x4x8xf32>
  }
  func.func private @_where(%arg0: tensor<6x6xi1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<6x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<6x6xi1>, tensor<6x6xf32>
    return %2 : tensor<6x6xf32>
  }
}
