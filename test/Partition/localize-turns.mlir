// RUN: sp-opt %s --sp-partition-pipeline --split-input-file | FileCheck %s

// Queries of one block after another: in each turn a ring of its own, which begins
// with the rank's own keys. Rank r is owner 4 t + r of queries in turn t.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0) -> (d0 * 4)>
// CHECK-DAG: #[[OWNER:.*]] = affine_map<(d0)[s0] -> (d0 * 4 + s0)>
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x12x2x8xf32> {sp.sharding = #sp.sharding<{{\[\[}}1], [48 by <zigzag 48 on "sp" of 4 blocks 3>], [2], [8]]>}
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x12x2x8xf32>
// CHECK: %[[E:.*]] = sp.empty : tensor<1x12x2x8xf32>
// CHECK: scf.for %[[T:[a-z0-9]*]] = {{.*}} iter_args(%[[S:.*]] = %[[E]])
// CHECK-NEXT: %[[AT:.*]] = affine.apply #[[FIRST]](%[[T]])
// CHECK-NEXT: %[[QT:.*]] = sp.take %[[Q]] at %[[AT]] dim 1 : tensor<1x12x2x8xf32> -> tensor<1x4x2x8xf32>
// CHECK-NEXT: %[[RANK:.*]] = sp.rank "sp"
// CHECK-NEXT: %[[OWN:.*]] = affine.apply #[[OWNER]](%[[T]])[%[[RANK]]]
// CHECK-NEXT: sp.shift %[[K]], %[[K]] from %[[RANK]] by 1 in <zigzag 48 on "sp" of 4 blocks 3> needed_by <rows <zigzag 48 on "sp" of 4 blocks 3> bands [#sp.band<q 0 to 48, k 0 to 48, lo -inf, hi 0>]> :
// CHECK-NEXT: sp.attend(%[[QT]], %[[K]], %[[K]]) queries <zigzag 48 on "sp" of 4 turns 3> from %[[OWN]] keys <zigzag 48 on "sp" of 4 blocks 3> from %[[RANK]]
// CHECK: sp.attend(%[[QT]], {{.*}}) onto({{.*}}) queries <zigzag 48 on "sp" of 4 turns 3> from %[[OWN]]
// CHECK: %[[O:.*]] = stablehlo.divide
// CHECK-NEXT: %[[S1:.*]] = sp.put %[[O]] into %[[S]] at %[[AT]] dim 1
// CHECK-NEXT: scf.yield %[[S1]]
// CHECK-NEXT: } {sp.turns}
sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @main(%q: tensor<1x48x2x8xf32>, %k: tensor<1x48x2x8xf32>) -> tensor<1x48x2x8xf32> {
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 48, k 0 to 48, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first, turns = 3>
     : tensor<1x48x2x8xf32>, tensor<1x48x2x8xf32>, tensor<1x48x2x8xf32> -> tensor<1x48x2x8xf32>
  return %o : tensor<1x48x2x8xf32>
}

// -----

// Keys and values are exchanged for heads once, for the gradients too, queries and
// results in turns. Of 21 positions the last turns have fewer rows, and padding.
// Gradients of keys go from turn to turn, and back to rows in the end.
// CHECK-LABEL: func.func @main(
// CHECK: %[[KH:.*]] = sp.all_to_all %{{.*}} rows <contiguous 21 within 24 on "sp" of 3 blocks 4> heads <contiguous 6 on "sp" of 3> of 3 : tensor<1x8x3x8xf32> -> tensor<1x21x1x8xf32>
// CHECK: %[[F:.*]]:2 = scf.for %[[T:[a-z0-9]*]] = {{.*}} -> (tensor<1x8x6x8xf32>, tensor<1x8x6xf32>)
// CHECK: %[[QT:.*]] = sp.take {{.*}} : tensor<1x8x6x8xf32> -> tensor<1x2x6x8xf32>
// CHECK: %[[QH:.*]] = sp.all_to_all %[[QT]] rows <contiguous 6 on "sp" of 3> heads <contiguous 6 on "sp" of 3> of 6 : tensor<1x2x6x8xf32> -> tensor<1x6x2x8xf32>
// CHECK: sp.attend(%[[QH]], %[[KH]], %[[KH]]) queries <contiguous 21 within 24 on "sp" of 1 turns 4> from %[[T]] keys <contiguous 21 on "sp" of 1> heads
// CHECK: sp.all_to_all {{.*}} to_rows : tensor<1x6x2x8xf32> -> tensor<1x2x6x8xf32>
// CHECK: sp.put
// CHECK: sp.put
// CHECK: } {sp.turns}
// CHECK: %[[B:.*]]:3 = scf.for %[[U:[a-z0-9]*]] = {{.*}} iter_args(%[[DK:.*]] = {{.*}}, %[[DV:.*]] = {{.*}}, %[[S:.*]] = {{.*}}) -> (tensor<1x21x1x8xf32>, tensor<1x21x1x8xf32>, tensor<1x8x6x8xf32>)
// CHECK-COUNT-4: sp.take
// CHECK: %[[P:.*]], %[[PK:.*]], %[[PV:.*]] = sp.attend_backward({{.*}}, %[[KH]], %[[KH]]) of({{.*}}) onto_keys(%[[DK]], %[[DV]]) queries <contiguous 21 within 24 on "sp" of 1 turns 4> from %[[U]]
// CHECK: %[[PR:.*]] = sp.all_to_all %[[P]] {{.*}} to_rows
// CHECK: %[[S1:.*]] = sp.put %[[PR]] into %[[S]]
// CHECK: scf.yield %[[PK]], %[[PV]], %[[S1]]
// CHECK: } {sp.turns}
// CHECK: sp.all_to_all %[[B]]#0 rows <contiguous 21 within 24 on "sp" of 3 blocks 4> {{.*}} to_rows
// CHECK: sp.all_to_all %[[B]]#1 {{.*}} to_rows
sp.mesh @mesh <["sp" = 3]> sequence "sp"
func.func @main(%q: tensor<1x21x6x8xf32>, %k: tensor<1x21x3x8xf32>, %do: tensor<1x21x6x8xf32>)
    -> (tensor<1x21x6x8xf32>, tensor<1x21x3x8xf32>, tensor<1x21x3x8xf32>) {
  %o, %lse = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 21, k 0 to 21, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 3, outer = 1, inner = 1, gather = 1, layout = contiguous, placement = head_first, turns = 4>
     : tensor<1x21x6x8xf32>, tensor<1x21x3x8xf32>, tensor<1x21x3x8xf32> -> tensor<1x21x6x8xf32>, tensor<1x21x6xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%o, %lse) by(%do) bands [#sp.band<q 0 to 21, k 0 to 21, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 3, outer = 1, inner = 1, gather = 1, layout = contiguous, placement = head_first, turns = 4>
     : (tensor<1x21x6x8xf32>, tensor<1x21x3x8xf32>, tensor<1x21x3x8xf32>, tensor<1x21x6x8xf32>, tensor<1x21x6xf32>, tensor<1x21x6x8xf32>)
     -> (tensor<1x21x6x8xf32>, tensor<1x21x3x8xf32>, tensor<1x21x3x8xf32>)
  return %dq, %dk, %dv : tensor<1x21x6x8xf32>, tensor<1x21x3x8xf32>, tensor<1x21x3x8xf32>
}

// -----

// Of several sequences a turn's rows are brought together first.
// CHECK-LABEL: func.func @main(
// CHECK: %[[R:.*]] = stablehlo.reshape %{{.*}} : (tensor<2x6x2x8xf32>) -> tensor<2x3x2x2x8xf32>
// CHECK: %[[Q:.*]] = stablehlo.transpose %[[R]], dims = [1, 0, 2, 3, 4]
// CHECK: %[[F:.*]] = scf.for %[[T:[a-z0-9]*]] = {{.*}} -> (tensor<3x2x2x2x8xf32>)
// CHECK-NEXT: sp.take %[[Q]] at %[[T]] dim 0 : tensor<3x2x2x2x8xf32> -> tensor<1x2x2x2x8xf32>
// CHECK: sp.put {{.*}} at %[[T]] dim 0 : tensor<1x2x2x2x8xf32>, tensor<3x2x2x2x8xf32>
// CHECK: %[[B:.*]] = stablehlo.transpose %[[F]], dims = [1, 0, 2, 3, 4]
// CHECK: stablehlo.reshape %[[B]] : (tensor<2x3x2x2x8xf32>) -> tensor<2x6x2x8xf32>
sp.mesh @mesh <["sp" = 2]> sequence "sp"
func.func @main(%q: tensor<2x12x2x8xf32>, %k: tensor<2x12x2x8xf32>) -> tensor<2x12x2x8xf32> {
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 12, k 0 to 12, lo -inf, hi inf>] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 2, gather = 1, layout = contiguous, placement = head_first, turns = 3>
     : tensor<2x12x2x8xf32>, tensor<2x12x2x8xf32>, tensor<2x12x2x8xf32> -> tensor<2x12x2x8xf32>
  return %o : tensor<2x12x2x8xf32>
}

