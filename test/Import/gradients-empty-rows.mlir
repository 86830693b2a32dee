// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// What rows without a visible key add to gradients.

// A finite fill in f32 that is added leaves the derivative of scores: each pair of
// such a row has P = 1 / K in all three gradients, through sums over a sequence.

// CHECK-LABEL: module @added
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(%arg0, %arg1, %arg2) {{.*}} mean({{.*}} bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] {{.*}} empty mean
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attention_backward(
// CHECK: stablehlo.slice %[[LSE]] [0:2, 0:6, 0:4, 1:2]
// CHECK: stablehlo.compare EQ
// CHECK: %[[DO:.*]] = stablehlo.select {{.*}} : tensor<2x6x4x1x8xi1>
// CHECK: stablehlo.dot_general %[[DO]], %{{.*}}, batching_dims = [0, 2] x [0, 2], contracting_dims = [1, 3] x [1, 3]
// CHECK: stablehlo.constant dense<0.166666672>
// CHECK: %[[C:.*]] = stablehlo.subtract %arg2,
// CHECK: %[[K:.*]] = stablehlo.dot_general %[[C]],
// CHECK: %[[TK:.*]] = stablehlo.transpose %[[K]]
// CHECK: %[[SUMK:.*]] = stablehlo.add %[[DK]], %[[TK]]
// CHECK: stablehlo.dot_general %[[C]], %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [1] x [1]
// CHECK: %[[SUMQ:.*]] = stablehlo.add %[[DQ]],
// CHECK: %[[SUMV:.*]] = stablehlo.add %[[DV]],
// CHECK: return %[[O]], %[[SUMQ]], %[[SUMK]], %[[SUMV]]
module @added {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6xi1>, %arg4: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) {
    %c = stablehlo.constant dense<[[true, false, false, false, false, false], [true, true, false, false, false, false], [true, true, true, false, false, false], [true, true, true, true, false, false], [true, true, true, true, true, false], [true, true, true, true, true, true]]> : tensor<6x6xi1>
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
    %2 = stablehlo.broadcast_in_dim %c, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x1x6x6xi1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xi1>) -> tensor<2x1x6x6xi1>
    %4 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xi1>) -> tensor<2x1x6x6xi1>
    %5 = stablehlo.and %3, %4 : tensor<2x1x6x6xi1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %6 = call @_where(%5, %c_0, %cst) : (tensor<2x1x6x6xi1>, tensor<i32>, tensor<f32>) -> tensor<2x1x6x6xf32>
    %7 = stablehlo.convert %6 : tensor<2x1x6x6xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xf32>) -> tensor<2x4x6x6xf32>
    %9 = stablehlo.add %0, %8 : tensor<2x4x6x6xf32>
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
    %21 = stablehlo.multiply %18, %18 : tensor<2x4x6x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4x6x1xf32>
    %23 = stablehlo.divide %22, %21 : tensor<2x4x6x1xf32>
    %24 = stablehlo.dot_general %arg2, %20, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %25 = stablehlo.transpose %24, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %26 = stablehlo.transpose %arg4, dims = [0, 2, 3, 1] : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
    %27 = stablehlo.dot_general %26, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x4x8x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %28 = stablehlo.dot_general %26, %20, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x8x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %29 = stablehlo.transpose %28, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %30 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %31 = stablehlo.multiply %27, %30 : tensor<2x4x6x6xf32>
    %32 = stablehlo.multiply %31, %16 : tensor<2x4x6x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %34 = stablehlo.reshape %33 : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %35 = stablehlo.negate %34 : tensor<2x4x6x1xf32>
    %36 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %37 = stablehlo.divide %27, %36 : tensor<2x4x6x6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%35 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %40 = stablehlo.add %37, %39 : tensor<2x4x6x6xf32>
    %41 = stablehlo.multiply %40, %16 : tensor<2x4x6x6xf32>
    %42 = stablehlo.dot_general %41, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %43 = stablehlo.transpose %42, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %44 = stablehlo.dot_general %41, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %45 = stablehlo.transpose %44, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    return %25, %45, %43, %29 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>
  }
  func.func private @_where(%arg0: tensor<2x1x6x6xi1>, %arg1: tensor<i32>, %arg2: tensor<f32>) -> tensor<2x1x6x6xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x1x6x6xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x1x6x6xf32>
    %3 = stablehlo.select %arg0, %1, %2 : tensor<2x1x6x6xi1>, tensor<2x1x6x6xf32>
    return %3 : tensor<2x1x6x6xf32>
  }
}

