// RUN: sp-opt %s --sp-simplify-reductions | FileCheck %s

// CHECK-LABEL: func.func @of_ones
// CHECK-SAME: (%[[X:.*]]: tensor<4x1xi1>, %[[Y:.*]]: tensor<1x4xi32>)
// CHECK-DAG: stablehlo.reshape %[[X]] : (tensor<4x1xi1>) -> tensor<4xi1>
// CHECK-DAG: stablehlo.reshape %[[Y]] : (tensor<1x4xi32>) -> tensor<4xi32>
// CHECK-NOT: stablehlo.reduce
func.func @of_ones(%x: tensor<4x1xi1>, %y: tensor<1x4xi32>) -> (tensor<4xi1>, tensor<4xi32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %true) applies stablehlo.and across dimensions = [1] : (tensor<4x1xi1>, tensor<i1>) -> tensor<4xi1>
  %1 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1x4xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1 : tensor<4xi1>, tensor<4xi32>
}

// One that combines elements, changes the one it has, or is of floats, as the sums
// of a softmax over one key are, stays.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-3: stablehlo.reduce
func.func @stays(%x: tensor<4x2xi1>, %y: tensor<4x1xf32>, %z: tensor<4x1xi32>) -> (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %true) applies stablehlo.and across dimensions = [1] : (tensor<4x2xi1>, tensor<i1>) -> tensor<4xi1>
  %1 = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.reduce(%z init: %c) applies stablehlo.and across dimensions = [1] : (tensor<4x1xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xf32>, tensor<4xi32>
}

// Rows by rows: the right side is brought into the order of the left, sums of
// 16 bits are f32.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: tensor<2x8x4xbf16>, %[[Y:.*]]: tensor<4x2x8xbf16>, %[[Z:.*]]: tensor<8x4xf32>)
// CHECK: %[[T:.*]] = stablehlo.transpose %[[Y]], dims = [1, 2, 0]
// CHECK: %[[P:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} : tensor<2x8x4xf32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[P]] init: {{.*}} across dimensions = [2]
// CHECK: %[[O:.*]] = stablehlo.transpose %[[S]], dims = [1, 0]
// CHECK: stablehlo.convert %[[O]] : (tensor<8x2xf32>) -> tensor<8x2xbf16>
// CHECK: stablehlo.dot_general %[[Z]], %[[Z]]
func.func @rows(%x: tensor<2x8x4xbf16>, %y: tensor<4x2x8xbf16>, %z: tensor<8x4xf32>) -> (tensor<8x2xbf16>, tensor<f32>) {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [1, 0] x [2, 1], contracting_dims = [2] x [0] : (tensor<2x8x4xbf16>, tensor<4x2x8xbf16>) -> tensor<8x2xbf16>
  %1 = stablehlo.dot_general %z, %z, contracting_dims = [0, 1] x [0, 1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<f32>
  return %0, %1 : tensor<8x2xbf16>, tensor<f32>
}
