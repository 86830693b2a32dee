// RUN: sp-opt %s --sp-partition-pipeline --split-input-file | FileCheck %s

sp.mesh @mesh <["sp" = 2]> sequence "sp"

// The second group's exchange comes before the first group's attention, behind
// which it hides.
// CHECK-LABEL: func.func @main(
func.func @main(%q: tensor<1x6x8x8xf32>, %k: tensor<1x6x4x8xf32>) -> tensor<1x6x8x8xf32> {
  // CHECK: %[[Q0:.*]] = stablehlo.slice %arg0 [0:1, 0:3, 0:4, 0:8]
  // CHECK: %[[QH0:.*]] = sp.all_to_all %[[Q0]] rows <zigzag 6 on "sp" of 2> heads <contiguous 4 on "sp" of 2> of 4
  // CHECK: sp.all_to_all %{{.*}} of 2 :
  // CHECK: %[[Q1:.*]] = stablehlo.slice %arg0 [0:1, 0:3, 4:8, 0:8]
  // CHECK: %[[QH1:.*]] = sp.all_to_all %[[Q1]]
  // CHECK: sp.attend(%[[QH0]], {{.*}} heads <contiguous 4 on "sp" of 2> kv_heads 2
  // CHECK: %[[O0:.*]] = sp.all_to_all {{.*}} to_rows
  // CHECK: sp.attend(%[[QH1]],
  // CHECK: %[[O1:.*]] = sp.all_to_all {{.*}} to_rows
  // CHECK: stablehlo.concatenate %[[O0]], %[[O1]], dim = 2
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 2, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, groups = 2>
     : tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32> -> tensor<1x6x8x8xf32>
  return %o : tensor<1x6x8x8xf32>
}

// -----

sp.mesh @mesh <["sp" = 2]> sequence "sp"

// All-gather takes one group after another, keys and values at once: the second comes before the first
// is attended, the third after that, when the first is no longer needed.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x3x6x8xf32>
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x3x3x8xf32>
// CHECK-SAME: %[[V:[a-z0-9]*]]: tensor<1x3x3x4xf32>
func.func @main(%q: tensor<1x6x6x8xf32>, %k: tensor<1x6x3x8xf32>, %v: tensor<1x6x3x4xf32>) -> tensor<1x6x6x4xf32> {
  // CHECK: %[[K0:.*]] = stablehlo.slice %[[K]] [0:1, 0:3, 0:1, 0:8]
  // CHECK: %[[V0:.*]] = stablehlo.slice %[[V]] [0:1, 0:3, 0:1, 0:4]
  // CHECK: %[[Q0:.*]] = stablehlo.slice %[[Q]] [0:1, 0:3, 0:2, 0:8]
  // CHECK: %[[G0:.*]]:2 = sp.all_gather %[[K0]], %[[V0]] dim 1 in <zigzag 6 on "sp" of 2> :
  // CHECK: %[[Q1:.*]] = stablehlo.slice %[[Q]] [0:1, 0:3, 2:4, 0:8]
  // CHECK: %[[G1:.*]]:2 = sp.all_gather %{{.*}} dim 1 in <zigzag 6 on "sp" of 2> :
  // CHECK: %[[O0:.*]], %[[L0:.*]] = sp.attend(%[[Q0]], %[[G0]]#0, %[[G0]]#1) queries <zigzag 6 on "sp" of 2> keys <contiguous 6 on "sp" of 1> bands
  // CHECK: sp.all_gather %{{.*}}, %{{.*}} dim 1 in <zigzag 6 on "sp" of 2> after %[[L0]] : tensor<1x3x2xf32> : tensor<1x3x1x8xf32>, tensor<1x3x1x4xf32> -> tensor<1x6x1x8xf32>, tensor<1x6x1x4xf32>
  // CHECK: %[[O1:.*]], %{{.*}} = sp.attend(%[[Q1]], %[[G1]]#0, %[[G1]]#1) {{.*}} first_head 2 bands
  // CHECK: %[[O2:.*]], %{{.*}} = sp.attend({{.*}} first_head 4 bands
  // CHECK: stablehlo.concatenate %[[O0]], %[[O1]], %[[O2]], dim = 2
  %o = sp.attention(%q, %k, %v) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 2, layout = zigzag, placement = head_first, groups = 3>
     : tensor<1x6x6x8xf32>, tensor<1x6x3x8xf32>, tensor<1x6x3x4xf32> -> tensor<1x6x6x4xf32>
  return %o : tensor<1x6x6x4xf32>
}
