// RUN: sp-opt %s --sp-partition-pipeline | FileCheck %s

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
