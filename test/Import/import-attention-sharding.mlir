// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Sharding constraints do not hide an attention, and those on queries, keys,
// values and the result stay.

// CHECK-LABEL: module @constraints_on_everything
// CHECK: %[[Q:.*]] = sdy.sharding_constraint %{{.*}} <@mesh, [{"dp"}, {"sp"}, {}, {}]> : tensor<2x8x4x8xf32>
// CHECK: %[[K:.*]] = sdy.sharding_constraint
// CHECK: %[[V:.*]] = sdy.sharding_constraint
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[Q]], %[[K]], %[[V]])
// CHECK-NEXT: sdy.sharding_constraint %[[O]] <@mesh, [{"dp"}, {"sp"}, {}, {}]>
// CHECK-NOT: sdy.sharding_constraint
module @constraints_on_everything {
  sdy.mesh @mesh = <["dp"=2, "sp"=2]>
  func.func public @main(%arg0: tensor<2x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"sp"}, {}]>}, %arg1: tensor<3x32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<2x8x32xf32>) {
    %0 = stablehlo.slice %arg1 [0:1, 0:32, 0:32] : (tensor<3x32x32xf32>) -> tensor<1x32x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    %2 = stablehlo.dot_general %arg0, %1, contracting_dims = [2] x [0] : (tensor<2x8x32xf32>, tensor<32x32xf32>) -> tensor<2x8x32xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x8x32xf32>) -> tensor<2x8x4x8xf32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{"dp"}, {"sp"}, {}, {}]> : tensor<2x8x4x8xf32>
    %5 = stablehlo.slice %arg1 [1:2, 0:32, 0:32] : (tensor<3x32x32xf32>) -> tensor<1x32x32xf32>
    %6 = stablehlo.reshape %5 : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    %7 = stablehlo.dot_general %arg0, %6, contracting_dims = [2] x [0] : (tensor<2x8x32xf32>, tensor<32x32xf32>) -> tensor<2x8x32xf32>
    %8 = stablehlo.reshape %7 : (tensor<2x8x32xf32>) -> tensor<2x8x4x8xf32>
    %9 = sdy.sharding_constraint %8 <@mesh, [{"dp"}, {"sp"}, {}, {}]> : tensor<2x8x4x8xf32>
    %10 = stablehlo.slice %arg1 [2:3, 0:32, 0:32] : (tensor<3x32x32xf32>) -> tensor<1x32x32xf32>
    %11 = stablehlo.reshape %10 : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    %12 = stablehlo.dot_general %arg0, %11, contracting_dims = [2] x [0] : (tensor<2x8x32xf32>, tensor<32x32xf32>) -> tensor<2x8x32xf32>
    %13 = stablehlo.reshape %12 : (tensor<2x8x32xf32>) -> tensor<2x8x4x8xf32>
    %14 = sdy.sharding_constraint %13 <@mesh, [{"dp"}, {"sp"}, {}, {}]> : tensor<2x8x4x8xf32>
    %15 = stablehlo.dot_general %4, %9, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x8x4x8xf32>, tensor<2x8x4x8xf32>) -> tensor<2x4x8x8xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %17 = stablehlo.multiply %15, %16 : tensor<2x4x8x8xf32>
    %18 = sdy.sharding_constraint %17 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %19 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %20 = call @tril(%19) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = call @_where(%20, %18, %cst_0) : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %24 = stablehlo.maximum %23, %22 : tensor<2x4x8xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %27 = stablehlo.subtract %21, %26 : tensor<2x4x8x8xf32>
    %28 = stablehlo.exponential %27 : tensor<2x4x8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %32 = stablehlo.divide %28, %31 : tensor<2x4x8x8xf32>
    %33 = sdy.sharding_constraint %32 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x8xf32>
    %34 = stablehlo.dot_general %14, %33, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x8x4x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %35 = stablehlo.transpose %34, dims = [0, 3, 1, 2] : (tensor<2x4x8x8xf32>) -> tensor<2x8x4x8xf32>
    %36 = sdy.sharding_constraint %35 <@mesh, [{"dp"}, {"sp"}, {}, {}]> : tensor<2x8x4x8xf32>
    %37 = stablehlo.reshape %36 : (tensor<2x8x4x8xf32>) -> tensor<2x8x32xf32>
    return %37 : tensor<2x8x32xf32>
  }
  func.func private @tril(%arg0: tensor<8x8xi1>) -> tensor<8x8xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %2 = stablehlo.add %0, %1 : tensor<8x8xi32>
    %3 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<8x8xi1>, tensor<8x8xi1>
    return %6 : tensor<8x8xi1>
  }
  func.func private @_where(%arg0: tensor<8x8xi1>, %arg1: tensor<2x4x8x8xf32>, %arg2: tensor<f32>) -> tensor<2x4x8x8xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<8x8xi1>) -> tensor<2x4x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x8x8xi1>, tensor<2x4x8x8xf32>
    return %3 : tensor<2x4x8x8xf32>
  }
}

