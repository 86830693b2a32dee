// RUN: sp-opt %s --sp-split-sums --sp-merge-duplicates | FileCheck %s

// Two softmaxes, the second with a factor: products of their own.

// CHECK-LABEL: func.func @difference
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<8x6xf32>, %[[L:[a-z0-9]+]]: tensor<f32>) -> tensor<8x6xf32>
// CHECK: %[[P0:.*]] = stablehlo.divide
// CHECK: %[[P1:.*]] = stablehlo.divide
// CHECK: %[[O0:.*]] = stablehlo.dot_general %[[P0]], %[[V]]
// CHECK: %[[O1:.*]] = stablehlo.dot_general %[[P1]], %[[V]]
// CHECK: %[[F:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
// CHECK: %[[SCALED:.*]] = stablehlo.multiply %[[O1]], %[[F]]
// CHECK: %[[O:.*]] = stablehlo.subtract %[[O0]], %[[SCALED]]
// CHECK: return %[[O]]
func.func @difference(%q0: tensor<8x4xf32>, %q1: tensor<8x4xf32>, %k0: tensor<8x4xf32>, %k1: tensor<8x4xf32>, %v: tensor<8x6xf32>, %l: tensor<f32>) -> tensor<8x6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = stablehlo.dot_general %q0, %k0, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %e0 = stablehlo.exponential %s0 : tensor<8x8xf32>
  %r0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %b0 = stablehlo.broadcast_in_dim %r0, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %p0 = stablehlo.divide %e0, %b0 : tensor<8x8xf32>
  %s1 = stablehlo.dot_general %q1, %k1, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %e1 = stablehlo.exponential %s1 : tensor<8x8xf32>
  %r1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %b1 = stablehlo.broadcast_in_dim %r1, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %p1 = stablehlo.divide %e1, %b1 : tensor<8x8xf32>
  %f = stablehlo.broadcast_in_dim %l, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
  %scaled = stablehlo.multiply %f, %p1 : tensor<8x8xf32>
  %p = stablehlo.subtract %p0, %scaled : tensor<8x8xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %o : tensor<8x6xf32>
}

// Heads of one softmax stay in one product, its values twice.

// CHECK-LABEL: func.func @parts
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<2x8x6xf32>)
// CHECK: %[[VV:.*]] = stablehlo.concatenate %[[V]], %[[V]], dim = 0
// CHECK: %[[VT:.*]] = stablehlo.transpose %[[VV]], dims = [0, 2, 1]
// CHECK: %[[P:.*]] = stablehlo.divide {{.*}} : tensor<4x8x8xf32>
// CHECK: %[[O:.*]] = stablehlo.dot_general %[[P]], %[[VT]], batching_dims = [0] x [0], contracting_dims = [2] x [2]
// CHECK: %[[O0:.*]] = stablehlo.slice %[[O]] [0:2, 0:8, 0:6]
// CHECK: %[[O1:.*]] = stablehlo.slice %[[O]] [2:4, 0:8, 0:6]
// CHECK: stablehlo.subtract %[[O0]], %[[O1]]
// CHECK-NOT: stablehlo.dot_general
func.func @parts(%q: tensor<4x8x4xf32>, %k: tensor<4x8x4xf32>, %v: tensor<2x8x6xf32>) -> tensor<2x8x6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x8x4xf32>, tensor<4x8x4xf32>) -> tensor<4x8x8xf32>
  %e = stablehlo.exponential %s : tensor<4x8x8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x8xf32>
  %p = stablehlo.divide %e, %b : tensor<4x8x8xf32>
  %p0 = stablehlo.slice %p [0:2, 0:8, 0:8] : (tensor<4x8x8xf32>) -> tensor<2x8x8xf32>
  %p1 = stablehlo.slice %p [2:4, 0:8, 0:8] : (tensor<4x8x8xf32>) -> tensor<2x8x8xf32>
  %d = stablehlo.subtract %p0, %p1 : tensor<2x8x8xf32>
  %o = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x8xf32>, tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  return %o : tensor<2x8x6xf32>
}

