// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=1 strategy=none" --sp-partition-pipeline -o %t.none.mlir
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=5 strategy=ring layout=striped" --sp-partition-pipeline -o %t.ring.mlir
// RUN: sp-opt %s --sp-assign-mesh="mesh=sp=4" --sp-plan-attention="strategy=allgather head-groups=2" --sp-partition-pipeline -o %t.gather.mlir
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=5 strategy=ulysses" --sp-partition-pipeline -o %t.uneven.mlir
// RUN: sp-opt %s --sp-assign-mesh="mesh=sp=2" --sp-plan-attention="strategy=ulysses head-groups=2" --sp-partition-pipeline -o %t.groups.mlir
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=2d heads=2 layout=zigzag" --sp-partition-pipeline -o %t.grid.mlir
// RUN: %python %S/Inputs/backward_terms_check.py %t.none.mlir %t.ring.mlir %t.gather.mlir %t.uneven.mlir %t.groups.mlir %t.grid.mlir
// RUN: sp-emit-partitioned %t.ring.mlir | FileCheck %s
// RUN: not sp-emit-partitioned %t.ring.mlir --cuda 2>&1 | FileCheck %s --check-prefix=CUDA

// Gradients of terms are added to in place, step by step; the zeros that they
// begin with are no part of the program.
// CHECK: constants 0 B
// CHECK: kernel {{[0-9]+}} attend_backward_f32_d4x3_score_0_gradient_of_pairs_of_queries_of_keys_of_heads
// CHECK: attend_backward {{.*}} d_term=arena[[PAIRS:\[[0-9]+; 2496\]]] d_term=arena[[QUERIES:\[[0-9]+; 192\]]] d_term=arena[[KEYS:\[[0-9]+; 832\]]] d_term=arena[[HEADS:\[[0-9]+; 64\]]] init queries init keys
// CHECK: loop t in 1..4
// CHECK: attend_backward {{.*}} d_term=arena[[PAIRS]] d_term=arena[[QUERIES]] d_term=arena[[KEYS]] d_term=arena[[HEADS]]

// CUDA: expected no gradient of attention with --target=cuda; leave --target out

// A soft cap, a bias of each pair, a product of a query's number and a key's, a
// slope of each head, segments, and a weight after the softmax.
func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>, %w: tensor<f32>, %p: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %tanh = stablehlo.tanh %s : tensor<f32>
  %xy = stablehlo.multiply %x, %y : tensor<f32>
  %ahead = stablehlo.subtract %j, %i : tensor<i32>
  %distance = stablehlo.convert %ahead : (tensor<i32>) -> tensor<f32>
  %falling = stablehlo.multiply %w, %distance : tensor<f32>
  %sum = stablehlo.add %tanh, %xy : tensor<f32>
  %sum2 = stablehlo.add %sum, %falling : tensor<f32>
  %biased = stablehlo.add %sum2, %p : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %same = stablehlo.compare GT, %xy, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.select %same, %biased, %hidden : tensor<i1>, tensor<f32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %place = stablehlo.add %h, %i : tensor<i32>
  %place2 = stablehlo.add %place, %j : tensor<i32>
  %rest = stablehlo.remainder %place2, %three : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %dropped = stablehlo.compare EQ, %rest, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %kept = stablehlo.constant dense<1.5> : tensor<f32>
  %weight = stablehlo.select %dropped, %zero, %kept : tensor<i1>, tensor<f32>
  return %e, %weight : tensor<f32>, tensor<f32>
}

