// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Masks and lengths that are known at run time only.

// CHECK-LABEL: module @dpa_mask
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x2x8xf32>, %[[ARG2:.*]]: tensor<2x6x2x8xf32>, %[[ARG3:.*]]: tensor<2x1x6x6xi1>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 pair(%[[ARG3]] : tensor<2x1x6x6xi1>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<i1>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0.353553385> : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[S]], %[[C]] : tensor<f32>
// CHECK-NEXT: %[[C1:.*]] = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[TERM0]], %[[P]], %[[C1]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: return %[[E]] : tensor<f32>
module @dpa_mask {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>, %arg3: tensor<2x1x6x6xi1>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x6x4x8xf32>) -> tensor<2x6x2x2x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 3, 4] : (tensor<2x1x6x6xi1>) -> tensor<2x1x1x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3, 4] : (tensor<2x1x1x6x6xi1>) -> tensor<2x1x2x6x6xi1>
    %3 = stablehlo.dot_general %0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3] : (tensor<2x6x2x2x8xf32>, tensor<2x6x2x8xf32>) -> tensor<2x2x6x2x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x6x2x6xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x2x6x2x6xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x2x6x6xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1, 2, 3, 4] : (tensor<2x2x6x6xi1>) -> tensor<1x2x2x6x6xi1>
    %8 = stablehlo.transpose %2, dims = [2, 0, 1, 3, 4] : (tensor<2x1x2x6x6xi1>) -> tensor<2x2x1x6x6xi1>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3, 4] : (tensor<1x2x2x6x6xi1>) -> tensor<2x2x2x6x6xi1>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3, 4] : (tensor<2x2x1x6x6xi1>) -> tensor<2x2x2x6x6xi1>
    %11 = stablehlo.and %9, %10 : tensor<2x2x2x6x6xi1>
    %cst_0 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %12 = call @_where(%11, %5, %cst_0) : (tensor<2x2x2x6x6xi1>, tensor<2x2x6x2x6xf32>, tensor<f32>) -> tensor<2x2x2x6x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_1) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x2x6xf32>
    %15 = stablehlo.maximum %14, %13 : tensor<2x2x2x6xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %18 = stablehlo.subtract %12, %17 : tensor<2x2x2x6x6xf32>
    %19 = stablehlo.exponential %18 : tensor<2x2x2x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_3) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %23 = stablehlo.divide %19, %22 : tensor<2x2x2x6x6xf32>
    %24 = stablehlo.dot_general %arg2, %23, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4] : (tensor<2x6x2x8xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x8x2x6xf32>
    %25 = stablehlo.transpose %24, dims = [3, 0, 4, 1, 2] : (tensor<2x2x8x2x6xf32>) -> tensor<2x2x6x2x8xf32>
    %26 = stablehlo.transpose %25, dims = [1, 2, 3, 0, 4] : (tensor<2x2x6x2x8xf32>) -> tensor<2x6x2x2x8xf32>
    %27 = stablehlo.reshape %26 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x4x8xf32>
    return %27 : tensor<2x6x4x8xf32>
  }
  func.func private @_where(%arg0: tensor<2x2x2x6x6xi1>, %arg1: tensor<2x2x6x2x6xf32>, %arg2: tensor<f32>) -> tensor<2x2x2x6x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x2x6x6xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x2x6x6xf32>) -> tensor<2x2x2x6x6xf32>
    %2 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<2x2x6x2x6xf32>) -> tensor<2x2x2x6x6xf32>
    %3 = stablehlo.select %arg0, %2, %1 : tensor<2x2x2x6x6xi1>, tensor<2x2x2x6x6xf32>
    return %3 : tensor<2x2x2x6x6xf32>
  }
}

// -----

