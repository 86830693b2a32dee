// RUN: sp-opt %s --pass-pipeline="builtin.module(func.func(sp-merge-duplicates))" | FileCheck %s

// CHECK-LABEL: func.func @equal_values
// CHECK: %[[A:.*]] = stablehlo.iota dim = 0
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[A]], %[[A]]
// CHECK-NEXT: return %[[S]]
func.func @equal_values() -> tensor<8xi32> {
  %a = stablehlo.iota dim = 0 : tensor<8xi32>
  %b = stablehlo.iota dim = 0 : tensor<8xi32>
  %s = stablehlo.add %a, %b : tensor<8xi32>
  return %s : tensor<8xi32>
}

// CHECK-LABEL: func.func @loops_keep_their_constants
// CHECK: %[[OUT:.*]] = stablehlo.constant dense<1.0
// CHECK: do {
// CHECK-NEXT: %[[IN:.*]] = stablehlo.constant dense<1.0
// CHECK-NEXT: stablehlo.add %{{.*}}, %[[IN]]
func.func @loops_keep_their_constants(%p: tensor<i1>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0:2 = stablehlo.while(%go = %p, %x = %one) : tensor<i1>, tensor<f32>
  cond {
    stablehlo.return %go : tensor<i1>
  } do {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    %y = stablehlo.add %x, %c : tensor<f32>
    %stop = stablehlo.not %go : tensor<i1>
    stablehlo.return %stop, %y : tensor<i1>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}

// CHECK-LABEL: func.func @barriers_keep_recomputation
// CHECK-COUNT-2: stablehlo.optimization_barrier
func.func @barriers_keep_recomputation(%x: tensor<f32>) -> tensor<f32> {
  %a = stablehlo.optimization_barrier %x : tensor<f32>
  %b = stablehlo.optimization_barrier %x : tensor<f32>
  %c = stablehlo.add %a, %b : tensor<f32>
  return %c : tensor<f32>
}
