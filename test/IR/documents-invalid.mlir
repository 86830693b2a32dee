// RUN: sp-opt %s -split-input-file -verify-diagnostics

module @documents_c1_of_no_argument {
  // expected-error @below {{'sp.documents' op expected one of 1 arguments but got argument 1}}
  sp.documents @ids of 64 in arguments [1]
  func.func @main(%ids: tensor<1x64xi32>) {
    return
  }
}

// -----

module @documents_c2_of_fractions {
  // expected-error @below {{'sp.documents' op expected whole numbers in argument 0 but got 'tensor<1x64xf32>'}}
  sp.documents @ids of 64 in arguments [0]
  func.func @main(%ids: tensor<1x64xf32>) {
    return
  }
}

// -----

module @documents_c2_of_two_arguments {
  // expected-error @below {{'sp.documents' op expected one argument, or a body, but got 2 arguments}}
  sp.documents @ids of 64 in arguments [0, 0]
  func.func @main(%ids: tensor<1x64xi32>) {
    return
  }
}

// -----

// expected-error @below {{'sp.documents' op expected a body that takes 2 values but got 1}}
sp.documents @documents_c3_of_fewer_values of 64 in arguments [0, 1] {
^bb0(%x: tensor<1x64xi32>):
  sp.yield %x : tensor<1x64xi32>
}

// -----

// expected-error @below {{'sp.documents' op expected whole numbers, 64 for each row of a batch, but got 'tensor<96xi32>'}}
sp.documents @documents_c3_of_half_a_row of 64 in arguments [0] {
^bb0(%x: tensor<96xi32>):
  sp.yield %x : tensor<96xi32>
}

// -----

// expected-error @below {{'sp.documents' op expected whole numbers, 64 for each row of a batch, but got 'tensor<64xf32>'}}
sp.documents @documents_c3_of_fractions of 64 in arguments [0] {
^bb0(%x: tensor<64xf32>):
  sp.yield %x : tensor<64xf32>
}

// -----

module @attention_c9_of_none {
  func.func @main(%q: tensor<1x64x2x16xf32>) {
    // expected-error @below {{'sp.attention' op expected documents of 64 positions called 'ids'}}
    %o = sp.attention(%q, %q, %q) bands [] documents <queries @ids keys @ids> scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
    return
  }
}

// -----

module @attention_c9_of_other_keys {
  sp.documents @ids of 64 in arguments [1]
  func.func @main(%q: tensor<1x64x2x16xf32>, %ids: tensor<64xi32>, %k: tensor<1x32x2x16xf32>) {
    // expected-error @below {{'sp.attention' op expected documents of 32 positions called 'ids'}}
    %o = sp.attention(%q, %k, %k) bands [] documents <queries @ids keys @ids> scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32> -> tensor<1x64x2x16xf32>
    return
  }
}

// -----

module @attend_c8_of_another_length {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  sp.documents @ids of 16 in arguments [1]
  func.func @main(%q: tensor<1x16x2x16xf32>, %ids: tensor<4xi32>) {
    // expected-error @below {{'sp.attend' op expected documents of 64 positions called 'ids'}}
    %o, %l = sp.attend(%q, %q, %q) queries <zigzag 64 on "sp" of 4> keys <zigzag 64 on "sp" of 4> bands [] documents <queries @ids keys @ids> scale 1.0
       : (tensor<1x16x2x16xf32>, tensor<1x16x2x16xf32>, tensor<1x16x2x16xf32>) -> tensor<1x16x2x16xf32>, tensor<1x16x2xf32>
    return
  }
}
