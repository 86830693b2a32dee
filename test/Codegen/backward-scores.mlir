// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=1 strategy=none" --sp-partition-pipeline -o %t.none.mlir
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ring layout=zigzag" --sp-partition-pipeline -o %t.ring.mlir
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ring bidirectional" --sp-partition-pipeline -o %t.both.mlir
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=double-ring inner=2" --sp-partition-pipeline -o %t.double.mlir
// RUN: sp-opt %s --sp-assign-mesh="mesh=sp=4" --sp-plan-attention="strategy=allgather head-groups=2" --sp-partition-pipeline -o %t.gather.mlir
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ulysses" --sp-partition-pipeline -o %t.heads.mlir
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=5 strategy=ulysses" --sp-partition-pipeline -o %t.uneven.mlir
// RUN: sp-opt %s --sp-assign-mesh="mesh=sp=2" --sp-plan-attention="strategy=ulysses head-groups=2" --sp-partition-pipeline -o %t.groups.mlir
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=2d heads=2 layout=zigzag" --sp-partition-pipeline -o %t.grid.mlir
// RUN: %python %S/Inputs/backward_scores_check.py %t.none.mlir %t.ring.mlir %t.both.mlir %t.double.mlir %t.gather.mlir %t.heads.mlir %t.uneven.mlir %t.groups.mlir %t.grid.mlir | FileCheck %s --check-prefix=SENT
// RUN: sp-opt %s --sp-assign-mesh="mesh=sp=4" --sp-plan-attention="layout=zigzag" --remark-format=emitRemark --remarks-filter="sp-plan-attention" 2>&1 | FileCheck %s --check-prefix=PLANNED
// RUN: sp-emit-partitioned %t.ring.mlir | FileCheck %s
// RUN: not sp-emit-partitioned %t.ring.mlir --cuda 2>&1 | FileCheck %s --check-prefix=CUDA

// Ranks send what was promised, and in the mean what plans count.
// SENT: ring.mlir: 7436 bytes a rank
// SENT: gather.mlir: 6708 bytes a rank
// SENT: heads.mlir: 4212 bytes a rank
// SENT: grid.mlir: 5772 bytes a rank
// PLANNED: Alternative {{.*}} bytes=7436, {{.*}}strategy=ring
// PLANNED: Alternative {{.*}} bytes=4212, {{.*}}strategy=ulysses
// PLANNED: Alternative {{.*}} bytes=6708, {{.*}}strategy=allgather
// PLANNED: Alternative {{.*}} bytes=5772, {{.*}}strategy="2d with 2 heads"

// Gradients read the terms of their attention, those of keys where their block
// was received.
// CHECK: kernel {{[0-9]+}} attend_f32_d4x3_score_0
// CHECK: kernel {{[0-9]+}} attend_backward_f32_d4x3_score_0_gradient
// CHECK: attend_backward {{.*}} keys sp of layout 0 {{.*}} term=arena[[IDS:\[[0-9]+; 32\]]] term=arena[[OWN:\[[0-9]+; 32\]]] term=arena[[SLOPES:\[[0-9]+; 32\]]] term=arena[[BIAS:\[[0-9]+; 1664\]]] init queries init keys
// CHECK: loop t in 1..3
// CHECK: send_recv {{.*}} send arena[[BLOCK:\[[^;]*; 32\]]]
// CHECK: attend_backward {{.*}} keys (sp - t) % 4 of layout 0 {{.*}} term=arena[[IDS]] term=arena[[BLOCK]] term=arena[[SLOPES]] term=arena[[BIAS]]

// CUDA: expected no gradient of attention with --target=cuda; leave --target out

// A soft cap, a slope of each head, a bias of each pair, segments, and a weight
// after the softmax.
func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>, %w: tensor<f32>, %p: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %half = stablehlo.divide %s, %two : tensor<f32>
  %tanh = stablehlo.tanh %half : tensor<f32>
  %capped = stablehlo.multiply %two, %tanh : tensor<f32>
  %ahead = stablehlo.subtract %j, %i : tensor<i32>
  %distance = stablehlo.convert %ahead : (tensor<i32>) -> tensor<f32>
  %falling = stablehlo.multiply %w, %distance : tensor<f32>
  %sum = stablehlo.add %capped, %falling : tensor<f32>
  %biased = stablehlo.add %sum, %p : tensor<f32>
  %same = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.select %same, %biased, %hidden : tensor<i1>, tensor<f32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %place = stablehlo.add %h, %i : tensor<i32>
  %place2 = stablehlo.add %place, %j : tensor<i32>
  %rest = stablehlo.remainder %place2, %three : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %dropped = stablehlo.compare EQ, %rest, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %kept = stablehlo.constant dense<1.5> : tensor<f32>
  %weight = stablehlo.select %dropped, %zero, %kept : tensor<i1>, tensor<f32>
  return %e, %weight : tensor<f32>, tensor<f32>
}

