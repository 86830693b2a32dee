// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func @gemm_c1_three_sizes(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) {
  // expected-error @below {{'sp.gemm' op expected sizes [b, m, n, k] and strides [b, m, k] and [b, k, n]}}
  %c = sp.gemm %a, %b sizes [8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @gemm_c2_negative_sizes(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) {
  // expected-error @below {{'sp.gemm' op expected a result of -9223372036854775808 x 8 x 16 elements but got 'tensor<8x16xf32>'}}
  %c = sp.gemm %a, %b sizes [-9223372036854775808, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @gemm_c2_other_result(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) {
  // expected-error @below {{'sp.gemm' op expected a result of 1 x 8 x 16 elements but got 'tensor<8x8xf32>'}}
  %c = sp.gemm %a, %b sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @gemm_c3_bias_of_rows(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>, %v: tensor<8xf32>) {
  // expected-error @below {{'sp.gemm' op expected a bias of 16 elements of 'f32' but got 'tensor<8xf32>'}}
  %c = sp.gemm %a, %b bias %v sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>, tensor<8xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @gemm_c3_bias_of_other_type(%a: tensor<8x4xbf16>, %b: tensor<4x16xbf16>, %v: tensor<16xbf16>) {
  // expected-error @below {{'sp.gemm' op expected a bias of 16 elements of 'f32' but got 'tensor<16xbf16>'}}
  %c = sp.gemm %a, %b bias %v then relu sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>, tensor<16xbf16>) -> tensor<8x16xf32>
  return
}

// -----

func.func @gemm_c4_onto_narrow_numbers(%a: tensor<8x4xbf16>, %b: tensor<4x16xbf16>, %c: tensor<8x16xbf16>) {
  // expected-error @below {{'sp.gemm' op expected to add to a 'tensor<8x16xbf16>' of f32, without bias and activation, but got 'tensor<8x16xbf16>'}}
  %d = sp.gemm %a, %b onto %c sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>, tensor<8x16xbf16>) -> tensor<8x16xbf16>
  return
}

// -----

func.func @gemm_c4_onto_another_shape(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'sp.gemm' op expected to add to a 'tensor<8x16xf32>' of f32, without bias and activation, but got 'tensor<16x8xf32>'}}
  %d = sp.gemm %a, %b onto %c sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<8x16xf32>
  return
}
