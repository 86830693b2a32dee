// RUN: sp-opt %s --sp-verify-coverage --split-input-file --verify-diagnostics

// Schedules in which queries travel, and keys miss some, or a part is lost.

// A turn is missing.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 2) mod 4)>
module @too_short {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %q0:4, %t0 = sp.shift_start %q, %do, %lse, %delta from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> from %rank keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0, %u0 = sp.shift_start %dq0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:7 = scf.for %i = %c1 to %cn step %c1 iter_args(%dk1 = %dk0, %dv1 = %dv0, %q1 = %q0#0, %o1 = %q0#1, %l1 = %q0#2, %d1 = %q0#3, %g1 = %g0) -> (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %q2:4, %t2 = sp.shift_start %q1, %o1, %l1, %d1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
      %dq2, %dk2, %dv2 = sp.attend_backward(%q1, %k, %v) of(%o1, %l1, %d1) onto_query(%g1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> from %src keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2, %u2 = sp.shift_start %dq2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dk2, %dv2, %q2#0, %q2#1, %q2#2, %q2#3, %g2 : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-error@+1 {{is the last of its gradient, but the keys of owner 0 have not met the queries of owner 1, with which they share 16 visible pairs}}
    %dq9, %dk9, %dv9 = sp.attend_backward(%r#2, %k, %v) of(%r#3, %r#4, %r#5) onto_query(%r#6) onto_keys(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> from %end keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    return %do, %dk9, %dv9 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Gradients of keys begin again in each turn: those of the first are lost.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @keys_begin_again {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %q0:4, %t0 = sp.shift_start %q, %do, %lse, %delta from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
    // expected-error@+1 {{is the last of its gradient, but the keys of owner 0 have not met the queries of owner 1, with which they share 16 visible pairs}}
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> from %rank keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0, %u0 = sp.shift_start %dq0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:7 = scf.for %i = %c1 to %cn step %c1 iter_args(%dk1 = %dk0, %dv1 = %dv0, %q1 = %q0#0, %o1 = %q0#1, %l1 = %q0#2, %d1 = %q0#3, %g1 = %g0) -> (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %q2:4, %t2 = sp.shift_start %q1, %o1, %l1, %d1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
      %dq2, %dk2, %dv2 = sp.attend_backward(%q1, %k, %v) of(%o1, %l1, %d1) onto_query(%g1) queries <contiguous 16 on "sp" of 4> from %src keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2, %u2 = sp.shift_start %dq2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dk2, %dv2, %q2#0, %q2#1, %q2#2, %q2#3, %g2 : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %dq9, %dk9, %dv9 = sp.attend_backward(%r#2, %k, %v) of(%r#3, %r#4, %r#5) onto_query(%r#6) onto_keys(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> from %end keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h, %w = sp.shift_start %dq9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %w
    return %h, %dk9, %dv9 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Gradients of keys and of values are of different turns.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @keys_apart {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %q0:4, %t0 = sp.shift_start %q, %do, %lse, %delta from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> from %rank keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0, %u0 = sp.shift_start %dq0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:7 = scf.for %i = %c1 to %cn step %c1 iter_args(%dk1 = %dk0, %dv1 = %dv0, %q1 = %q0#0, %o1 = %q0#1, %l1 = %q0#2, %d1 = %q0#3, %g1 = %g0) -> (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %q2:4, %t2 = sp.shift_start %q1, %o1, %l1, %d1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
      %dq2, %dk2, %dv2 = sp.attend_backward(%q1, %k, %v) of(%o1, %l1, %d1) onto_query(%g1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> from %src keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2, %u2 = sp.shift_start %dq2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dk2, %dv2, %q2#0, %q2#1, %q2#2, %q2#3, %g2 : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-error@+1 {{continues a gradient that was continued before}}
    %dq9, %dk9, %dv9 = sp.attend_backward(%r#2, %k, %v) of(%r#3, %r#4, %r#5) onto_query(%r#6) onto_keys(%r#0, %dv0) queries <contiguous 16 on "sp" of 4> from %end keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h, %w = sp.shift_start %dq9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %w
    return %h, %dk9, %dv9 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// A turn begins gradients of queries anew.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @a_block_is_lost {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %q0:4, %t0 = sp.shift_start %q, %do, %lse, %delta from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> from %rank keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    // expected-error@+1 {{makes a part of a gradient of queries that is lost}}
    %g0, %u0 = sp.shift_start %dq0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:7 = scf.for %i = %c1 to %cn step %c1 iter_args(%dk1 = %dk0, %dv1 = %dv0, %q1 = %q0#0, %o1 = %q0#1, %l1 = %q0#2, %d1 = %q0#3, %g1 = %g0) -> (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %q2:4, %t2 = sp.shift_start %q1, %o1, %l1, %d1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
      %dq2, %dk2, %dv2 = sp.attend_backward(%q1, %k, %v) of(%o1, %l1, %d1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> from %src keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2, %u2 = sp.shift_start %dq2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dk2, %dv2, %q2#0, %q2#1, %q2#2, %q2#3, %g2 : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %dq9, %dk9, %dv9 = sp.attend_backward(%r#2, %k, %v) of(%r#3, %r#4, %r#5) onto_query(%r#6) onto_keys(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> from %end keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h, %w = sp.shift_start %dq9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %w
    return %h, %dk9, %dv9 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// The last hop is missing.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @not_home {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %q0:4, %t0 = sp.shift_start %q, %do, %lse, %delta from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> from %rank keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0, %u0 = sp.shift_start %dq0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:7 = scf.for %i = %c1 to %cn step %c1 iter_args(%dk1 = %dk0, %dv1 = %dv0, %q1 = %q0#0, %o1 = %q0#1, %l1 = %q0#2, %d1 = %q0#3, %g1 = %g0) -> (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %q2:4, %t2 = sp.shift_start %q1, %o1, %l1, %d1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
      %dq2, %dk2, %dv2 = sp.attend_backward(%q1, %k, %v) of(%o1, %l1, %d1) onto_query(%g1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> from %src keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2, %u2 = sp.shift_start %dq2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dk2, %dv2, %q2#0, %q2#1, %q2#2, %q2#3, %g2 : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %dq9, %dk9, %dv9 = sp.attend_backward(%r#2, %k, %v) of(%r#3, %r#4, %r#5) onto_query(%r#6) onto_keys(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> from %end keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    // expected-error@+1 {{takes a gradient of queries to be the rank's own, which at owner 0 is that of owner 1}}
    return %dq9, %dk9, %dv9 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// The sums of one rank with the queries of another.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @sums_of_another_rank {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %q0:4, %t0 = sp.shift_start %q, %do, %lse, %delta from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> from %rank keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0, %u0 = sp.shift_start %dq0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:7 = scf.for %i = %c1 to %cn step %c1 iter_args(%dk1 = %dk0, %dv1 = %dv0, %q1 = %q0#0, %o1 = %q0#1, %l1 = %q0#2, %d1 = %q0#3, %g1 = %g0) -> (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %q2:4, %t2 = sp.shift_start %q1, %o1, %l1, %d1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
      // expected-error@+1 {{attends to queries of one rank with cotangents, sums or terms of another}}
      %dq2, %dk2, %dv2 = sp.attend_backward(%q1, %k, %v) of(%o1, %lse, %d1) onto_query(%g1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> from %src keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2, %u2 = sp.shift_start %dq2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dk2, %dv2, %q2#0, %q2#1, %q2#2, %q2#3, %g2 : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %dq9, %dk9, %dv9 = sp.attend_backward(%r#2, %k, %v) of(%r#3, %r#4, %r#5) onto_query(%r#6) onto_keys(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> from %end keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h, %w = sp.shift_start %dq9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %w
    return %h, %dk9, %dv9 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Added before it is handed on.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @gradient_of_another_rank {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %q0:4, %t0 = sp.shift_start %q, %do, %lse, %delta from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> from %rank keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0, %u0 = sp.shift_start %dq0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:7 = scf.for %i = %c1 to %cn step %c1 iter_args(%dk1 = %dk0, %dv1 = %dv0, %q1 = %q0#0, %o1 = %q0#1, %l1 = %q0#2, %d1 = %q0#3, %g1 = %g0) -> (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %q2:4, %t2 = sp.shift_start %q1, %o1, %l1, %d1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
      // expected-error@+1 {{adds gradients of queries of owner 2 to those of owner 3, at owner 0}}
      %dq2, %dk2, %dv2 = sp.attend_backward(%q1, %k, %v) of(%o1, %l1, %d1) onto_query(%g1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> from %src keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2, %u2 = sp.shift_start %dq2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dk2, %dv2, %q2#0, %q2#1, %q2#2, %q2#3, %dq2 : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %dq9, %dk9, %dv9 = sp.attend_backward(%r#2, %k, %v) of(%r#3, %r#4, %r#5) onto_query(%r#6) onto_keys(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> from %end keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h, %w = sp.shift_start %dq9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %w
    return %h, %dk9, %dv9 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Keys and values change places.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @other_keys {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %q0:4, %t0 = sp.shift_start %q, %do, %lse, %delta from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> from %rank keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0, %u0 = sp.shift_start %dq0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:7 = scf.for %i = %c1 to %cn step %c1 iter_args(%dk1 = %dk0, %dv1 = %dv0, %q1 = %q0#0, %o1 = %q0#1, %l1 = %q0#2, %d1 = %q0#3, %g1 = %g0) -> (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %q2:4, %t2 = sp.shift_start %q1, %o1, %l1, %d1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>
      // expected-note@+1 {{which is this one}}
      %dq2, %dk2, %dv2 = sp.attend_backward(%q1, %k, %v) of(%o1, %l1, %d1) onto_query(%g1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> from %src keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2, %u2 = sp.shift_start %dq2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dk2, %dv2, %q2#0, %q2#1, %q2#2, %q2#3, %g2 : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-error@+1 {{continues the gradient of another attention}}
    %dq9, %dk9, %dv9 = sp.attend_backward(%r#2, %v, %k) of(%r#3, %r#4, %r#5) onto_query(%r#6) onto_keys(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> from %end keys <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h, %w = sp.shift_start %dq9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %w
    return %h, %dk9, %dv9 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}
