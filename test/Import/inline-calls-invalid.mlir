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

// -----

// Eight times more at each call.
module @eightfold {
  func.func public @main(%x: tensor<f32>) -> tensor<f32> {
    %0 = call @b(%x) : (tensor<f32>) -> tensor<f32>
    %1 = call @b(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @b(%1) : (tensor<f32>) -> tensor<f32>
    %3 = call @b(%2) : (tensor<f32>) -> tensor<f32>
    %4 = call @b(%3) : (tensor<f32>) -> tensor<f32>
    %5 = call @b(%4) : (tensor<f32>) -> tensor<f32>
    %6 = call @b(%5) : (tensor<f32>) -> tensor<f32>
    // expected-error @below {{expected at most 1048576 operations when calls are inlined but got 1160920 up to this call of function "b"; export layers that repeat as a loop}}
    %7 = call @b(%6) : (tensor<f32>) -> tensor<f32>
    return %7 : tensor<f32>
  }
  func.func private @b(%x: tensor<f32>) -> tensor<f32> {
    %0 = call @c(%x) : (tensor<f32>) -> tensor<f32>
    %1 = call @c(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @c(%1) : (tensor<f32>) -> tensor<f32>
    %3 = call @c(%2) : (tensor<f32>) -> tensor<f32>
    %4 = call @c(%3) : (tensor<f32>) -> tensor<f32>
    %5 = call @c(%4) : (tensor<f32>) -> tensor<f32>
    %6 = call @c(%5) : (tensor<f32>) -> tensor<f32>
    %7 = call @c(%6) : (tensor<f32>) -> tensor<f32>
    return %7 : tensor<f32>
  }
  func.func private @c(%x: tensor<f32>) -> tensor<f32> {
    %0 = call @d(%x) : (tensor<f32>) -> tensor<f32>
    %1 = call @d(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @d(%1) : (tensor<f32>) -> tensor<f32>
    %3 = call @d(%2) : (tensor<f32>) -> tensor<f32>
    %4 = call @d(%3) : (tensor<f32>) -> tensor<f32>
    %5 = call @d(%4) : (tensor<f32>) -> tensor<f32>
    %6 = call @d(%5) : (tensor<f32>) -> tensor<f32>
    %7 = call @d(%6) : (tensor<f32>) -> tensor<f32>
    return %7 : tensor<f32>
  }
  func.func private @d(%x: tensor<f32>) -> tensor<f32> {
    %0 = call @e(%x) : (tensor<f32>) -> tensor<f32>
    %1 = call @e(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @e(%1) : (tensor<f32>) -> tensor<f32>
    %3 = call @e(%2) : (tensor<f32>) -> tensor<f32>
    %4 = call @e(%3) : (tensor<f32>) -> tensor<f32>
    %5 = call @e(%4) : (tensor<f32>) -> tensor<f32>
    %6 = call @e(%5) : (tensor<f32>) -> tensor<f32>
    %7 = call @e(%6) : (tensor<f32>) -> tensor<f32>
    return %7 : tensor<f32>
  }
  func.func private @e(%x: tensor<f32>) -> tensor<f32> {
    %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>
    %1 = call @f(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @f(%1) : (tensor<f32>) -> tensor<f32>
    %3 = call @f(%2) : (tensor<f32>) -> tensor<f32>
    %4 = call @f(%3) : (tensor<f32>) -> tensor<f32>
    %5 = call @f(%4) : (tensor<f32>) -> tensor<f32>
    %6 = call @f(%5) : (tensor<f32>) -> tensor<f32>
    %7 = call @f(%6) : (tensor<f32>) -> tensor<f32>
    return %7 : tensor<f32>
  }
  func.func private @f(%x: tensor<f32>) -> tensor<f32> {
    %0 = call @g(%x) : (tensor<f32>) -> tensor<f32>
    %1 = call @g(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @g(%1) : (tensor<f32>) -> tensor<f32>
    %3 = call @g(%2) : (tensor<f32>) -> tensor<f32>
    %4 = call @g(%3) : (tensor<f32>) -> tensor<f32>
    %5 = call @g(%4) : (tensor<f32>) -> tensor<f32>
    %6 = call @g(%5) : (tensor<f32>) -> tensor<f32>
    %7 = call @g(%6) : (tensor<f32>) -> tensor<f32>
    return %7 : tensor<f32>
  }
  func.func private @g(%x: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.sine %x : tensor<f32>
    return %0 : tensor<f32>
  }
}