// A pair that is hidden has a derivative of 0, as a selection gives.
func.func private @score_0_gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>, %w: tensor<f32>, %p: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %half = stablehlo.divide %s, %two : tensor<f32>
  %tanh = stablehlo.tanh %half : tensor<f32>
  %capped = stablehlo.multiply %two, %tanh : tensor<f32>
  %ahead = stablehlo.subtract %j, %i : tensor<i32>
  %distance = stablehlo.convert %ahead : (tensor<i32>) -> tensor<f32>
  %falling = stablehlo.multiply %w, %distance : tensor<f32>
  %sum = stablehlo.add %capped, %falling : tensor<f32>
  %biased = stablehlo.add %sum, %p : tensor<f32>
  %same = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.select %same, %biased, %hidden : tensor<i1>, tensor<f32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %place = stablehlo.add %h, %i : tensor<i32>
  %place2 = stablehlo.add %place, %j : tensor<i32>
  %rest = stablehlo.remainder %place2, %three : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %dropped = stablehlo.compare EQ, %rest, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %kept = stablehlo.constant dense<1.5> : tensor<f32>
  %weight = stablehlo.select %dropped, %zero, %kept : tensor<i1>, tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %square = stablehlo.multiply %tanh, %tanh : tensor<f32>
  %falls = stablehlo.subtract %one, %square : tensor<f32>
  %slope = stablehlo.select %same, %falls, %zero : tensor<i1>, tensor<f32>
  return %e, %slope, %weight : tensor<f32>, tensor<f32>, tensor<f32>
}

func.func @main(%q: tensor<2x13x8x4xf32>, %k: tensor<2x13x4x4xf32>, %v: tensor<2x13x4x3xf32>, %do: tensor<2x13x8x3xf32>,
                %a: tensor<2x13x1x1xi32>, %b: tensor<2x13x1x1xi32>, %w: tensor<1x1x8x1xf32>, %p: tensor<1x8x13x13xf32>)
    -> (tensor<2x13x8x3xf32>, tensor<2x13x8x4xf32>, tensor<2x13x4x4xf32>, tensor<2x13x4x3xf32>) {
  %o, %lse = sp.attention(%q, %k, %v) score @score_0 per_query(%a : tensor<2x13x1x1xi32>) per_key(%b : tensor<2x13x1x1xi32>) per_head(%w : tensor<1x1x8x1xf32>) pair(%p : tensor<1x8x13x13xf32>)
     bands [#sp.band<q 0 to 13, k 0 to 13, lo -inf, hi 0>] scale 0.5 empty zero
     : tensor<2x13x8x4xf32>, tensor<2x13x4x4xf32>, tensor<2x13x4x3xf32> -> tensor<2x13x8x3xf32>, tensor<2x13x8x2xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %v) of(%o, %lse) by(%do) score @score_0_gradient per_query(%a : tensor<2x13x1x1xi32>) per_key(%b : tensor<2x13x1x1xi32>) per_head(%w : tensor<1x1x8x1xf32>) pair(%p : tensor<1x8x13x13xf32>)
     bands [#sp.band<q 0 to 13, k 0 to 13, lo -inf, hi 0>] scale 0.5
     : (tensor<2x13x8x4xf32>, tensor<2x13x4x4xf32>, tensor<2x13x4x3xf32>, tensor<2x13x8x3xf32>, tensor<2x13x8x2xf32>, tensor<2x13x8x3xf32>)
     -> (tensor<2x13x8x4xf32>, tensor<2x13x4x4xf32>, tensor<2x13x4x3xf32>)
  return %o, %dq, %dk, %dv : tensor<2x13x8x3xf32>, tensor<2x13x8x4xf32>, tensor<2x13x4x4xf32>, tensor<2x13x4x3xf32>
}
