// RUN: sp-compile %s --mesh=sp=4 --strategy=ring -o %t.spx --report=%t.json
// RUN: FileCheck %s < %t.json

// Each turn adds up over ranks what the condition asks; how many there are is not known.

// CHECK: "bytesAreExact": false
module @jit_loop2 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x16x2x8xf32>, %arg1: tensor<1x16x2x8xf32>, %arg2: tensor<1x16x2x8xf32>) -> (tensor<1x16x2x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.while(%iterArg = %arg0) : tensor<1x16x2x8xf32>
    cond {
      %18 = stablehlo.multiply %iterArg, %iterArg : tensor<1x16x2x8xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.reduce(%18 init: %cst_3) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<1x16x2x8xf32>, tensor<f32>) -> tensor<f32>
      %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %20 = stablehlo.compare GT, %19, %cst_4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %cst_3 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x16x2x8xf32>
      %19 = stablehlo.multiply %iterArg, %18 : tensor<1x16x2x8xf32>
      stablehlo.return %19 : tensor<1x16x2x8xf32>
    }
    %1 = stablehlo.dot_general %0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>) -> tensor<1x2x16x16xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %3 = call @tril(%2) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = call @_where(%3, %1, %cst) : (tensor<16x16xi1>, tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %7 = stablehlo.maximum %6, %5 : tensor<1x2x16xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %10 = stablehlo.subtract %4, %9 : tensor<1x2x16x16xf32>
    %11 = stablehlo.exponential %10 : tensor<1x2x16x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %15 = stablehlo.divide %11, %14 : tensor<1x2x16x16xf32>
    %16 = stablehlo.dot_general %arg2, %15, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<1x16x2x8xf32>, tensor<1x2x16x16xf32>) -> tensor<1x2x8x16xf32>
    %17 = stablehlo.transpose %16, dims = [0, 3, 1, 2] : (tensor<1x2x8x16xf32>) -> tensor<1x16x2x8xf32>
    return %17 : tensor<1x16x2x8xf32>
  }
  func.func private @tril(%arg0: tensor<16x16xi1>) -> tensor<16x16xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
    %2 = stablehlo.add %0, %1 : tensor<16x16xi32>
    %3 = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<16x16xi1>, tensor<16x16xi1>
    return %6 : tensor<16x16xi1>
  }
  func.func private @_where(%arg0: tensor<16x16xi1>, %arg1: tensor<1x2x16x16xf32>, %arg2: tensor<f32>) -> tensor<1x2x16x16xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<16x16xi1>) -> tensor<1x2x16x16xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x2x16x16xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x2x16x16xi1>, tensor<1x2x16x16xf32>
    return %3 : tensor<1x2x16x16xf32>
  }
}

