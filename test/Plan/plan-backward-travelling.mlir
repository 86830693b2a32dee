// RUN: sp-opt --sp-plan-attention=strategy=ring --sp-verify-plan --remark-format=emitRemark --remarks-filter="sp-plan-attention" %s 2>&1 | FileCheck %s --check-prefixes=CHECK,FEWER
// RUN: sp-opt --sp-plan-attention="strategy=ring backward=kv" --sp-verify-plan --remark-format=emitRemark --remarks-filter="sp-plan-attention" %s 2>&1 | FileCheck %s --check-prefixes=CHECK,KEYS
// RUN: sp-opt --sp-plan-attention="strategy=double-ring inner=2 backward=q" --sp-verify-plan --remark-format=emitRemark --remarks-filter="sp-plan-attention" %s 2>&1 | FileCheck %s --check-prefixes=CHECK,QUERIES

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// KEYS: Remark=alone, Remark=": --backward does not apply, it has no ", Remark=gradients
// QUERIES: Remark=alone, Remark=": --backward does not apply, it has no ", Remark=gradients
// FEWER-NOT: does not apply
func.func @alone(%q: tensor<1x64x8x16xf32>) {
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 {name = "alone"}
     : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// 16 rows of 8 heads of 16 in f32, 8192 bytes: 3 hops of two of those and 4 of
// two gradients, or 3 hops of two, lse and delta, 1024 bytes, and 4 of one.
// FEWER: Travelling {{.*}}Remark=": ", Remark=queries, Remark=" travel in its backward", {{.*}} bytes=84992, name="gradients of many", otherBytes=114688
// KEYS: Travelling {{.*}}Remark=": ", Remark="keys and values", Remark=" travel in its backward", Remark=", as asked for: ", {{.*}} bytes=114688, name="gradients of many", otherBytes=84992
// QUERIES: Travelling {{.*}}Remark=": ", Remark=queries, Remark=" travel in its backward", Remark=", as asked for: ", {{.*}} bytes=101376, name="gradients of many", otherBytes=147456

// A quarter of the kv heads: keys and values are a quarter, too.
// FEWER: Travelling {{.*}}Remark=": ", Remark="keys and values", Remark=" travel in its backward", {{.*}} bytes=28672, name="gradients of few", otherBytes=84992
// QUERIES: Travelling {{.*}}Remark=": ", Remark=queries, Remark=" travel in its backward", {{.*}} bytes=101376, name="gradients of few", otherBytes=36864

// Gradients of bf16, lse and delta are in f32 all the same.
// FEWER: Travelling {{.*}}Remark=": ", Remark=queries, Remark=" travel in its backward", {{.*}} bytes=60416, name="gradients of half", otherBytes=90112

// Ranks have a term of each key whole.
// FEWER: Travelling {{.*}}Remark=": ", Remark=queries, Remark=" travel in its backward"{{.*}}name="gradients of keyed"

// CHECK-LABEL: @main(
func.func @main(%q: tensor<1x64x8x16xf32>, %lse: tensor<1x64x8xf32>) {
  // CHECK: sp.attention_backward(
  // FEWER-SAME: queries_travel = true
  // KEYS-NOT: queries_travel
  // QUERIES-SAME: outer = 2, inner = 2, {{.*}}, queries_travel = true
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 {name = "many"}
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8xf32>, tensor<1x64x8x16xf32>) -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}

// CHECK-LABEL: @grouped(
func.func @grouped(%q: tensor<1x64x8x16xf32>, %k: tensor<1x64x2x16xf32>, %lse: tensor<1x64x8xf32>) {
  // CHECK: sp.attention_backward(
  // FEWER-NOT: queries_travel
  // KEYS-NOT: queries_travel
  // QUERIES-SAME: queries_travel = true
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 {name = "few"}
     : (tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8xf32>, tensor<1x64x8x16xf32>) -> (tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>)
  return
}

// CHECK-LABEL: @short(
func.func @short(%q: tensor<1x64x8x16xbf16>, %lse: tensor<1x64x8xf32>) {
  // CHECK: sp.attention_backward(
  // FEWER-SAME: queries_travel = true
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 {name = "half"}
     : (tensor<1x64x8x16xbf16>, tensor<1x64x8x16xbf16>, tensor<1x64x8x16xbf16>, tensor<1x64x8x16xbf16>, tensor<1x64x8xf32>, tensor<1x64x8x16xbf16>) -> (tensor<1x64x8x16xbf16>, tensor<1x64x8x16xbf16>, tensor<1x64x8x16xbf16>)
  return
}

func.func private @biased(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %s, %s : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @term_of_keys(
func.func @term_of_keys(%q: tensor<1x64x8x16xf32>, %lse: tensor<1x64x8x2xf32>, %a: tensor<1x8x1x64xf32>) {
  // CHECK: sp.attention_backward(
  // FEWER-SAME: queries_travel = true
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) score @biased pair(%a : tensor<1x8x1x64xf32>) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 {name = "keyed"}
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x2xf32>, tensor<1x64x8x16xf32>) -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}
