// RUN: sp-opt %s --sp-deal-loops | FileCheck %s

// A loop over layers, or over sequences, has the tokens of a rank in each trip:
// nothing of it is to be dealt, and no rank runs it for others.
sp.mesh @mesh <["sp" = 4]> sequence "sp"
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.while
// CHECK-NOT: sp.not_dealt
func.func @main(%x: tensor<2x16x4xf32> {sp.sharding = #sp.sharding<[[2], [16 by <contiguous 16 on "sp" of 4>], [4]]>}) -> tensor<2x16x4xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %i1 = stablehlo.constant dense<1> : tensor<i32>
  %i2 = stablehlo.constant dense<2> : tensor<i32>
  %stack = stablehlo.constant dense<0.0> : tensor<2x16x4xf32>
  %state = stablehlo.constant dense<0.0> : tensor<16x4xf32>
  %all:3 = stablehlo.while(%i = %i0, %rows = %stack, %before = %state) : tensor<i32>, tensor<2x16x4xf32>, tensor<16x4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %i2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %slice = stablehlo.dynamic_slice %x, %i, %i0, %i0, sizes = [1, 16, 4] : (tensor<2x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x4xf32>
      %layer = stablehlo.reshape %slice : (tensor<1x16x4xf32>) -> tensor<16x4xf32>
      %sum = stablehlo.add %before, %layer : tensor<16x4xf32>
      %next = stablehlo.sine %sum : tensor<16x4xf32>
      %row = stablehlo.reshape %next : (tensor<16x4xf32>) -> tensor<1x16x4xf32>
      %put = stablehlo.dynamic_update_slice %rows, %row, %i, %i0, %i0 : (tensor<2x16x4xf32>, tensor<1x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x16x4xf32>
      %j = stablehlo.add %i, %i1 : tensor<i32>
      stablehlo.return %j, %put, %next : tensor<i32>, tensor<2x16x4xf32>, tensor<16x4xf32>
    }
  return %all#1 : tensor<2x16x4xf32>
}