// -----

// An infinite fill in place of scores makes the row NaN, of which the gradient of
// values is a sum. Those of queries and keys do not come past the fill.

// CHECK-LABEL: module @chosen
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attention_backward(
// CHECK: %[[EMPTY:.*]] = stablehlo.compare EQ
// CHECK: stablehlo.constant dense<0x7FC00000> : tensor<f32>
// CHECK: %[[MARKS:.*]] = stablehlo.select {{.*}} : tensor<1x6x2x1xi1>
// CHECK: stablehlo.reduce(%[[MARKS]] {{.*}} across dimensions = [1, 3]
// CHECK: %[[SUM:.*]] = stablehlo.add %[[DV]],
// CHECK: return %[[O]], %[[DQ]], %[[DK]], %[[SUM]]
module @chosen {
  func.func public @main(%arg0: tensor<1x6x2x4xf32>, %arg1: tensor<1x6x2x4xf32>, %arg2: tensor<1x6x2x4xf32>, %arg3: tensor<1x6xi1>, %arg4: tensor<1x6x2x4xf32>) -> (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [0, 3] : (tensor<1x6xi1>) -> tensor<1x1x1x6xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2:2 = call @_where(%1, %0, %cst) : (tensor<1x1x1x6xi1>, tensor<1x2x6x6xf32>, tensor<f32>) -> (tensor<1x2x6x6xf32>, tensor<1x2x6x6xi1>)
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2#0 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %5 = stablehlo.maximum %4, %3 : tensor<1x2x6xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %8 = stablehlo.subtract %2#0, %7 : tensor<1x2x6x6xf32>
    %9 = stablehlo.exponential %8 : tensor<1x2x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %13 = stablehlo.divide %9, %12 : tensor<1x2x6x6xf32>
    %14 = stablehlo.multiply %11, %11 : tensor<1x2x6x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x6x1xf32>
    %16 = stablehlo.divide %15, %14 : tensor<1x2x6x1xf32>
    %17 = stablehlo.dot_general %arg2, %13, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x2x4xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %18 = stablehlo.transpose %17, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %19 = stablehlo.transpose %arg4, dims = [0, 2, 3, 1] : (tensor<1x6x2x4xf32>) -> tensor<1x2x4x6xf32>
    %20 = stablehlo.dot_general %19, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x4x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %21 = stablehlo.dot_general %19, %13, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x4x6xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %22 = stablehlo.transpose %21, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %23 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %24 = stablehlo.multiply %20, %23 : tensor<1x2x6x6xf32>
    %25 = stablehlo.multiply %24, %9 : tensor<1x2x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %27 = stablehlo.reshape %26 : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %28 = stablehlo.negate %27 : tensor<1x2x6x1xf32>
    %29 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %30 = stablehlo.divide %20, %29 : tensor<1x2x6x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%28 init: %cst_5) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<1x2x6xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %34 = stablehlo.add %30, %33 : tensor<1x2x6x6xf32>
    %35 = stablehlo.multiply %34, %9 : tensor<1x2x6x6xf32>
    %36 = call @_where_0(%2#1, %35) : (tensor<1x2x6x6xi1>, tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
    %37 = stablehlo.dot_general %36, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x6x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
    %38 = stablehlo.transpose %37, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    %39 = stablehlo.dot_general %36, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x6x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
    %40 = stablehlo.transpose %39, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    return %18, %40, %38, %22 : tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>
  }
  func.func private @_where(%arg0: tensor<1x1x1x6xi1>, %arg1: tensor<1x2x6x6xf32>, %arg2: tensor<f32>) -> (tensor<1x2x6x6xf32>, tensor<1x2x6x6xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xi1>) -> tensor<1x2x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x2x6x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x2x6x6xi1>, tensor<1x2x6x6xf32>
    return %3, %1 : tensor<1x2x6x6xf32>, tensor<1x2x6x6xi1>
  }
  func.func private @_where_0(%arg0: tensor<1x2x6x6xi1>, %arg1: tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x6x6xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<1x2x6x6xi1>, tensor<1x2x6x6xf32>
    return %1 : tensor<1x2x6x6xf32>
  }
}

