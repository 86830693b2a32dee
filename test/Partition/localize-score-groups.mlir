// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=2" --sp-partition-pipeline --split-input-file | FileCheck %s

func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<f32>, %w: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>) -> tensor<f32> {
  return %s : tensor<f32>
}

// Each group says where it begins among all heads, so that the score function
// sees their numbers. What is said of heads and of pairs stays whole; what is
// said of keys is exchanged once for all groups.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<1x1x8x1xf32>
// CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<1x8x6x6xf32>
// CHECK-SAME: %[[C:[a-z0-9]*]]: tensor<1x8x1x6xf32>
// CHECK: %[[AH:.*]] = sp.all_to_all {{.*}} heads <contiguous 2 on "sp" of 2> of 2 : tensor<1x3x2x1xf32> -> tensor<1x6x1x1xf32>
// CHECK: sp.attend({{.*}} score @score_0 per_key(%[[AH]] : {{.*}}) per_head(%[[W]] : {{.*}}) pair(%[[B]], %[[C]] : {{.*}} heads <contiguous 4 on "sp" of 2> kv_heads 2 bands
// CHECK: sp.attend({{.*}} score @score_0 per_key(%[[AH]] : {{.*}}) per_head(%[[W]] : {{.*}}) pair(%[[B]], %[[C]] : {{.*}} heads <contiguous 4 on "sp" of 2> kv_heads 2 first_head 4 bands
func.func @main(%q: tensor<1x6x8x8xf32>, %k: tensor<1x6x4x8xf32>, %a: tensor<1x6x1x1xf32>, %w: tensor<1x1x8x1xf32>, %b: tensor<1x8x6x6xf32>, %c: tensor<1x8x1x6xf32>) -> tensor<1x6x8x8xf32> {
  %o = sp.attention(%q, %k, %k) score @score_0 per_key(%a : tensor<1x6x1x1xf32>) per_head(%w : tensor<1x1x8x1xf32>) pair(%b, %c : tensor<1x8x6x6xf32>, tensor<1x8x1x6xf32>)
     bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.0 empty zero
     plan <axis = "sp", heads = 2, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, groups = 2>
     : tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32> -> tensor<1x6x8x8xf32>
  return %o : tensor<1x6x8x8xf32>
}

// -----

// A group takes its sinks, and a rank its own of those.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[S:[a-z0-9]*]]: tensor<8xf32>
// CHECK: %[[S0:.*]] = stablehlo.slice %[[S]] [0:4]
// CHECK: "stablehlo.gather"(%[[S0]], {{.*}} : (tensor<4xf32>, tensor<2x1xi32>) -> tensor<2xf32>
// CHECK: sp.attend
// CHECK: %[[S1:.*]] = stablehlo.slice %[[S]] [4:8]
// CHECK: "stablehlo.gather"(%[[S1]],
// CHECK: sp.attend
func.func @main(%q: tensor<1x6x8x8xf32>, %k: tensor<1x6x4x8xf32>, %s: tensor<8xf32>) -> tensor<1x6x8x8xf32> {
  %o = sp.attention(%q, %k, %k) sink(%s : tensor<8xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 2, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, groups = 2>
     : tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32> -> tensor<1x6x8x8xf32>
  return %o : tensor<1x6x8x8xf32>
}

// -----

func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<f32> {
  return %s : tensor<f32>
}

// So it does with the means that empty rows give.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[M:[a-z0-9]*]]: tensor<1x1x8x8xf32>
// CHECK: sp.attend
// CHECK: %[[M0:.*]] = stablehlo.slice %[[M]] [0:1, 0:1, 0:4, 0:8]
// CHECK: "stablehlo.gather"(%[[M0]],
// CHECK: %[[M1:.*]] = stablehlo.slice %[[M]] [0:1, 0:1, 4:8, 0:8]
// CHECK: "stablehlo.gather"(%[[M1]],
func.func @main(%q: tensor<1x6x8x8xf32>, %k: tensor<1x6x4x8xf32>, %m: tensor<1x1x8x8xf32>) -> tensor<1x6x8x8xf32> {
  %o = sp.attention(%q, %k, %k) score @score_0 mean(%m : tensor<1x1x8x8xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0 empty mean
     plan <axis = "sp", heads = 2, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, groups = 2>
     : tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32> -> tensor<1x6x8x8xf32>
  return %o : tensor<1x6x8x8xf32>
}

// -----

func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  return %s : tensor<f32>
}

// Where groups are gathered, what is said of keys comes with the first, and pairs
// hold the local rows of all heads.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<1x8x3x6xf32>
// CHECK: %[[A:.*]]:3 = sp.all_gather {{.*}} -> tensor<1x6x2x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6x1x1xf32>
// CHECK: sp.all_gather {{.*}} -> tensor<1x6x2x8xf32>, tensor<1x6x2x8xf32>{{$}}
// CHECK-NOT: sp.all_gather
// CHECK: sp.attend({{.*}} per_key(%[[A]]#2 : {{.*}}) pair(%[[B]] : {{.*}} keys <contiguous 6 on "sp" of 1> bands
// CHECK: sp.attend({{.*}} per_key(%[[A]]#2 : {{.*}}) pair(%[[B]] : {{.*}} keys <contiguous 6 on "sp" of 1> first_head 4 bands
func.func @main(%q: tensor<1x6x8x8xf32>, %k: tensor<1x6x4x8xf32>, %v: tensor<1x6x4x8xf32>, %a: tensor<1x6x1x1xf32>, %b: tensor<1x8x6x6xf32>) -> tensor<1x6x8x8xf32> {
  %o = sp.attention(%q, %k, %v) score @score_0 per_key(%a : tensor<1x6x1x1xf32>) pair(%b : tensor<1x8x6x6xf32>)
     bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.0 empty zero
     plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 2, layout = zigzag, placement = head_first, groups = 2>
     : tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32> -> tensor<1x6x8x8xf32>
  return %o : tensor<1x6x8x8xf32>
}
