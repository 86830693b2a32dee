// RUN: sp-opt %s --sp-partition-pipeline --sp-schedule-pipeline --sp-memory-pipeline | FileCheck %s

sp.mesh @mesh <["sp" = 2]> sequence "sp"

// Of four groups of heads that are gathered two are there at once: the third
// lies where the first did, the fourth where the second did.
// CHECK-LABEL: func.func @main(
// CHECK: sp.all_gather_start {{.*}} {sp.places = [#sp.place<arena #[[FIRST:.*]]>]}
// CHECK: sp.all_gather_start {{.*}} {sp.places = [#sp.place<arena #[[SECOND:.*]]>]}
// CHECK: sp.attend
// CHECK: sp.all_gather_start {{.*}} {sp.places = [#sp.place<arena #[[FIRST]]>]}
// CHECK: sp.attend
// CHECK: sp.all_gather_start {{.*}} {sp.places = [#sp.place<arena #[[SECOND]]>]}
// CHECK: sp.attend
func.func @main(%q: tensor<1x2048x4x8xf32>, %k: tensor<1x2048x4x8xf32>) -> tensor<1x2048x4x8xf32> {
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 2048, k 0 to 2048, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 2, layout = zigzag, placement = head_first, groups = 4>
     : tensor<1x2048x4x8xf32>, tensor<1x2048x4x8xf32>, tensor<1x2048x4x8xf32> -> tensor<1x2048x4x8xf32>
  return %o : tensor<1x2048x4x8xf32>
}
