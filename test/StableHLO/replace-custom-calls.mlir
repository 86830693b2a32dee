// RUN: sp-opt %s -sp-replace-custom-calls | FileCheck %s

// CHECK-LABEL: @known_calls
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>)
func.func @known_calls(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x2xf32>, tensor<8x2xi32>) {
  // CHECK-NEXT: %[[ERF:.*]] = chlo.erf %[[X]] : tensor<8x4xf32> -> tensor<8x4xf32>
  %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: %[[V:.*]], %[[I:.*]] = chlo.top_k(%[[ERF]], k = 2)
  %2:2 = stablehlo.custom_call @mhlo.topk(%1) {mhlo.attributes = {k = 2 : i64, largest = true}} : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  // CHECK-NEXT: return %[[ERF]], %[[V]], %[[I]]
  return %1, %2#0, %2#1 : tensor<8x4xf32>, tensor<8x2xf32>, tensor<8x2xi32>
}
