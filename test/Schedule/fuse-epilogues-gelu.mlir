// RUN: sp-opt %s --sp-fuse-epilogues | FileCheck %s

// As jax.nn.gelu says it, with constants of bf16.
// CHECK-LABEL: @gelu_of_jax
// CHECK: %[[Y:.*]] = sp.gemm %{{.*}}, %{{.*}} bias %{{.*}} then gelu sizes [1, 8, 16, 4]
// CHECK-NOT: stablehlo.{{tanh|add|multiply}}
// CHECK: return %[[Y]]
func.func @gelu_of_jax(%x: tensor<8x4xbf16>, %w: tensor<4x16xbf16>, %v: tensor<16xbf16>) -> tensor<8x16xbf16> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xbf16>) -> tensor<8x16xbf16>
  %s = stablehlo.add %p, %b : tensor<8x16xbf16>
  %cubic = stablehlo.constant dense<4.467770e-02> : tensor<8x16xbf16>
  %linear = stablehlo.constant dense<7.968750e-01> : tensor<8x16xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<8x16xbf16>
  %half = stablehlo.constant dense<5.000000e-01> : tensor<8x16xbf16>
  %x2 = stablehlo.multiply %s, %s : tensor<8x16xbf16>
  %x3 = stablehlo.multiply %x2, %s : tensor<8x16xbf16>
  %c3 = stablehlo.multiply %cubic, %x3 : tensor<8x16xbf16>
  %sum = stablehlo.add %s, %c3 : tensor<8x16xbf16>
  %u = stablehlo.multiply %linear, %sum : tensor<8x16xbf16>
  %t = stablehlo.tanh %u : tensor<8x16xbf16>
  %t1 = stablehlo.add %one, %t : tensor<8x16xbf16>
  %cdf = stablehlo.multiply %half, %t1 : tensor<8x16xbf16>
  %y = stablehlo.multiply %s, %cdf : tensor<8x16xbf16>
  return %y : tensor<8x16xbf16>
}

// Another order, a power, no bias.
// CHECK-LABEL: @gelu_of_other_spelling
// CHECK: %[[Y:.*]] = sp.gemm %{{.*}}, %{{.*}} then gelu sizes [1, 8, 16, 4]
// CHECK-NOT: stablehlo.tanh
// CHECK: return %[[Y]]
func.func @gelu_of_other_spelling(%x: tensor<8x4xbf16>, %w: tensor<4x16xbf16>, %v: tensor<16xbf16>) -> tensor<8x16xbf16> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  %cubic = stablehlo.constant dense<0.044715> : tensor<8x16xbf16>
  %linear = stablehlo.constant dense<0.797885> : tensor<8x16xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<8x16xbf16>
  %half = stablehlo.constant dense<0.5> : tensor<8x16xbf16>
  %three = stablehlo.constant dense<3.0> : tensor<8x16xbf16>
  %x3 = stablehlo.power %p, %three : tensor<8x16xbf16>
  %c3 = stablehlo.multiply %x3, %cubic : tensor<8x16xbf16>
  %sum = stablehlo.add %c3, %p : tensor<8x16xbf16>
  %u = stablehlo.multiply %sum, %linear : tensor<8x16xbf16>
  %t = stablehlo.tanh %u : tensor<8x16xbf16>
  %t1 = stablehlo.add %t, %one : tensor<8x16xbf16>
  %h = stablehlo.multiply %p, %half : tensor<8x16xbf16>
  %y = stablehlo.multiply %h, %t1 : tensor<8x16xbf16>
  return %y : tensor<8x16xbf16>
}

// In f32, between conversions.
// CHECK-LABEL: @gelu_in_f32
// CHECK: %[[Y:.*]] = sp.gemm %{{.*}}, %{{.*}} bias %{{.*}} then gelu sizes [1, 8, 16, 4]
// CHECK-NOT: stablehlo.tanh
// CHECK: return %[[Y]]
func.func @gelu_in_f32(%x: tensor<8x4xbf16>, %w: tensor<4x16xbf16>, %v: tensor<16xbf16>) -> tensor<8x16xbf16> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xbf16>) -> tensor<8x16xbf16>
  %s = stablehlo.add %p, %b : tensor<8x16xbf16>
  %q = stablehlo.convert %s : (tensor<8x16xbf16>) -> tensor<8x16xf32>
  %cubic = stablehlo.constant dense<0.044715> : tensor<8x16xf32>
  %linear = stablehlo.constant dense<0.797884583> : tensor<8x16xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8x16xf32>
  %half = stablehlo.constant dense<5.000000e-01> : tensor<8x16xf32>
  %x2 = stablehlo.multiply %q, %q : tensor<8x16xf32>
  %x3 = stablehlo.multiply %x2, %q : tensor<8x16xf32>
  %c3 = stablehlo.multiply %cubic, %x3 : tensor<8x16xf32>
  %sum = stablehlo.add %q, %c3 : tensor<8x16xf32>
  %u = stablehlo.multiply %linear, %sum : tensor<8x16xf32>
  %t = stablehlo.tanh %u : tensor<8x16xf32>
  %t1 = stablehlo.add %one, %t : tensor<8x16xf32>
  %cdf = stablehlo.multiply %half, %t1 : tensor<8x16xf32>
  %z = stablehlo.multiply %q, %cdf : tensor<8x16xf32>
  %y = stablehlo.convert %z : (tensor<8x16xf32>) -> tensor<8x16xbf16>
  return %y : tensor<8x16xbf16>
}

