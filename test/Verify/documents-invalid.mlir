// RUN: sp-opt %s --sp-verify-coverage --split-input-file --verify-diagnostics

// Blocks of keys come only for queries of their documents, but queries of all are
// attended to with them: some pairs would have no keys.
module @for_fewer {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  sp.documents @ids of 16 in arguments [3]
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>, %v: tensor<1x8x1x8xf32>, %ids: tensor<8xi32>) -> tensor<1x8x1x8xf32> {
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 2>
        needed_by <rows <contiguous 16 on "sp" of 2> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 2> keys <contiguous 16 on "sp" of 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32>, tensor<1x8x1xf32>
    sp.wait %t0
    %end = affine.apply affine_map<()[s0] -> ((s0 + 1) mod 2)>()[%rank]
    // expected-error@+1 {{attends to keys that came for others}}
    %o9, %l9 = sp.attend(%q, %k0#0, %k0#1) onto(%o0, %l0) queries <contiguous 16 on "sp" of 2> keys <contiguous 16 on "sp" of 2> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32>, tensor<1x8x1xf32>
    return %o9 : tensor<1x8x1x8xf32>
  }
}

// -----

// A state goes on with pairs of documents after it has met pairs of all.
module @of_another {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  sp.documents @ids of 16 in arguments [3]
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>, %v: tensor<1x8x1x8xf32>, %ids: tensor<8xi32>) -> tensor<1x8x1x8xf32> {
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
    // expected-note@+1 {{which is this one}}
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 2> keys <contiguous 16 on "sp" of 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32>, tensor<1x8x1xf32>
    sp.wait %t0
    %end = affine.apply affine_map<()[s0] -> ((s0 + 1) mod 2)>()[%rank]
    // expected-error@+1 {{continues the state of another attention}}
    %o9, %l9 = sp.attend(%q, %k0#0, %k0#1) onto(%o0, %l0) queries <contiguous 16 on "sp" of 2> keys <contiguous 16 on "sp" of 2> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32>, tensor<1x8x1xf32>
    return %o9 : tensor<1x8x1x8xf32>
  }
}
