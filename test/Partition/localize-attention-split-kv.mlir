// RUN: sp-opt %s --split-input-file --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=split-kv" --sp-partition-pipeline | FileCheck %s

// Every rank attends all queries to its own keys. Parts of the state are
// brought to the greatest exponent of any rank, and added up where the query is
// at home.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x3x4x8xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [13 by <contiguous 13 on "sp" of 5>], [4], [8]]>}
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x4x2x8xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [17 by <contiguous 17 on "sp" of 5>], [2], [8]]>}
func.func @main(%q: tensor<2x13x4x8xf32>, %k: tensor<2x17x2x8xf32>) -> tensor<2x13x4x8xf32> {
  // CHECK: %[[ALL:.*]] = sp.all_gather %[[Q]] dim 1 in <contiguous 13 on "sp" of 5> : tensor<1x3x4x8xf32> -> tensor<1x13x4x8xf32>
  // CHECK: %[[O:.*]], %[[L:.*]] = sp.attend(%[[ALL]], %[[K]], %[[K]]) queries <contiguous 13 on "sp" of 1> keys <contiguous 17 on "sp" of 5> bands [{{.*}}] scale 5.000000e-01 as sums_base_2
  // CHECK: %[[M:.*]] = stablehlo.slice %[[L]] [0:1, 0:13, 0:4, 0:1]
  // CHECK: %[[OWN:.*]] = stablehlo.reshape %[[M]]
  // CHECK: %[[MOST:.*]] = sp.all_reduce %[[OWN]] max over ["sp"] of 5 : tensor<1x13x4xf32>
  // CHECK: %[[BELOW:.*]] = stablehlo.subtract %[[OWN]], %[[MOST]]
  // CHECK: %[[SAME:.*]] = stablehlo.compare EQ, %[[OWN]], %[[MOST]]
  // CHECK: %[[BASE:.*]] = stablehlo.multiply %[[BELOW]], %
  // CHECK: %[[POWER:.*]] = stablehlo.exponential %[[BASE]]
  // CHECK: %[[WEIGHT:.*]] = stablehlo.select %[[SAME]], %{{.*}}, %[[POWER]]
  // CHECK: %[[SPREAD:.*]] = stablehlo.broadcast_in_dim %[[WEIGHT]]
  // CHECK: %[[PART:.*]] = stablehlo.multiply %[[O]], %[[SPREAD]]
  // CHECK: %[[SUM:.*]] = stablehlo.multiply %{{.*}}, %[[WEIGHT]]
  // CHECK: %[[HOME:.*]]:2 = sp.reduce_scatter %[[PART]], %[[SUM]] sum dim 1 in <contiguous 13 on "sp" of 5> : tensor<1x13x4x8xf32>, tensor<1x13x4xf32> -> tensor<1x3x4x8xf32>, tensor<1x3x4xf32>
  // CHECK: stablehlo.divide %[[HOME]]#0, %{{.*}} : tensor<1x3x4x8xf32>
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5
     : tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32> -> tensor<2x13x4x8xf32>
  return %o : tensor<2x13x4x8xf32>
}

// -----

// Fewer queries than ranks are whole, and so is what belongs to them; a sink
// counts on one rank.

