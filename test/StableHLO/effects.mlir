// What upstream passes may do with the input dialects.
//
// RUN: sp-opt %s -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,CSE
// RUN: sp-opt %s -inline -symbol-dce | FileCheck %s --check-prefixes=CHECK,INLINE

// CHECK-LABEL: @unused_values_go
func.func public @unused_values_go(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CSE-NEXT: return
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = chlo.erf %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = stablehlo.custom_call @mhlo.erf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// CHECK-LABEL: @equal_values_merge
func.func public @equal_values_merge(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CSE-NEXT: %[[E:.*]] = stablehlo.exponential
  // CSE-NEXT: stablehlo.add %[[E]], %[[E]]
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.exponential %x : tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @effects_stay
func.func public @effects_stay(%x: tensor<4xf32>) {
  // CHECK: stablehlo.custom_call @print
  stablehlo.custom_call @print(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return
}

// CHECK-LABEL: @calls_go_in_loops
// INLINE-NOT: call @body
// INLINE: stablehlo.tanh
func.func public @calls_go_in_loops(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0:2 = stablehlo.while(%iterArg = %x, %iterArg_0 = %p) : tensor<4xf32>, tensor<i1>
   cond {
    stablehlo.return %iterArg_0 : tensor<i1>
  } do {
    %1 = func.call @body(%iterArg) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1, %iterArg_0 : tensor<4xf32>, tensor<i1>
  }
  return %0#0 : tensor<4xf32>
}

// INLINE-NOT: func.func private @body
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
