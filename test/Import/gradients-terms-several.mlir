// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s
// RUN: sp-opt %s --sp-import-pipeline --split-input-file --remarks-filter=sp-import-attention -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Two terms have a derivative each; heads that the program keeps apart are one axis
// of the operation.

// CHECK-LABEL: module @grouped
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[DT:.*]]:2 = sp.attention_backward({{.*}}) score @score_0_gradient {{.*}} terms(tensor<2x6x4x6xf32>, tensor<2x1x4x6xf32>)
// CHECK: %[[HEADS:.*]] = stablehlo.reshape %[[DT]]#0 : (tensor<2x6x4x6xf32>) -> tensor<2x6x2x2x6xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[HEADS]] {{.*}} across dimensions = [0] :
// CHECK-NEXT: %[[BIAS:.*]] = stablehlo.transpose %[[SUM]], dims = [1, 2, 0, 3] : (tensor<6x2x2x6xf32>) -> tensor<2x2x6x6xf32>
// CHECK: %[[OWN:.*]] = stablehlo.reshape %[[DT]]#1 : (tensor<2x1x4x6xf32>) -> tensor<2x2x2x6xf32>
// CHECK-NEXT: %[[KEYS:.*]] = stablehlo.reduce(%[[OWN]] {{.*}} across dimensions = [1, 2] : (tensor<2x2x2x6xf32>, tensor<f32>) -> tensor<2x6xf32>
// CHECK: return {{.*}}, %[[BIAS]], %[[KEYS]] :
// CHECK: func private @score_0_gradient({{.*}}) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
// REMARK: gradients with respect to {{.*}}operands="queries, keys, values, terms of scores"
module @grouped {
  func.func public @main(%arg0: tensor<2x6x2x2x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>, %arg3: tensor<2x2x6x6xf32>, %arg4: tensor<2x6xf32>, %arg5: tensor<2x6x2x2x8xf32>) -> (tensor<2x6x2x2x8xf32>, tensor<2x6x2x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x2x6x6xf32>, tensor<2x6xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4] : (tensor<2x6x2x8xf32>, tensor<2x6x2x2x8xf32>) -> tensor<2x2x6x6x2xf32>
    %1 = stablehlo.transpose %0, dims = [0, 1, 4, 3, 2] : (tensor<2x2x6x6x2xf32>) -> tensor<2x2x2x6x6xf32>
    %2 = stablehlo.broadcast_in_dim %arg3, dims = [1, 2, 3, 4] : (tensor<2x2x6x6xf32>) -> tensor<1x2x2x6x6xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3, 4] : (tensor<1x2x2x6x6xf32>) -> tensor<2x2x2x6x6xf32>
    %4 = stablehlo.add %1, %3 : tensor<2x2x2x6x6xf32>
    %5 = stablehlo.broadcast_in_dim %arg4, dims = [0, 4] : (tensor<2x6xf32>) -> tensor<2x1x1x1x6xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 3, 4] : (tensor<2x1x1x1x6xf32>) -> tensor<2x2x2x6x6xf32>
    %7 = stablehlo.add %4, %6 : tensor<2x2x2x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x2x2x6xf32>
    %10 = stablehlo.maximum %9, %8 : tensor<2x2x2x6xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %13 = stablehlo.subtract %7, %12 : tensor<2x2x2x6x6xf32>
    %14 = stablehlo.exponential %13 : tensor<2x2x2x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_1) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %18 = stablehlo.divide %14, %17 : tensor<2x2x2x6x6xf32>
    %19 = stablehlo.multiply %16, %16 : tensor<2x2x2x6x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x2x6x1xf32>
    %21 = stablehlo.divide %20, %19 : tensor<2x2x2x6x1xf32>
    %22 = stablehlo.dot_general %arg2, %18, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4] : (tensor<2x6x2x8xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x8x2x6xf32>
    %23 = stablehlo.transpose %22, dims = [0, 4, 1, 3, 2] : (tensor<2x2x8x2x6xf32>) -> tensor<2x6x2x2x8xf32>
    %24 = stablehlo.transpose %arg5, dims = [0, 2, 4, 3, 1] : (tensor<2x6x2x2x8xf32>) -> tensor<2x2x8x2x6xf32>
    %25 = stablehlo.dot_general %24, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x2x8x2x6xf32>, tensor<2x6x2x8xf32>) -> tensor<2x2x2x6x6xf32>
    %26 = stablehlo.dot_general %24, %18, batching_dims = [0, 1] x [0, 1], contracting_dims = [3, 4] x [2, 3] : (tensor<2x2x8x2x6xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x8x6xf32>
    %27 = stablehlo.transpose %26, dims = [0, 3, 1, 2] : (tensor<2x2x8x6xf32>) -> tensor<2x6x2x8xf32>
    %28 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %29 = stablehlo.multiply %25, %28 : tensor<2x2x2x6x6xf32>
    %30 = stablehlo.multiply %29, %14 : tensor<2x2x2x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%30 init: %cst_3) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %32 = stablehlo.reshape %31 : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %33 = stablehlo.negate %32 : tensor<2x2x2x6x1xf32>
    %34 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %35 = stablehlo.divide %25, %34 : tensor<2x2x2x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%33 init: %cst_4) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x6x1xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x6xf32>
    %38 = stablehlo.add %35, %37 : tensor<2x2x2x6x6xf32>
    %39 = stablehlo.multiply %38, %14 : tensor<2x2x2x6x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_5) applies stablehlo.add across dimensions = [1, 2, 3] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %41 = stablehlo.reshape %40 : (tensor<2x6xf32>) -> tensor<2x1x1x1x6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_6) applies stablehlo.add across dimensions = [1, 2, 3] : (tensor<2x1x1x1x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%39 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x6x6xf32>
    %44 = stablehlo.reshape %43 : (tensor<2x2x6x6xf32>) -> tensor<1x2x2x6x6xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%44 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<1x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x6x6xf32>
    %46 = stablehlo.transpose %39, dims = [0, 1, 4, 3, 2] : (tensor<2x2x2x6x6xf32>) -> tensor<2x2x6x6x2xf32>
    %47 = stablehlo.dot_general %46, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x2x6x6x2xf32>, tensor<2x6x2x8xf32>) -> tensor<2x2x6x2x8xf32>
    %48 = stablehlo.transpose %47, dims = [0, 2, 1, 3, 4] : (tensor<2x2x6x2x8xf32>) -> tensor<2x6x2x2x8xf32>
    %49 = stablehlo.dot_general %46, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3] : (tensor<2x2x6x6x2xf32>, tensor<2x6x2x2x8xf32>) -> tensor<2x2x6x8xf32>
    %50 = stablehlo.transpose %49, dims = [0, 2, 1, 3] : (tensor<2x2x6x8xf32>) -> tensor<2x6x2x8xf32>
    return %23, %48, %50, %27, %45, %42 : tensor<2x6x2x2x8xf32>, tensor<2x6x2x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x2x6x6xf32>, tensor<2x6xf32>
  }
}

