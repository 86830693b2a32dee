// What does not parse is named where it stands.
//
// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func @unknown_operation(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{custom op 'stablehlo.fft' is not supported; write the model without it}}
  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @dynamic_shape(%x: tensor<?x4xf32>, %n: tensor<1xi32>) {
  // expected-error@+1 {{custom op 'stablehlo.dynamic_reshape' is not supported; export the model with fixed sizes}}
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @quantization(%x: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.uniform_quantize' is not supported; export the model without quantization}}
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

func.func @token_order() {
  // expected-error@+1 {{custom op 'stablehlo.create_token' is not supported; export the model without transfers to the host}}
  %0 = stablehlo.create_token : !stablehlo.token
  return
}

// -----

func.func @rare_function(%x: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'chlo.bessel_i1e' is not supported; write the model without it}}
  %0 = chlo.bessel_i1e %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{type '!stablehlo.token' is not supported; lower the program without it}}
func.func @token(%x: !stablehlo.token) {
  return
}

// -----

func.func @unknown_attribute(%x: tensor<4xf32>) {
  // expected-error@+1 {{unknown attribute `sparsity` in dialect `stablehlo`}}
  %0 = stablehlo.negate %x {mhlo.note = #stablehlo.sparsity<2>} : tensor<4xf32>
  return
}

// -----

func.func @unknown_enumerator(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected one of EQ, NE, GE, GT, LE, LT but got 'LESS'}}
  %0 = stablehlo.compare LESS, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @quantized(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.convert' op result #0 must be ranked tensor of}}
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 2.0>>
  return
}

// -----

// expected-error@+1 {{'func.func' op expected 'sdy.sharding' to be a #sdy.sharding of a tensor but got "x" of 'tensor<4xf32>'}}
func.func @sharding_of_another_kind(%x: tensor<4xf32> {sdy.sharding = "x"}) {
  return
}

// -----

func.func @bitcast_to_no_bits(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert' op result #0 must be ranked tensor of integer, float or complex values, but got 'tensor<2xi0>'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi0>
  return
}
