// RUN: sp-opt %s --sp-partition-pipeline --split-input-file | FileCheck %s

sp.mesh @mesh <["sp" = 4]> sequence "sp"

func.func private @gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %w: tensor<f32>, %p: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  return %s, %w, %p, %w : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// A sum over queries goes from group to group and is reduced once; rows of their
// own go home with their group, within the ranks that exchange heads.
// CHECK-LABEL: func.func @main(
// CHECK-DAG: %[[SUM:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<1x1x8x6xf32>
// CHECK-DAG: %[[ROWS:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<1x3x2x6xf32>
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[A:.*]]:2 = sp.attend_backward({{.*}} onto_terms(%[[ROWS]], %[[SUM]])
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[B:.*]]:2 = sp.attend_backward({{.*}} onto_terms(%[[A]]#0, %[[A]]#1)
// CHECK: %[[FIRST:.*]] = sp.all_to_all %[[B]]#0 rows <zigzag 6 on "sp" of 4 split 2> onto <zigzag 6 on "sp:(1)2" of 2> heads <contiguous 4 on "sp:(2)2" of 2> of 4 to_rows : tensor<1x3x2x6xf32> -> tensor<1x2x4x6xf32>
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[C:.*]]:2 = sp.attend_backward({{.*}} onto_terms(%[[ROWS]], %[[B]]#1) {{.*}} first_head 4
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[D:.*]]:2 = sp.attend_backward({{.*}} onto_terms(%[[C]]#0, %[[C]]#1) {{.*}} first_head 4
// CHECK: %[[SECOND:.*]] = sp.all_to_all %[[D]]#0
// CHECK: %[[ALL:.*]] = stablehlo.concatenate %[[FIRST]], %[[SECOND]], dim = 2 : (tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>) -> tensor<1x2x8x6xf32>
// CHECK: %[[W:.*]] = sp.all_reduce %[[D]]#1 sum over ["sp"] of 4 : tensor<1x1x8x6xf32>
// CHECK: return %[[ALL]], %[[W]] :
func.func @main(%q: tensor<1x6x8x8xf32>, %k: tensor<1x6x4x8xf32>, %lse: tensor<1x6x8x2xf32>,
                     %w: tensor<1x1x8x1xf32>, %p: tensor<1x1x6x6xf32>) -> (tensor<1x6x8x6xf32>, tensor<1x1x8x6xf32>) {
  %dq, %dk, %dv, %dp, %dw = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) score @gradient
     per_head(%w : tensor<1x1x8x1xf32>) pair(%p : tensor<1x1x6x6xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 0.5
     plan <axis = "sp", heads = 2, outer = 1, inner = 2, gather = 1, layout = zigzag, placement = head_first, groups = 2>
     : (tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x8x8xf32>, tensor<1x6x8x2xf32>, tensor<1x6x8x8xf32>)
     -> (tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32>) terms (tensor<1x6x8x6xf32>, tensor<1x1x8x6xf32>)
  return %dp, %dw : tensor<1x6x8x6xf32>, tensor<1x1x8x6xf32>
}

// -----

sp.mesh @mesh <["sp" = 2]> sequence "sp"

func.func private @gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %w: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  return %s, %w, %w, %s : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @main(
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[A:.*]]:2 = sp.attend_backward({{.*}} terms(tensor<1x3x4x1xf32>, tensor<1x1x8x1xf32>)
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[B:.*]]:2 = sp.attend_backward({{.*}} onto_terms(%{{.*}}, %[[A]]#1) {{.*}} first_head 4
// CHECK: %[[ALL:.*]] = stablehlo.concatenate %[[A]]#0, %[[B]]#0, dim = 2 : (tensor<1x3x4x1xf32>, tensor<1x3x4x1xf32>) -> tensor<1x3x8x1xf32>
// CHECK: %[[W:.*]] = sp.all_reduce %[[B]]#1 sum over ["sp"] of 2 : tensor<1x1x8x1xf32>
// CHECK: return %[[ALL]], %[[W]] :
func.func @main(%q: tensor<1x6x8x8xf32>, %k: tensor<1x6x4x8xf32>, %lse: tensor<1x6x8x2xf32>,
                    %w: tensor<1x1x8x1xf32>) -> (tensor<1x6x8x1xf32>, tensor<1x1x8x1xf32>) {
  %dq, %dk, %dv, %dp, %dw = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) score @gradient
     per_head(%w : tensor<1x1x8x1xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 0.5
     plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 2, layout = zigzag, placement = head_first, groups = 2>
     : (tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x8x8xf32>, tensor<1x6x8x2xf32>, tensor<1x6x8x8xf32>)
     -> (tensor<1x6x8x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32>) terms (tensor<1x6x8x1xf32>, tensor<1x1x8x1xf32>)
  return %dp, %dw : tensor<1x6x8x1xf32>, tensor<1x1x8x1xf32>
}