func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>, %p: tensor<f32>) -> tensor<f32> {
  return %s : tensor<f32>
}
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x4x4x8xbf16>
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x4x2x8xbf16>
// CHECK-SAME: %[[S:[a-z0-9]*]]: tensor<4xf32>
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<1x4x1x1xi32>
// CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<1x4x1x1xi32>
// CHECK-SAME: %[[P:[a-z0-9]*]]: tensor<1x1x4x17xf32>
func.func @main(%q: tensor<2x4x4x8xbf16>, %k: tensor<2x17x2x8xbf16>, %sink: tensor<4xf32>, %a: tensor<2x4x1x1xi32>, %b: tensor<1x17x1x1xi32>, %p: tensor<1x1x4x17xf32>) -> tensor<2x4x4x8xbf16> {
  // CHECK-NOT: sp.all_gather
  // CHECK: %[[RANK:.*]] = sp.positions <contiguous 5 on "sp" of 5>
  // CHECK: %[[FIRST:.*]] = stablehlo.compare EQ, %[[RANK]], %
  // CHECK: %[[EACH:.*]] = stablehlo.broadcast_in_dim %[[FIRST]], dims = [3]
  // CHECK: %[[COUNT:.*]] = stablehlo.select %[[EACH]], %
  // CHECK: %[[BEGIN:.*]] = stablehlo.concatenate %{{.*}}, %[[COUNT]], dim = 3
  // CHECK: %[[O:.*]], %[[L:.*]] = sp.attend(%[[Q]], %[[K]], %[[K]]) onto(%{{.*}}, %[[BEGIN]]) score @score_0 per_query(%[[A]] : {{.*}}) per_key(%[[B]] : {{.*}}) pair(%[[P]] : {{.*}}) queries <contiguous 4 on "" of 1> keys <contiguous 17 on "sp" of 5>
  // CHECK: sp.all_reduce %{{.*}} max over ["sp"] of 5 : tensor<1x4x4xf32>
  // CHECK: sp.all_reduce %{{.*}}, %{{.*}} sum over ["sp"] of 5 : tensor<1x4x4x8xf32>, tensor<1x4x4xf32>
  // CHECK-NOT: sp.reduce_scatter
  %o = sp.attention(%q, %k, %k) score @score_0 per_query(%a : tensor<2x4x1x1xi32>) per_key(%b : tensor<1x17x1x1xi32>) pair(%p : tensor<1x1x4x17xf32>) sink(%sink : tensor<4xf32>) bands [#sp.band<q 0 to 4, k 0 to 17, lo -inf, hi inf>] scale 0.5
     : tensor<2x4x4x8xbf16>, tensor<2x17x2x8xbf16>, tensor<2x17x2x8xbf16> -> tensor<2x4x4x8xbf16>
  return %o : tensor<2x4x4x8xbf16>
}

// -----

// All queries come to the keys with what gradients need of them; dq is added up
// where the query is at home, dk and dv stay.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x3x4x8xf32>
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x4x2x8xf32>
func.func @main(%q: tensor<2x13x4x8xf32>, %k: tensor<2x17x2x8xf32>, %o: tensor<2x13x4x8xf32>, %l: tensor<2x13x4xf32>, %do: tensor<2x13x4x8xf32>) -> (tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32>) {
  // CHECK: %[[ALL:.*]]:4 = sp.all_gather %[[Q]], %{{.*}}, %{{.*}}, %{{.*}} dim 1 in <contiguous 13 on "sp" of 5> : tensor<1x3x4x8xf32>, tensor<1x3x4x8xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>
  // CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attend_backward(%[[ALL]]#0, %[[K]], %[[K]]) of(%[[ALL]]#1, %[[ALL]]#2, %[[ALL]]#3) queries <contiguous 13 on "sp" of 1> keys <contiguous 17 on "sp" of 5>
  // CHECK: %[[HOME:.*]] = sp.reduce_scatter %[[DQ]] sum dim 1 in <contiguous 13 on "sp" of 5>
  // CHECK: return %[[HOME]], %[[DK]], %[[DV]]
  %g:3 = sp.attention_backward(%q, %k, %k) of (%o, %l) by (%do) bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5
     : (tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32>, tensor<2x13x4x8xf32>, tensor<2x13x4xf32>, tensor<2x13x4x8xf32>) -> (tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32>)
  return %g#0, %g#1, %g#2 : tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32>
}

// -----

// Of whole queries every rank has the sum, and of a term's gradient that sums
// over queries.

func.func private @gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %w: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  return %s, %w, %w : tensor<f32>, tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func @main(
func.func @main(%q: tensor<2x3x4x8xf32>, %k: tensor<2x17x2x8xf32>, %o: tensor<2x3x4x8xf32>, %l: tensor<2x3x4x2xf32>, %do: tensor<2x3x4x8xf32>, %w: tensor<2x1x4x1xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x1x4x1xf32>) {
  // CHECK-NOT: sp.all_gather
  // CHECK: %[[DQ:.*]], %{{.*}}, %{{.*}}, %[[DW:.*]] = sp.attend_backward(
  // CHECK-DAG: sp.all_reduce %[[DQ]] sum over ["sp"] of 5 : tensor<1x3x4x8xf32>
  // CHECK-DAG: sp.all_reduce %[[DW]] sum over ["sp"] of 5 : tensor<1x1x4x1xf32>
  %g:4 = sp.attention_backward(%q, %k, %k) of (%o, %l) by (%do) score @gradient per_head(%w : tensor<2x1x4x1xf32>) bands [#sp.band<q 0 to 3, k 0 to 17, lo -inf, hi inf>] scale 0.5
     : (tensor<2x3x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x2xf32>, tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32>) terms (tensor<2x1x4x1xf32>)
  return %g#0, %g#3 : tensor<2x3x4x8xf32>, tensor<2x1x4x1xf32>
}
