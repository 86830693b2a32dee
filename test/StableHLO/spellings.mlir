// Spellings of older printers and of people are read, and printed as of today.
//
// RUN: sp-opt %s | FileCheck %s

// CHECK: sdy.mesh @mesh = <["x"=2]>
sdy.mesh @mesh = #sdy.mesh<["x"=2]>

// CHECK-LABEL: @spellings
func.func @spellings(%x: tensor<4x4xf32>, %i: tensor<4x1xi32>, %u: tensor<4x4xf32>) {
  // CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}}, FLOAT :
  %0 = stablehlo.compare  LT, %x, %x,  FLOAT : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
  // CHECK: stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %1 = stablehlo.constant() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  // CHECK: stablehlo.iota dim = 1 : tensor<4x4xi32>
  %2 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<4x4xi32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<4x4xf32>
  %3 = stablehlo.add %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  %4 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1,>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // What the compact form cannot say is written out.
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) across dimensions = [1]
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} {mhlo.note} : tensor<f32>
  %5 = stablehlo.reduce(%x init: %1) across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %6 = stablehlo.add %a, %b {mhlo.note} : tensor<f32>
    stablehlo.return %6 : tensor<f32>
  }
  return
}