// CHECK-LABEL: module @dpa_lengths
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x2x8xf32>, %[[ARG2:.*]]: tensor<2x6x2x8xf32>, %[[ARG3:.*]]: tensor<2xi32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]]) score @score_0 per_key(%{{.*}} : tensor<2x6x1x1xi1>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<i1>) -> tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0.353553385> : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[S]], %[[C]] : tensor<f32>
// CHECK-NEXT: %[[C1:.*]] = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[TERM0]], %[[P]], %[[C1]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: return %[[E]] : tensor<f32>
module @dpa_lengths {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>, %arg3: tensor<2xi32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x6x4x8xf32>) -> tensor<2x6x2x2x8xf32>
    %1 = stablehlo.dot_general %0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3] : (tensor<2x6x2x2x8xf32>, tensor<2x6x2x8xf32>) -> tensor<2x2x6x2x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x6x2x6xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<2x2x6x2x6xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x2x6x6xi1>
    %5 = stablehlo.iota dim = 0 : tensor<6xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [2] : (tensor<6xi32>) -> tensor<1x1x6xi32>
    %7 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<2xi32>) -> tensor<2x1x1xi32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<1x1x6xi32>) -> tensor<2x1x6xi32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x1x1xi32>) -> tensor<2x1x6xi32>
    %10 = stablehlo.compare LT, %8, %9, SIGNED : (tensor<2x1x6xi32>, tensor<2x1x6xi32>) -> tensor<2x1x6xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %11 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<2x1x6xi1>
    %12 = stablehlo.and %11, %10 : tensor<2x1x6xi1>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 2, 3] : (tensor<2x1x6xi1>) -> tensor<2x1x1x6xi1>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xi1>) -> tensor<2x2x6x6xi1>
    %15 = stablehlo.and %4, %14 : tensor<2x2x6x6xi1>
    %cst_1 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %16 = call @_where(%15, %3, %cst_1) : (tensor<2x2x6x6xi1>, tensor<2x2x6x2x6xf32>, tensor<f32>) -> tensor<2x2x2x6x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_2) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x2x2x6xf32>
    %19 = stablehlo.maximum %18, %17 : tensor<2x2x2x6xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %22 = stablehlo.subtract %16, %21 : tensor<2x2x2x6x6xf32>
    %23 = stablehlo.exponential %22 : tensor<2x2x2x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_4) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %27 = stablehlo.divide %23, %26 : tensor<2x2x2x6x6xf32>
    %28 = stablehlo.dot_general %arg2, %27, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4] : (tensor<2x6x2x8xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x8x2x6xf32>
    %29 = stablehlo.transpose %28, dims = [3, 0, 4, 1, 2] : (tensor<2x2x8x2x6xf32>) -> tensor<2x2x6x2x8xf32>
    %30 = stablehlo.transpose %29, dims = [1, 2, 3, 0, 4] : (tensor<2x2x6x2x8xf32>) -> tensor<2x6x2x2x8xf32>
    %31 = stablehlo.reshape %30 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x4x8xf32>
    return %31 : tensor<2x6x4x8xf32>
  }
  func.func private @_where(%arg0: tensor<2x2x6x6xi1>, %arg1: tensor<2x2x6x2x6xf32>, %arg2: tensor<f32>) -> tensor<2x2x2x6x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x2x6x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<2x2x6x6xi1>) -> tensor<2x2x2x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x2x6x6xf32>) -> tensor<2x2x2x6x6xf32>
    %3 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<2x2x6x2x6xf32>) -> tensor<2x2x2x6x6xf32>
    %4 = stablehlo.select %1, %3, %2 : tensor<2x2x2x6x6xi1>, tensor<2x2x2x6x6xf32>
    return %4 : tensor<2x2x2x6x6xf32>
  }
}

// -----

