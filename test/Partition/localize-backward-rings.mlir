// RUN: sp-opt %s --sp-partition-pipeline --split-input-file | FileCheck %s

sp.mesh @mesh <["sp" = 6]> sequence "sp"

// A double ring of 3 windows of 2 ranks: gradients come home in a window, and
// from there to where the block begins the next one.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x2x2x8xf32>
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x2x2x8xf32>
func.func @main(%q: tensor<1x11x2x8xf32>, %k: tensor<1x11x2x8xf32>, %lse: tensor<1x11x2xf32>)
    -> (tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>) {
  // CHECK: %[[W0:.*]] = affine.apply
  // CHECK: %[[NEXT:.*]]:2 = sp.shift %[[K]], %[[K]] from %[[W0]] by 1 along "sp:(1)3" in <zigzag 11 on "sp" of 6> needed_by {{.*}}{sp.backward}
  // CHECK: %[[IN:.*]]:2 = sp.shift %[[K]], %[[K]] from %[[W0]] by 1 along "sp:(3)2" in <zigzag 11 on "sp" of 6> needed_by {{.*}}{sp.backward}
  // CHECK: %{{.*}}, %[[DK0:.*]], %[[DV0:.*]] = sp.attend_backward(%[[Q]], %[[K]], %[[K]]) {{.*}} from %[[W0]]
  // CHECK: %[[G0:.*]]:2 = sp.shift %[[DK0]], %[[DV0]] from %[[W0]] by 1 along "sp:(3)2" in <zigzag 11 on "sp" of 6> :
  // CHECK: %{{.*}}, %[[DK1:.*]], %[[DV1:.*]] = sp.attend_backward(%[[Q]], %[[IN]]#0, %[[IN]]#1) {{.*}} onto_keys(%[[G0]]#0, %[[G0]]#1) {{.*}} from %[[W0S1:[0-9]*]]
  // CHECK: %[[G1:.*]]:2 = sp.shift %[[DK1]], %[[DV1]] from %[[W0S1]] by 1 along "sp:(3)2"
  // CHECK: %[[G2:.*]]:2 = sp.shift %[[G1]]#0, %[[G1]]#1 from %[[W0]] by 1 along "sp:(1)3"
  // CHECK: %[[W1:.*]] = affine.apply
  // CHECK: sp.shift %[[NEXT]]#0, %[[NEXT]]#1 from %[[W1]] by 1 along "sp:(1)3"
  // CHECK: sp.attend_backward(%[[Q]], %[[NEXT]]#0, %[[NEXT]]#1) {{.*}} onto_keys(%[[G2]]#0, %[[G2]]#1) {{.*}} from %[[W1]]
  // CHECK: sp.attend_backward(
  // CHECK: sp.attend_backward({{.*}} from %[[W2:[0-9]*]] bands
  // CHECK: sp.attend_backward({{.*}} from %[[W2S1:[0-9]*]] bands
  // CHECK: %[[G5:.*]]:2 = sp.shift {{.*}} from %[[W2S1]] by 1 along "sp:(3)2"
  // CHECK: %[[HOME:.*]]:2 = sp.shift %[[G5]]#0, %[[G5]]#1 from %[[W2]] by 1 along "sp:(1)3"
  // CHECK: return %[[HOME]]#0, %[[HOME]]#1
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 11, k 0 to 11, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 1, outer = 3, inner = 2, gather = 1, layout = zigzag, placement = head_first>
     : (tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x2xf32>, tensor<1x11x2x8xf32>)
     -> (tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>)
  return %dk, %dv : tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>
}

// -----

sp.mesh @mesh <["sp" = 8]> sequence "sp"

// Both ways: a rank keeps its own part. Gradients of the block that travels on
// begin a hop further and are handed on until the last rank, 4 hops on, sends
// them back at once; those of the block that travels back, 3 hops, go on.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x2x2x8xf32>
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x2x2x8xf32>
func.func @main(%q: tensor<1x11x2x8xf32>, %k: tensor<1x11x2x8xf32>, %lse: tensor<1x11x2xf32>)
    -> (tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>) {
  // CHECK: %[[ON:.*]]:2 = sp.shift %[[K]], %[[K]] from %{{.*}} by 1 hops 4 in <zigzag 11 on "sp" of 8> needed_by {{.*}}{sp.backward}
  // CHECK: %[[BACK:.*]]:2 = sp.shift %[[K]], %[[K]] from %{{.*}} by -1 hops 3 in <zigzag 11 on "sp" of 8> needed_by {{.*}}{sp.backward}
  // CHECK: %{{.*}}, %[[DK:.*]], %[[DV:.*]] = sp.attend_backward(%[[Q]], %[[K]], %[[K]])
  // CHECK-NOT: sp.shift %[[DK]]
  // CHECK: %{{.*}}, %[[DK1:.*]], %[[DV1:.*]] = sp.attend_backward(%[[Q]], %[[ON]]#0, %[[ON]]#1) of(%{{.*}}) onto_query(%{{.*}}) queries {{.*}} from %[[S1:.*]] bands
  // CHECK: %[[G1:.*]]:2 = sp.shift %[[DK1]], %[[DV1]] from %[[S1]] by 1 in <zigzag 11 on "sp" of 8> :
  // CHECK: %{{.*}}, %[[BK1:.*]], %[[BV1:.*]] = sp.attend_backward(%[[Q]], %[[BACK]]#0, %[[BACK]]#1) of(%{{.*}}) onto_query(%{{.*}}) queries {{.*}} from %[[B1:.*]] bands
  // CHECK: %[[H1:.*]]:2 = sp.shift %[[BK1]], %[[BV1]] from %[[B1]] by -1 in <zigzag 11 on "sp" of 8> :
  // CHECK: sp.attend_backward({{.*}} onto_keys(%[[G1]]#0, %[[G1]]#1)
  // CHECK: sp.attend_backward({{.*}} onto_keys(%[[H1]]#0, %[[H1]]#1)
  // CHECK: %{{.*}}, %[[DK3:.*]], %[[DV3:.*]] = sp.attend_backward(
  // CHECK: %[[G3:.*]]:2 = sp.shift %[[DK3]], %[[DV3]] from %{{.*}} by 1 in
  // CHECK: %{{.*}}, %[[BK3:.*]], %[[BV3:.*]] = sp.attend_backward({{.*}} from %[[B3:[0-9]*]] bands
  // CHECK: %[[BHOME:.*]]:2 = sp.shift %[[BK3]], %[[BV3]] from %[[B3]] by 3 in
  // CHECK: %{{.*}}, %[[DK4:.*]], %[[DV4:.*]] = sp.attend_backward({{.*}} onto_keys(%[[G3]]#0, %[[G3]]#1) {{.*}} from %[[S4:[0-9]*]] bands
  // CHECK: %[[HOME:.*]]:2 = sp.shift %[[DK4]], %[[DV4]] from %[[S4]] by -4 in
  // CHECK: %[[TWO:.*]] = stablehlo.add %[[DK]], %[[HOME]]#0
  // CHECK: %[[SUM:.*]] = stablehlo.add %[[TWO]], %[[BHOME]]#0
  // CHECK: return %[[SUM]]
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 11, k 0 to 11, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 8, gather = 1, layout = zigzag, placement = head_first, bidirectional = true>
     : (tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x2xf32>, tensor<1x11x2x8xf32>)
     -> (tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>)
  return %dk, %dv : tensor<1x11x2x8xf32>, tensor<1x11x2x8xf32>
}
