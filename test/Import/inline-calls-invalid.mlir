// RUN: sp-opt %s --sp-inline-calls --split-input-file --verify-diagnostics

module @recursion {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @a(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // expected-error @below {{expected no recursion but function "a" calls itself}}
  func.func private @a(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @b(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @b(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @a(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @declaration {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected a body of function "outside" but it is only declared}}
    %0 = call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
}
