// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Layers in a loop; the mask that the loop carried goes.

// CHECK-LABEL: module @layers_in_a_loop
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-SAME: bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0{{ ?}}>] scale 0.353553{{[0-9]*}} {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT: {{x6x6x|<6x6x}}
module @layers_in_a_loop {
  func.func public @main(%arg0: tensor<2x6x32xf32>, %arg1: tensor<3x4x32x32xf32>) -> (tensor<2x6x32xf32>) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %1 = call @tril(%0) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2:4 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %1, %iterArg_2 = %c_0, %iterArg_3 = %arg0) : tensor<3x4x32x32xf32>, tensor<6x6xi1>, tensor<i32>, tensor<2x6x32xf32>
    cond {
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_2, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<3x4x32x32xf32>, tensor<i32>) -> tensor<4x32x32xf32>
      %4 = func.call @closed_call(%iterArg_1, %iterArg_3, %3) : (tensor<6x6xi1>, tensor<2x6x32xf32>, tensor<4x32x32xf32>) -> tensor<2x6x32xf32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg_2, %c_4 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %5, %4 : tensor<3x4x32x32xf32>, tensor<6x6xi1>, tensor<i32>, tensor<2x6x32xf32>
    }
    return %2#3 : tensor<2x6x32xf32>
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
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x4x32x32xf32>, %arg1: tensor<i32>) -> tensor<4x32x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 4, 32, 32] : (tensor<3x4x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x32x32xf32>) -> tensor<4x32x32xf32>
    return %1 : tensor<4x32x32xf32>
  }
  func.func private @closed_call(%arg0: tensor<6x6xi1>, %arg1: tensor<2x6x32xf32>, %arg2: tensor<4x32x32xf32>) -> tensor<2x6x32xf32> {
    %0 = stablehlo.slice %arg2 [0:1, 0:32, 0:32] : (tensor<4x32x32xf32>) -> tensor<1x32x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    %2 = stablehlo.dot_general %arg1, %1, contracting_dims = [2] x [0] : (tensor<2x6x32xf32>, tensor<32x32xf32>) -> tensor<2x6x32xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x6x32xf32>) -> tensor<2x6x4x8xf32>
    %4 = stablehlo.slice %arg2 [1:2, 0:32, 0:32] : (tensor<4x32x32xf32>) -> tensor<1x32x32xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    %6 = stablehlo.dot_general %arg1, %5, contracting_dims = [2] x [0] : (tensor<2x6x32xf32>, tensor<32x32xf32>) -> tensor<2x6x32xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x6x32xf32>) -> tensor<2x6x4x8xf32>
    %8 = stablehlo.slice %arg2 [2:3, 0:32, 0:32] : (tensor<4x32x32xf32>) -> tensor<1x32x32xf32>
    %9 = stablehlo.reshape %8 : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    %10 = stablehlo.dot_general %arg1, %9, contracting_dims = [2] x [0] : (tensor<2x6x32xf32>, tensor<32x32xf32>) -> tensor<2x6x32xf32>
    %11 = stablehlo.reshape %10 : (tensor<2x6x32xf32>) -> tensor<2x6x4x8xf32>
    %12 = stablehlo.dot_general %3, %7, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %14 = stablehlo.divide %12, %13 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %15 = call @_where(%arg0, %14, %cst_0) : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %18 = stablehlo.maximum %17, %16 : tensor<2x4x6xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %21 = stablehlo.subtract %15, %20 : tensor<2x4x6x6xf32>
    %22 = stablehlo.exponential %21 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %26 = stablehlo.divide %22, %25 : tensor<2x4x6x6xf32>
    %27 = stablehlo.dot_general %11, %26, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %28 = stablehlo.transpose %27, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %29 = stablehlo.reshape %28 : (tensor<2x6x4x8xf32>) -> tensor<2x6x32xf32>
    %30 = stablehlo.slice %arg2 [3:4, 0:32, 0:32] : (tensor<4x32x32xf32>) -> tensor<1x32x32xf32>
    %31 = stablehlo.reshape %30 : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    %32 = stablehlo.dot_general %29, %31, contracting_dims = [2] x [0] : (tensor<2x6x32xf32>, tensor<32x32xf32>) -> tensor<2x6x32xf32>
    %33 = stablehlo.add %arg1, %32 : tensor<2x6x32xf32>
    return %33 : tensor<2x6x32xf32>
  }
  func.func private @_where(%arg0: tensor<6x6xi1>, %arg1: tensor<2x4x6x6xf32>, %arg2: tensor<f32>) -> tensor<2x4x6x6xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    return %3 : tensor<2x4x6x6xf32>
  }
}
