// RUN: sp-opt %s --sp-partition-pipeline --split-input-file | FileCheck %s

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// Queries travel with their cotangents, sums and deltas, their gradients after
// them and home; keys stay, and their gradients are added to where they are.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x3x4x8xbf16>
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x5x2x8xbf16>
// CHECK-SAME: %[[LSE:[a-z0-9]*]]: tensor<1x3x4xf32>
func.func @main(%q: tensor<1x11x4x8xbf16>, %k: tensor<1x17x2x8xbf16>, %lse: tensor<1x11x4xf32>)
    -> (tensor<1x11x4x8xbf16>, tensor<1x17x2x8xbf16>) {
  // CHECK: %[[DELTA:.*]] = stablehlo.reduce
  // CHECK: %[[R:.*]] = sp.rank "sp"
  // CHECK: %[[Q1:.*]]:4 = sp.shift %[[Q]], %[[Q]], %[[LSE]], %[[DELTA]] from %[[R]] by 1 in <zigzag 11 on "sp" of 4> needed_by {{.*}}{sp.backward} : tensor<1x3x4x8xbf16>, tensor<1x3x4x8xbf16>, tensor<1x3x4xf32>, tensor<1x3x4xf32>
  // CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attend_backward(%[[Q]], %[[K]], %[[K]]) of(%[[Q]], %[[LSE]], %{{.*}}) queries <zigzag 11 on "sp" of 4> from %[[R]] keys <zigzag 17 on "sp" of 4> bands
  // CHECK: %[[DQ1:.*]] = sp.shift %[[DQ]] from %[[R]] by 1 in <zigzag 11 on "sp" of 4> : tensor<1x3x4x8xf32>
  // CHECK: scf.for {{.*}} iter_args(%[[DK2:.*]] = %[[DK]], %[[DV2:.*]] = %[[DV]], %[[Q2:.*]] = %[[Q1]]#0, %[[DO2:.*]] = %[[Q1]]#1, %[[LSE2:.*]] = %[[Q1]]#2, %[[DELTA2:.*]] = %[[Q1]]#3, %[[DQ2:.*]] = %[[DQ1]])
  // CHECK: sp.shift %[[Q2]], %[[DO2]], %[[LSE2]], %[[DELTA2]] from %[[S:[0-9]*]] by 1
  // CHECK: sp.attend_backward(%[[Q2]], %[[K]], %[[K]]) of(%[[DO2]], %[[LSE2]], %[[DELTA2]]) onto_query(%[[DQ2]]) onto_keys(%[[DK2]], %[[DV2]]) queries {{.*}} from %[[S]] keys {{.*}} bands
  // CHECK: %[[LAST:.*]], %[[DK9:.*]], %{{.*}} = sp.attend_backward(
  // CHECK: %[[HOME:.*]] = sp.shift %[[LAST]] from %{{.*}} by 1
  // CHECK-NOT: sp.shift
  // CHECK: stablehlo.convert %[[HOME]]
  // CHECK: stablehlo.convert %[[DK9]]
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 11, k 0 to 17, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first, queries_travel = true>
     : (tensor<1x11x4x8xbf16>, tensor<1x17x2x8xbf16>, tensor<1x17x2x8xbf16>, tensor<1x11x4x8xbf16>, tensor<1x11x4xf32>, tensor<1x11x4x8xbf16>)
     -> (tensor<1x11x4x8xbf16>, tensor<1x17x2x8xbf16>, tensor<1x17x2x8xbf16>)
  return %dq, %dk : tensor<1x11x4x8xbf16>, tensor<1x17x2x8xbf16>
}

// -----

sp.mesh @mesh <["sp" = 6]> sequence "sp"

func.func private @segments(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  return %s, %s : tensor<f32>, tensor<f32>
}

// Beside heads, of which a rank hands on its own; terms of queries travel, those
// of keys stay, though both are the same here.
// CHECK-LABEL: func.func @main(
// CHECK: %[[TERM:.*]] = sp.all_to_all {{.*}} -> tensor<1x4x1x1xi32>
// CHECK: sp.shift %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} from %{{.*}} by 1 in <zigzag 11 on "sp:(1)3" of 3> heads <contiguous 4 on "sp:(3)2" of 2> of 4 needed_by {{.*}}{sp.backward} : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2xf32>
// CHECK: sp.shift %[[TERM]] from %{{.*}} by 1 in <zigzag 11 on "sp:(1)3" of 3> needed_by {{.*}}{sp.backward} : tensor<1x4x1x1xi32>
// CHECK: sp.attend_backward({{.*}} per_query(%[[TERM]] : tensor<1x4x1x1xi32>) per_key(%[[TERM]] :
// CHECK: sp.shift %{{.*}} from %{{.*}} by 1 in <zigzag 11 on "sp:(1)3" of 3> heads <contiguous 4 on "sp:(3)2" of 2> of 4 : tensor<1x4x2x8xf32>
func.func @main(%q: tensor<1x11x4x8xf32>, %k: tensor<1x11x2x8xf32>, %lse: tensor<1x11x4x2xf32>, %a: tensor<1x11x1x1xi32>)
    -> (tensor<1x11x4x8xf32>, tensor<1x11x2x8xf32>) {
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) score @segments per_query(%a : tensor<1x11x1x1xi32>) per_key(%a : tensor<1x11x1x1xi32>)
     bands [#sp.band<q 0 to 11, k 0 to 11, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 2, outer = 1, inner = 3, gather = 1, layout = zigzag, placement = head_first, queries_travel = true>
     : (tensor<1x11x4x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x4x8xf32>, tensor<1x11x4x2xf32>, tensor<1x11x4x8xf32>)
     -> (tensor<1x11x4x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>)
  return %dq, %dk : tensor<1x11x4x8xf32>, tensor<1x11x2x8xf32>
}
