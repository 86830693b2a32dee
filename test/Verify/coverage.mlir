// RUN: sp-opt %s --sp-verify-coverage --split-input-file --verify-diagnostics | FileCheck %s

// A proof changes nothing.
// CHECK-COUNT-3: sp.attend
// CHECK-COUNT-3: sp.attend
// CHECK-COUNT-3: sp.attend
// CHECK-COUNT-2: sp.attend

// Every owner once.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @ring {
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
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// Every owner once.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4096)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4096)>
module @many {
  sp.mesh @mesh <["sp" = 4096]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 4095 : index
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
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16384 on "sp" of 4096> keys <contiguous 16384 on "sp" of 4096> from %end bands [#sp.band<q 0 to 16384, k 0 to 16384, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// Blocks that nobody sees any of may still come.
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @causal {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %i = %c1 to %cn step %c1 iter_args(%o1 = %o0, %l1 = %l0, %k1 = %k0#0, %v1 = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o2, %l2 = sp.attend(%q, %k1, %v1) onto(%o1, %l1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t2
      scf.yield %o2, %l2, %k2#0, %k2#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %o9, %l9 = sp.attend(%q, %r#2, %r#3) onto(%r#0, %r#1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o9 : tensor<1x4x1x8xf32>
  }
}

// -----

// A window of 5 reaches back into one owner of 4: one hop is enough.
module @window {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32> {
    %rank = sp.rank "sp" : index
    %src = affine.apply affine_map<()[s0] -> ((s0 + 3) mod 4)>()[%rank]
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 hops 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -4, hi 0>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %o1, %l1 = sp.attend(%q, %k0#0, %k0#1) onto(%o0, %l0) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -4, hi 0>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    return %o1 : tensor<1x4x1x8xf32>
  }
}