// -----

// CHECK-LABEL: module @explicit_mesh
// CHECK: func.func public @main(%[[Q:[^:]*]]: tensor<2x8x4x8xf32> {{.*}}, %[[K:[^:]*]]: tensor<2x8x4x8xf32> {{.*}}, %[[V:[^:]*]]: tensor<2x8x4x8xf32> {
// CHECK-NEXT: %[[O:.*]] = sp.attention(%[[Q]], %[[K]], %[[V]])
// CHECK-NEXT: sdy.sharding_constraint %[[O]] <@mesh, [{"dp"}, {"sp"}, {}, {}]>
module @explicit_mesh {
  sdy.mesh @mesh = <["dp"=2, "sp"=2]>
  func.func public @main(%arg0: tensor<2x8x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"sp"}, {}, {}]>}, %arg1: tensor<2x8x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}, {}]>}, %arg2: tensor<2x8x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}, {}]>}) -> (tensor<2x8x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"sp"}, {}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x8x4x8xf32>, tensor<2x8x4x8xf32>) -> tensor<2x4x8x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x8xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x8xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<2x4x8x8xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x8xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"dp"}, {}, {"sp"}]> : tensor<2x4x8xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %9 = sdy.sharding_constraint %8 <@mesh, [{"dp"}, {}, {"sp"}]> : tensor<2x4x8xf32>
    %10 = stablehlo.maximum %9, %7 : tensor<2x4x8xf32>
    %11 = sdy.sharding_constraint %10 <@mesh, [{"dp"}, {}, {"sp"}]> : tensor<2x4x8xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %13 = sdy.sharding_constraint %12 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %15 = sdy.sharding_constraint %14 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x8xf32>
    %16 = stablehlo.subtract %5, %15 : tensor<2x4x8x8xf32>
    %17 = sdy.sharding_constraint %16 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x8xf32>
    %18 = stablehlo.exponential %17 : tensor<2x4x8x8xf32>
    %19 = sdy.sharding_constraint %18 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %21 = sdy.sharding_constraint %20 <@mesh, [{"dp"}, {}, {"sp"}]> : tensor<2x4x8xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %23 = sdy.sharding_constraint %22 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %25 = sdy.sharding_constraint %24 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x8xf32>
    %26 = stablehlo.divide %19, %25 : tensor<2x4x8x8xf32>
    %27 = sdy.sharding_constraint %26 <@mesh, [{"dp"}, {}, {"sp"}, {}]> : tensor<2x4x8x8xf32>
    %28 = stablehlo.dot_general %arg2, %27, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x8x4x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %29 = sdy.sharding_constraint %28 <@mesh, [{"dp"}, {}, {}, {"sp"}]> : tensor<2x4x8x8xf32>
    %30 = stablehlo.transpose %29, dims = [0, 3, 1, 2] : (tensor<2x4x8x8xf32>) -> tensor<2x8x4x8xf32>
    %31 = sdy.sharding_constraint %30 <@mesh, [{"dp"}, {"sp"}, {}, {}]> : tensor<2x8x4x8xf32>
    return %31 : tensor<2x8x4x8xf32>
  }
}
