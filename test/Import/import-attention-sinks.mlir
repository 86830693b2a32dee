// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// An exponent in the sum of each row that has no value.

// CHECK-LABEL: module @sinks_of_heads
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<4xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) sink(%[[ARG3]] : tensor<4xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 empty zero {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
module @sinks_of_heads {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<4xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %2 = stablehlo.iota dim = 0 : tensor<6xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %7 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %10 = stablehlo.select %8, %7, %9 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %11 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %14 = stablehlo.broadcast_in_dim %11, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x6x1xf32>
    %16 = stablehlo.maximum %13, %15 : tensor<2x4x6x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %18 = stablehlo.subtract %10, %17 : tensor<2x4x6x6xf32>
    %19 = stablehlo.exponential %18 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %22 = stablehlo.broadcast_in_dim %11, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x6x1xf32>
    %24 = stablehlo.subtract %23, %16 : tensor<2x4x6x1xf32>
    %25 = stablehlo.exponential %24 : tensor<2x4x6x1xf32>
    %26 = stablehlo.add %21, %25 : tensor<2x4x6x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %28 = stablehlo.divide %19, %27 : tensor<2x4x6x6xf32>
    %29 = stablehlo.dot_general %arg2, %28, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %30 = stablehlo.transpose %29, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %30 : tensor<2x6x4x8xf32>
  }
}

// -----

// A row without keys gives 0: its sink has all the weight.

// CHECK-LABEL: module @sinks_and_padding
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<4xf32>, %[[ARG4:.*]]: tensor<2x6xi1>)
// CHECK-NOT: exponential
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[ARG4]], dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
// CHECK: %[[T:.*]] = stablehlo.reshape %[[W]] : (tensor<2x1x1x6xi1>) -> tensor<2x6x1x1xi1>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_key(%[[T]] : tensor<2x6x1x1xi1>) sink(%[[ARG3]] : tensor<4xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 empty zero {name = "layer0"}
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
module @sinks_and_padding {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<4xf32>, %arg4: tensor<2x6xi1>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %2 = stablehlo.iota dim = 0 : tensor<6xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %7 = stablehlo.broadcast_in_dim %arg4, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
    %8 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x1x6x6xi1>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xi1>) -> tensor<2x1x6x6xi1>
    %10 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xi1>) -> tensor<2x1x6x6xi1>
    %11 = stablehlo.and %9, %10 : tensor<2x1x6x6xi1>
    %12 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %15 = stablehlo.select %13, %12, %14 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %16 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.reduce(%15 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %19 = stablehlo.broadcast_in_dim %16, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x6x1xf32>
    %21 = stablehlo.maximum %18, %20 : tensor<2x4x6x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %23 = stablehlo.subtract %15, %22 : tensor<2x4x6x6xf32>
    %24 = stablehlo.exponential %23 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %27 = stablehlo.broadcast_in_dim %16, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x6x1xf32>
    %29 = stablehlo.subtract %28, %21 : tensor<2x4x6x1xf32>
    %30 = stablehlo.exponential %29 : tensor<2x4x6x1xf32>
    %31 = stablehlo.add %26, %30 : tensor<2x4x6x1xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %33 = stablehlo.divide %24, %32 : tensor<2x4x6x6xf32>
    %34 = stablehlo.dot_general %arg2, %33, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %35 = stablehlo.transpose %34, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %35 : tensor<2x6x4x8xf32>
  }
}

// -----

