// RUN: sp-opt --sp-outline-kernels --split-input-file %s | FileCheck %s

// A sum and what is made of it are one kernel; the second layer shares it. Products
// are not touched, reshapes of memory stay outside.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<1x64x256xf32>, %[[W:.*]]: tensor<256x256xf32>)
// CHECK: %[[N0:.*]] = sp.launch @norm_0(%[[X]])
// CHECK-NEXT: %[[P0:.*]] = sp.gemm %[[N0]], %[[W]]
// CHECK-NEXT: %[[N1:.*]] = sp.launch @norm_0(%[[P0]])
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[N1]]
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<1x64x256xf32>, %w: tensor<256x256xf32>) -> tensor<64x256xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<1x64x256xf32>, tensor<f32>) -> tensor<1x64xf32>
  %r0 = stablehlo.rsqrt %s0 : tensor<1x64xf32>
  %b0 = stablehlo.broadcast_in_dim %r0, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x256xf32>
  %n0 = stablehlo.multiply %x, %b0 : tensor<1x64x256xf32>
  %p0 = sp.gemm %n0, %w sizes [1, 64, 256, 256] strides [0, 256, 1] x [0, 256, 1] : (tensor<1x64x256xf32>, tensor<256x256xf32>) -> tensor<1x64x256xf32>
  %s1 = stablehlo.reduce(%p0 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<1x64x256xf32>, tensor<f32>) -> tensor<1x64xf32>
  %r1 = stablehlo.rsqrt %s1 : tensor<1x64xf32>
  %b1 = stablehlo.broadcast_in_dim %r1, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x256xf32>
  %n1 = stablehlo.multiply %p0, %b1 : tensor<1x64x256xf32>
  %y = stablehlo.reshape %n1 : (tensor<1x64x256xf32>) -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
// CHECK: func.func private @norm_0(%{{.*}}: tensor<1x64x256xf32>) -> tensor<1x64x256xf32>
// CHECK-NOT: func.func private

// -----

// What is read around a product cannot be in one kernel with both sides of it.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = sp.launch @[[K0:.*]](%{{.*}})
// CHECK-NEXT: %[[P:.*]] = sp.gemm %[[A]]
// CHECK-NEXT: sp.launch @[[K1:.*]](%[[P]], %[[A]])
func.func @main(%x: tensor<64x256xf32>, %w: tensor<256x256xf32>) -> tensor<64x256xf32> {
  %a = stablehlo.tanh %x : tensor<64x256xf32>
  %p = sp.gemm %a, %w sizes [1, 64, 256, 256] strides [0, 256, 1] x [0, 256, 1] : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
  %y = stablehlo.add %p, %a : tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}

// -----

// A sum over rows does not share rows with what reads it.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = sp.launch @reduce_0
// CHECK-NEXT: sp.launch @{{.*}}(%{{.*}}, %[[S]])
func.func @main(%x: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096x256xf32>, tensor<f32>) -> tensor<256xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<256xf32>) -> tensor<4096x256xf32>
  %y = stablehlo.subtract %x, %b : tensor<4096x256xf32>
  return %y : tensor<4096x256xf32>
}

// -----

// A costly vector that every row reads is made once; a mask from positions is made
// again by both of its readers.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<512x512xf32>, %[[V:.*]]: tensor<512xf32>, %[[W:.*]]: tensor<512x512xf32>)
// CHECK: %[[E:.*]] = sp.launch @exponential_0(%[[V]])
// CHECK-NEXT: %[[Y:.*]] = sp.launch @[[K0:.*]](%{{.*}}, %{{.*}})
// CHECK-NEXT: %[[P:.*]] = sp.gemm %[[Y]], %[[W]]
// CHECK-NEXT: sp.launch @[[K1:.*]](%[[P]])
// CHECK: func.func private @[[K0]]
// CHECK: stablehlo.compare
// CHECK: func.func private @[[K1]]
// CHECK: stablehlo.compare
func.func @main(%x: tensor<512x512xf32>, %v: tensor<512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %i = stablehlo.iota dim = 0 : tensor<512x512xi32>
  %j = stablehlo.iota dim = 1 : tensor<512x512xi32>
  %mask = stablehlo.compare GE, %i, %j : (tensor<512x512xi32>, tensor<512x512xi32>) -> tensor<512x512xi1>
  %e = stablehlo.exponential %v : tensor<512xf32>
  %b = stablehlo.broadcast_in_dim %e, dims = [1] : (tensor<512xf32>) -> tensor<512x512xf32>
  %y = stablehlo.select %mask, %x, %b : tensor<512x512xi1>, tensor<512x512xf32>
  %p = sp.gemm %y, %w sizes [1, 512, 512, 512] strides [0, 512, 1] x [0, 512, 1] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
  %r = stablehlo.select %mask, %p, %z : tensor<512x512xi1>, tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// -----

// Loops keep their regions; their bodies become kernels, with the constants they
// capture.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.while
// CHECK: cond {
// CHECK-NEXT: %[[C:.*]] = sp.launch @compare_0(%{{.*}})
// CHECK-NEXT: stablehlo.return %[[C]]
// CHECK: } do {
// CHECK-NEXT: %[[B:.*]] = sp.launch @gelu_0(
// CHECK-NEXT: %[[N:.*]] = sp.launch @add_0(
// CHECK-NEXT: stablehlo.return %[[B]], %[[N]]
// CHECK: func.func private @compare_0(%{{.*}}: tensor<i32>) -> tensor<i1>
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %r:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<8x4xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %b = stablehlo.tanh %a : tensor<8x4xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %b, %n : tensor<8x4xf32>, tensor<i32>
  }
  return %r#0 : tensor<8x4xf32>
}

// -----

// What a checkpoint computes again has a kernel of its own, behind what comes
// first; a value that kernels make themselves is not saved for it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>
// CHECK-NEXT: %[[Y:.*]] = sp.launch @[[ADD:.*]](%[[X]])
// CHECK-NEXT: %[[G:.*]] = sp.gemm %[[Y]]
// CHECK-NEXT: %[[B:.*]]:2 = stablehlo.optimization_barrier %[[X]], %[[G]]
// CHECK-NEXT: sp.launch @[[ADD]](%[[B]]#0)
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %y = stablehlo.add %x, %ones : tensor<8x4xf32>
  %g = sp.gemm %y, %w sizes [1, 8, 4, 4] strides [0, 4, 1] x [0, 4, 1] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b:3 = stablehlo.optimization_barrier %x, %g, %ones : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  %again = stablehlo.add %b#0, %b#2 : tensor<8x4xf32>
  %h = sp.gemm %again, %w sizes [1, 8, 4, 4] strides [0, 4, 1] x [0, 4, 1] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// -----

// A reduction over a dimension of 1 besides that of a row joins no rows: one kernel.
// CHECK-LABEL: @main
// CHECK-NEXT: sp.launch @reduce_{{[0-9]+}}(%{{.*}}) : (tensor<1x64x8xf32>) -> tensor<1x64x8xf32>
// CHECK-NEXT: return
func.func @main(%x: tensor<1x64x8xf32>) -> tensor<1x64x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x64x8xf32>, tensor<f32>) -> tensor<64xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<64xf32>) -> tensor<1x64x8xf32>
  %y = stablehlo.subtract %x, %b : tensor<1x64x8xf32>
  return %y : tensor<1x64x8xf32>
}
