// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// The cotangent of a square loss is a multiple of the result.

// CHECK-LABEL: module @square_loss
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(%arg0, %arg1, %arg2)
// CHECK: %[[DO:.*]] = stablehlo.multiply %{{.*}}, %[[O]]
// CHECK: sp.attention_backward(%arg0, %arg1, %arg2) of(%[[O]], %[[LSE]]) by(%[[DO]])
module @square_loss {
  func.func public @main(%arg0: tensor<1x6x2x4xf32>, %arg1: tensor<1x6x2x4xf32>, %arg2: tensor<1x6x2x4xf32>) -> (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<1x2x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<1x2x6x6xf32>
    %7 = stablehlo.exponential %6 : tensor<1x2x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %11 = stablehlo.divide %7, %10 : tensor<1x2x6x6xf32>
    %12 = stablehlo.multiply %9, %9 : tensor<1x2x6x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x2x6x1xf32>
    %14 = stablehlo.divide %13, %12 : tensor<1x2x6x1xf32>
    %15 = stablehlo.dot_general %arg2, %11, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x2x4xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %16 = stablehlo.transpose %15, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x6x2x4xf32>
    %18 = stablehlo.multiply %17, %16 : tensor<1x6x2x4xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x6x2x4xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<1x6x2x4xf32>
    %21 = stablehlo.transpose %20, dims = [0, 2, 3, 1] : (tensor<1x6x2x4xf32>) -> tensor<1x2x4x6xf32>
    %22 = stablehlo.dot_general %21, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x4x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %23 = stablehlo.dot_general %21, %11, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x4x6xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %24 = stablehlo.transpose %23, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %25 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %26 = stablehlo.multiply %22, %25 : tensor<1x2x6x6xf32>
    %27 = stablehlo.multiply %26, %7 : tensor<1x2x6x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %29 = stablehlo.reshape %28 : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %30 = stablehlo.negate %29 : tensor<1x2x6x1xf32>
    %31 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %32 = stablehlo.divide %22, %31 : tensor<1x2x6x6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%30 init: %cst_6) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<1x2x6xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %36 = stablehlo.add %32, %35 : tensor<1x2x6x6xf32>
    %37 = stablehlo.multiply %36, %7 : tensor<1x2x6x6xf32>
    %38 = stablehlo.dot_general %37, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x6x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
    %39 = stablehlo.transpose %38, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    %40 = stablehlo.dot_general %37, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x6x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
    %41 = stablehlo.transpose %40, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    return %41, %39, %24 : tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>
  }
}

// -----

// Also where it has a gradient of the values alone.

// CHECK-LABEL: module @gradient_of_values
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(%arg0, %arg1, %arg2)
// CHECK-NOT: 6x6xf32
// CHECK: %[[DO:.*]] = stablehlo.multiply %{{.*}}, %[[O]]
// CHECK: %{{.*}}, %{{.*}}, %[[DV:.*]] = sp.attention_backward(%arg0, %arg1, %arg2) of(%[[O]], %[[LSE]]) by(%[[DO]])
// CHECK-NOT: 6x6xf32
// CHECK: return %[[DV]]
module @gradient_of_values {
  func.func public @main(%arg0: tensor<1x6x2x4xf32>, %arg1: tensor<1x6x2x4xf32>, %arg2: tensor<1x6x2x4xf32>) -> (tensor<1x6x2x4xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %1 = stablehlo.reduce(%0 init: %cst_2) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %2 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<1x2x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<1x2x6x6xf32>
    %7 = stablehlo.exponential %6 : tensor<1x2x6x6xf32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %11 = stablehlo.divide %7, %10 : tensor<1x2x6x6xf32>
    %12 = stablehlo.dot_general %arg2, %11, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<1x6x2x4xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %13 = stablehlo.transpose %12, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x6x2x4xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<1x6x2x4xf32>
    %16 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x6x2x4xf32>
    %17 = stablehlo.multiply %16, %15 : tensor<1x6x2x4xf32>
    %18 = stablehlo.transpose %17, dims = [0, 2, 3, 1] : (tensor<1x6x2x4xf32>) -> tensor<1x2x4x6xf32>
    %19 = stablehlo.dot_general %18, %11, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x4x6xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %20 = stablehlo.transpose %19, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    return %20 : tensor<1x6x2x4xf32>
  }
}
