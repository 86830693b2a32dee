// RUN: sp-opt %s --sp-verify-coverage --split-input-file --verify-diagnostics

// Blocks and gradients that go straight, but not to whom they should.

// A block of which some rows are here is of no use to anybody else.
#before = affine_map<()[s0] -> ((s0 + 2) mod 3)>
module @goes_on {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %rank = sp.rank "sp" : index
    %from = affine.apply #before()[%rank]
    %k1:2, %t = sp.shift_start %k, %v from %rank by 1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %rank bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    sp.wait %t
    // expected-error@+1 {{hands on blocks that went straight to one rank, with the rows that it sees}}
    %k2:2, %t2 = sp.shift_start %k1#0, %k1#1 from %from by 1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %t2
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %k1#0, %k1#1) of(%do, %lse, %delta) onto_query(%dq0) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %from bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h:2, %w = sp.shift_start %dk1, %dv1 from %from by -1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    %dk = stablehlo.add %dk0, %h#0 : tensor<1x4x1x8xf32>
    %dv = stablehlo.add %dv0, %h#1 : tensor<1x4x1x8xf32>
    return %dq1, %dk, %dv : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Straight ways begin with the owner.
#before = affine_map<()[s0] -> ((s0 + 2) mod 3)>
module @from_another {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %rank = sp.rank "sp" : index
    %from = affine.apply #before()[%rank]
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %t0
    // expected-error@+1 {{sends blocks straight on that are not the rank's own}}
    %k1:2, %t = sp.shift_start %k0#0, %k0#1 from %from by 1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %rank bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    sp.wait %t
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %k1#0, %k1#1) of(%do, %lse, %delta) onto_query(%dq0) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %from bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h:2, %w = sp.shift_start %dk1, %dv1 from %from by -1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    %dk = stablehlo.add %dk0, %h#0 : tensor<1x4x1x8xf32>
    %dv = stablehlo.add %dv0, %h#1 : tensor<1x4x1x8xf32>
    return %dq1, %dk, %dv : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Who attends sees other rows.
#before = affine_map<()[s0] -> ((s0 + 2) mod 3)>
module @came_for_others {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %rank = sp.rank "sp" : index
    %from = affine.apply #before()[%rank]
    %k1:2, %t = sp.shift_start %k, %v from %rank by 1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -2, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %rank bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    sp.wait %t
    // expected-error@+1 {{attends to keys that came for others, }}
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %k1#0, %k1#1) of(%do, %lse, %delta) onto_query(%dq0) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %from bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h:2, %w = sp.shift_start %dk1, %dv1 from %from by -1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    %dk = stablehlo.add %dk0, %h#0 : tensor<1x4x1x8xf32>
    %dv = stablehlo.add %dv0, %h#1 : tensor<1x4x1x8xf32>
    return %dq1, %dk, %dv : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Parts of rows that this rank does not see would stay behind.
#before = affine_map<()[s0] -> ((s0 + 2) mod 3)>
module @of_several {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %rank = sp.rank "sp" : index
    %from = affine.apply #before()[%rank]
    %k1:2, %t = sp.shift_start %k, %v from %rank by 1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %rank bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    sp.wait %t
    %g:2, %u = sp.shift_start %dk0, %dv0 from %rank by 1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %u
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %k1#0, %k1#1) of(%do, %lse, %delta) onto_query(%dq0) onto_keys(%g#0, %g#1) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %from bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    // expected-error@+1 {{takes straight home what several ranks have added up of a gradient, of which rows stay behind}}
    %h:2, %w = sp.shift_start %dk1, %dv1 from %from by -1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    %dk = stablehlo.add %dk0, %h#0 : tensor<1x4x1x8xf32>
    %dv = stablehlo.add %dv0, %h#1 : tensor<1x4x1x8xf32>
    return %dq1, %dk, %dv : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Rows that some of the pairs are in.
#before = affine_map<()[s0] -> ((s0 + 2) mod 3)>
module @of_others {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %rank = sp.rank "sp" : index
    %from = affine.apply #before()[%rank]
    %k1:2, %t = sp.shift_start %k, %v from %rank by 1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %rank bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    sp.wait %t
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %k1#0, %k1#1) of(%do, %lse, %delta) onto_query(%dq0) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %from bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    // expected-error@+1 {{takes straight home rows that are seen by }}
    %h:2, %w = sp.shift_start %dk1, %dv1 from %from by -1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo 0, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    %dk = stablehlo.add %dk0, %h#0 : tensor<1x4x1x8xf32>
    %dv = stablehlo.add %dv0, %h#1 : tensor<1x4x1x8xf32>
    return %dq1, %dk, %dv : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// The other way round.
#before = affine_map<()[s0] -> ((s0 + 2) mod 3)>
module @not_home {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %rank = sp.rank "sp" : index
    %from = affine.apply #before()[%rank]
    %k1:2, %t = sp.shift_start %k, %v from %rank by 1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %rank bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    sp.wait %t
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %k1#0, %k1#1) of(%do, %lse, %delta) onto_query(%dq0) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %from bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    // expected-error@+1 {{takes a gradient straight to another rank than its owner: at owner 0 it is that of owner 1}}
    %h:2, %w = sp.shift_start %dk1, %dv1 from %from by 1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    %dk = stablehlo.add %dk0, %h#0 : tensor<1x4x1x8xf32>
    %dv = stablehlo.add %dv0, %h#1 : tensor<1x4x1x8xf32>
    return %dq1, %dk, %dv : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}
