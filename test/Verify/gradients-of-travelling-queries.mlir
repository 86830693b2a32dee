// RUN: sp-opt %s --sp-verify-coverage --split-input-file --verify-diagnostics | FileCheck %s

// A proof changes nothing.
// CHECK-COUNT-3: sp.attend_backward

// Queries of every owner once, and their gradients come home; keys stay.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @queries {
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
    %h, %w = sp.shift_start %dq9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x2x8xf32>
    sp.wait %w
    return %h, %dk9, %dv9 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}
