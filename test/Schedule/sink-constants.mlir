// RUN: sp-opt %s --sp-sink-constants | FileCheck %s

// Loops keep reading what is outside.

// CHECK-LABEL: func.func @sort
// CHECK: %[[C:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK: "stablehlo.sort"
// CHECK: %[[OWN:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK: stablehlo.compare LT, %{{.*}}, %[[OWN]]
// CHECK: stablehlo.while
// CHECK: stablehlo.compare LT, %{{.*}}, %[[C]]
func.func @sort(%x: tensor<8xi32>, %n: tensor<i32>) -> (tensor<8xi32>, tensor<i32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.compare LT, %a, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xi32>) -> tensor<8xi32>
  %1 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.negate %i : tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  return %0, %1 : tensor<8xi32>, tensor<i32>
}