// -----

// What is read as itself and through an exponential has a gradient in both places.

// CHECK-LABEL: module @read_twice
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[DT:.*]]:2 = sp.attention_backward({{.*}}) score @score_0_gradient per_head(%{{.*}}, %{{.*}} : tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) {{.*}} terms(tensor<2x1x4x1xf32>, tensor<2x1x4x1xf32>)
// CHECK: func private @score_0_gradient(%arg0: tensor<f32>, %{{.*}}, %{{.*}}, %{{.*}}, %[[POWER:.*]]: tensor<f32>, %{{.*}})
// CHECK: %[[DISTANCE:.*]] = stablehlo.convert
// CHECK: return %{{.*}}, %[[POWER]], %arg0, %[[DISTANCE]]
// REMARK: gradients with respect to {{.*}}operands="queries, keys, values, terms of scores"
module @read_twice {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<4xf32>, %arg4: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<4xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %1 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.exponential %0 : tensor<4x1x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x6x6xf32>
    %5 = stablehlo.multiply %1, %4 : tensor<2x4x6x6xf32>
    %6 = stablehlo.iota dim = 0 : tensor<6xi32>
    %7 = stablehlo.iota dim = 0 : tensor<6xi32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %9 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %12 = stablehlo.subtract %10, %11 : tensor<6x6xi32>
    %13 = stablehlo.convert %12 : (tensor<6x6xi32>) -> tensor<6x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
    %15 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<4x1x1xf32>) -> tensor<4x6x6xf32>
    %16 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<4x6x6xf32>
    %17 = stablehlo.multiply %15, %16 : tensor<4x6x6xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1, 2, 3] : (tensor<4x6x6xf32>) -> tensor<1x4x6x6xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<1x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %20 = stablehlo.add %5, %19 : tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %23 = stablehlo.maximum %22, %21 : tensor<2x4x6xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %26 = stablehlo.subtract %20, %25 : tensor<2x4x6x6xf32>
    %27 = stablehlo.exponential %26 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %31 = stablehlo.divide %27, %30 : tensor<2x4x6x6xf32>
    %32 = stablehlo.multiply %29, %29 : tensor<2x4x6x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x6x1xf32>
    %34 = stablehlo.divide %33, %32 : tensor<2x4x6x1xf32>
    %35 = stablehlo.dot_general %arg2, %31, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %36 = stablehlo.transpose %35, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %37 = stablehlo.transpose %arg4, dims = [0, 2, 3, 1] : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
    %38 = stablehlo.dot_general %37, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x4x8x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %39 = stablehlo.dot_general %37, %31, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x8x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %40 = stablehlo.transpose %39, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %41 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %42 = stablehlo.multiply %38, %41 : tensor<2x4x6x6xf32>
    %43 = stablehlo.multiply %42, %27 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %45 = stablehlo.reshape %44 : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %46 = stablehlo.negate %45 : tensor<2x4x6x1xf32>
    %47 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %48 = stablehlo.divide %38, %47 : tensor<2x4x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%46 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %51 = stablehlo.add %48, %50 : tensor<2x4x6x6xf32>
    %52 = stablehlo.multiply %51, %27 : tensor<2x4x6x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%52 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<4x6x6xf32>
    %54 = stablehlo.reshape %53 : (tensor<4x6x6xf32>) -> tensor<1x4x6x6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.reduce(%54 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<4x6x6xf32>
    %56 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x6x6xf32>) -> tensor<4x6x6xf32>
    %57 = stablehlo.multiply %55, %56 : tensor<4x6x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%57 init: %cst_7) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x6x6xf32>, tensor<f32>) -> tensor<4xf32>
    %59 = stablehlo.reshape %58 : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %60 = stablehlo.multiply %1, %52 : tensor<2x4x6x6xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.reduce(%60 init: %cst_8) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<4xf32>
    %62 = stablehlo.reshape %61 : (tensor<4xf32>) -> tensor<1x4x1x1xf32>
    %63 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x6x6xf32>
    %64 = stablehlo.multiply %52, %63 : tensor<2x4x6x6xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.reduce(%62 init: %cst_9) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x4x1x1xf32>, tensor<f32>) -> tensor<4xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %67 = stablehlo.multiply %66, %2 : tensor<4x1x1xf32>
    %68 = stablehlo.add %59, %67 : tensor<4x1x1xf32>
    %69 = stablehlo.dot_general %64, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %70 = stablehlo.transpose %69, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %71 = stablehlo.dot_general %64, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %72 = stablehlo.transpose %71, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %73 = stablehlo.reduce(%68 init: %cst_10) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x1x1xf32>, tensor<f32>) -> tensor<4xf32>
    return %36, %72, %70, %40, %73 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<4xf32>
  }
}

