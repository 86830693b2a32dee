// RUN: sp-opt --sp-plan-attention=strategy=ring --sp-verify-plan --remark-format=emitRemark --remarks-filter="sp-plan-attention" %s 2>&1 | FileCheck %s
// RUN: sp-opt --sp-plan-attention="strategy=ring backward=kv" --sp-verify-plan %s | FileCheck %s --check-prefix=PLAN
// RUN: not sp-opt --sp-plan-attention="strategy=ring backward=q" %s 2>&1 | FileCheck %s --check-prefix=QUERIES

sp.mesh @mesh <["sp" = 4]> sequence "sp"

func.func private @biased(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %s, %s : tensor<f32>, tensor<f32>
}

// Ranks have a term of each pair by queries, which then cannot travel.
// CHECK: Travelling {{.*}}Remark=": ", Remark="keys and values", {{.*}}Remark="and has terms of pairs, or their gradients, where the query is", bytes=114688, name="gradients of paired"
// PLAN-NOT: queries_travel
// QUERIES: error: expected keys and values to travel in the backward of gradients of paired, whose score function reads a term of each pair or has gradients of terms, which ranks have by queries, but got --backward=q; leave it out
func.func @main(%q: tensor<1x64x8x16xf32>, %lse: tensor<1x64x8x2xf32>, %a: tensor<1x1x64x64xf32>) {
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) score @biased pair(%a : tensor<1x1x64x64xf32>) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 {name = "paired"}
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x2xf32>, tensor<1x64x8x16xf32>) -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}
