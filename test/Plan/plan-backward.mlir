// RUN: sp-opt --sp-plan-attention=strategy=ring --sp-verify-plan --split-input-file %s | FileCheck %s --check-prefixes=CHECK,RING
// RUN: sp-opt --sp-plan-attention=strategy=allgather --sp-verify-plan --split-input-file %s | FileCheck %s --check-prefixes=CHECK,GATHER
// RUN: sp-opt --sp-plan-attention --sp-verify-plan --split-input-file --remark-format=emitRemark --remarks-filter="sp-plan-attention" %s 2>&1 | FileCheck %s --check-prefix=AUTO

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// Gradients get the plan of the attention whose lse they read, also behind a
// barrier. Bytes are those of both: 4 ranks of 16 rows with 8 heads of 16 + 16
// send 3 blocks of keys and values and 3 of queries, 4 of their gradients;
// Ulysses exchanges q, k and v once.
// AUTO: remark: [Analysis] Alternative {{.*}} bytes=134144, {{.*}}strategy=ring
// AUTO: remark: [Analysis] Alternative {{.*}} bytes=50304, {{.*}}strategy=ulysses
// AUTO: remark: [Analysis] Alternative {{.*}} bytes=147456, {{.*}}strategy=allgather
// AUTO: remark: [Analysis] Alternative {{.*}} bytes=70400, {{.*}}strategy="2d with 2 heads"
// AUTO: remark: [Passed] Planned {{.*}}name=near, plan="ulysses over 4 ranks
// AUTO-NOT: gradients of
// CHECK-LABEL: @attention_in_sight
func.func @attention_in_sight(%q: tensor<1x64x8x16xf32>, %do: tensor<1x64x8x16xf32>) {
  // CHECK: sp.attention(
  // RING-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1,
  // GATHER-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 4,
  // CHECK: sp.attention_backward(
  // RING-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1,
  // GATHER-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 4,
  %o, %lse = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 {name = "near"}
     : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>, tensor<1x64x8xf32>
  %kept:2 = stablehlo.optimization_barrier %o, %lse : tensor<1x64x8x16xf32>, tensor<1x64x8xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%kept#0, %kept#1) by(%do)
     bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 {name = "near"}
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// Where lse comes from elsewhere, as from a loop, the attention of these shapes
// decides; q, k and v are exchanged again, as they come from elsewhere too.
// AUTO: remark: [Analysis] Alternative {{.*}} bytes=134144, {{.*}}strategy=ring
// AUTO: remark: [Analysis] Alternative {{.*}} bytes=68736, {{.*}}strategy=ulysses
// AUTO: remark: [Passed] Planned {{.*}}name=loop, plan="ulysses over 4 ranks
// AUTO-NOT: gradients of
// CHECK-LABEL: @attention_out_of_sight
func.func @attention_out_of_sight(%q: tensor<1x64x8x16xf32>, %do: tensor<1x64x8x16xf32>, %lse: tensor<1x64x8xf32>) {
  // CHECK: sp.attention(
  // CHECK: sp.attention_backward(
  // RING-SAME: inner = 4
  // GATHER-SAME: gather = 4
  %o, %l = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 {name = "loop"}
     : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>, tensor<1x64x8xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%o, %lse) by(%do)
     bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 {name = "loop"}
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// Gradients without any attention are planned by themselves. bf16 keys of 2 heads
// travel in 2 bytes, their gradients in 4.
// AUTO: remark: [Analysis] Alternative {{.*}} bytes=22528, name="gradients of alone", strategy=ring
// AUTO: remark: [Passed] Planned {{.*}}gradients of alone
// CHECK-LABEL: @no_attention
func.func @no_attention(%q: tensor<1x64x8x16xbf16>, %k: tensor<1x64x2x16xbf16>, %lse: tensor<1x64x8xf32>)
    -> tensor<1x64x2x16xbf16> {
  // CHECK: sp.attention_backward(
  // RING-SAME: inner = 4
  // GATHER-SAME: gather = 4
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 {name = "alone"}
     : (tensor<1x64x8x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x8x16xbf16>, tensor<1x64x8xf32>, tensor<1x64x8x16xbf16>)
     -> (tensor<1x64x8x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>)
  return %dk : tensor<1x64x2x16xbf16>
}
