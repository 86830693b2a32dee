// RUN: sp-opt %s --split-input-file --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=ring" --sp-partition-pipeline | FileCheck %s --check-prefix=RING
// RUN: sp-opt %s --split-input-file --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=ulysses" --sp-partition-pipeline | FileCheck %s --check-prefix=ULYSSES
// RUN: sp-opt %s --split-input-file --sp-plan-pipeline="mesh=sp=4 strategy=allgather" --sp-partition-pipeline | FileCheck %s --check-prefix=GATHER
// RUN: sp-opt %s --split-input-file --sp-plan-pipeline="mesh=sp=4 strategy=none" --sp-partition-pipeline | FileCheck %s --check-prefix=NONE

// Gradients of terms stay with the queries. One with rows of queries goes the
// way of dq; one that sums over queries has all heads, those of other ranks
// zero, and is summed over the ranks that queries are dealt to.

func.func private @gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %w: tensor<f32>, %p: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  return %s, %w, %p, %w : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// RING-LABEL: func.func @main(
// RING-DAG: %[[SUM:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<1x1x4x1xf32>
// RING-DAG: %[[ROWS:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<1x3x4x17xf32>
// RING: %{{.*}}, %{{.*}}, %{{.*}}, %[[FIRST:.*]]:2 = sp.attend_backward({{.*}} onto_terms(%[[ROWS]], %[[SUM]]) score @gradient
// RING: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[P:.*]] = %[[FIRST]]#0, %[[W:.*]] = %[[FIRST]]#1, %
// RING: %{{.*}}, %{{.*}}, %{{.*}}, %[[STEP:.*]]:2 = sp.attend_backward({{.*}} onto_terms(%[[P]], %[[W]]) score @gradient
// RING: scf.yield %{{.*}}, %[[STEP]]#0, %[[STEP]]#1,
// RING: %{{.*}}, %{{.*}}, %{{.*}}, %[[LAST:.*]]:2 = sp.attend_backward({{.*}} terms(tensor<1x3x4x17xf32>, tensor<1x1x4x1xf32>)
// RING: %[[ALL:.*]] = sp.all_reduce %[[LAST]]#1 sum over ["sp"] of 5 : tensor<1x1x4x1xf32>
// RING: return %[[LAST]]#0, %[[ALL]] :

// ULYSSES-LABEL: func.func @main(
// ULYSSES: %{{.*}}, %{{.*}}, %{{.*}}, %[[T:.*]]:2 = sp.attend_backward({{.*}} terms(tensor<1x13x1x17xf32>, tensor<1x1x4x1xf32>)
// ULYSSES: %[[ROWS:.*]] = sp.all_to_all %[[T]]#0 rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 to_rows : tensor<1x13x1x17xf32> -> tensor<1x3x4x17xf32>
// ULYSSES: %[[ALL:.*]] = sp.all_reduce %[[T]]#1 sum over ["sp"] of 5 : tensor<1x1x4x1xf32>
// ULYSSES: return %[[ROWS]], %[[ALL]] :

// GATHER-LABEL: func.func @main(
// GATHER: %{{.*}}, %{{.*}}, %{{.*}}, %[[T:.*]]:2 = sp.attend_backward({{.*}} terms(tensor<2x4x4x17xf32>, tensor<2x1x4x1xf32>)
// GATHER: %[[ALL:.*]] = sp.all_reduce %[[T]]#1 sum over ["sp"] of 4 : tensor<2x1x4x1xf32>
// GATHER: return %[[T]]#0, %[[ALL]] :

// NONE-LABEL: func.func @main(
// NONE: %{{.*}}, %{{.*}}, %{{.*}}, %[[T:.*]]:2 = sp.attend_backward({{.*}} terms(tensor<2x13x4x17xf32>, tensor<2x1x4x1xf32>)
// NONE-NOT: sp.all_reduce
// NONE: return %[[T]]#0, %[[T]]#1 :
func.func @main(%q: tensor<2x13x4x8xf32>, %k: tensor<2x17x2x8xf32>, %lse: tensor<2x13x4x2xf32>,
                %w: tensor<1x1x4x1xf32>, %p: tensor<1x4x13x17xf32>) -> (tensor<2x13x4x17xf32>, tensor<2x1x4x1xf32>) {
  %dq, %dk, %dv, %dp, %dw = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) score @gradient
     per_head(%w : tensor<1x1x4x1xf32>) pair(%p : tensor<1x4x13x17xf32>) bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5
     : (tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32>, tensor<2x13x4x8xf32>, tensor<2x13x4x2xf32>, tensor<2x13x4x8xf32>)
     -> (tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32>) terms (tensor<2x13x4x17xf32>, tensor<2x1x4x1xf32>)
  return %dp, %dw : tensor<2x13x4x17xf32>, tensor<2x1x4x1xf32>
}
