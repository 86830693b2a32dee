// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=4 strategy=ring" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,ROWS,RING
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=4 strategy=allgather" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,ROWS,GATHER
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=4 strategy=ulysses" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,HEADS
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=8 strategy=2d heads=2" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,TWO

func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<i1>) -> tensor<f32> {
  return %s : tensor<f32>
}

// Values of pairs are dealt so that they meet the rows and heads a rank attends
// with, and never move. Their keys stay whole, and so do the heads of those that
// all queries share.

// CHECK-LABEL: func.func @main(

// Rows of the queries, all heads.
// ROWS-SAME: %[[A:[a-z0-9]*]]: tensor<1x6x4x17xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [6], [13 by <contiguous 13 on "sp" of 4>], [17]]>}
// ROWS-SAME: %[[B:[a-z0-9]*]]: tensor<1x1x4x17xf32> {sp.sharding = #sp.sharding<{{\[}}[1], [1], [13 by <contiguous 13 on "sp" of 4>], [17]]>}
// ROWS-SAME: %[[C:[a-z0-9]*]]: tensor<1x6x1x17xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [6], [1], [17]]>}
// ROWS-SAME: %[[D:[a-z0-9]*]]: tensor<1x6x4x1xi1> {sp.sharding = #sp.sharding<{{\[}}[1], [6], [13 by <contiguous 13 on "sp" of 4>], [1]]>}

// All rows of the heads: at most 2 of 6.
// HEADS-SAME: %[[A:[a-z0-9]*]]: tensor<1x2x13x17xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [6 by <contiguous 6 on "sp" of 4>], [13], [17]]>}
// HEADS-SAME: %[[B:[a-z0-9]*]]: tensor<1x1x13x17xf32> {sp.sharding = #sp.sharding<{{\[}}[1], [1], [13], [17]]>}
// HEADS-SAME: %[[C:[a-z0-9]*]]: tensor<1x6x1x17xf32>
// HEADS-SAME: %[[D:[a-z0-9]*]]: tensor<1x2x13x1xi1>

// The ring's rows of the heads.
// TWO-SAME: %[[A:[a-z0-9]*]]: tensor<2x3x4x17xf32> {sp.sharding = #sp.sharding<{{\[}}[2], [6 by <contiguous 6 on "sp:(4)2" of 2>], [13 by <contiguous 13 on "sp:(1)4" of 4>], [17]]>}
// TWO-SAME: %[[B:[a-z0-9]*]]: tensor<1x1x4x17xf32> {sp.sharding = #sp.sharding<{{\[}}[1], [1], [13 by <contiguous 13 on "sp:(1)4" of 4>], [17]]>}
// TWO-SAME: %[[C:[a-z0-9]*]]: tensor<2x6x1x17xf32>
// TWO-SAME: %[[D:[a-z0-9]*]]: tensor<1x3x4x1xi1>
func.func @main(%q: tensor<2x13x6x8xf32>, %k: tensor<2x17x3x8xf32>, %a: tensor<2x6x13x17xf32>, %b: tensor<1x1x13x17xf32>, %c: tensor<2x6x1x17xf32>, %d: tensor<1x6x13x1xi1>) -> tensor<2x13x6x8xf32> {
  // RING: sp.attend({{.*}} score @score_0 pair(%[[A]], %[[B]], %[[C]], %[[D]] :
  // RING: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{[0-9a-z#]*}})
  // RING: sp.attend({{.*}} score @score_0 pair(%[[A]], %[[B]], %[[C]], %[[D]] :
  // RING: sp.attend({{.*}} score @score_0 pair(%[[A]], %[[B]], %[[C]], %[[D]] :
  // GATHER: sp.all_gather
  // GATHER-NOT: sp.all_gather
  // GATHER: sp.attend({{.*}} score @score_0 pair(%[[A]], %[[B]], %[[C]], %[[D]] :
  // HEADS-COUNT-2: sp.all_to_all {{.*}} rows
  // HEADS-NOT: sp.all_to_all
  // HEADS: sp.attend({{.*}} score @score_0 pair(%[[A]], %[[B]], %[[C]], %[[D]] : {{.*}} heads <contiguous 6 on "sp" of 4> kv_heads 3
  // TWO: sp.attend({{.*}} score @score_0 pair(%[[A]], %[[B]], %[[C]], %[[D]] : {{.*}} queries <contiguous 13 on "sp:(1)4" of 4> {{.*}} heads <contiguous 6 on "sp:(4)2" of 2> kv_heads 3
  %o = sp.attention(%q, %k, %k) score @score_0 pair(%a, %b, %c, %d : tensor<2x6x13x17xf32>, tensor<1x1x13x17xf32>, tensor<2x6x1x17xf32>, tensor<1x6x13x1xi1>)
     bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5 empty zero
     : tensor<2x13x6x8xf32>, tensor<2x17x3x8xf32>, tensor<2x17x3x8xf32> -> tensor<2x13x6x8xf32>
  return %o : tensor<2x13x6x8xf32>
}