// CHECK-LABEL: module @sinks_of_kv_heads
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x2x8xf32>, %[[ARG2:.*]]: tensor<2x6x2x8xf32>, %[[ARG3:.*]]: tensor<2xf32>)
// CHECK-NOT: exponential
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[ARG3]], dims = [0] : (tensor<2xf32>) -> tensor<2x2xf32>
// CHECK: %[[T:.*]] = stablehlo.reshape %[[W]] : (tensor<2x2xf32>) -> tensor<4xf32>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) sink(%[[T]] : tensor<4xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 empty zero {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
module @sinks_of_kv_heads {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>, %arg3: tensor<2xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x6x4x8xf32>) -> tensor<2x6x2x2x8xf32>
    %1 = stablehlo.dot_general %arg1, %0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4] : (tensor<2x6x2x8xf32>, tensor<2x6x2x2x8xf32>) -> tensor<2x2x6x6x2xf32>
    %2 = stablehlo.transpose %1, dims = [0, 1, 4, 3, 2] : (tensor<2x2x6x6x2xf32>) -> tensor<2x2x2x6x6xf32>
    %3 = stablehlo.reshape %arg3 : (tensor<2xf32>) -> tensor<2x1x1x1xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %6 = stablehlo.broadcast_in_dim %3, dims = [1, 2, 3, 4] : (tensor<2x1x1x1xf32>) -> tensor<1x2x1x1x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3, 4] : (tensor<1x2x1x1x1xf32>) -> tensor<2x2x2x6x1xf32>
    %8 = stablehlo.maximum %5, %7 : tensor<2x2x2x6x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %10 = stablehlo.subtract %2, %9 : tensor<2x2x2x6x6xf32>
    %11 = stablehlo.exponential %10 : tensor<2x2x2x6x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_0) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %14 = stablehlo.broadcast_in_dim %3, dims = [1, 2, 3, 4] : (tensor<2x1x1x1xf32>) -> tensor<1x2x1x1x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3, 4] : (tensor<1x2x1x1x1xf32>) -> tensor<2x2x2x6x1xf32>
    %16 = stablehlo.subtract %15, %8 : tensor<2x2x2x6x1xf32>
    %17 = stablehlo.exponential %16 : tensor<2x2x2x6x1xf32>
    %18 = stablehlo.add %13, %17 : tensor<2x2x2x6x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %20 = stablehlo.divide %11, %19 : tensor<2x2x2x6x6xf32>
    %21 = stablehlo.dot_general %arg2, %20, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4] : (tensor<2x6x2x8xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x8x2x6xf32>
    %22 = stablehlo.transpose %21, dims = [0, 4, 1, 3, 2] : (tensor<2x2x8x2x6xf32>) -> tensor<2x6x2x2x8xf32>
    %23 = stablehlo.reshape %22 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x4x8xf32>
    return %23 : tensor<2x6x4x8xf32>
  }
}

// -----

// CHECK-LABEL: module @one_sink_of_zero
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>)
// CHECK-NOT: exponential
// CHECK: %[[C:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[C]], dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) sink(%[[W]] : tensor<4xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 empty zero {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
module @one_sink_of_zero {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.iota dim = 0 : tensor<6xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %3 = stablehlo.iota dim = 0 : tensor<6xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %8 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %11 = stablehlo.select %9, %8, %10 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %12 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %15 = stablehlo.broadcast_in_dim %12, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x6x1xf32>
    %17 = stablehlo.maximum %14, %16 : tensor<2x4x6x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %19 = stablehlo.subtract %11, %18 : tensor<2x4x6x6xf32>
    %20 = stablehlo.exponential %19 : tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %23 = stablehlo.broadcast_in_dim %12, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x6x1xf32>
    %25 = stablehlo.subtract %24, %17 : tensor<2x4x6x1xf32>
    %26 = stablehlo.exponential %25 : tensor<2x4x6x1xf32>
    %27 = stablehlo.add %22, %26 : tensor<2x4x6x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %29 = stablehlo.divide %20, %28 : tensor<2x4x6x6xf32>
    %30 = stablehlo.dot_general %arg2, %29, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %31 = stablehlo.transpose %30, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %31 : tensor<2x6x4x8xf32>
  }
}

// -----

// As a column of scores that is dropped after the softmax.

// CHECK-LABEL: module @sinks_beside_scores
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<4xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) sink(%[[ARG3]] : tensor<4xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 empty zero {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
module @sinks_beside_scores {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<4xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %2 = stablehlo.iota dim = 0 : tensor<6xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %7 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %10 = stablehlo.select %8, %7, %9 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %11 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<4xf32>) -> tensor<1x4x1x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x6x1xf32>
    %13 = stablehlo.concatenate %10, %12, dim = 3 : (tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %17 = stablehlo.subtract %13, %16 : tensor<2x4x6x7xf32>
    %18 = stablehlo.exponential %17 : tensor<2x4x6x7xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %22 = stablehlo.divide %18, %21 : tensor<2x4x6x7xf32>
    %23 = stablehlo.slice %22 [0:2, 0:4, 0:6, 0:6] : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x6xf32>
    %24 = stablehlo.dot_general %arg2, %23, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %25 = stablehlo.transpose %24, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %25 : tensor<2x6x4x8xf32>
  }
}
