// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Queries 0 and 1 of 6 see none of 8 keys, by their positions. Where a finite fill
// takes the place of their scores, they add the mean of their cotangents to the
// gradients of all values, and nothing to those of queries and keys.

// CHECK-LABEL: module @replaced
// CHECK: sp.attention(%arg0, %arg1, %arg2) bands [#sp.band<q 0 to 2, k 0 to 8, lo -inf, hi inf, uniform>, #sp.band<q 2 to 6, k 0 to 4, lo -inf, hi -2>]
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attention_backward(%arg0, %arg1, %arg2) {{.*}} bands [#sp.band<q 2 to 6, k 0 to 4, lo -inf, hi -2>]
// CHECK: %[[POSITION:.*]] = stablehlo.iota dim = 1 : tensor<1x6x2x1xi32>
// CHECK: %[[FROM:.*]] = stablehlo.compare GE, %[[POSITION]],
// CHECK: stablehlo.constant dense<2> : tensor<i32>
// CHECK: %[[TO:.*]] = stablehlo.compare LT, %[[POSITION]],
// CHECK: stablehlo.and %[[FROM]], %[[TO]]
// CHECK: %[[SUM:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1, 3] {{.*}} -> tensor<1x2x4xf32>
// CHECK: stablehlo.constant dense<8.000000e+00>
// CHECK: stablehlo.divide %[[SUM]],
// CHECK: %[[ALL:.*]] = stablehlo.add %[[DV]],
// CHECK: return %{{.*}}, %[[DQ]], %[[DK]], %[[ALL]]
module @replaced {
  func.func public @main(%arg0: tensor<1x6x2x4xf32>, %arg1: tensor<1x8x2x4xf32>, %arg2: tensor<1x8x2x4xf32>, %arg3: tensor<1x6x2x4xf32>) -> (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %2 = stablehlo.iota dim = 0 : tensor<8xi32>
    %3 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x6x2x4xf32>, tensor<1x8x2x4xf32>) -> tensor<1x2x6x8xf32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
    %5 = stablehlo.subtract %1, %4 : tensor<6x1xi32>
    %6 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<8xi32>) -> tensor<1x8xi32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<6x8xi32>
    %8 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x8xi32>
    %9 = stablehlo.compare LE, %7, %8, SIGNED : (tensor<6x8xi32>, tensor<6x8xi32>) -> tensor<6x8xi1>
    %10 = stablehlo.convert %cst_2 : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %9, dims = [2, 3] : (tensor<6x8xi1>) -> tensor<1x2x6x8xi1>
    %12 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<1x2x6x8xf32>
    %13 = stablehlo.select %11, %3, %12 : tensor<1x2x6x8xi1>, tensor<1x2x6x8xf32>
    %14 = stablehlo.reduce(%13 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x8xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %16 = stablehlo.maximum %15, %14 : tensor<1x2x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x8xf32>
    %19 = stablehlo.subtract %13, %18 : tensor<1x2x6x8xf32>
    %20 = stablehlo.exponential %19 : tensor<1x2x6x8xf32>
    %21 = stablehlo.reduce(%20 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x8xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x8xf32>
    %24 = stablehlo.divide %20, %23 : tensor<1x2x6x8xf32>
    %25 = stablehlo.multiply %22, %22 : tensor<1x2x6x1xf32>
    %26 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x6x1xf32>
    %27 = stablehlo.divide %26, %25 : tensor<1x2x6x1xf32>
    %28 = stablehlo.dot_general %arg2, %24, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<1x8x2x4xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x4x6xf32>
    %29 = stablehlo.transpose %28, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %30 = stablehlo.transpose %arg3, dims = [0, 2, 3, 1] : (tensor<1x6x2x4xf32>) -> tensor<1x2x4x6xf32>
    %31 = stablehlo.dot_general %30, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<1x2x4x6xf32>, tensor<1x8x2x4xf32>) -> tensor<1x2x6x8xf32>
    %32 = stablehlo.dot_general %30, %24, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x4x6xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x4x8xf32>
    %33 = stablehlo.transpose %32, dims = [0, 3, 1, 2] : (tensor<1x2x4x8xf32>) -> tensor<1x8x2x4xf32>
    %34 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x8xf32>
    %35 = stablehlo.multiply %31, %34 : tensor<1x2x6x8xf32>
    %36 = stablehlo.multiply %35, %20 : tensor<1x2x6x8xf32>
    %37 = stablehlo.reduce(%36 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x8xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %38 = stablehlo.reshape %37 : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %39 = stablehlo.negate %38 : tensor<1x2x6x1xf32>
    %40 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x8xf32>
    %41 = stablehlo.divide %31, %40 : tensor<1x2x6x8xf32>
    %42 = stablehlo.reduce(%39 init: %cst_0) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<1x2x6xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x8xf32>
    %45 = stablehlo.add %41, %44 : tensor<1x2x6x8xf32>
    %46 = stablehlo.multiply %45, %20 : tensor<1x2x6x8xf32>
    %47 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x2x6x8xf32>
    %48 = stablehlo.select %11, %46, %47 : tensor<1x2x6x8xi1>, tensor<1x2x6x8xf32>
    %49 = stablehlo.dot_general %48, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<1x2x6x8xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x8x4xf32>
    %50 = stablehlo.transpose %49, dims = [0, 2, 1, 3] : (tensor<1x2x8x4xf32>) -> tensor<1x8x2x4xf32>
    %51 = stablehlo.dot_general %48, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<1x2x6x8xf32>, tensor<1x8x2x4xf32>) -> tensor<1x2x6x4xf32>
    %52 = stablehlo.transpose %51, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    return %29, %52, %50, %33 : tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>
  }
}