// CHECK-LABEL: @gelu_multiplied_out
// CHECK: %[[Y:.*]] = sp.gemm %{{.*}}, %{{.*}} then gelu sizes
// CHECK-NOT: stablehlo.tanh
// CHECK: return %[[Y]]
func.func @gelu_multiplied_out(%x: tensor<8x4xbf16>, %w: tensor<4x16xbf16>, %v: tensor<16xbf16>) -> tensor<8x16xbf16> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  %cubic = stablehlo.constant dense<3.567740e-02> : tensor<8x16xbf16>
  %linear = stablehlo.constant dense<0.797885> : tensor<8x16xbf16>
  %half = stablehlo.constant dense<0.5> : tensor<8x16xbf16>
  %x2 = stablehlo.multiply %p, %p : tensor<8x16xbf16>
  %c2 = stablehlo.multiply %x2, %cubic : tensor<8x16xbf16>
  %l2 = stablehlo.add %c2, %linear : tensor<8x16xbf16>
  %u = stablehlo.multiply %l2, %p : tensor<8x16xbf16>
  %t = stablehlo.tanh %u : tensor<8x16xbf16>
  %h = stablehlo.multiply %p, %half : tensor<8x16xbf16>
  %ht = stablehlo.multiply %h, %t : tensor<8x16xbf16>
  %y = stablehlo.add %h, %ht : tensor<8x16xbf16>
  return %y : tensor<8x16xbf16>
}

// It has more digits than cuBLASLt's function.
// CHECK-LABEL: @gelu_of_f32
// CHECK: sp.gemm %{{.*}}, %{{.*}} bias %{{.*}} sizes
// CHECK: stablehlo.tanh
func.func @gelu_of_f32(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %v: tensor<16xf32>) -> tensor<8x16xf32> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
  %s = stablehlo.add %p, %b : tensor<8x16xf32>
  %cubic = stablehlo.constant dense<0.044715> : tensor<8x16xf32>
  %linear = stablehlo.constant dense<0.797884583> : tensor<8x16xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8x16xf32>
  %half = stablehlo.constant dense<5.000000e-01> : tensor<8x16xf32>
  %x2 = stablehlo.multiply %s, %s : tensor<8x16xf32>
  %x3 = stablehlo.multiply %x2, %s : tensor<8x16xf32>
  %c3 = stablehlo.multiply %cubic, %x3 : tensor<8x16xf32>
  %sum = stablehlo.add %s, %c3 : tensor<8x16xf32>
  %u = stablehlo.multiply %linear, %sum : tensor<8x16xf32>
  %t = stablehlo.tanh %u : tensor<8x16xf32>
  %t1 = stablehlo.add %one, %t : tensor<8x16xf32>
  %cdf = stablehlo.multiply %half, %t1 : tensor<8x16xf32>
  %y = stablehlo.multiply %s, %cdf : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// CHECK-LABEL: @function_with_another_constant
// CHECK: sp.gemm %{{.*}}, %{{.*}} bias %{{.*}} sizes
// CHECK: stablehlo.tanh
func.func @function_with_another_constant(%x: tensor<8x4xbf16>, %w: tensor<4x16xbf16>, %v: tensor<16xbf16>) -> tensor<8x16xbf16> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xbf16>) -> tensor<8x16xbf16>
  %s = stablehlo.add %p, %b : tensor<8x16xbf16>
  %cubic = stablehlo.constant dense<4.467770e-02> : tensor<8x16xbf16>
  %linear = stablehlo.constant dense<8.515630e-01> : tensor<8x16xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<8x16xbf16>
  %half = stablehlo.constant dense<5.000000e-01> : tensor<8x16xbf16>
  %x2 = stablehlo.multiply %s, %s : tensor<8x16xbf16>
  %x3 = stablehlo.multiply %x2, %s : tensor<8x16xbf16>
  %c3 = stablehlo.multiply %cubic, %x3 : tensor<8x16xbf16>
  %sum = stablehlo.add %s, %c3 : tensor<8x16xbf16>
  %u = stablehlo.multiply %linear, %sum : tensor<8x16xbf16>
  %t = stablehlo.tanh %u : tensor<8x16xbf16>
  %t1 = stablehlo.add %one, %t : tensor<8x16xbf16>
  %cdf = stablehlo.multiply %half, %t1 : tensor<8x16xbf16>
  %y = stablehlo.multiply %s, %cdf : tensor<8x16xbf16>
  return %y : tensor<8x16xbf16>
}

