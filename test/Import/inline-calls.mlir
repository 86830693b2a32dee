// RUN: sp-opt %s --sp-inline-calls --split-input-file | FileCheck %s

// CHECK-LABEL: module @nested_calls
// CHECK: func.func public @main(%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[A:.*]] = stablehlo.negate %[[X]]
// CHECK-NEXT: %[[B:.*]] = stablehlo.negate %[[A]]
// CHECK-NEXT: return %[[B]]
// CHECK-NOT: func.func
module @nested_calls {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @once(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @once(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @once(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// CHECK-LABEL: module @call_in_a_loop
// CHECK: stablehlo.while
// CHECK: do {
// CHECK-NEXT: %[[N:.*]] = stablehlo.not %[[P:.*]] : tensor<i1>
// CHECK-NEXT: stablehlo.return %[[N]]
// CHECK-NOT: func.call
module @call_in_a_loop {
  func.func public @main(%p: tensor<i1>) -> tensor<i1> {
    %0 = stablehlo.while(%iterArg = %p) : tensor<i1>
    cond {
      stablehlo.return %iterArg : tensor<i1>
    } do {
      %1 = func.call @flip(%iterArg) : (tensor<i1>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }
    return %0 : tensor<i1>
  }
  func.func private @flip(%p: tensor<i1>) -> tensor<i1> {
    %0 = stablehlo.not %p : tensor<i1>
    return %0 : tensor<i1>
  }
}

// -----

// CHECK-LABEL: module @composite_is_its_decomposition
// CHECK: %[[Y:.*]] = stablehlo.tanh
// CHECK-NEXT: return %[[Y]]
module @composite_is_its_decomposition {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.composite "vendor.tanh" %x {decomposition = @impl} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @impl(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