// -----

// Added, it does not keep them from it: a row's NaN is in its query's gradient and
// in all keys'.

// CHECK-LABEL: module @added_infinity
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attention_backward(
// CHECK: %[[MARKS:.*]] = stablehlo.select {{.*}} : tensor<1x6x2x1xi1>
// CHECK: stablehlo.reduce(%[[MARKS]] {{.*}} across dimensions = [1, 3]
// CHECK: %[[SUMK:.*]] = stablehlo.add %[[DK]],
// CHECK: stablehlo.reduce(%[[MARKS]] {{.*}} across dimensions = [3]
// CHECK: %[[SUMQ:.*]] = stablehlo.add %[[DQ]],
// CHECK: %[[SUMV:.*]] = stablehlo.add %[[DV]],
// CHECK: return %[[O]], %[[SUMQ]], %[[SUMK]], %[[SUMV]]
module @added_infinity {
  func.func public @main(%arg0: tensor<1x6x2x4xf32>, %arg1: tensor<1x6x2x4xf32>, %arg2: tensor<1x6x2x4xf32>, %arg3: tensor<1x6xi1>, %arg4: tensor<1x6x2x4xf32>) -> (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [0, 3] : (tensor<1x6xi1>) -> tensor<1x1x1x6xi1>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = call @_where(%1, %c, %cst) : (tensor<1x1x1x6xi1>, tensor<i32>, tensor<f32>) -> tensor<1x1x1x6xf32>
    %3 = stablehlo.convert %2 : tensor<1x1x1x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xf32>) -> tensor<1x2x6x6xf32>
    %5 = stablehlo.add %0, %4 : tensor<1x2x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x6xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<1x2x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<1x2x6x6xf32>
    %12 = stablehlo.exponential %11 : tensor<1x2x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %16 = stablehlo.divide %12, %15 : tensor<1x2x6x6xf32>
    %17 = stablehlo.multiply %14, %14 : tensor<1x2x6x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x6x1xf32>
    %19 = stablehlo.divide %18, %17 : tensor<1x2x6x1xf32>
    %20 = stablehlo.dot_general %arg2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x2x4xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %21 = stablehlo.transpose %20, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %22 = stablehlo.transpose %arg4, dims = [0, 2, 3, 1] : (tensor<1x6x2x4xf32>) -> tensor<1x2x4x6xf32>
    %23 = stablehlo.dot_general %22, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x4x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x6xf32>
    %24 = stablehlo.dot_general %22, %16, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x4x6xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x4x6xf32>
    %25 = stablehlo.transpose %24, dims = [0, 3, 1, 2] : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
    %26 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %27 = stablehlo.multiply %23, %26 : tensor<1x2x6x6xf32>
    %28 = stablehlo.multiply %27, %12 : tensor<1x2x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
    %30 = stablehlo.reshape %29 : (tensor<1x2x6xf32>) -> tensor<1x2x6x1xf32>
    %31 = stablehlo.negate %30 : tensor<1x2x6x1xf32>
    %32 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<1x2x6x1xf32>) -> tensor<1x2x6x6xf32>
    %33 = stablehlo.divide %23, %32 : tensor<1x2x6x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%31 init: %cst_5) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<1x2x6xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2] : (tensor<1x2x6xf32>) -> tensor<1x2x6x6xf32>
    %37 = stablehlo.add %33, %36 : tensor<1x2x6x6xf32>
    %38 = stablehlo.multiply %37, %12 : tensor<1x2x6x6xf32>
    %39 = stablehlo.dot_general %38, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x6x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
    %40 = stablehlo.transpose %39, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    %41 = stablehlo.dot_general %38, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x6x6xf32>, tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
    %42 = stablehlo.transpose %41, dims = [0, 2, 1, 3] : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
    return %21, %42, %40, %25 : tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>
  }
  func.func private @_where(%arg0: tensor<1x1x1x6xi1>, %arg1: tensor<i32>, %arg2: tensor<f32>) -> tensor<1x1x1x6xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x1x1x6xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1x1x1x6xf32>
    %3 = stablehlo.select %arg0, %1, %2 : tensor<1x1x1x6xi1>, tensor<1x1x1x6xf32>
    return %3 : tensor<1x1x1x6xf32>
  }
}
