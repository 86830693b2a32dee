// RUN: sp-opt %s --sp-verify-coverage --split-input-file --verify-diagnostics

// Schedules whose states miss keys, or have them twice.

// A turn is missing.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 2) mod 4)>
module @too_short {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-error@+1 {{is the last of its state, but the queries of owner 0 have not met the keys of owner 1, with which they share 16 visible pairs}}
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// A turn too many comes back to the own block.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> (s0)>
module @too_long {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 4 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-error@+1 {{attends a second time to keys that its state has met: at owner 0 those of owner 0}}
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// The last block starts a state of its own.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @lost_state {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      // expected-error@+1 {{is the last of its state, but the queries of owner 0 have not met the keys of owner 1, with which they share 16 visible pairs}}
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// A partial result would count twice.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @continued_twice {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-error@+1 {{continues a state that was continued before}}
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%o0, %l0) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// The output of one state and the sum of another.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @two_states {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-error@+1 {{continues a state that was continued before}}
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %l0) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// Keys and values of another attention.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @other_attention {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-note@+1 {{which is this one}}
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    // expected-error@+1 {{continues the state of another attention}}
    %a, %b = sp.attend(%q, %v, %k) onto(%o9, %l9) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %a : tensor<1x4x1x8xf32>
  }
}

// -----

// A window of 6 reaches back into two owners of 4; one hop is not enough.
module @window {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %rank = sp.rank "sp" : index
    %src = affine.apply affine_map<()[s0] -> ((s0 + 3) mod 4)>()[%rank]
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 hops 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -5, hi 0>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    // expected-error@+1 {{is the last of its state, but the queries of owner 2 have not met the keys of owner 0, with which they share 1 visible pairs}}
    %o1, %l1 = sp.attend(%q, %k0#0, %k0#1) onto(%o0, %l0) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -5, hi 0>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o1 : tensor<1x4x1x8xf32>
  }
}

// -----

// Of many ranks some are looked at.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4096)>
#last = affine_map<()[s0] -> ((s0 + 2) mod 4096)>
module @too_short_for_many {
  sp.mesh @mesh <["sp" = 4096]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 4094 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16384 on "sp" of 4096> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16384 on "sp" of 4096> keys <contiguous 16384 on "sp" of 4096> from %rank bands [#sp.band<q 0 to 16384, k 0 to 16384, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16384 on "sp" of 4096> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16384 on "sp" of 4096> keys <contiguous 16384 on "sp" of 4096> from %src bands [#sp.band<q 0 to 16384, k 0 to 16384, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-error@+1 {{is the last of its state, but the queries of owner 0 have not met the keys of owner 1, with which they share 16 visible pairs}}
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16384 on "sp" of 4096> keys <contiguous 16384 on "sp" of 4096> from %end bands [#sp.band<q 0 to 16384, k 0 to 16384, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// Every rank has all queries: what two ranks attend to would count twice when
// their states are merged.
module @twice_where_states_are_merged {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %rank = sp.rank "sp" : index
    %other = affine.apply affine_map<()[s0] -> ((s0 + 1) mod 2)>()[%rank]
    %next:2, %t = sp.shift_start %k, %v from %rank by 1 in <contiguous 8 on "sp" of 2> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 4 on "sp" of 1> keys <contiguous 8 on "sp" of 2> bands [#sp.band<q 0 to 4, k 0 to 8, lo -inf, hi inf>] scale 1.000000e+00 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
    sp.wait %t
    // expected-error@+1 {{is the last of its state, in which queries that every rank has have met the keys of 2 owners, which would count 2 times in what ranks add up}}
    %o1, %l1 = sp.attend(%q, %next#0, %next#1) onto(%o0, %l0) queries <contiguous 4 on "sp" of 1> keys <contiguous 8 on "sp" of 2> from %other bands [#sp.band<q 0 to 4, k 0 to 8, lo -inf, hi inf>] scale 1.000000e+00 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
    return %o1 : tensor<1x4x1x8xf32>
  }
}
