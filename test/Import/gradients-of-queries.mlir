// RUN: sp-opt %s --sp-import-pipeline | FileCheck %s

// The gradient of a sum, with respect to queries alone, has neither the result nor
// weights: only powers, their sums and the slopes of scores. Both are written down.

// CHECK-LABEL: module @gradient_of_queries
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(%arg0, %arg1, %arg2) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>]
// CHECK-NEXT: %[[DQ:.*]], %{{.*}}, %{{.*}} = sp.attention_backward(%arg0, %arg1, %arg2) of(%[[O]], %[[LSE]]) by(%arg3)
// CHECK-NEXT: return %[[DQ]]
module @gradient_of_queries {
  func.func public @main(%arg0: tensor<1x6x2x4xf32>, %arg1: tensor<1x6x2x4xf32>, %arg2: tensor<1x6x2x4xf32>, %arg3: tensor<1x6x2x4xf32>) -> (tensor<1x6x2x4xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %1 = stablehlo.iota dim = 0 : tensor<6xi32>
    %2 = stablehlo.iota dim = 0 : tensor<6xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %7 = stablehlo.compare LE, %5, %6, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %8 = stablehlo.convert %cst_1 : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x2x6x6xi1>
    %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<1x2x6x6xf32>
    %11 = stablehlo.select %9, %0, %10 : tensor<1x2x6x6xi1>, tensor<1x2x6x6xf32>
    %12 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %14 = stablehlo.maximum %13, %12 : tensor<1x2x6xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %17 = stablehlo.subtract %11, %16 : tensor<1x2x6x6xf32>
    %18 = stablehlo.exponential %17 : tensor<1x2x6x6xf32>
    %19 = stablehlo.reduce(%18 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %21 = stablehlo.multiply %20, %20 : tensor<1x2x6x1xf32>
    %22 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x6x1xf32>
    %23 = stablehlo.divide %22, %21 : tensor<1x2x6x1xf32>
    %24 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x6x2x4xf32>
    %25 = stablehlo.multiply %24, %arg3 : tensor<1x6x2x4xf32>
    %26 = stablehlo.transpose %25, dims = [0, 2, 3, 1] : (tensor<1x6x2x4xf32>) -> tensor<1x2x4x6xf32>
    %27 = stablehlo.dot_general %26, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<1x2x4x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %28 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %29 = stablehlo.multiply %27, %28 : tensor<1x2x6x6xf32>
    %30 = stablehlo.multiply %29, %18 : tensor<1x2x6x6xf32>
    %31 = stablehlo.reduce(%30 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %32 = stablehlo.reshape %31 : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %33 = stablehlo.negate %32 : tensor<1x2x6x1xf32>
    %34 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %35 = stablehlo.divide %27, %34 : tensor<1x2x6x6xf32>
    %36 = stablehlo.reduce(%33 init: %cst_0) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<1x2x6xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %39 = stablehlo.add %35, %38 : tensor<1x2x6x6xf32>
    %40 = stablehlo.multiply %39, %18 : tensor<1x2x6x6xf32>
    %41 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x2x6x6xf32>
    %42 = stablehlo.select %9, %40, %41 : tensor<1x2x6x6xi1>, tensor<1x2x6x6xf32>
    %43 = stablehlo.dot_general %42, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<1x2x6x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
    %44 = stablehlo.transpose %43, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    return %44 : tensor<1x6x2x4xf32>
  }
}