// CHECK-LABEL: @sum_that_is_read_beside_gelu
// CHECK: sp.gemm %{{.*}}, %{{.*}} bias %{{.*}} sizes
// CHECK: stablehlo.tanh
func.func @sum_that_is_read_beside_gelu(%x: tensor<8x4xbf16>, %w: tensor<4x16xbf16>, %v: tensor<16xbf16>) -> (tensor<8x16xbf16>, tensor<8x16xbf16>) {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xbf16>) -> tensor<8x16xbf16>
  %s = stablehlo.add %p, %b : tensor<8x16xbf16>
  %cubic = stablehlo.constant dense<4.467770e-02> : tensor<8x16xbf16>
  %linear = stablehlo.constant dense<7.968750e-01> : tensor<8x16xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<8x16xbf16>
  %half = stablehlo.constant dense<5.000000e-01> : tensor<8x16xbf16>
  %x2 = stablehlo.multiply %s, %s : tensor<8x16xbf16>
  %x3 = stablehlo.multiply %x2, %s : tensor<8x16xbf16>
  %c3 = stablehlo.multiply %cubic, %x3 : tensor<8x16xbf16>
  %sum = stablehlo.add %s, %c3 : tensor<8x16xbf16>
  %u = stablehlo.multiply %linear, %sum : tensor<8x16xbf16>
  %t = stablehlo.tanh %u : tensor<8x16xbf16>
  %t1 = stablehlo.add %one, %t : tensor<8x16xbf16>
  %cdf = stablehlo.multiply %half, %t1 : tensor<8x16xbf16>
  %y = stablehlo.multiply %s, %cdf : tensor<8x16xbf16>
  return %s, %y : tensor<8x16xbf16>, tensor<8x16xbf16>
}

// CHECK-LABEL: @tanh_that_is_read_beside_gelu
// CHECK: sp.gemm %{{.*}}, %{{.*}} bias %{{.*}} sizes
// CHECK: stablehlo.tanh
func.func @tanh_that_is_read_beside_gelu(%x: tensor<8x4xbf16>, %w: tensor<4x16xbf16>, %v: tensor<16xbf16>) -> (tensor<8x16xbf16>, tensor<8x16xbf16>) {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xbf16>) -> tensor<8x16xbf16>
  %s = stablehlo.add %p, %b : tensor<8x16xbf16>
  %cubic = stablehlo.constant dense<4.467770e-02> : tensor<8x16xbf16>
  %linear = stablehlo.constant dense<7.968750e-01> : tensor<8x16xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<8x16xbf16>
  %half = stablehlo.constant dense<5.000000e-01> : tensor<8x16xbf16>
  %x2 = stablehlo.multiply %s, %s : tensor<8x16xbf16>
  %x3 = stablehlo.multiply %x2, %s : tensor<8x16xbf16>
  %c3 = stablehlo.multiply %cubic, %x3 : tensor<8x16xbf16>
  %sum = stablehlo.add %s, %c3 : tensor<8x16xbf16>
  %u = stablehlo.multiply %linear, %sum : tensor<8x16xbf16>
  %t = stablehlo.tanh %u : tensor<8x16xbf16>
  %t1 = stablehlo.add %one, %t : tensor<8x16xbf16>
  %cdf = stablehlo.multiply %half, %t1 : tensor<8x16xbf16>
  %y = stablehlo.multiply %s, %cdf : tensor<8x16xbf16>
  return %t, %y : tensor<8x16xbf16>, tensor<8x16xbf16>
}

// CHECK-LABEL: @gelu_by_erf
// CHECK: sp.gemm %{{.*}}, %{{.*}} bias %{{.*}} sizes
// CHECK: chlo.erf
func.func @gelu_by_erf(%x: tensor<8x4xbf16>, %w: tensor<4x16xbf16>, %v: tensor<16xbf16>) -> tensor<8x16xbf16> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xbf16>) -> tensor<8x16xbf16>
  %s = stablehlo.add %p, %b : tensor<8x16xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<8x16xbf16>
  %half = stablehlo.constant dense<0.5> : tensor<8x16xbf16>
  %root = stablehlo.constant dense<7.070310e-01> : tensor<8x16xbf16>
  %u = stablehlo.multiply %s, %root : tensor<8x16xbf16>
  %t = chlo.erf %u : tensor<8x16xbf16> -> tensor<8x16xbf16>
  %t1 = stablehlo.add %one, %t : tensor<8x16xbf16>
  %cdf = stablehlo.multiply %half, %t1 : tensor<8x16xbf16>
  %y = stablehlo.multiply %s, %cdf : tensor<8x16xbf16>
  return %y : tensor<8x16xbf16>
}
