// RUN: sp-opt %s --split-input-file --sp-plan-pipeline="mesh=sp=4 strategy=halo layout=zigzag" --sp-partition-pipeline | FileCheck %s
// RUN: sp-opt %s --split-input-file --sp-plan-pipeline="mesh=sp=4 strategy=halo layout=contiguous" --sp-partition-pipeline | FileCheck %s --check-prefix=ONE-WAY

// A window over chunks of 4 sees the chunk before: that of the rank before or,
// of the mirrored ones, of the rank behind. Contiguous, one rank alone.
// CHECK-LABEL: @main
// CHECK: %[[R:.*]] = sp.rank "sp" : index
// CHECK: %[[ON:.*]]:2 = sp.shift %arg1, %arg1 from %[[R]] by 1 in <zigzag 32 on "sp" of 4> seen_by <rows <zigzag 32 on "sp" of 4> bands [#sp.band<q 0 to 32, k 0 to 32, lo -2, hi 0>]>
// CHECK: %[[BACK:.*]]:2 = sp.shift %arg1, %arg1 from %[[R]] by -1 in <zigzag 32 on "sp" of 4> seen_by
// CHECK: sp.attend(%arg0, %arg1, %arg1)
// CHECK: sp.attend(%arg0, %[[ON]]#0, %[[ON]]#1) onto(
// CHECK: sp.attend(%arg0, %[[BACK]]#0, %[[BACK]]#1) onto(
// CHECK-NOT: sp.attend
// CHECK: return
// ONE-WAY-LABEL: @main
// ONE-WAY: sp.shift %arg1, %arg1 from %{{.*}} by 1 in <contiguous 32 on "sp" of 4> seen_by
// ONE-WAY-NOT: sp.shift
// ONE-WAY-COUNT-2: sp.attend(
// ONE-WAY-NOT: sp.attend(
// ONE-WAY: return
func.func @main(%q: tensor<1x32x4x8xf32>, %k: tensor<1x32x2x8xf32>) -> tensor<1x32x4x8xf32> {
  %0 = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 32, k 0 to 32, lo -2, hi 0>] scale 1.0
     : tensor<1x32x4x8xf32>, tensor<1x32x2x8xf32>, tensor<1x32x2x8xf32> -> tensor<1x32x4x8xf32>
  return %0 : tensor<1x32x4x8xf32>
}

// -----

// Gradients of what came go straight home, and are added to the rank's own.
// CHECK-LABEL: @main
// CHECK: %[[Q:.*]], %[[K:.*]], %[[V:.*]] = sp.attend_backward(
// CHECK: %[[Q1:.*]], %[[K1:.*]], %[[V1:.*]] = sp.attend_backward({{.*}} onto_query(%[[Q]])
// CHECK-NOT: onto_keys
// CHECK: %[[H1:.*]]:2 = sp.shift %[[K1]], %[[V1]] from %{{.*}} by -1 in <zigzag 32 on "sp" of 4> seen_by
// CHECK: stablehlo.add %[[K]], %[[H1]]#0
// CHECK: stablehlo.add %[[V]], %[[H1]]#1
// CHECK: %[[Q2:.*]], %[[K2:.*]], %[[V2:.*]] = sp.attend_backward({{.*}} onto_query(%[[Q1]])
// CHECK: sp.shift %[[K2]], %[[V2]] from %{{.*}} by 1 in <zigzag 32 on "sp" of 4> seen_by
func.func @main(%q: tensor<1x32x4x8xf32>, %k: tensor<1x32x2x8xf32>, %o: tensor<1x32x4x8xf32>, %lse: tensor<1x32x4xf32>) -> (tensor<1x32x4x8xf32>, tensor<1x32x2x8xf32>, tensor<1x32x2x8xf32>) {
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%o, %lse) by(%o) bands [#sp.band<q 0 to 32, k 0 to 32, lo -2, hi 0>] scale 1.0
     : (tensor<1x32x4x8xf32>, tensor<1x32x2x8xf32>, tensor<1x32x2x8xf32>, tensor<1x32x4x8xf32>, tensor<1x32x4xf32>, tensor<1x32x4x8xf32>)
     -> (tensor<1x32x4x8xf32>, tensor<1x32x2x8xf32>, tensor<1x32x2x8xf32>)
  return %dq, %dk, %dv : tensor<1x32x4x8xf32>, tensor<1x32x2x8xf32>, tensor<1x32x2x8xf32>
}
