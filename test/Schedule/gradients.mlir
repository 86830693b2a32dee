// RUN: sp-opt %s --sp-schedule-pipeline | FileCheck %s

// Gradients are a command of their own: what is computed of them is not fused with
// them, and they hide what was started before.
// CHECK-LABEL: func.func @main
// CHECK: sp.shift_start %[[K:.*]], %[[V:.*]] from
// CHECK: %[[DO:.*]] = sp.launch
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attend_backward(%{{.*}}, %[[K]], %[[V]]) of(%[[DO]],
// CHECK-NEXT: sp.shift_start %[[DK]], %[[DV]]
// CHECK: sp.launch {{.*}}(%[[DQ]]
// CHECK: sp.wait
module {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %rank = sp.rank "sp" : index
    %k1:2 = sp.shift %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %twice = stablehlo.add %do, %do : tensor<1x4x2x8xf32>
    %dq, %dk, %dv = sp.attend_backward(%q, %k, %v) of(%twice, %lse, %delta) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g:2 = sp.shift %dk, %dv from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %negative = stablehlo.negate %dq : tensor<1x4x2x8xf32>
    return %negative, %k1#0, %k1#1, %g#0, %g#1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}
