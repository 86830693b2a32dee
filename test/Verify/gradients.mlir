// RUN: sp-opt %s --sp-verify-coverage --split-input-file --verify-diagnostics | FileCheck %s

// A proof changes nothing.
// CHECK-COUNT-3: sp.attend_backward
// CHECK-COUNT-3: sp.attend_backward
// CHECK: sp.attend_backward
// CHECK-COUNT-3: sp.attend_backward

// Every owner once, and the gradients of its keys come home.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @ring {
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
    %dq9, %dk9, %dv9 = sp.attend_backward(%q, %r#1, %r#2) of(%do, %lse, %delta) onto_query(%r#0) onto_keys(%r#3, %r#4) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h:2, %w = sp.shift_start %dk9, %dv9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    return %dq9, %h#0, %h#1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Gradients of blocks that went both ways come home directly.
#on = affine_map<()[s0] -> ((s0 - 1) mod 3)>
#back = affine_map<()[s0] -> ((s0 + 1) mod 3)>
module @both_ways {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %rank = sp.rank "sp" : index
    %from = affine.apply #on()[%rank]
    %to = affine.apply #back()[%rank]
    %k1:2, %t1 = sp.shift_start %k, %v from %rank by 1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %k2:2, %t2 = sp.shift_start %k, %v from %rank by -1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %rank bands [#sp.band<q 0 to 12, k 0 to 12, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    sp.wait %t1
    sp.wait %t2
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %k1#0, %k1#1) of(%do, %lse, %delta) onto_query(%dq0) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %from bands [#sp.band<q 0 to 12, k 0 to 12, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g1:2, %u1 = sp.shift_start %dk1, %dv1 from %from by -1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq2, %dk2, %dv2 = sp.attend_backward(%q, %k2#0, %k2#1) of(%do, %lse, %delta) onto_query(%dq1) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %to bands [#sp.band<q 0 to 12, k 0 to 12, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g2:2, %u2 = sp.shift_start %dk2, %dv2 from %to by 1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %u1
    sp.wait %u2
    return %dq2, %dk0, %dv0, %g1#0, %g1#1, %g2#0, %g2#1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// Where all keys are there, one step makes all their gradients.
module @gather {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %k0, %t0 = sp.all_gather_start %k dim 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32> -> tensor<1x16x1x8xf32>
    %v0, %t1 = sp.all_gather_start %v dim 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32> -> tensor<1x16x1x8xf32>
    sp.wait %t0
    sp.wait %t1
    %dq, %dk, %dv = sp.attend_backward(%q, %k0, %v0) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 1>
      bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x16x1x8xf32>, tensor<1x16x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x16x1x8xf32>, tensor<1x16x1x8xf32>)
    %dk1, %t2 = sp.reduce_scatter_start %dk sum dim 1 in <contiguous 16 on "sp" of 4> : tensor<1x16x1x8xf32> -> tensor<1x4x1x8xf32>
    %dv1, %t3 = sp.reduce_scatter_start %dv sum dim 1 in <contiguous 16 on "sp" of 4> : tensor<1x16x1x8xf32> -> tensor<1x4x1x8xf32>
    sp.wait %t2
    sp.wait %t3
    return %dq, %dk1, %dv1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// A sum of parts that are home is taken up where it is read: here nobody does, nor
// is the last part sent.
#on = affine_map<()[s0] -> ((s0 - 1) mod 3)>
#back = affine_map<()[s0] -> ((s0 + 1) mod 3)>
module @nobody_reads_sums {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> tensor<1x4x2x8xf32> {
    %rank = sp.rank "sp" : index
    %from = affine.apply #on()[%rank]
    %to = affine.apply #back()[%rank]
    %k1:2, %t1 = sp.shift_start %k, %v from %rank by 1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %k2:2, %t2 = sp.shift_start %k, %v from %rank by -1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %rank bands [#sp.band<q 0 to 12, k 0 to 12, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    sp.wait %t1
    sp.wait %t2
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %k1#0, %k1#1) of(%do, %lse, %delta) onto_query(%dq0) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %from bands [#sp.band<q 0 to 12, k 0 to 12, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g1:2, %u1 = sp.shift_start %dk1, %dv1 from %from by -1 in <contiguous 12 on "sp" of 3> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq2, %dk2, %dv2 = sp.attend_backward(%q, %k2#0, %k2#1) of(%do, %lse, %delta) onto_query(%dq1) queries <contiguous 12 on "sp" of 3> keys <contiguous 12 on "sp" of 3> from %to bands [#sp.band<q 0 to 12, k 0 to 12, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    sp.wait %u1
    %sum = stablehlo.add %dk0, %g1#0 : tensor<1x4x1x8xf32>
    return %dq2 : tensor<1x4x2x8xf32>
  }
}