// -----

// With an infinite fill their results are NaN, and the gradients of all values.

// CHECK-LABEL: module @infinite
// CHECK: sp.attention(%arg0, %arg1, %arg2) bands [#sp.band<q 2 to 6, k 0 to 4, lo -inf, hi -2>]
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attention_backward(
// CHECK: stablehlo.constant dense<0x7FC00000>
// CHECK: %[[ALL:.*]] = stablehlo.add %[[DV]],
// CHECK: return %{{.*}}, %[[DQ]], %[[DK]], %[[ALL]]
module @infinite {
  func.func public @main(%arg0: tensor<1x6x2x4xf32>, %arg1: tensor<1x8x2x4xf32>, %arg2: tensor<1x8x2x4xf32>, %arg3: tensor<1x6x2x4xf32>) -> (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %2 = stablehlo.iota dim = 0 : tensor<8xi32>
    %3 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x6x2x4xf32>, tensor<1x8x2x4xf32>) -> tensor<1x2x6x8xf32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
    %5 = stablehlo.subtract %1, %4 : tensor<6x1xi32>
    %6 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<8xi32>) -> tensor<1x8xi32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<6x8xi32>
    %8 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x8xi32>
    %9 = stablehlo.compare LE, %7, %8, SIGNED : (tensor<6x8xi32>, tensor<6x8xi32>) -> tensor<6x8xi1>
    %10 = stablehlo.convert %cst_1 : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %9, dims = [2, 3] : (tensor<6x8xi1>) -> tensor<1x2x6x8xi1>
    %12 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<1x2x6x8xf32>
    %13 = stablehlo.select %11, %3, %12 : tensor<1x2x6x8xi1>, tensor<1x2x6x8xf32>
    %14 = stablehlo.reduce(%13 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x8xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %16 = stablehlo.maximum %15, %14 : tensor<1x2x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x8xf32>
    %19 = stablehlo.subtract %13, %18 : tensor<1x2x6x8xf32>
    %20 = stablehlo.exponential %19 : tensor<1x2x6x8xf32>
    %21 = stablehlo.reduce(%20 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x8xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x8xf32>
    %24 = stablehlo.divide %20, %23 : tensor<1x2x6x8xf32>
    %25 = stablehlo.multiply %22, %22 : tensor<1x2x6x1xf32>
    %26 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x6x1xf32>
    %27 = stablehlo.divide %26, %25 : tensor<1x2x6x1xf32>
    %28 = stablehlo.dot_general %arg2, %24, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<1x8x2x4xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x4x6xf32>
    %29 = stablehlo.transpose %28, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %30 = stablehlo.transpose %arg3, dims = [0, 2, 3, 1] : (tensor<1x6x2x4xf32>) -> tensor<1x2x4x6xf32>
    %31 = stablehlo.dot_general %30, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<1x2x4x6xf32>, tensor<1x8x2x4xf32>) -> tensor<1x2x6x8xf32>
    %32 = stablehlo.dot_general %30, %24, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x4x6xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x4x8xf32>
    %33 = stablehlo.transpose %32, dims = [0, 3, 1, 2] : (tensor<1x2x4x8xf32>) -> tensor<1x8x2x4xf32>
    %34 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x8xf32>
    %35 = stablehlo.multiply %31, %34 : tensor<1x2x6x8xf32>
    %36 = stablehlo.multiply %35, %20 : tensor<1x2x6x8xf32>
    %37 = stablehlo.reduce(%36 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x8xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %38 = stablehlo.reshape %37 : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %39 = stablehlo.negate %38 : tensor<1x2x6x1xf32>
    %40 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x8xf32>
    %41 = stablehlo.divide %31, %40 : tensor<1x2x6x8xf32>
    %42 = stablehlo.reduce(%39 init: %cst_0) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<1x2x6xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x8xf32>
    %45 = stablehlo.add %41, %44 : tensor<1x2x6x8xf32>
    %46 = stablehlo.multiply %45, %20 : tensor<1x2x6x8xf32>
    %47 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x2x6x8xf32>
    %48 = stablehlo.select %11, %46, %47 : tensor<1x2x6x8xi1>, tensor<1x2x6x8xf32>
    %49 = stablehlo.dot_general %48, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<1x2x6x8xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x8x4xf32>
    %50 = stablehlo.transpose %49, dims = [0, 2, 1, 3] : (tensor<1x2x8x4xf32>) -> tensor<1x8x2x4xf32>
    %51 = stablehlo.dot_general %48, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<1x2x6x8xf32>, tensor<1x8x2x4xf32>) -> tensor<1x2x6x4xf32>
    %52 = stablehlo.transpose %51, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    return %29, %52, %50, %33 : tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>
  }
}