// A pair that is hidden has a derivative of 0, as a selection gives.
func.func private @score_0_gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>, %w: tensor<f32>, %p: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %tanh = stablehlo.tanh %s : tensor<f32>
  %xy = stablehlo.multiply %x, %y : tensor<f32>
  %ahead = stablehlo.subtract %j, %i : tensor<i32>
  %distance = stablehlo.convert %ahead : (tensor<i32>) -> tensor<f32>
  %falling = stablehlo.multiply %w, %distance : tensor<f32>
  %sum = stablehlo.add %tanh, %xy : tensor<f32>
  %sum2 = stablehlo.add %sum, %falling : tensor<f32>
  %biased = stablehlo.add %sum2, %p : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %same = stablehlo.compare GT, %xy, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.select %same, %biased, %hidden : tensor<i1>, tensor<f32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %place = stablehlo.add %h, %i : tensor<i32>
  %place2 = stablehlo.add %place, %j : tensor<i32>
  %rest = stablehlo.remainder %place2, %three : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %dropped = stablehlo.compare EQ, %rest, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %kept = stablehlo.constant dense<1.5> : tensor<f32>
  %weight = stablehlo.select %dropped, %zero, %kept : tensor<i1>, tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %square = stablehlo.multiply %tanh, %tanh : tensor<f32>
  %falls = stablehlo.subtract %one, %square : tensor<f32>
  %slope = stablehlo.select %same, %falls, %zero : tensor<i1>, tensor<f32>
  %by_x = stablehlo.select %same, %y, %zero : tensor<i1>, tensor<f32>
  return %e, %slope, %weight, %one, %by_x, %x, %distance : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

func.func @main(%q: tensor<2x13x8x4xf32>, %k: tensor<2x13x4x4xf32>, %v: tensor<2x13x4x3xf32>, %do: tensor<2x13x8x3xf32>,
                %x: tensor<2x13x1x1xf32>, %y: tensor<2x13x1x1xf32>, %w: tensor<1x1x8x1xf32>, %p: tensor<1x8x13x13xf32>)
    -> (tensor<2x13x8x3xf32>, tensor<2x13x8x4xf32>, tensor<2x13x4x4xf32>, tensor<2x13x4x3xf32>, tensor<2x13x8x13xf32>, tensor<2x13x8x1xf32>, tensor<2x1x8x13xf32>, tensor<2x1x8x1xf32>) {
  %o, %lse = sp.attention(%q, %k, %v) score @score_0 per_query(%x : tensor<2x13x1x1xf32>) per_key(%y : tensor<2x13x1x1xf32>) per_head(%w : tensor<1x1x8x1xf32>) pair(%p : tensor<1x8x13x13xf32>)
     bands [#sp.band<q 0 to 13, k 0 to 13, lo -inf, hi 0>] scale 0.5 empty zero
     : tensor<2x13x8x4xf32>, tensor<2x13x4x4xf32>, tensor<2x13x4x3xf32> -> tensor<2x13x8x3xf32>, tensor<2x13x8x2xf32>
  %dq, %dk, %dv, %dp, %dx, %dy, %dw = sp.attention_backward(%q, %k, %v) of(%o, %lse) by(%do) score @score_0_gradient per_query(%x : tensor<2x13x1x1xf32>) per_key(%y : tensor<2x13x1x1xf32>) per_head(%w : tensor<1x1x8x1xf32>) pair(%p : tensor<1x8x13x13xf32>)
     bands [#sp.band<q 0 to 13, k 0 to 13, lo -inf, hi 0>] scale 0.5
     : (tensor<2x13x8x4xf32>, tensor<2x13x4x4xf32>, tensor<2x13x4x3xf32>, tensor<2x13x8x3xf32>, tensor<2x13x8x2xf32>, tensor<2x13x8x3xf32>)
     -> (tensor<2x13x8x4xf32>, tensor<2x13x4x4xf32>, tensor<2x13x4x3xf32>) terms (tensor<2x13x8x13xf32>, tensor<2x13x8x1xf32>, tensor<2x1x8x13xf32>, tensor<2x1x8x1xf32>)
  return %o, %dq, %dk, %dv, %dp, %dx, %dy, %dw : tensor<2x13x8x3xf32>, tensor<2x13x8x4xf32>, tensor<2x13x4x4xf32>, tensor<2x13x4x3xf32>, tensor<2x13x8x13xf32>, tensor<2x13x8x1xf32>, tensor<2x1x8x13xf32>, tensor<2x1x8x1xf32>
}
