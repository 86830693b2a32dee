// RUN: sp-opt %s --sp-verify-coverage --verify-diagnostics | FileCheck %s

// A window's halo: rows go straight to the rank that sees them, gradients
// straight home.
// CHECK-COUNT-2: sp.attend_backward
#before = affine_map<()[s0] -> ((s0 + 2) mod 3)>
module @halo {
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
    %h:2, %w = sp.shift_start %dk1, %dv1 from %from by -1 in <contiguous 12 on "sp" of 3> seen_by <rows <contiguous 12 on "sp" of 3> bands [#sp.band<q 0 to 12, k 0 to 12, lo -1, hi 0>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    %dk = stablehlo.add %dk0, %h#0 : tensor<1x4x1x8xf32>
    %dv = stablehlo.add %dv0, %h#1 : tensor<1x4x1x8xf32>
    return %dq1, %dk, %dv : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}
