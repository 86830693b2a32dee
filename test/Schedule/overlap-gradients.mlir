// RUN: sp-opt %s --sp-propagate-shardings --sp-localize --canonicalize --cse --sp-schedule-pipeline | FileCheck %s

// A step of training: while the gradient of the last weight is summed over both
// axes, the other ones are computed. Biases travel with what is summed next, and
// what is made of sums comes last.
// CHECK-LABEL: func.func @main
// CHECK: %[[BIAS:.*]] = sp.launch @reduce_0(%arg3)
// CHECK: %[[DW2:.*]] = sp.gemm %{{.*}} -> tensor<512x512xf32>
// CHECK-NEXT: %[[FIRST:.*]]:2, %[[T1:.*]] = sp.all_reduce_start %[[BIAS]], %[[DW2]] sum over ["dp", "sp"] of 4 on back : tensor<512xf32>, tensor<512x512xf32>
// CHECK-NOT: sp.wait
// CHECK: %[[DW1:.*]] = sp.gemm %{{.*}} -> tensor<512x512xf32>
// CHECK-NEXT: %[[SECOND:.*]], %[[T2:.*]] = sp.all_reduce_start %[[DW1]] sum
// CHECK-NOT: sp.wait
// CHECK: %[[DX:.*]] = sp.gemm
// CHECK: sp.wait %[[T1]]
// CHECK: sp.launch @transpose_0(%[[FIRST]]#1)
// CHECK: sp.wait %[[T2]]
// CHECK: return
module @step {
  sp.mesh @mesh <["dp" = 2, "sp" = 2]> sequence "sp" batch "dp"
  func.func @main(%x: tensor<2x64x512xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [64 by <zigzag 64 on "sp" of 2>], [512]]>},
                  %w1: tensor<512x512xf32>, %w2: tensor<512x512xf32>,
                  %g: tensor<2x64x512xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [64 by <zigzag 64 on "sp" of 2>], [512]]>})
      -> (tensor<512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<2x64x512xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %h = stablehlo.dot_general %x, %w1, contracting_dims = [2] x [0] : (tensor<2x64x512xf32>, tensor<512x512xf32>) -> tensor<2x64x512xf32>
    %bias = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x64x512xf32>, tensor<f32>) -> tensor<512xf32>
    %t2 = stablehlo.dot_general %g, %h, contracting_dims = [0, 1] x [0, 1] : (tensor<2x64x512xf32>, tensor<2x64x512xf32>) -> tensor<512x512xf32>
    %dw2 = stablehlo.transpose %t2, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>
    %dh = stablehlo.dot_general %g, %w2, contracting_dims = [2] x [1] : (tensor<2x64x512xf32>, tensor<512x512xf32>) -> tensor<2x64x512xf32>
    %t1 = stablehlo.dot_general %dh, %x, contracting_dims = [0, 1] x [0, 1] : (tensor<2x64x512xf32>, tensor<2x64x512xf32>) -> tensor<512x512xf32>
    %dw1 = stablehlo.transpose %t1, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>
    %dx = stablehlo.dot_general %dh, %w1, contracting_dims = [2] x [1] : (tensor<2x64x512xf32>, tensor<512x512xf32>) -> tensor<2x64x512xf32>
    return %bias, %dw2, %dw1, %dx : tensor<512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<2x64x512xf32>
  }
}