// -----

// One rank has its rows in order, with room for a whole last turn while they are taken.
// CHECK-LABEL: func.func @main(
// CHECK: %[[Q:.*]] = stablehlo.pad %{{.*}}, low = [0, 0, 0, 0], high = [0, 2, 0, 0]
// CHECK: %[[F:.*]] = scf.for %[[T:[a-z0-9]*]] = {{.*}} -> (tensor<1x9x2x8xf32>)
// CHECK: sp.take %[[Q]] at %{{.*}} dim 1 : tensor<1x9x2x8xf32> -> tensor<1x3x2x8xf32>
// CHECK-NEXT: sp.attend({{.*}}) queries <contiguous 7 within 9 on "sp" of 1 turns 3> from %[[T]]
// CHECK: stablehlo.slice %[[F]] [0:1, 0:7, 0:2, 0:8]
sp.mesh @mesh <["sp" = 1]> sequence "sp"
func.func @main(%q: tensor<1x7x2x8xf32>, %k: tensor<1x7x2x8xf32>) -> tensor<1x7x2x8xf32> {
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 7, k 0 to 7, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 1, layout = contiguous, placement = head_first, turns = 3>
     : tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32> -> tensor<1x7x2x8xf32>
  return %o : tensor<1x7x2x8xf32>
}
