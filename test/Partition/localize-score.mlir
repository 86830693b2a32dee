// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=ring" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,RING
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=ulysses" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,ULYSSES
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=allgather" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,GATHER
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=none" --sp-partition-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=8 strategy=2d heads=2" --sp-partition-pipeline | FileCheck %s --check-prefix=TWO
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=8 strategy=double-ring inner=2" --sp-partition-pipeline | FileCheck %s --check-prefix=DOUBLE

func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>, %w: tensor<f32>, %t: tensor<9x4xf32>) -> tensor<f32> {
  return %s : tensor<f32>
}

// Values of queries are dealt as the queries, those of keys as the keys; those
// of heads and tables are whole on every rank.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x3x4x8xf32>
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x4x2x8xf32>
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<1x3x1x1xi32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [13 by <contiguous 13 on "sp" of 5>], [1], [1]]>}
// CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<1x4x1x1xi32> {sp.sharding = #sp.sharding<{{\[}}[1], [17 by <contiguous 17 on "sp" of 5>], [1], [1]]>}
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<1x1x4x1xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [1], [4], [1]]>}
// CHECK-SAME: %[[T:[a-z0-9]*]]: tensor<9x4xf32> {sp.sharding = #sp.sharding<{{\[}}[9], [4]]>}
// NONE-LABEL: func.func @main(
// NONE-SAME: %[[Q:[a-z0-9]*]]: tensor<1x13x4x8xf32>
// NONE-SAME: %[[A:[a-z0-9]*]]: tensor<1x13x1x1xi32>
// NONE-SAME: %[[B:[a-z0-9]*]]: tensor<1x17x1x1xi32>
// TWO-LABEL: func.func @main(
// TWO-SAME: %[[A:[a-z0-9]*]]: tensor<2x2x1x1xi32> {sp.sharding = #sp.sharding<{{\[}}[2], [13 by <contiguous 13 on "sp" of 8 split 2>], [1], [1]]>}
// TWO-SAME: %[[B:[a-z0-9]*]]: tensor<1x3x1x1xi32> {sp.sharding = #sp.sharding<{{\[}}[1], [17 by <contiguous 17 on "sp" of 8 split 2>], [1], [1]]>}
// DOUBLE-LABEL: func.func @main(
// DOUBLE-SAME: %[[K:[a-z0-9]*]]: tensor<2x3x2x8xf32>
// DOUBLE-SAME: %[[B:[a-z0-9]*]]: tensor<1x3x1x1xi32>
func.func @main(%q: tensor<2x13x4x8xf32>, %k: tensor<2x17x2x8xf32>, %a: tensor<2x13x1x1xi32>, %b: tensor<1x17x1x1xi32>,
                %w: tensor<2x1x4x1xf32>, %t: tensor<9x4xf32>) -> tensor<2x13x4x8xf32> {
  // What is said of keys travels beside them, in a shift of its own.
  // RING: %[[R:.*]] = sp.rank "sp" : index
  // RING: sp.shift %[[K]], %[[K]] from %[[R]] by 1 in <contiguous 17 on "sp" of 5>
  // RING: %[[FIRST:.*]] = sp.shift %[[B]] from %[[R]] by 1 in <contiguous 17 on "sp" of 5> needed_by {{.*}} : tensor<1x4x1x1xi32>
  // RING: sp.attend(%[[Q]], %[[K]], %[[K]]) score @score_0 per_query(%[[A]] : {{.*}}) per_key(%[[B]] : {{.*}}) per_head(%[[W]] : {{.*}}) table(%[[T]] : tensor<9x4xf32>) queries
  // RING: scf.for {{.*}}, %[[BT:.*]] = %[[FIRST]])
  // RING: %[[NEXT:.*]] = sp.shift %[[BT]] from %[[SRC:.*]] by 1
  // RING: sp.attend(%[[Q]], {{.*}} score @score_0 per_query(%[[A]] : {{.*}}) per_key(%[[BT]] : {{.*}} from %[[SRC]]
  // RING: scf.yield {{.*}}, %[[NEXT]] :
  // RING-NOT: sp.shift
  // RING: sp.attend(%[[Q]], {{.*}} score @score_0 per_query(%[[A]] :

  // Every rank asks for all rows, so they go out as one head for each: 5 for 5
  // ranks, whatever the 4 heads of queries.
  // ULYSSES: %[[AS:.*]] = stablehlo.broadcast_in_dim %[[A]], dims = [0, 1, 2, 3] : (tensor<1x3x1x1xi32>) -> tensor<1x3x5x1xi32>
  // ULYSSES: %[[AH:.*]] = sp.all_to_all %[[AS]] rows <contiguous 13 on "sp" of 5> heads <contiguous 5 on "sp" of 5> of 5 : tensor<1x3x5x1xi32> -> tensor<1x13x1x1xi32>
  // ULYSSES: %[[BS:.*]] = stablehlo.broadcast_in_dim %[[B]]
  // ULYSSES: %[[BH:.*]] = sp.all_to_all %[[BS]] rows <contiguous 17 on "sp" of 5> heads <contiguous 5 on "sp" of 5> of 5 : tensor<1x4x5x1xi32> -> tensor<1x17x1x1xi32>
  // ULYSSES: sp.attend({{.*}} score @score_0 per_query(%[[AH]] : {{.*}}) per_key(%[[BH]] : {{.*}}) per_head(%[[W]] : tensor<1x1x4x1xf32>) table(%[[T]] : {{.*}}) {{.*}} heads <contiguous 4 on "sp" of 5> kv_heads 2

  // GATHER: %[[ALL:.*]]:2 = sp.all_gather %[[K]], %[[B]] dim 1 in <contiguous 17 on "sp" of 5> : tensor<1x4x2x8xf32>, tensor<1x4x1x1xi32> -> tensor<1x17x2x8xf32>, tensor<1x17x1x1xi32>
  // GATHER: sp.attend(%[[Q]], %[[ALL]]#0, %[[ALL]]#0) {{.*}} per_query(%[[A]] : {{.*}}) per_key(%[[ALL]]#1 : tensor<1x17x1x1xi32>)

  // NONE-NOT: sp.shift
  // NONE: sp.attend(%[[Q]], {{.*}} score @score_0 per_query(%[[A]] : {{.*}}) per_key(%[[B]] :

  // Two ranks join the rows of their ring owner, and the ring moves those of keys.
  // TWO: %[[AS:.*]] = stablehlo.broadcast_in_dim %[[A]], dims = [0, 1, 2, 3] : (tensor<2x2x1x1xi32>) -> tensor<2x2x2x1xi32>
  // TWO: %[[AH:.*]] = sp.all_to_all %[[AS]] rows <contiguous 13 on "sp" of 8 split 2> onto <contiguous 13 on "sp:(1)4" of 4> heads <contiguous 2 on "sp:(4)2" of 2> of 2 : tensor<2x2x2x1xi32> -> tensor<2x4x1x1xi32>
  // TWO: %[[BS:.*]] = stablehlo.broadcast_in_dim %[[B]]
  // TWO: %[[BH:.*]] = sp.all_to_all %[[BS]] rows <contiguous 17 on "sp" of 8 split 2> onto <contiguous 17 on "sp:(1)4" of 4>
  // TWO: %[[FIRST:.*]] = sp.shift %[[BH]] from %{{.*}} by 1 in <contiguous 17 on "sp:(1)4" of 4> needed_by {{.*}} : tensor<1x5x1x1xi32>
  // TWO: sp.attend({{.*}} per_query(%[[AH]] : {{.*}}) per_key(%[[BH]] :
  // TWO: scf.for {{.*}}, %[[BT:.*]] = %[[FIRST]])
  // TWO: sp.attend({{.*}} per_query(%[[AH]] : {{.*}}) per_key(%[[BT]] :

  // A window's first block goes on to the next window, and so does what is said
  // of its keys.
  // DOUBLE: %[[NEXT:.*]] = sp.shift %[[B]] from %{{.*}} by 1 along "sp:(1)4" in <contiguous 17 on "sp" of 8>
  // DOUBLE: %[[IN:.*]] = sp.shift %[[B]] from %{{.*}} by 1 along "sp:(4)2" in <contiguous 17 on "sp" of 8>
  // DOUBLE: sp.attend({{.*}} per_key(%[[B]] :
  // DOUBLE: sp.attend({{.*}} per_key(%[[IN]] :
  // DOUBLE: scf.for {{.*}}, %[[BT:.*]] = %[[NEXT]])
  // DOUBLE: %[[FOLLOWING:.*]] = sp.shift %[[BT]] from %{{.*}} by 1 along "sp:(1)4"
  // DOUBLE: %[[INNER:.*]] = sp.shift %[[BT]] from %{{.*}} by 1 along "sp:(4)2"
  // DOUBLE: sp.attend({{.*}} per_key(%[[BT]] :
  // DOUBLE: sp.attend({{.*}} per_key(%[[INNER]] :
  // DOUBLE: scf.yield {{.*}}, %[[FOLLOWING]] :
  // DOUBLE-NOT: along "sp:(1)4"
  %o = sp.attention(%q, %k, %k) score @score_0 per_query(%a : tensor<2x13x1x1xi32>) per_key(%b : tensor<1x17x1x1xi32>) per_head(%w : tensor<2x1x4x1xf32>) table(%t : tensor<9x4xf32>)
     bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5 empty zero
     : tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32> -> tensor<2x13x4x8xf32>
  return %o : tensor<2x13x4x8xf32>
}
