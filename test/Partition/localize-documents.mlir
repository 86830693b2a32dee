// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ring backward=kv" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,KEYS
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ring backward=q" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,QUERIES

// Blocks stop where nobody further on is of one of their documents; of queries that
// travel, documents of keys are those who wait.

sp.documents @documents_4 of 16 in arguments [4]
sp.documents @documents_5 of 24 in arguments [5]

func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
  return %s : tensor<f32>
}
func.func private @score_0_gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  return %s, %s : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @main
// CHECK: sp.shift %{{.*}} needed_by <rows <contiguous 16 on "sp" of 4> bands [#sp.band<q 0 to 16, k 0 to 24, lo -inf, hi inf>] documents <queries @documents_4 keys @documents_5>>
// CHECK: sp.attend(%{{.*}} documents <queries @documents_4 keys @documents_5> scale
// KEYS: sp.shift %{{.*}} in <contiguous 24 on "sp" of 4> needed_by <rows <contiguous 16 on "sp" of 4> {{.*}} documents <queries @documents_4 keys @documents_5>>
// QUERIES: sp.shift %{{.*}} in <contiguous 16 on "sp" of 4> needed_by <rows <contiguous 24 on "sp" of 4> bands [#sp.band<q 0 to 24, k 0 to 16, lo -inf, hi inf>] documents <queries @documents_5 keys @documents_4>>
// CHECK: sp.attend_backward(%{{.*}} documents <queries @documents_4 keys @documents_5> scale
func.func @main(%q: tensor<1x16x2x8xf32>, %k: tensor<1x24x2x8xf32>, %d: tensor<1x16x2x8xf32>, %x: tensor<f32>, %a: tensor<1x16x1x1xi32>, %b: tensor<1x24x1x1xi32>)
    -> (tensor<1x16x2x8xf32>, tensor<1x24x2x8xf32>) {
  %o, %l = sp.attention(%q, %k, %k) score @score_0 per_query(%a : tensor<1x16x1x1xi32>) per_key(%b : tensor<1x24x1x1xi32>)
      bands [#sp.band<q 0 to 16, k 0 to 24, lo -inf, hi inf>] documents <queries @documents_4 keys @documents_5> scale 1.0 {name = "layer0"}
      : tensor<1x16x2x8xf32>, tensor<1x24x2x8xf32>, tensor<1x24x2x8xf32> -> tensor<1x16x2x8xf32>, tensor<1x16x2x2xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%o, %l) by(%d) score @score_0_gradient per_query(%a : tensor<1x16x1x1xi32>) per_key(%b : tensor<1x24x1x1xi32>)
      bands [#sp.band<q 0 to 16, k 0 to 24, lo -inf, hi inf>] documents <queries @documents_4 keys @documents_5> scale 1.0 {name = "layer0"}
      : (tensor<1x16x2x8xf32>, tensor<1x24x2x8xf32>, tensor<1x24x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x2xf32>, tensor<1x16x2x8xf32>)
      -> (tensor<1x16x2x8xf32>, tensor<1x24x2x8xf32>, tensor<1x24x2x8xf32>)
  return %dq, %dk : tensor<1x16x2x8xf32>, tensor<1x24x2x8xf32>
}
