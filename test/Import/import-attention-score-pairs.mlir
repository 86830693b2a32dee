// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// What a score function reads: values of a pair, and tables.

// CHECK-LABEL: module @bias
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<6x6xf32>)
// CHECK-NOT: exponential
// CHECK: %[[T:.*]] = stablehlo.reshape %[[ARG3]] : (tensor<6x6xf32>) -> tensor<1x1x6x6xf32>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 pair(%[[T]] : tensor<1x1x6x6xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0.353553385> : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[S]], %[[C]] : tensor<f32>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[P]], %[[TERM0]] : tensor<f32>
// CHECK-NEXT: return %[[SUM]] : tensor<f32>
module @bias {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<6x6xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4x6x6xf32>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [2, 3] : (tensor<6x6xf32>) -> tensor<1x1x6x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xf32>) -> tensor<2x4x6x6xf32>
    %5 = stablehlo.add %2, %4 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<2x4x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x4x6x6xf32>
    %12 = stablehlo.exponential %11 : tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %16 = stablehlo.divide %12, %15 : tensor<2x4x6x6xf32>
    %17 = stablehlo.dot_general %arg2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %18 = stablehlo.transpose %17, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %18 : tensor<2x6x4x8xf32>
  }
}

// -----

// One element serves all heads.

// CHECK-LABEL: module @bias_of_keys_by_batch
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<2x4x1x6xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 pair(%[[ARG3]] : tensor<2x4x1x6xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[S]], %[[TERM0]] : tensor<f32>
// CHECK-NEXT: return %[[SUM]] : tensor<f32>
module @bias_of_keys_by_batch {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x4x1x6xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %2 = stablehlo.iota dim = 0 : tensor<6xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %7 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %8 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 2, 3] : (tensor<2x4x1x6xf32>) -> tensor<2x4x6x6xf32>
    %9 = stablehlo.add %7, %8 : tensor<2x4x6x6xf32>
    %10 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %12 = stablehlo.select %10, %9, %11 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %16 = stablehlo.subtract %12, %15 : tensor<2x4x6x6xf32>
    %17 = stablehlo.exponential %16 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %21 = stablehlo.divide %17, %20 : tensor<2x4x6x6xf32>
    %22 = stablehlo.dot_general %arg2, %21, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %23 = stablehlo.transpose %22, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %23 : tensor<2x6x4x8xf32>
  }
}

// -----

// A bias of kv heads becomes one of heads.

// CHECK-LABEL: module @bias_of_kv_heads
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x2x8xf32>, %[[ARG2:.*]]: tensor<2x6x2x8xf32>, %[[ARG3:.*]]: tensor<2x1x1x6xf32>)
// CHECK-NOT: exponential
// CHECK: %[[T:.*]] = stablehlo.reshape %[[ARG3]] : (tensor<2x1x1x6xf32>) -> tensor<2x6xf32>
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[T]], dims = [0, 2] : (tensor<2x6xf32>) -> tensor<2x2x6xf32>
// CHECK: %[[T1:.*]] = stablehlo.reshape %[[W]] : (tensor<2x2x6xf32>) -> tensor<1x4x1x6xf32>
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 pair(%[[T1]] : tensor<1x4x1x6xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[S]], %[[TERM0]] : tensor<f32>
// CHECK-NEXT: return %[[SUM]] : tensor<f32>
module @bias_of_kv_heads {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>, %arg3: tensor<2x1x1x6xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x6x4x8xf32>) -> tensor<2x6x2x2x8xf32>
    %1 = stablehlo.dot_general %arg1, %0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4] : (tensor<2x6x2x8xf32>, tensor<2x6x2x2x8xf32>) -> tensor<2x2x6x6x2xf32>
    %2 = stablehlo.transpose %1, dims = [0, 1, 4, 3, 2] : (tensor<2x2x6x6x2xf32>) -> tensor<2x2x2x6x6xf32>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [1, 2, 3, 4] : (tensor<2x1x1x6xf32>) -> tensor<1x2x1x1x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3, 4] : (tensor<1x2x1x1x6xf32>) -> tensor<2x2x2x6x6xf32>
    %5 = stablehlo.add %2, %4 : tensor<2x2x2x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %9 = stablehlo.subtract %5, %8 : tensor<2x2x2x6x6xf32>
    %10 = stablehlo.exponential %9 : tensor<2x2x2x6x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %14 = stablehlo.divide %10, %13 : tensor<2x2x2x6x6xf32>
    %15 = stablehlo.dot_general %arg2, %14, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4] : (tensor<2x6x2x8xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x8x2x6xf32>
    %16 = stablehlo.transpose %15, dims = [0, 4, 1, 3, 2] : (tensor<2x2x8x2x6xf32>) -> tensor<2x6x2x2x8xf32>
    %17 = stablehlo.reshape %16 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x4x8xf32>
    return %17 : tensor<2x6x4x8xf32>
  }
}

