// RUN: sp-opt --sp-plan-attention --sp-verify-plan --split-input-file --remark-format=emitRemark --remarks-filter="sp-plan-attention" %s 2>&1 | FileCheck %s

sp.mesh @mesh <["sp" = 4]> sequence "sp"

func.func private @segments(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
  return %s : tensor<f32>
}
func.func private @segments_gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  return %s, %s : tensor<f32>, tensor<f32>
}

// Beside what plan-backward.mlir counts, 16 numbers for 3 ranks, 192 bytes:
// those of keys travel once with the attention and those of queries once with
// its gradients, beside the second number of lse of 8 heads; those of keys and
// of queries are exchanged for heads once, where the second
// number of lse of 2 heads goes there and back.
// CHECK: remark: [Analysis] Alternative {{.*}} bytes=136064, {{.*}}strategy=ring
// CHECK: remark: [Analysis] Alternative {{.*}} bytes=51456, {{.*}}strategy=ulysses
// CHECK: remark: [Analysis] Alternative {{.*}} bytes=147840, {{.*}}strategy=allgather
// CHECK: remark: [Passed] Planned {{.*}}name=near, plan="ulysses over 4 ranks
// CHECK-NOT: gradients of
func.func @attention_in_sight(%q: tensor<1x64x8x16xf32>, %do: tensor<1x64x8x16xf32>, %a: tensor<1x64x1x1xi32>, %b: tensor<1x64x1x1xi32>) {
  %o, %lse = sp.attention(%q, %q, %q) score @segments per_query(%a : tensor<1x64x1x1xi32>) per_key(%b : tensor<1x64x1x1xi32>)
     bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 empty zero {name = "near"}
     : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>, tensor<1x64x8x2xf32>
  %kept:2 = stablehlo.optimization_barrier %a, %b : tensor<1x64x1x1xi32>, tensor<1x64x1x1xi32>
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%o, %lse) by(%do) score @segments_gradient per_query(%kept#0 : tensor<1x64x1x1xi32>) per_key(%kept#1 : tensor<1x64x1x1xi32>)
     bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 {name = "near"}
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x2xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"

func.func private @segments(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
  return %s : tensor<f32>
}
func.func private @segments_gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  return %s, %s : tensor<f32>, tensor<f32>
}
func.func private @padding_gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %b: tensor<i1>) -> (tensor<f32>, tensor<f32>) {
  return %s, %s : tensor<f32>, tensor<f32>
}

// Out of sight terms are exchanged again. An attention with other terms is not
// theirs.
// CHECK: remark: [Analysis] Alternative {{.*}} bytes=70272, {{.*}}strategy=ulysses
// CHECK: remark: [Passed] Planned {{.*}}name=loop, plan="ulysses over 4 ranks
// CHECK: remark: [Passed] Planned {{.*}}name="gradients of other"
func.func @attention_out_of_sight(%q: tensor<1x64x8x16xf32>, %do: tensor<1x64x8x16xf32>, %lse: tensor<1x64x8x2xf32>, %a: tensor<1x64x1x1xi32>, %b: tensor<1x64x1x1xi32>, %c: tensor<1x64x1x1xi1>) {
  %o, %l = sp.attention(%q, %q, %q) score @segments per_query(%a : tensor<1x64x1x1xi32>) per_key(%b : tensor<1x64x1x1xi32>)
     bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 empty zero {name = "loop"}
     : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>, tensor<1x64x8x2xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%o, %lse) by(%do) score @segments_gradient per_query(%a : tensor<1x64x1x1xi32>) per_key(%b : tensor<1x64x1x1xi32>)
     bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 {name = "loop"}
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x2xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  %eq, %ek, %ev = sp.attention_backward(%q, %q, %q) of(%o, %lse) by(%do) score @padding_gradient per_key(%c : tensor<1x64x1x1xi1>)
     bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 {name = "other"}
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x2xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}
