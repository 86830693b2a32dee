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