// CHECK-LABEL: module @query_chunks
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x4x8xf32>, %[[ARG2:.*]]: tensor<2x6x4x8xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%{{.*}}, %{{.*}}, %{{.*}}) score @score_0 per_query(%{{.*}} : tensor<1x3x1x1xi32>) bands [#sp.band<q 0 to 3, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {name = "layer0"}
// CHECK-SAME: : tensor<2x3x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x3x4x8xf32>
// CHECK-NOT: exponential
// CHECK-LABEL: func.func private @score_0(
// CHECK-SAME: %[[S:.*]]: tensor<f32>, %[[HEAD:.*]]: tensor<i32>, %[[QUERY:.*]]: tensor<i32>, %[[KEY:.*]]: tensor<i32>, %[[TERM0:.*]]: tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[IS:.*]] = stablehlo.compare GE, %[[TERM0]], %[[KEY]], SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.select %[[IS]], %[[S]], %[[C]] : tensor<i1>, tensor<f32>
// CHECK-NEXT: return %[[E]] : tensor<f32>
module @query_chunks {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x6x4x8xf32>) -> tensor<2x2x3x4x8xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2, 3, 4] : (tensor<2x2x3x4x8xf32>) -> tensor<2x2x3x4x8xf32>
    %2 = stablehlo.iota dim = 0 : tensor<2xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x3x4x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:6 = stablehlo.while(%iterArg = %2, %iterArg_0 = %1, %iterArg_1 = %arg1, %iterArg_2 = %arg2, %iterArg_3 = %c, %iterArg_4 = %3) : tensor<2xi32>, tensor<2x2x3x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<i32>, tensor<2x2x3x4x8xf32>
    cond {
      %c_5 = stablehlo.constant dense<2> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg_3, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_3) : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
      %8 = func.call @dynamic_index_in_dim_0(%iterArg_0, %iterArg_3) : (tensor<2x2x3x4x8xf32>, tensor<i32>) -> tensor<2x3x4x8xf32>
      %9 = func.call @closed_call(%iterArg_1, %iterArg_2, %7, %8) : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<i32>, tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32>
      %10 = func.call @dynamic_update_index_in_dim(%iterArg_4, %9, %iterArg_3) : (tensor<2x2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<i32>) -> tensor<2x2x3x4x8xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %11 = stablehlo.add %iterArg_3, %c_5 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_0, %iterArg_1, %iterArg_2, %11, %10 : tensor<2xi32>, tensor<2x2x3x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<i32>, tensor<2x2x3x4x8xf32>
    }
    %5 = stablehlo.transpose %4#5, dims = [1, 0, 2, 3, 4] : (tensor<2x2x3x4x8xf32>) -> tensor<2x2x3x4x8xf32>
    %6 = stablehlo.reshape %5 : (tensor<2x2x3x4x8xf32>) -> tensor<2x6x4x8xf32>
    return %6 : tensor<2x6x4x8xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<2xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<2xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<2x2x3x4x8xf32>, %arg1: tensor<i32>) -> tensor<2x3x4x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 2, 3, 4, 8] : (tensor<2x2x3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3x4x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x3x4x8xf32>) -> tensor<2x3x4x8xf32>
    return %1 : tensor<2x3x4x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<i32>, %arg3: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
    %0 = stablehlo.dot_general %arg3, %arg0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x3x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x3x6xf32>
    %c = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.multiply %arg2, %c : tensor<i32>
    %2 = stablehlo.iota dim = 0 : tensor<3xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %4 = stablehlo.add %3, %2 : tensor<3xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %6 = stablehlo.iota dim = 0 : tensor<6xi32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %8 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x1xi32>) -> tensor<3x6xi32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<3x6xi32>
    %10 = stablehlo.compare GE, %8, %9, SIGNED : (tensor<3x6xi32>, tensor<3x6xi32>) -> tensor<3x6xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = call @_where(%10, %0, %cst) : (tensor<3x6xi1>, tensor<2x4x3x6xf32>, tensor<f32>) -> tensor<2x4x3x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x3x6xf32>, tensor<f32>) -> tensor<2x4x3xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x3xf32>
    %14 = stablehlo.maximum %13, %12 : tensor<2x4x3xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x4x3xf32>) -> tensor<2x4x3x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x4x3x1xf32>) -> tensor<2x4x3x6xf32>
    %17 = stablehlo.subtract %11, %16 : tensor<2x4x3x6xf32>
    %18 = stablehlo.exponential %17 : tensor<2x4x3x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x3x6xf32>, tensor<f32>) -> tensor<2x4x3xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x4x3xf32>) -> tensor<2x4x3x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x4x3x1xf32>) -> tensor<2x4x3x6xf32>
    %22 = stablehlo.divide %18, %21 : tensor<2x4x3x6xf32>
    %23 = stablehlo.dot_general %arg1, %22, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x3x6xf32>) -> tensor<2x4x8x3xf32>
    %24 = stablehlo.transpose %23, dims = [0, 3, 1, 2] : (tensor<2x4x8x3xf32>) -> tensor<2x3x4x8xf32>
    return %24 : tensor<2x3x4x8xf32>
  }
  func.func private @_where(%arg0: tensor<3x6xi1>, %arg1: tensor<2x4x3x6xf32>, %arg2: tensor<f32>) -> tensor<2x4x3x6xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<3x6xi1>) -> tensor<2x4x3x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x3x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x3x6xi1>, tensor<2x4x3x6xf32>
    return %3 : tensor<2x4x3x6xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<2x2x3x4x8xf32>, %arg1: tensor<2x3x4x8xf32>, %arg2: tensor<i32>) -> tensor<2x2x3x4x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<2x3x4x8xf32>) -> tensor<1x2x3x4x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<2x2x3x4x8xf32>, tensor<1x2x3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x3x4x8xf32>
    return %1 : tensor<2x2x3x4x8xf32>
  }
}
