// RUN: sp-opt %s --sp-verify-coverage --split-input-file --verify-diagnostics

// Schedules whose gradients of queries miss keys, or have them twice.

// A turn is missing.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 2) mod 4)>
module @too_short {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0:2, %u0 = sp.shift_start %dk0, %dv0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:5 = scf.for %i = %c1 to %cn step %c1 iter_args(%dq1 = %dq0, %k1 = %k0#0, %v1 = %k0#1, %dk1 = %g0#0, %dv1 = %g0#1) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %dq2, %dk2, %dv2 = sp.attend_backward(%q, %k1, %v1) of(%do, %lse, %delta) onto_query(%dq1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2:2, %u2 = sp.shift_start %dk2, %dv2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dq2, %k2#0, %k2#1, %g2#0, %g2#1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-error@+1 {{is the last of its gradient, but the queries of owner 0 have not met the keys of owner 1, with which they share 16 visible pairs}}
    %dq9, %dk9, %dv9 = sp.attend_backward(%q, %r#1, %r#2) of(%do, %lse, %delta) onto_query(%r#0) onto_keys(%r#3, %r#4) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    return %dq9, %k, %v : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Queries do not travel, nor what is theirs.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @delta_of_another_rank {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    // expected-note@+1 {{which is this one}}
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0:2, %u0 = sp.shift_start %dk0, %dv0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:5 = scf.for %i = %c1 to %cn step %c1 iter_args(%dq1 = %dq0, %k1 = %k0#0, %v1 = %k0#1, %dk1 = %g0#0, %dv1 = %g0#1) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      // expected-error@+1 {{continues the gradient of another attention}}
      %dq2, %dk2, %dv2 = sp.attend_backward(%q, %k1, %v1) of(%dq1, %lse, %delta) onto_query(%dq1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2:2, %u2 = sp.shift_start %dk2, %dv2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dq2, %k2#0, %k2#1, %g2#0, %g2#1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %dq9, %dk9, %dv9 = sp.attend_backward(%q, %r#1, %r#2) of(%do, %lse, %delta) onto_query(%r#0) onto_keys(%r#3, %r#4) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h:2, %w = sp.shift_start %dk9, %dv9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    return %dq9, %h#0, %h#1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// A partial gradient of queries would count twice.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @queries_continued_twice {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0:2, %u0 = sp.shift_start %dk0, %dv0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:5 = scf.for %i = %c1 to %cn step %c1 iter_args(%dq1 = %dq0, %k1 = %k0#0, %v1 = %k0#1, %dk1 = %g0#0, %dv1 = %g0#1) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %dq2, %dk2, %dv2 = sp.attend_backward(%q, %k1, %v1) of(%do, %lse, %delta) onto_query(%dq1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2:2, %u2 = sp.shift_start %dk2, %dv2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dq2, %k2#0, %k2#1, %g2#0, %g2#1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    // expected-error@+1 {{continues a gradient that was continued before}}
    %dq9, %dk9, %dv9 = sp.attend_backward(%q, %r#1, %r#2) of(%do, %lse, %delta) onto_query(%dq0) onto_keys(%r#3, %r#4) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h:2, %w = sp.shift_start %dk9, %dv9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    return %dq9, %h#0, %h#1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

module @term_begun_again {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func private @biased(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    return %s, %one, %one : tensor<f32>, tensor<f32>, tensor<f32>
  }
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2x2xf32>, %delta: tensor<1x4x2xf32>) -> tensor<1x4x2x8xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<1x4x2x8xf32>
    %rank = sp.rank "sp" : index
    %other = affine.apply affine_map<()[s0] -> ((s0 + 1) mod 2)>()[%rank]
    %k1:2, %t = sp.shift_start %k, %v from %rank by 1 in <contiguous 8 on "sp" of 2> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq, %dk, %dv, %db = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) onto_terms(%zero) score @biased queries <contiguous 8 on "sp" of 2> keys <contiguous 8 on "sp" of 2> from %rank bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) terms (tensor<1x4x2x8xf32>)
    %g:2, %u = sp.shift_start %dk, %dv from %rank by 1 in <contiguous 8 on "sp" of 2> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %t
    sp.wait %u
    // expected-error@+1 {{continues a gradient that was continued before}}
    %dq1, %dk1, %dv1, %db1 = sp.attend_backward(%q, %k1#0, %k1#1) of(%do, %lse, %delta) onto_query(%dq) onto_keys(%g#0, %g#1) onto_terms(%zero) score @biased queries <contiguous 8 on "sp" of 2> keys <contiguous 8 on "sp" of 2> from %other bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) terms (tensor<1x4x2x8xf32>)
    return %dq1 : tensor<1x4x2x8xf32>
  }
}
