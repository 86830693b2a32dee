// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func @evict_c1_near(%x: tensor<8xf32>) {
  // expected-error @below {{'sp.evict_start' op expected a value and the same one in far memory, #sp.far, but got 'tensor<8xf32>' and 'tensor<8xf32>'}}
  %h, %gone = sp.evict_start %x : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @evict_c1_other_shape(%x: tensor<8xf32>) {
  // expected-error @below {{expected a value and the same one in far memory, #sp.far, but got 'tensor<8xf32>' and 'tensor<4xf32, #sp.far>'}}
  %h, %gone = sp.evict_start %x : tensor<8xf32> -> tensor<4xf32, #sp.far>
  return
}

// -----

func.func @evict_c1_far(%x: tensor<8xf32, #sp.far>) {
  // expected-error @below {{expected a value and the same one in far memory, #sp.far, but got 'tensor<8xf32, #sp.far>' and 'tensor<8xf32, #sp.far>'}}
  %h, %gone = sp.evict_start %x : tensor<8xf32, #sp.far> -> tensor<8xf32, #sp.far>
  return
}

// -----

func.func @fetch_c1_near(%x: tensor<8xf32>) {
  // expected-error @below {{'sp.fetch_start' op expected a value and the same one in far memory, #sp.far, but got 'tensor<8xf32>' and 'tensor<8xf32>'}}
  %h, %came = sp.fetch_start %x : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @fetch_c1_other_type(%x: tensor<8xf32, #sp.far>) {
  // expected-error @below {{expected a value and the same one in far memory, #sp.far, but got 'tensor<8xf32, #sp.far>' and 'tensor<8xf64>'}}
  %h, %came = sp.fetch_start %x : tensor<8xf32, #sp.far> -> tensor<8xf64>
  return
}

// -----

func.func @evict_rows_c1_near(%x: tensor<1x8xf32>, %s: tensor<4x8xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'sp.evict_rows_start' op expected rows of a stack in far memory, #sp.far, but got 'tensor<1x8xf32>' and 'tensor<4x8xf32>'}}
  %h, %gone = sp.evict_rows_start %x into %s at %c1 dim 0 : tensor<1x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @evict_rows_c1_too_many(%x: tensor<5x8xf32>, %s: tensor<4x8xf32, #sp.far>) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'sp.evict_rows_start' op expected rows of dimension 0 of 'tensor<4x8xf32, #sp.far>' but got 'tensor<5x8xf32, #sp.far>'}}
  %h, %gone = sp.evict_rows_start %x into %s at %c1 dim 0 : tensor<5x8xf32>, tensor<4x8xf32, #sp.far>
  return
}

// -----

func.func @fetch_rows_c1_far(%s: tensor<4x8xf32, #sp.far>) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'sp.fetch_rows_start' op expected rows of a stack in far memory, #sp.far, but got 'tensor<1x8xf32, #sp.far>' and 'tensor<4x8xf32, #sp.far>'}}
  %x, %came = sp.fetch_rows_start %s at %c1 dim 0 : tensor<4x8xf32, #sp.far> -> tensor<1x8xf32, #sp.far>
  return
}

// -----

func.func @fetch_rows_c2_not_dense(%s: tensor<2x4x8xf32, #sp.far>) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'sp.fetch_rows_start' op expected dimensions of 1 before dimension 1 but got 'tensor<2x4x8xf32, #sp.far>'}}
  %x, %came = sp.fetch_rows_start %s at %c1 dim 1 : tensor<2x4x8xf32, #sp.far> -> tensor<2x1x8xf32>
  return
}

// -----

func.func @fetch_rows_c3_of_data(%s: tensor<4x8xf32, #sp.far>, %at: index) {
  // expected-error @below {{'sp.fetch_rows_start' op expected rows at a constant or an affine function of counters of loops around it}}
  %x, %came = sp.fetch_rows_start %s at %at dim 0 : tensor<4x8xf32, #sp.far> -> tensor<1x8xf32>
  return
}
