// RUN: sp-opt %s -split-input-file -verify-diagnostics -sp-verify-input

func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @scaled(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @scaled(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @mhlo.erf(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error@+1 {{expected a function '@main'}}
module {
  func.func @forward(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

// expected-error@+1 {{expected '@main' to be public}}
func.func private @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error@+1 {{argument of type 'tensor<?x4xf32>' has a dynamic dimension; export the model with fixed sizes}}
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// -----

// expected-error@+1 {{argument of type 'tensor<1000000x1000000x1000000xf32>' has more than 2^56 elements; export the model with smaller sizes}}
func.func @main(%x: tensor<1000000x1000000x1000000xf32>) {
  return
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{result of type 'tensor<2xf8E4M3FN>' has elements that are not supported; expected f64, f32, f16, bf16, complex of f32 or f64, i1, or integers of 8 to 64 bits}}
  %0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  return %x : tensor<2xf32>
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{operation 'arith.addf' is not supported; expected StableHLO as JAX or torch prints it}}
  %0 = arith.addf %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{custom call '@lapack_spotrf_ffi' is not supported; express it in StableHLO operations}}
  %0 = stablehlo.custom_call @lapack_spotrf_ffi(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{custom call '@__cudnn$fmhaSoftmaxBackward' is not supported; export the gradient with implementation='xla' of attention}}
  %0 = stablehlo.custom_call @__cudnn$fmhaSoftmaxBackward(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{custom call '@CustomSPMDPartitioning' is not supported; export the model for one device}}
  %0 = stablehlo.custom_call @CustomSPMDPartitioning(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{custom call '@SPMDFullToShardShape' is not supported; export the model with jax_use_shardy_partitioner=True}}
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @main(%x: tensor<f32>, %shape: tensor<1xi64>) -> tensor<4xf32> {
  // expected-error@+1 {{operation 'stablehlo.rng' is not supported, for its numbers are the device's; draw them with 'stablehlo.rng_bit_generator' or pass them as an argument}}
  %0 = stablehlo.rng %x, %x, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected a body of one block but got 2; express branches as 'stablehlo.if' or 'stablehlo.case'}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
^unreachable:
  %0 = stablehlo.add %0, %0 : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{operation 'stablehlo.cholesky' is not supported; write the model without it}}
  %0 = "stablehlo.cholesky"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// The gradient of a maximum over windows.
func.func @main(%x: tensor<4xf32>, %dy: tensor<2xf32>, %zero: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{operation 'stablehlo.select_and_scatter' is not supported; spell the maximum of windows as a reshape and a reduction}}
  %0 = "stablehlo.select_and_scatter"(%x, %dy, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