// -----

// Buckets of distances, and a row of a table for each.

// CHECK-LABEL: module @table_of_distances
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>, %[[ARG3:.*]]: tensor<5x4xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 table(%[[ARG3]] : tensor<5x4xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<5x4xf32>) -> tensor<f32>
// CHECK-NEXT: %[[DIFF:.*]] = stablehlo.subtract %[[QUERY]], %[[KEY]] : tensor<i32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<-2> : tensor<i32>
// CHECK-NEXT: %[[MAXIMUM:.*]] = stablehlo.maximum %[[C]], %[[DIFF]] : tensor<i32>
// CHECK-NEXT: %[[C1:.*]] = stablehlo.constant dense<2> : tensor<i32>
// CHECK-NEXT: %[[MINIMUM:.*]] = stablehlo.minimum %[[C1]], %[[MAXIMUM]] : tensor<i32>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[MINIMUM]], %[[C1]] : tensor<i32>
// CHECK-NEXT: %[[C2:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[C3:.*]] = stablehlo.constant dense<4> : tensor<i32>
// CHECK-NEXT: %[[CLAMP:.*]] = stablehlo.clamp %[[C2]], %[[SUM]], %[[C3]] : tensor<i32>
// CHECK-NEXT: %[[ROW:.*]] = stablehlo.dynamic_slice %[[TERM0]], %[[CLAMP]], %[[HEAD]], sizes = [1, 1] : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.reshape %[[ROW]] : (tensor<1x1xf32>) -> tensor<f32>
// CHECK-NEXT: %[[SUM1:.*]] = stablehlo.add %[[S]], %[[T]] : tensor<f32>
// CHECK-NEXT: return %[[SUM1]] : tensor<f32>
module @table_of_distances {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<5x4xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %1 = stablehlo.iota dim = 0 : tensor<6xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %3 = stablehlo.iota dim = 0 : tensor<6xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %7 = stablehlo.subtract %5, %6 : tensor<6x6xi32>
    %c = stablehlo.constant dense<-2> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %8 = call @clip(%7, %c, %c_0) : (tensor<6x6xi32>, tensor<i32>, tensor<i32>) -> tensor<6x6xi32>
    %c_1 = stablehlo.constant dense<2> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %10 = stablehlo.add %8, %9 : tensor<6x6xi32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<6x6xi32>) -> tensor<6x6x1xi32>
    %12 = "stablehlo.gather"(%arg3, %11) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf32>, tensor<6x6x1xi32>) -> tensor<6x6x4xf32>
    %13 = stablehlo.transpose %12, dims = [2, 0, 1] : (tensor<6x6x4xf32>) -> tensor<4x6x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [1, 2, 3] : (tensor<4x6x6xf32>) -> tensor<1x4x6x6xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<1x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %16 = stablehlo.add %0, %15 : tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %20 = stablehlo.subtract %16, %19 : tensor<2x4x6x6xf32>
    %21 = stablehlo.exponential %20 : tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %25 = stablehlo.divide %21, %24 : tensor<2x4x6x6xf32>
    %26 = stablehlo.dot_general %arg2, %25, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %27 = stablehlo.transpose %26, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %27 : tensor<2x6x4x8xf32>
  }
  func.func private @clip(%arg0: tensor<6x6xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<6x6xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<6x6xi32>
    %3 = stablehlo.convert %arg2 : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %5 = stablehlo.minimum %4, %2 : tensor<6x6xi32>
    return %5 : tensor<6x6xi32>
  }
}
