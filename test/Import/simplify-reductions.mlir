// RUN: sp-opt %s --sp-simplify-reductions | FileCheck %s

// CHECK-LABEL: func.func @of_ones
// CHECK-SAME: (%[[X:.*]]: tensor<4x1xi1>, %[[Y:.*]]: tensor<1x4xf32>)
// CHECK-DAG: stablehlo.reshape %[[X]] : (tensor<4x1xi1>) -> tensor<4xi1>
// CHECK-DAG: stablehlo.reshape %[[Y]] : (tensor<1x4xf32>) -> tensor<4xf32>
// CHECK-NOT: stablehlo.reduce
func.func @of_ones(%x: tensor<4x1xi1>, %y: tensor<1x4xf32>) -> (tensor<4xi1>, tensor<4xf32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %true) applies stablehlo.and across dimensions = [1] : (tensor<4x1xi1>, tensor<i1>) -> tensor<4xi1>
  %1 = stablehlo.reduce(%y init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xi1>, tensor<4xf32>
}

// One that combines elements, or changes the one it has, stays.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-3: stablehlo.reduce
func.func @stays(%x: tensor<4x2xi1>, %y: tensor<4x1xf32>, %z: tensor<4x1xi32>) -> (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %true) applies stablehlo.and across dimensions = [1] : (tensor<4x2xi1>, tensor<i1>) -> tensor<4xi1>
  %1 = stablehlo.reduce(%y init: %one) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.reduce(%z init: %c) applies stablehlo.and across dimensions = [1] : (tensor<4x1xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xf32>, tensor<4xi32>
}
