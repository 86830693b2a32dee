// RUN: sp-opt %s --sp-join-products | FileCheck %s

// Keys of a latent part and of a rotary one that all heads share: the rotary
// part is repeated for each head, its number goes to the queries.

// CHECK-LABEL: func.func @rotary
// CHECK-SAME: (%[[Q0:.*]]: tensor<2x8x4x6xf32>, %[[K0:.*]]: tensor<2x8x4x6xf32>, %[[Q1:.*]]: tensor<2x8x4x3xf32>, %[[K1:.*]]: tensor<2x8x3xf32>)
// CHECK: %[[KR:.*]] = stablehlo.broadcast_in_dim %[[K1]], dims = [0, 2, 3] : (tensor<2x8x3xf32>) -> tensor<2x4x8x3xf32>
// CHECK: %[[KL:.*]] = stablehlo.transpose %[[K0]], dims = [0, 2, 1, 3]
// CHECK: %[[QL:.*]] = stablehlo.transpose %[[Q0]], dims = [0, 2, 1, 3]
// CHECK: %[[SCALED:.*]] = stablehlo.multiply %[[Q1]], %{{.*}} : tensor<2x8x4x3xf32>
// CHECK: %[[QR:.*]] = stablehlo.transpose %[[SCALED]], dims = [0, 2, 1, 3]
// CHECK: %[[Q:.*]] = stablehlo.concatenate %[[QL]], %[[QR]], dim = 3 : (tensor<2x4x8x6xf32>, tensor<2x4x8x3xf32>) -> tensor<2x4x8x9xf32>
// CHECK: %[[K:.*]] = stablehlo.concatenate %[[KL]], %[[KR]], dim = 3 : (tensor<2x4x8x6xf32>, tensor<2x4x8x3xf32>) -> tensor<2x4x8x9xf32>
// CHECK: stablehlo.dot_general %[[Q]], %[[K]], batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]
// CHECK-SAME: -> tensor<2x4x8x8xf32>
// CHECK-NOT: stablehlo.dot_general
func.func @rotary(%q0: tensor<2x8x4x6xf32>, %k0: tensor<2x8x4x6xf32>, %q1: tensor<2x8x4x3xf32>, %k1: tensor<2x8x3xf32>) -> tensor<2x4x8x8xf32> {
  %half = stablehlo.constant dense<0.5> : tensor<2x4x8x8xf32>
  %0 = stablehlo.dot_general %q0, %k0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>) -> tensor<2x4x8x8xf32>
  %1 = stablehlo.dot_general %q1, %k1, batching_dims = [0] x [0], contracting_dims = [3] x [2] : (tensor<2x8x4x3xf32>, tensor<2x8x3xf32>) -> tensor<2x8x4x8xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 1, 3] : (tensor<2x8x4x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = stablehlo.multiply %2, %half : tensor<2x4x8x8xf32>
  %4 = stablehlo.add %0, %3 : tensor<2x4x8x8xf32>
  %5 = stablehlo.exponential %4 : tensor<2x4x8x8xf32>
  return %5 : tensor<2x4x8x8xf32>
}

// The second product has keys on its left.
// CHECK-LABEL: func.func @turned
// CHECK-SAME: (%[[Q:.*]]: tensor<8x4xf32>, %[[K:.*]]: tensor<6x4xf32>, %{{.*}}: tensor<6x2xf32>, %{{.*}}: tensor<8x2xf32>)
// CHECK: stablehlo.concatenate {{.*}} -> tensor<8x6xf32>
// CHECK: stablehlo.concatenate {{.*}} -> tensor<6x6xf32>
// CHECK: stablehlo.dot_general {{.*}} -> tensor<8x6xf32>
// CHECK-NOT: stablehlo.dot_general
func.func @turned(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %k1: tensor<6x2xf32>, %q1: tensor<8x2xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.dot_general %k1, %q1, contracting_dims = [1] x [1] : (tensor<6x2xf32>, tensor<8x2xf32>) -> tensor<6x8xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
  %3 = stablehlo.add %0, %2 : tensor<8x6xf32>
  %4 = stablehlo.exponential %3 : tensor<8x6xf32>
  return %4 : tensor<8x6xf32>
}

// Relative positions: keys would have to be repeated for each query.
// CHECK-LABEL: func.func @relative
// CHECK-NOT: stablehlo.concatenate
// CHECK: return
func.func @relative(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %r: tensor<8x8x4xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %q, %r, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<8x4xf32>, tensor<8x8x4xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
  %3 = stablehlo.exponential %2 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// A number that bf16 does not hold would be rounded.
// CHECK-LABEL: func.func @mixed
// CHECK-NOT: stablehlo.concatenate
// CHECK: return
func.func @mixed(%q: tensor<8x4xbf16>, %k: tensor<8x4xbf16>) -> tensor<8x8xf32> {
  %c = stablehlo.constant dense<0.3> : tensor<8x8xf32>
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xbf16>, tensor<8x4xbf16>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xbf16>, tensor<8x4xbf16>) -> tensor<8x8xf32>
  %2 = stablehlo.multiply %1, %c : tensor<8x8xf32>
  %3 = stablehlo.add %0, %2 : tensor<8x8xf32>
  %4 = stablehlo.exponential %3 : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// Projections are not scores; a product that is used again stays.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: stablehlo.concatenate
// CHECK: return
func.func @stays(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x6xf32>
  %3 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %4 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %5 = stablehlo.add %3, %4 : tensor<8x6xf32>
  %6 = stablehlo.exponential %5 : tensor<8x6xf32>
  return %2, %4, %6 : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>
}