// -----

// The gradient of a bias of two attentions is the sum of what both give.

// CHECK-LABEL: module @shared
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[DT:.*]] = sp.attention_backward({{.*}} {name = "layer1"} {{.*}} terms(tensor<2x6x4x6xf32>)
// CHECK: %[[LATER:.*]] = stablehlo.transpose %[[DT]], dims = [0, 2, 1, 3]
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[FIRST:.*]] = sp.attention_backward({{.*}} {name = "layer0"} {{.*}} terms(tensor<2x6x4x6xf32>)
// CHECK: %[[SOONER:.*]] = stablehlo.transpose %[[FIRST]], dims = [0, 2, 1, 3]
// CHECK: stablehlo.add %[[LATER]], %[[SOONER]] : tensor<2x4x6x6xf32>
// REMARK: gradients with respect to {{.*}}operands="queries, keys, values, terms of scores"
module @shared {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x4x6x6xf32>, %arg4: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %1 = stablehlo.add %0, %arg3 : tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<2x4x6xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %7 = stablehlo.subtract %1, %6 : tensor<2x4x6x6xf32>
    %8 = stablehlo.exponential %7 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %12 = stablehlo.divide %8, %11 : tensor<2x4x6x6xf32>
    %13 = stablehlo.multiply %10, %10 : tensor<2x4x6x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x6x1xf32>
    %15 = stablehlo.divide %14, %13 : tensor<2x4x6x1xf32>
    %16 = stablehlo.dot_general %arg2, %12, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %17 = stablehlo.transpose %16, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %18 = stablehlo.dot_general %17, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %19 = stablehlo.add %18, %arg3 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %22 = stablehlo.maximum %21, %20 : tensor<2x4x6xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %25 = stablehlo.subtract %19, %24 : tensor<2x4x6x6xf32>
    %26 = stablehlo.exponential %25 : tensor<2x4x6x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %30 = stablehlo.divide %26, %29 : tensor<2x4x6x6xf32>
    %31 = stablehlo.multiply %28, %28 : tensor<2x4x6x1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4x6x1xf32>
    %33 = stablehlo.divide %32, %31 : tensor<2x4x6x1xf32>
    %34 = stablehlo.dot_general %arg2, %30, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %35 = stablehlo.transpose %34, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %36 = stablehlo.transpose %arg4, dims = [0, 2, 3, 1] : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
    %37 = stablehlo.dot_general %36, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x4x8x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %38 = stablehlo.dot_general %36, %30, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x8x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %39 = stablehlo.transpose %38, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %40 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %41 = stablehlo.multiply %37, %40 : tensor<2x4x6x6xf32>
    %42 = stablehlo.multiply %41, %26 : tensor<2x4x6x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %44 = stablehlo.reshape %43 : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %45 = stablehlo.negate %44 : tensor<2x4x6x1xf32>
    %46 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %47 = stablehlo.divide %37, %46 : tensor<2x4x6x6xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%45 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %50 = stablehlo.add %47, %49 : tensor<2x4x6x6xf32>
    %51 = stablehlo.multiply %50, %26 : tensor<2x4x6x6xf32>
    %52 = stablehlo.dot_general %51, %17, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %53 = stablehlo.transpose %52, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %54 = stablehlo.dot_general %51, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %55 = stablehlo.transpose %54, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %56 = stablehlo.transpose %55, dims = [0, 2, 3, 1] : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
    %57 = stablehlo.dot_general %56, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x4x8x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %58 = stablehlo.dot_general %56, %12, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x8x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %59 = stablehlo.transpose %58, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %60 = stablehlo.add %39, %59 : tensor<2x6x4x8xf32>
    %61 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %62 = stablehlo.multiply %57, %61 : tensor<2x4x6x6xf32>
    %63 = stablehlo.multiply %62, %8 : tensor<2x4x6x6xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.reduce(%63 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %65 = stablehlo.reshape %64 : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %66 = stablehlo.negate %65 : tensor<2x4x6x1xf32>
    %67 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %68 = stablehlo.divide %57, %67 : tensor<2x4x6x6xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %69 = stablehlo.reduce(%66 init: %cst_10) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %71 = stablehlo.add %68, %70 : tensor<2x4x6x6xf32>
    %72 = stablehlo.multiply %71, %8 : tensor<2x4x6x6xf32>
    %73 = stablehlo.add %51, %72 : tensor<2x4x6x6xf32>
    %74 = stablehlo.dot_general %72, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %75 = stablehlo.transpose %74, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %76 = stablehlo.add %53, %75 : tensor<2x6x4x8xf32>
    %77 = stablehlo.dot_general %72, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %78 = stablehlo.transpose %77, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    return %35, %78, %76, %60, %73 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>
  }
}
