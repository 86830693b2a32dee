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

// -----

// That of a sum is a number, which the gradients read as large as the result.

// CHECK-LABEL: module @sum
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(%arg0, %arg1, %arg2)
// CHECK-NOT: 6x6xf32
// CHECK: %[[DO:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<1x6x2x4xf32>
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attention_backward(%arg0, %arg1, %arg2) of(%[[O]], %[[LSE]]) by(%[[DO]])
// CHECK-NOT: 6x6xf32
// CHECK: return %[[DQ]], %[[DK]], %[[DV]]
module @sum {
  func.func public @main(%arg0: tensor<1x6x2x4xf32>, %arg1: tensor<1x6x2x4xf32>, %arg2: tensor<1x6x2x4xf32>) -> (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %4 = stablehlo.compare EQ, %0, %3, FLOAT : (tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xi1>
    %5 = stablehlo.convert %4 : (tensor<1x2x6x6xi1>) -> tensor<1x2x6x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %8 = stablehlo.maximum %7, %1 : tensor<1x2x6xf32>
    %9 = stablehlo.compare EQ, %1, %8, FLOAT : (tensor<1x2x6xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xi1>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %12 = stablehlo.select %9, %10, %11 : tensor<1x2x6xi1>, tensor<1x2x6xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %14 = stablehlo.compare EQ, %13, %8, FLOAT : (tensor<1x2x6xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xi1>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %17 = stablehlo.select %14, %15, %16 : tensor<1x2x6xi1>, tensor<1x2x6xf32>
    %18 = stablehlo.divide %12, %17 : tensor<1x2x6xf32>
    %19 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %21 = stablehlo.subtract %0, %20 : tensor<1x2x6x6xf32>
    %22 = stablehlo.exponential %21 : tensor<1x2x6x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %26 = stablehlo.divide %22, %25 : tensor<1x2x6x6xf32>
    %27 = stablehlo.multiply %24, %24 : tensor<1x2x6x1xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x2x6x1xf32>
    %29 = stablehlo.divide %28, %27 : tensor<1x2x6x1xf32>
    %30 = stablehlo.dot_general %arg2, %26, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x2x4xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %31 = stablehlo.transpose %30, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_9) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<1x6x2x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x6x2x4xf32>
    %34 = stablehlo.transpose %33, dims = [0, 2, 3, 1] : (tensor<1x6x2x4xf32>) -> tensor<1x2x4x6xf32>
    %35 = stablehlo.dot_general %34, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x4x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %36 = stablehlo.dot_general %34, %26, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x4x6xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %37 = stablehlo.transpose %36, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %38 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %39 = stablehlo.multiply %35, %38 : tensor<1x2x6x6xf32>
    %40 = stablehlo.multiply %39, %22 : tensor<1x2x6x6xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %42 = stablehlo.reshape %41 : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %43 = stablehlo.negate %42 : tensor<1x2x6x1xf32>
    %44 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %45 = stablehlo.divide %35, %44 : tensor<1x2x6x6xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%43 init: %cst_12) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<1x2x6xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %49 = stablehlo.add %45, %48 : tensor<1x2x6x6xf32>
    %50 = stablehlo.multiply %49, %22 : tensor<1x2x6x6xf32>
    %51 = stablehlo.dot_general %50, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x6x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
    %52 = stablehlo.transpose %51, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    %53 = stablehlo.dot_general %50, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x6x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
    %54 = stablehlo.transpose %53, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    return %54, %52, %37 : tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>
  }
}

// -----

// That of a mean over columns is one of each row.

// CHECK-LABEL: module @sum_of_rows
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(%arg0, %arg1, %arg2)
// CHECK-NOT: 6x6xf32
// CHECK: %[[DO:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0, 1, 2] : (tensor<1x6x2xf32>) -> tensor<1x6x2x4xf32>
// CHECK: %{{.*}}, %[[DK:.*]], %{{.*}} = sp.attention_backward(%arg0, %arg1, %arg2) of(%[[O]], %[[LSE]]) by(%[[DO]])
// CHECK-NOT: 6x6xf32
// CHECK: return %[[DK]]
module @sum_of_rows {
  func.func public @main(%arg0: tensor<1x6x2x4xf32>, %arg1: tensor<1x6x2x4xf32>, %arg2: tensor<1x6x2x4xf32>, %arg3: tensor<1x6x2xf32>) -> (tensor<1x6x2x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %4 = stablehlo.compare EQ, %0, %3, FLOAT : (tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xi1>
    %5 = stablehlo.convert %4 : (tensor<1x2x6x6xi1>) -> tensor<1x2x6x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %8 = stablehlo.maximum %7, %1 : tensor<1x2x6xf32>
    %9 = stablehlo.compare EQ, %1, %8, FLOAT : (tensor<1x2x6xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xi1>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %12 = stablehlo.select %9, %10, %11 : tensor<1x2x6xi1>, tensor<1x2x6xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %14 = stablehlo.compare EQ, %13, %8, FLOAT : (tensor<1x2x6xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xi1>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %17 = stablehlo.select %14, %15, %16 : tensor<1x2x6xi1>, tensor<1x2x6xf32>
    %18 = stablehlo.divide %12, %17 : tensor<1x2x6xf32>
    %19 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %21 = stablehlo.subtract %0, %20 : tensor<1x2x6x6xf32>
    %22 = stablehlo.exponential %21 : tensor<1x2x6x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %26 = stablehlo.divide %22, %25 : tensor<1x2x6x6xf32>
    %27 = stablehlo.multiply %24, %24 : tensor<1x2x6x1xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x2x6x1xf32>
    %29 = stablehlo.divide %28, %27 : tensor<1x2x6x1xf32>
    %30 = stablehlo.dot_general %arg2, %26, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x2x4xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %31 = stablehlo.transpose %30, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<1x6x2x4xf32>, tensor<f32>) -> tensor<1x6x2xf32>
    %cst_10 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x6x2xf32>
    %34 = stablehlo.divide %32, %33 : tensor<1x6x2xf32>
    %35 = stablehlo.multiply %34, %arg3 : tensor<1x6x2xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_11) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x6x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1x6x2xf32>
    %38 = stablehlo.multiply %37, %arg3 : tensor<1x6x2xf32>
    %cst_13 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x6x2xf32>
    %40 = stablehlo.divide %38, %39 : tensor<1x6x2xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2] : (tensor<1x6x2xf32>) -> tensor<1x6x2x4xf32>
    %42 = stablehlo.transpose %41, dims = [0, 2, 3, 1] : (tensor<1x6x2x4xf32>) -> tensor<1x2x4x6xf32>
    %43 = stablehlo.dot_general %42, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x4x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %44 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %45 = stablehlo.multiply %43, %44 : tensor<1x2x6x6xf32>
    %46 = stablehlo.multiply %45, %22 : tensor<1x2x6x6xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_14) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %48 = stablehlo.reshape %47 : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %49 = stablehlo.negate %48 : tensor<1x2x6x1xf32>
    %50 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %51 = stablehlo.divide %43, %50 : tensor<1x2x6x6xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%49 init: %cst_15) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<1x2x6xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %55 = stablehlo.add %51, %54 : tensor<1x2x6x6xf32>
    %56 = stablehlo.multiply %55, %22 : tensor<1x2x6x6xf32>
    %57 = stablehlo.dot_general %56, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x6x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
    %58 = stablehlo.transpose %57, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    return %58 : tensor<1x6x2x4xf32>
  }
}
