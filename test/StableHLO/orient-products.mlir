// RUN: sp-opt %s --sp-orient-products | FileCheck %s

// CHECK-LABEL: @gradient_of_weights
// CHECK-SAME: (%[[DY:.*]]: tensor<2x8x6xf32>, %[[X:.*]]: tensor<2x8x4xf32>)
func.func @gradient_of_weights(%dy: tensor<2x8x6xf32>, %x: tensor<2x8x4xf32>) -> tensor<4x6xf32> {
  // CHECK: %[[D:.*]] = stablehlo.dot_general %[[X]], %[[DY]], contracting_dims = [0, 1] x [0, 1], precision = [HIGH, DEFAULT] : {{.*}} -> tensor<4x6xf32>
  // CHECK-NEXT: return %[[D]]
  %p = stablehlo.dot_general %dy, %x, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, HIGH] : (tensor<2x8x6xf32>, tensor<2x8x4xf32>) -> tensor<6x4xf32>
  %d = stablehlo.transpose %p, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return %d : tensor<4x6xf32>
}

// Batch dimensions stay in front, and sides keep the order of their own.
// CHECK-LABEL: @sides_of_several_dimensions
// CHECK-SAME: (%[[A:.*]]: tensor<3x5x2x7xf32>, %[[B:.*]]: tensor<3x7x9xf32>)
func.func @sides_of_several_dimensions(%a: tensor<3x5x2x7xf32>, %b: tensor<3x7x9xf32>) -> tensor<3x9x5x2xf32> {
  // CHECK-NEXT: stablehlo.dot_general %[[B]], %[[A]], batching_dims = [0] x [0], contracting_dims = [1] x [3] : {{.*}} -> tensor<3x9x5x2xf32>
  // CHECK-NEXT: return
  %p = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [3] x [1] : (tensor<3x5x2x7xf32>, tensor<3x7x9xf32>) -> tensor<3x5x2x9xf32>
  %d = stablehlo.transpose %p, dims = [0, 3, 1, 2] : (tensor<3x5x2x9xf32>) -> tensor<3x9x5x2xf32>
  return %d : tensor<3x9x5x2xf32>
}

// CHECK-LABEL: @other_orders_stay
func.func @other_orders_stay(%a: tensor<5x2x7xf32>, %b: tensor<7x9xf32>) -> (tensor<9x2x5xf32>, tensor<5x9xf32>, tensor<9x5xf32>) {
  // CHECK: stablehlo.transpose {{.*}} dims = [2, 1, 0]
  %p = stablehlo.dot_general %a, %b, contracting_dims = [2] x [0] : (tensor<5x2x7xf32>, tensor<7x9xf32>) -> tensor<5x2x9xf32>
  %d = stablehlo.transpose %p, dims = [2, 1, 0] : (tensor<5x2x9xf32>) -> tensor<9x2x5xf32>
  // What others read as it is stays, too.
  // CHECK: stablehlo.transpose {{.*}} dims = [1, 0]
  %s = stablehlo.slice %a [0:5, 0:1, 0:7] : (tensor<5x2x7xf32>) -> tensor<5x1x7xf32>
  %r = stablehlo.reshape %s : (tensor<5x1x7xf32>) -> tensor<5x7xf32>
  %q = stablehlo.dot_general %r, %b, contracting_dims = [1] x [0] : (tensor<5x7xf32>, tensor<7x9xf32>) -> tensor<5x9xf32>
  %e = stablehlo.transpose %q, dims = [1, 0] : (tensor<5x9xf32>) -> tensor<9x5xf32>
  return %d, %q, %e : tensor<9x2x5xf32>, tensor<5x9xf32>, tensor<9x5xf32>
}
