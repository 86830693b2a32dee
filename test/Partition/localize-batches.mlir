// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 tokens-per-rank=6 backward=kv" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,KEYS
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 tokens-per-rank=6 backward=q" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,QUERIES
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 tokens-per-rank=6 backward=kv" --sp-partition-pipeline --sp-schedule-pipeline --sp-memory-pipeline --sp-verify-pipeline | FileCheck %s --check-prefix=PLACES
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 tokens-per-rank=6 turns=2" --sp-partition-pipeline | FileCheck %s --check-prefix=TURNS

// A ring in the group of each rank, which may be by itself: its own block first, all
// others in a loop.

sp.documents @ids of 16 in arguments [3]

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<1x6x2x8xf32> {sp.sharding = #sp.sharding<{{\[\[}}1], [16 by <batch 16 on "sp" of 4 holds 6>], [2], [8]]>}
// CHECK: %[[RANK:.*]] = sp.rank "sp" : index
// CHECK: %[[SIZE:.*]] = sp.group_size <batch 16 on "sp" of 4 holds 6> : index
// CHECK: %[[OWN:.*]]:2 = sp.shift %arg1, %arg1 from %[[RANK]] by 1 in <batch 16 on "sp" of 4 holds 6> needed_by <rows <batch 16 on "sp" of 4 holds 6>
// CHECK: %[[O:.*]], %[[L:.*]] = sp.attend(%arg0, %arg1, %arg1) queries <batch 16 on "sp" of 4 holds 6> keys <batch 16 on "sp" of 4 holds 6> from %[[RANK]]
// CHECK: scf.for %[[T:.*]] = %c1 to %[[SIZE]] step %c1 iter_args(%[[O1:.*]] = %[[O]], %[[L1:.*]] = %[[L]], %[[K:.*]] = %[[OWN]]#0, %[[V:.*]] = %[[OWN]]#1)
// CHECK-NEXT: %[[FROM:.*]] = sp.group_source %[[T]] in <batch 16 on "sp" of 4 holds 6> : index
// CHECK-NEXT: %[[NEXT:.*]]:2 = sp.shift %[[K]], %[[V]] from %[[FROM]] by 1
// CHECK-NEXT: %[[O2:.*]], %[[L2:.*]] = sp.attend(%arg0, %[[K]], %[[V]]) onto(%[[O1]], %[[L1]]) queries {{.*}} from %[[FROM]]
// CHECK-NEXT: scf.yield %[[O2]], %[[L2]], %[[NEXT]]#0, %[[NEXT]]#1

// Gradients go on even after the last step: home.
// KEYS: %[[D:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attend_backward
// KEYS-NEXT: %[[SENT:.*]]:2 = sp.shift %[[DK]], %[[DV]] from %[[RANK]] by 1 in <batch 16 on "sp" of 4 holds 6> :
// KEYS-NEXT: scf.for {{.*}} = %c1 to %{{.*}} step %c1 iter_args(%{{.*}} = %[[D]], %{{.*}}, %{{.*}}, %[[DK0:.*]] = %[[SENT]]#0, %[[DV0:.*]] = %[[SENT]]#1)
// KEYS: %{{.*}}, %[[DK1:.*]], %[[DV1:.*]] = sp.attend_backward{{.*}} onto_keys(%[[DK0]], %[[DV0]])
// KEYS-NEXT: %[[SENT1:.*]]:2 = sp.shift %[[DK1]], %[[DV1]] from
// KEYS-NEXT: scf.yield {{.*}}, %[[SENT1]]#0, %[[SENT1]]#1

// QUERIES: sp.shift %arg0, %arg2, %{{.*}} needed_by <rows <batch 16 on "sp" of 4 holds 6> bands [#sp.band<q 0 to 16, k 0 to 16, lo 0, hi inf>]

// Nobody knows in which of two slots a loop over a group ends: what is read behind it
// is copied where it always lies, in front of what adds to it.
// PLACES: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %[[BEFORE:.*]] = %{{.*}}, %[[BEFORE2:.*]] = %{{.*}})
// PLACES: %[[COPY:.*]] = sp.copy %[[BEFORE]]
// PLACES: sp.attend_backward{{.*}} onto_keys(%[[COPY]], %[[BEFORE2]])

// In turns, rows of a block after another meet those of all others.
// TURNS: scf.for %[[TURN:.*]] = %c0 to %c2
// TURNS: %[[PART:.*]] = sp.take %arg0 at %{{.*}} : {{.*}} -> tensor<1x3x2x8xf32>
// TURNS: sp.group_size <batch 16 on "sp" of 4 blocks 2 holds 6> : index
// TURNS: sp.shift {{.*}} in <batch 16 on "sp" of 4 blocks 2 holds 6> needed_by <rows <batch 16 on "sp" of 4 blocks 2 holds 6>
// TURNS: sp.attend(%[[PART]], {{.*}} queries <batch 16 on "sp" of 4 turns 2 holds 6> from %{{.*}} keys <batch 16 on "sp" of 4 blocks 2 holds 6>
func.func @main(%q: tensor<1x16x2x8xf32>, %k: tensor<1x16x2x8xf32>, %d: tensor<1x16x2x8xf32>, %ids: tensor<1x16xi32>)
    -> (tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>) {
  %o, %l = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] documents <queries @ids keys @ids> scale 1.0 {name = "layer0"}
      : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32> -> tensor<1x16x2x8xf32>, tensor<1x16x2xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%o, %l) by(%d)
      bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] documents <queries @ids keys @ids> scale 1.0 {name = "layer0"}
      : (tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2xf32>, tensor<1x16x2x8xf32>)
      -> (tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>)
  return %dq, %dk : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>
}
