// RUN: sp-opt %s --sp-verify-coverage --split-input-file --verify-diagnostics

// Schedules in which blocks are not what they are taken for.

// The first block is the own one, not what comes last.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @source {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %end = affine.apply #last()[%rank]
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    // expected-error@+1 {{takes rows to be those of owner 1 which are those of owner 0, at owner 0}}
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// What is handed on in a turn is not the own block.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @stale_name {
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
      // expected-error@+1 {{takes rows to be those of owner 0 which are those of owner 3, at owner 0}}
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// Blocks come from behind, not from ahead.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @way_back {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by -1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      // expected-error@+1 {{takes rows to be those of owner 3 which are those of owner 1, at owner 0}}
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by -1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// A turn hands on what it has attended to, not what came.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @stale_block {
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
      // expected-error@+1 {{takes rows to be those of owner 2 which are those of owner 3, at owner 0}}
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k1, %v1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// Keys that came meet the own values.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @values_behind {
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
      // expected-error@+1 {{attends to keys of one rank with values or terms of another}}
      %o2, %l2 = sp.attend(%q, %k1, %v) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// Queries do not travel.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @queries {
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
      // expected-error@+1 {{attends with the queries of another rank}}
      %o2, %l2 = sp.attend(%k1, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// Blocks that the causal mask needs are attended to with all pairs.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @came_for_others {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %end = affine.apply #last()[%rank]
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> needed_by <rows <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> needed_by <rows <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      // expected-error@+1 {{attends to keys that came for others, #sp.readers<rows <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>]>}}
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @goes_on_for_others {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %end = affine.apply #last()[%rank]
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> needed_by <rows <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      // expected-error@+1 {{hands on for #sp.readers<rows <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 1>]> blocks that came for others, #sp.readers<rows <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>]>}}
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> needed_by <rows <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 1>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}
