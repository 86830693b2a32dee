// RUN: sp-opt %s --sp-partition-pipeline --split-input-file | FileCheck %s

sp.mesh @mesh <["sp" = 2]> sequence "sp"

// The second group is exchanged before the first one's gradients are made, which
// then go back; groups are joined.
// CHECK-LABEL: func.func @main(
func.func @main(%q: tensor<1x6x8x8xf32>, %k: tensor<1x6x4x8xf32>, %lse: tensor<1x6x8xf32>)
    -> (tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>) {
  // CHECK: %[[DELTA:.*]] = stablehlo.reduce(
  // CHECK: %[[Q0:.*]] = stablehlo.slice %arg0 [0:1, 0:3, 0:4, 0:8]
  // CHECK: %[[QH0:.*]] = sp.all_to_all %[[Q0]] rows <zigzag 6 on "sp" of 2> heads <contiguous 4 on "sp" of 2> of 4
  // CHECK: stablehlo.slice %arg2 [0:1, 0:3, 0:4]
  // CHECK: stablehlo.slice %[[DELTA]] [0:1, 0:3, 0:4]
  // CHECK: %[[Q1:.*]] = stablehlo.slice %arg0 [0:1, 0:3, 4:8, 0:8]
  // CHECK: %[[QH1:.*]] = sp.all_to_all %[[Q1]]
  // CHECK: stablehlo.slice %[[DELTA]] [0:1, 0:3, 4:8]
  // CHECK: %[[DQ0:.*]], %[[DK0:.*]], %{{.*}} = sp.attend_backward(%[[QH0]], {{.*}} heads <contiguous 4 on "sp" of 2> kv_heads 2 bands
  // CHECK: %[[DQR0:.*]] = sp.all_to_all %[[DQ0]] {{.*}} of 4 to_rows
  // CHECK: %[[DKR0:.*]] = sp.all_to_all %[[DK0]] {{.*}} of 2 to_rows
  // CHECK: %[[DQ1:.*]], %[[DK1:.*]], %{{.*}} = sp.attend_backward(%[[QH1]], {{.*}} heads <contiguous 4 on "sp" of 2> kv_heads 2 first_head 4 bands
  // CHECK: %[[DQR1:.*]] = sp.all_to_all %[[DQ1]] {{.*}} to_rows
  // CHECK: %[[DKR1:.*]] = sp.all_to_all %[[DK1]] {{.*}} to_rows
  // CHECK: %[[DQ:.*]] = stablehlo.concatenate %[[DQR0]], %[[DQR1]], dim = 2
  // CHECK: %[[DK:.*]] = stablehlo.concatenate %[[DKR0]], %[[DKR1]], dim = 2
  // CHECK: return %[[DQ]], %[[DK]]
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 2, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, groups = 2>
     : (tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x8x8xf32>, tensor<1x6x8xf32>, tensor<1x6x8x8xf32>)
     -> (tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32>)
  return %dq, %dk : tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>
}

// -----

sp.mesh @mesh <["sp" = 2]> sequence "sp"

// Gathered groups: the third comes once the first is done with.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x3x3x8xf32>
func.func @main(%k: tensor<1x6x3x8xf32>, %lse: tensor<1x6x3xf32>) -> tensor<1x6x3x8xf32> {
  // CHECK: %[[DELTA:.*]] = stablehlo.reduce(
  // CHECK: %[[K0:.*]] = stablehlo.slice %[[K]] [0:1, 0:3, 0:1, 0:8]
  // CHECK: %[[KG0:.*]] = sp.all_gather %[[K0]] dim 1 in <zigzag 6 on "sp" of 2> after %[[DELTA]]
  // CHECK: %[[K1:.*]] = stablehlo.slice %[[K]] [0:1, 0:3, 1:2, 0:8]
  // CHECK: %[[KG1:.*]] = sp.all_gather %[[K1]] dim 1 in <zigzag 6 on "sp" of 2> after %[[DELTA]]
  // CHECK: %[[DQ0:.*]], %[[DK0:.*]], %{{.*}} = sp.attend_backward(%[[K0]], %[[KG0]],
  // CHECK: %[[S0:.*]] = sp.reduce_scatter %[[DK0]] sum dim 1 in <zigzag 6 on "sp" of 2> : tensor<1x6x1x8xf32> -> tensor<1x3x1x8xf32>
  // CHECK: sp.all_gather %{{.*}} dim 1 in <zigzag 6 on "sp" of 2> after %[[DQ0]]
  // CHECK: sp.attend_backward(%[[K1]], %[[KG1]], {{.*}} first_head 1 bands
  // CHECK: %[[S1:.*]] = sp.reduce_scatter
  // CHECK: sp.attend_backward({{.*}} first_head 2 bands
  // CHECK: %[[S2:.*]] = sp.reduce_scatter
  // CHECK: stablehlo.concatenate %[[S0]], %[[S1]], %[[S2]], dim = 2
  %dq, %dk, %dv = sp.attention_backward(%k, %k, %k) of(%k, %lse) by(%k) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 2, layout = zigzag, placement = head_first, groups = 3>
     : (tensor<1x6x3x8xf32>, tensor<1x6x3x8xf32>, tensor<1x6x3x8xf32>, tensor<1x6x3x8xf32>, tensor<1x6x3xf32>, tensor<1x6x3x8xf32>)
     -> (tensor<1x6x3x8xf32>, tensor<1x6x3x8xf32>, tensor<1x6x3x8xf32>)
  return %dk : tensor<1x6x3x8xf32>
}
