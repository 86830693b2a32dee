// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=ring" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,RING
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=ulysses" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,ULYSSES
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=allgather" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,GATHER
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=none" --sp-partition-pipeline | FileCheck %s --check-prefix=NONE

// 13 positions over 5 ranks; 4 query heads, fewer kv heads than ranks; the keys
// are another, longer sequence.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x3x4x8xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [13 by <contiguous 13 on "sp" of 5>], [4], [8]]>}
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x4x2x8xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [17 by <contiguous 17 on "sp" of 5>], [2], [8]]>}
// NONE-LABEL: func.func @main(
// NONE-SAME: %[[Q:[a-z0-9]*]]: tensor<1x13x4x8xf32>
func.func @main(%q: tensor<2x13x4x8xf32>, %k: tensor<2x17x2x8xf32>) -> tensor<2x13x4x8xf32> {
  // The block here at step t is that of rank (r - t) mod P; the shift comes
  // before the attention that it hides behind, and the last block stays.
  // RING: %[[R:.*]] = sp.rank "sp" : index
  // RING: %[[FIRST:.*]]:2 = sp.shift %[[K]], %[[K]] from %[[R]] by 1 in <contiguous 17 on "sp" of 5> needed_by <rows <contiguous 13 on "sp" of 5> bands [#sp.band<q 0 to 13, k 0 to 17, 
  // RING: %[[O:.*]], %[[L:.*]] = sp.attend(%[[Q]], %[[K]], %[[K]]) queries <contiguous 13 on "sp" of 5> keys <contiguous 17 on "sp" of 5> from %[[R]]
  // RING: scf.for %{{.*}} = %c1 to %c4 step %c1 iter_args(%[[OT:.*]] = %[[O]], %[[LT:.*]] = %[[L]], %[[KT:.*]] = %[[FIRST]]#0, %[[VT:.*]] = %[[FIRST]]#1)
  // RING: sp.shift %[[KT]], %[[VT]] from %[[SRC:.*]] by 1
  // RING: sp.attend(%[[Q]], %[[KT]], %[[VT]]) onto(%[[OT]], %[[LT]]) {{.*}} from %[[SRC]]
  // RING: scf.yield
  // RING-NOT: sp.shift
  // RING: sp.attend(%[[Q]], %{{.*}}, %{{.*}}) onto(

  // 4 heads on 5 ranks: at most 1, and the kv head that it reads.
  // ULYSSES: sp.all_to_all %[[Q]] rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 : tensor<1x3x4x8xf32> -> tensor<1x13x1x8xf32>
  // ULYSSES: sp.all_to_all %[[K]] rows <contiguous 17 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 2 : tensor<1x4x2x8xf32> -> tensor<1x17x1x8xf32>
  // ULYSSES: %[[H:.*]], %{{.*}} = sp.attend({{.*}}) queries <contiguous 13 on "sp" of 1> keys <contiguous 17 on "sp" of 1> heads <contiguous 4 on "sp" of 5> kv_heads 2
  // ULYSSES: sp.all_to_all %[[H]] {{.*}} of 4 to_rows : tensor<1x13x1x8xf32> -> tensor<1x3x4x8xf32>

  // GATHER: %[[ALL:.*]] = sp.all_gather %[[K]] dim 1 in <contiguous 17 on "sp" of 5> : tensor<1x4x2x8xf32> -> tensor<1x17x2x8xf32>
  // GATHER: sp.attend(%[[Q]], %[[ALL]], %[[ALL]]) queries <contiguous 13 on "sp" of 5> keys <contiguous 17 on "sp" of 1>

  // NONE: sp.attend(%[[Q]], %{{.*}}, %{{.*}}) queries <contiguous 13 on "" of 1> keys <contiguous 17 on "" of 1>
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5
     : tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32> -> tensor<2x13x4x8xf32>
  return %o : tensor<2x13x4x8xf32>
}