// Gradients: the cotangent takes the factor, the factor's gradient needs no
// pairs but the product that is there.

// CHECK-LABEL: func.func @gradients
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<8x6xf32>, %[[L:[a-z0-9]+]]: tensor<f32>, %[[DO:[a-z0-9]+]]: tensor<8x6xf32>)
// CHECK: stablehlo.divide
// CHECK: %[[P1:.*]] = stablehlo.divide
// CHECK: %[[O1:.*]] = stablehlo.dot_general %[[P1]], %[[V]]
// CHECK: %[[SCALED:.*]] = stablehlo.multiply %[[DO]], %{{.*}} : tensor<8x6xf32>
// CHECK: %[[DO1:.*]] = stablehlo.negate %[[SCALED]]
// CHECK: %[[DV1:.*]] = stablehlo.dot_general %[[P1]], %[[DO1]], contracting_dims = [0] x [0]
// CHECK: %[[PRODUCT:.*]] = stablehlo.multiply %[[O1]], %[[DO]] : tensor<8x6xf32>
// CHECK: %[[NEG:.*]] = stablehlo.negate %[[PRODUCT]]
// CHECK: %[[DL:.*]] = stablehlo.reduce(%[[NEG]] init: %{{.*}}) applies stablehlo.add across dimensions = [0, 1]
// CHECK: %[[DP1:.*]] = stablehlo.dot_general %[[DO1]], %[[V]], contracting_dims = [1] x [1]
// CHECK: stablehlo.multiply %[[DP1]], %{{.*}} : tensor<8x8xf32>
func.func @gradients(%q0: tensor<8x4xf32>, %q1: tensor<8x4xf32>, %k0: tensor<8x4xf32>, %k1: tensor<8x4xf32>, %v: tensor<8x6xf32>, %l: tensor<f32>, %do: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<f32>, tensor<8x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = stablehlo.dot_general %q0, %k0, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %e0 = stablehlo.exponential %s0 : tensor<8x8xf32>
  %r0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %b0 = stablehlo.broadcast_in_dim %r0, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %p0 = stablehlo.divide %e0, %b0 : tensor<8x8xf32>
  %s1 = stablehlo.dot_general %q1, %k1, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %e1 = stablehlo.exponential %s1 : tensor<8x8xf32>
  %r1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %b1 = stablehlo.broadcast_in_dim %r1, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %p1 = stablehlo.divide %e1, %b1 : tensor<8x8xf32>
  %f = stablehlo.broadcast_in_dim %l, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
  %scaled = stablehlo.multiply %f, %p1 : tensor<8x8xf32>
  %p = stablehlo.subtract %p0, %scaled : tensor<8x8xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %dv = stablehlo.dot_general %p, %do, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %g = stablehlo.dot_general %do, %v, contracting_dims = [1] x [1] : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x8xf32>
  %minus = stablehlo.negate %g : tensor<8x8xf32>
  %of = stablehlo.multiply %minus, %p1 : tensor<8x8xf32>
  %dl = stablehlo.reduce(%of init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
  %dp1 = stablehlo.multiply %f, %minus : tensor<8x8xf32>
  %ds1 = stablehlo.multiply %dp1, %p1 : tensor<8x8xf32>
  return %o, %dv, %dl, %ds1 : tensor<8x6xf32>, tensor<8x6xf32>, tensor<f32>, tensor<8x8xf32>
}

// One softmax, weights that are no softmax, and a factor of pairs stay.

// CHECK-LABEL: func.func @stays
// CHECK-COUNT-2: stablehlo.dot_general
// CHECK-NOT: stablehlo.dot_general
// CHECK: return
func.func @stays(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x6xf32>, %a: tensor<8x8xf32>) -> tensor<8x6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %e = stablehlo.exponential %s : tensor<8x8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %p = stablehlo.divide %e, %b : tensor<8x8xf32>
  %d = stablehlo.subtract %p, %a : tensor<8x8xf32>
  %o = stablehlo.dot_general %d, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %o : tensor<8x6xf32>
}
