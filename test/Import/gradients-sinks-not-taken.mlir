// RUN: sp-opt %s --sp-import-pipeline | FileCheck %s
// RUN: sp-opt %s --sp-import-pipeline --remarks-filter=sp-import-attention -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Sums of squared weights are no part of a sink's gradient.

// CHECK-LABEL: module @squares
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}what is made of its sums is not the gradient of its sink
module @squares {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6x4x8xf32>, %arg4: tensor<4xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<4xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4x6x6xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %4 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %6 = stablehlo.add %4, %5 : tensor<6x6xi32>
    %7 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %8 = stablehlo.compare GE, %6, %7, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %c_1 = stablehlo.constant dense<false> : tensor<i1>
    %9 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %10 = stablehlo.select %8, %3, %9 : tensor<6x6xi1>, tensor<6x6xi1>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.convert %cst_2 : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %13 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %14 = stablehlo.select %12, %2, %13 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %15 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<2x4x6x1xf32>
    %17 = stablehlo.concatenate %14, %16, dim = 3 : (tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %20 = stablehlo.maximum %19, %18 : tensor<2x4x6xf32>
    %21 = stablehlo.is_finite %20 : (tensor<2x4x6xf32>) -> tensor<2x4x6xi1>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %23 = stablehlo.select %21, %20, %22 : tensor<2x4x6xi1>, tensor<2x4x6xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %26 = stablehlo.subtract %17, %25 : tensor<2x4x6x7xf32>
    %27 = stablehlo.exponential %26 : tensor<2x4x6x7xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %29 = stablehlo.abs %28 : tensor<2x4x6xf32>
    %30 = stablehlo.log %29 : tensor<2x4x6xf32>
    %31 = stablehlo.add %30, %23 : tensor<2x4x6xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %34 = stablehlo.subtract %14, %33 : tensor<2x4x6x6xf32>
    %35 = stablehlo.exponential %34 : tensor<2x4x6x6xf32>
    %36 = stablehlo.dot_general %arg3, %35, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %37 = stablehlo.transpose %36, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %38 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst_7 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %40 = stablehlo.multiply %38, %39 : tensor<2x4x6x6xf32>
    %c_8 = stablehlo.constant dense<true> : tensor<i1>
    %41 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %42 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %43 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %44 = stablehlo.add %42, %43 : tensor<6x6xi32>
    %45 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %46 = stablehlo.compare GE, %44, %45, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %c_10 = stablehlo.constant dense<false> : tensor<i1>
    %47 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %48 = stablehlo.select %46, %41, %47 : tensor<6x6xi1>, tensor<6x6xi1>
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %49 = stablehlo.convert %cst_11 : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %48, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %51 = stablehlo.broadcast_in_dim %49, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %52 = stablehlo.select %50, %40, %51 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %53 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %55 = stablehlo.subtract %52, %54 : tensor<2x4x6x6xf32>
    %56 = stablehlo.exponential %55 : tensor<2x4x6x6xf32>
    %57 = stablehlo.dot_general %arg0, %arg3, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %58 = stablehlo.multiply %56, %57 : tensor<2x4x6x6xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%58 init: %cst_12) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %62 = stablehlo.subtract %57, %61 : tensor<2x4x6x6xf32>
    %63 = stablehlo.multiply %56, %62 : tensor<2x4x6x6xf32>
    %64 = stablehlo.multiply %56, %56 : tensor<2x4x6x6xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.reduce(%64 init: %cst_13) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %66 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %67 = stablehlo.broadcast_in_dim %66, dims = [1, 2] : (tensor<4x1xf32>) -> tensor<1x4x1xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2] : (tensor<1x4x1xf32>) -> tensor<2x4x6xf32>
    %69 = stablehlo.subtract %68, %31 : tensor<2x4x6xf32>
    %70 = stablehlo.exponential %69 : tensor<2x4x6xf32>
    %71 = stablehlo.dot_general %arg2, %63, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %72 = stablehlo.transpose %71, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %cst_14 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x6x4x8xf32>
    %74 = stablehlo.multiply %72, %73 : tensor<2x6x4x8xf32>
    %75 = stablehlo.dot_general %arg1, %63, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [2] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %76 = stablehlo.transpose %75, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %cst_15 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x6x4x8xf32>
    %78 = stablehlo.multiply %76, %77 : tensor<2x6x4x8xf32>
    %79 = stablehlo.dot_general %arg0, %56, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [2] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %80 = stablehlo.transpose %79, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %81 = stablehlo.multiply %70, %65 : tensor<2x4x6xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %82 = stablehlo.reduce(%81 init: %cst_16) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %83 = stablehlo.negate %82 : tensor<4xf32>
    return %37, %74, %78, %80, %83 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<4xf32>
  }
}
