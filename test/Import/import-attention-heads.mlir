// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Fewer kv heads than heads, however they are repeated.

// CHECK-LABEL: module @grouped_repeat
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x2x8xf32>, %[[ARG2:.*]]: tensor<2x6x2x8xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]])
// CHECK-SAME: bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0{{ ?}}>] scale 0.353553{{[0-9]*}} {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NEXT: return %[[O]]
// CHECK-NOT: {{x6x6x|<6x6x}}
module @grouped_repeat {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2, 4] : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x2x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x4x8xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2, 4] : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x2x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x4x8xf32>
    %4 = stablehlo.dot_general %arg0, %1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<2x4x6x6xf32>
    %7 = stablehlo.iota dim = 0 : tensor<6xi32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %11 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %12 = stablehlo.compare GE, %10, %11, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %cst_0 = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
    %13 = call @_where(%12, %6, %cst_0) : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %16 = stablehlo.maximum %15, %14 : tensor<2x4x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %19 = stablehlo.subtract %13, %18 : tensor<2x4x6x6xf32>
    %20 = stablehlo.exponential %19 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %24 = stablehlo.divide %20, %23 : tensor<2x4x6x6xf32>
    %25 = stablehlo.dot_general %3, %24, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %26 = stablehlo.transpose %25, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %26 : tensor<2x6x4x8xf32>
  }
  func.func private @_where(%arg0: tensor<6x6xi1>, %arg1: tensor<2x4x6x6xf32>, %arg2: tensor<f32>) -> tensor<2x4x6x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    return %2 : tensor<2x4x6x6xf32>
  }
}

// -----

// CHECK-LABEL: module @grouped_broadcast
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x2x8xf32>, %[[ARG2:.*]]: tensor<2x6x2x8xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]])
// CHECK-SAME: bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0{{ ?}}>] scale 0.353553{{[0-9]*}} {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NEXT: return %[[O]]
// CHECK-NOT: {{x6x6x|<6x6x}}
module @grouped_broadcast {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2, 4] : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x1x8xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3, 4] : (tensor<2x6x2x1x8xf32>) -> tensor<2x6x2x2x8xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x4x8xf32>
    %3 = stablehlo.dot_general %arg0, %2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x4x6x6xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %7 = call @tril(%6) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %8 = call @_where(%7, %5, %cst_0) : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %11 = stablehlo.maximum %10, %9 : tensor<2x4x6xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %14 = stablehlo.subtract %8, %13 : tensor<2x4x6x6xf32>
    %15 = stablehlo.exponential %14 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %19 = stablehlo.divide %15, %18 : tensor<2x4x6x6xf32>
    %20 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2, 4] : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x1x8xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3, 4] : (tensor<2x6x2x1x8xf32>) -> tensor<2x6x2x2x8xf32>
    %22 = stablehlo.reshape %21 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x4x8xf32>
    %23 = stablehlo.dot_general %22, %19, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %24 = stablehlo.transpose %23, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %24 : tensor<2x6x4x8xf32>
  }
  func.func private @tril(%arg0: tensor<6x6xi1>) -> tensor<6x6xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %2 = stablehlo.add %0, %1 : tensor<6x6xi32>
    %3 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<6x6xi1>, tensor<6x6xi1>
    return %6 : tensor<6x6xi1>
  }
  func.func private @_where(%arg0: tensor<6x6xi1>, %arg1: tensor<2x4x6x6xf32>, %arg2: tensor<f32>) -> tensor<2x4x6x6xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    return %3 : tensor<2x4x6x6xf32>
  }
}

// -----

// CHECK-LABEL: module @grouped_five_dims
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xf32>, %[[ARG1:.*]]: tensor<2x6x2x8xf32>, %[[ARG2:.*]]: tensor<2x6x2x8xf32>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]])
// CHECK-SAME: bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0{{ ?}}>] scale 0.353553{{[0-9]*}} {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: {{x6x6x|<6x6x}}
module @grouped_five_dims {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>) -> (tensor<2x6x32xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x6x4x8xf32>) -> tensor<2x6x2x2x8xf32>
    %1 = stablehlo.dot_general %arg1, %0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4] : (tensor<2x6x2x8xf32>, tensor<2x6x2x2x8xf32>) -> tensor<2x2x6x6x2xf32>
    %2 = stablehlo.transpose %1, dims = [0, 1, 4, 3, 2] : (tensor<2x2x6x6x2xf32>) -> tensor<2x2x2x6x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x2x6x6xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<2x2x2x6x6xf32>
    %5 = stablehlo.iota dim = 0 : tensor<6xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %7 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<6xi32>) -> tensor<1x6xi32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<6x1xi32>) -> tensor<6x6xi32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x6xi32>) -> tensor<6x6xi32>
    %10 = stablehlo.compare GE, %8, %9, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %11 = call @_where(%10, %c, %cst_0) : (tensor<6x6xi1>, tensor<i32>, tensor<f32>) -> tensor<6x6xf32>
    %12 = stablehlo.convert %11 : tensor<6x6xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [3, 4] : (tensor<6x6xf32>) -> tensor<1x1x1x6x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3, 4] : (tensor<1x1x1x6x6xf32>) -> tensor<2x2x2x6x6xf32>
    %15 = stablehlo.add %4, %14 : tensor<2x2x2x6x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_1) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x2x6xf32>
    %18 = stablehlo.maximum %17, %16 : tensor<2x2x2x6xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %21 = stablehlo.subtract %15, %20 : tensor<2x2x2x6x6xf32>
    %22 = stablehlo.exponential %21 : tensor<2x2x2x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_3) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %26 = stablehlo.divide %22, %25 : tensor<2x2x2x6x6xf32>
    %27 = stablehlo.dot_general %arg2, %26, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4] : (tensor<2x6x2x8xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x8x2x6xf32>
    %28 = stablehlo.transpose %27, dims = [0, 4, 1, 3, 2] : (tensor<2x2x8x2x6xf32>) -> tensor<2x6x2x2x8xf32>
    %29 = stablehlo.reshape %28 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x32xf32>
    return %29 : tensor<2x6x32xf32>
  }
  func.func private @_where(%arg0: tensor<6x6xi1>, %arg1: tensor<i32>, %arg2: tensor<f32>) -> tensor<6x6xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %3 = stablehlo.select %arg0, %1, %2 : tensor<6x6xi1>, tensor<6x6xf32>
    return %3 : tensor<6x6xf32>
  }
}
