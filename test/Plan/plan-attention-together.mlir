// RUN: sp-opt --sp-plan-attention --sp-verify-plan --split-input-file --remark-format=emitRemark --remarks-filter="sp-plan-attention" %s 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: sp-opt --sp-plan-attention --sp-verify-plan --split-input-file %s | FileCheck %s

// A model has one layout for the rows of a sequence, and 2D with three heads
// has one of its own. Of many and few kv heads on six ranks one attention alone
// sends least with it, the other as a ring; together 8 704 + 5 077 bytes are
// the fewest. (Ulysses would leave ranks without heads.)
// SAID: Alternative {{.*}} bytes=20480, name=many, strategy=ring
// SAID: Alternative {{.*}} bytes=7040, name=many, strategy=ulysses
// SAID: Alternative {{.*}} bytes=10368, name=many, strategy="2d with 2 heads"
// SAID: Alternative {{.*}} bytes=8704, name=many, strategy="2d with 3 heads"
// SAID: Alternative {{.*}} bytes=2560, name=few, strategy=ring
// SAID: Alternative {{.*}} bytes=4224, name=few, strategy="2d with 2 heads"
// SAID: Alternative {{.*}} bytes=5077, name=few, strategy="2d with 3 heads"
// SAID: [Passed] Planned {{.*}}choice="chosen by counted bytes", name=many, plan="2d over 6 ranks, zigzag, straight to ranks that see them"
// SAID: [Passed] Planned {{.*}}choice="chosen by bytes of all attentions", name=few, plan="2d over 6 ranks, zigzag, straight to ranks that see them"
// CHECK-LABEL: @one_sequence
// CHECK-COUNT-2: plan <axis = "sp", heads = 3, outer = 1, inner = 2,
sp.mesh @mesh <["sp" = 6]> sequence "sp"
func.func @one_sequence(%q: tensor<1x48x8x8xf32>, %few: tensor<1x48x1x8xf32>) {
  %0, %lse = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 48, k 0 to 48, lo -inf, hi 0>] scale 1.0 {name = "many"}
     : tensor<1x48x8x8xf32>, tensor<1x48x8x8xf32>, tensor<1x48x8x8xf32> -> tensor<1x48x8x8xf32>, tensor<1x48x8xf32>
  %1, %lse_1 = sp.attention(%0, %few, %few) bands [#sp.band<q 0 to 48, k 0 to 48, lo -inf, hi 0>] scale 1.0 {name = "few"}
     : tensor<1x48x8x8xf32>, tensor<1x48x1x8xf32>, tensor<1x48x1x8xf32> -> tensor<1x48x8x8xf32>, tensor<1x48x8xf32>
  return
}

// -----

// Other sequences go their own ways.
// CHECK-LABEL: @two_sequences
// CHECK: plan <axis = "sp", heads = 3, outer = 1, inner = 2,
// CHECK: plan <axis = "sp", heads = 1, outer = 1, inner = 6,
sp.mesh @mesh <["sp" = 6]> sequence "sp"
func.func @two_sequences(%q: tensor<1x48x8x8xf32>, %p: tensor<1x42x8x8xf32>, %few: tensor<1x42x1x8xf32>) {
  %0, %lse = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 48, k 0 to 48, lo -inf, hi 0>] scale 1.0 {name = "many"}
     : tensor<1x48x8x8xf32>, tensor<1x48x8x8xf32>, tensor<1x48x8x8xf32> -> tensor<1x48x8x8xf32>, tensor<1x48x8xf32>
  %1, %lse_1 = sp.attention(%p, %few, %few) bands [#sp.band<q 0 to 42, k 0 to 42, lo -inf, hi 0>] scale 1.0 {name = "few"}
     : tensor<1x42x8x8xf32>, tensor<1x42x1x8xf32>, tensor<1x42x1x8xf32> -> tensor<1x42x8x8xf32>, tensor<1x42x8xf32>
  return
}

// -----

// A plan that the user wrote stays, and the others fit it.
// CHECK-LABEL: @beside_a_ring
// CHECK-COUNT-2: plan <axis = "sp", heads = 1, outer = 1, inner = 6,
sp.mesh @mesh <["sp" = 6]> sequence "sp"
func.func @beside_a_ring(%q: tensor<1x48x8x8xf32>) {
  %0, %lse = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 48, k 0 to 48, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 6, gather = 1, layout = zigzag, placement = head_first> {name = "planned"}
     : tensor<1x48x8x8xf32>, tensor<1x48x8x8xf32>, tensor<1x48x8x8xf32> -> tensor<1x48x8x8xf32>, tensor<1x48x8xf32>
  %1, %lse_1 = sp.attention(%0, %q, %q) bands [#sp.band<q 0 to 48, k 0 to 48, lo -inf, hi 0>] scale 1.0 {name = "open"}
     : tensor<1x48x8x8xf32>, tensor<1x48x8x8xf32>, tensor<1x48x8x8xf32> -> tensor<1x48x8x8xf32>, tensor<1x48x8xf32>
  return
}

// -----

// In loops of their own, an attention and its gradients may have found scales
// that differ in the last bit.
// CHECK-LABEL: @rounded_scales
// SAID: [Passed] Planned {{.*}}name=forward,
// SAID-NOT: gradients of
sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @rounded_scales(%q: tensor<1x64x8x16xf32>, %o: tensor<1x64x8x16xf32>, %lse: tensor<1x64x8xf32>) {
  %0, %lse_0 = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 0.40824829046386313 {name = "forward"}
     : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>, tensor<1x64x8xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%o, %lse) by(%o)
     bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 0.40824829046386307 {name = "backward"}
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}

// -----

// A window beside a full layer, on eight ranks. Alone the window would send no
// more than the rows at the ends of runs, contiguous as well as in any other
// order. The full layer exchanges heads: of 2D the layout is as good for the window
// as contiguous rows are, and better than zigzag, which has twice as many runs.
// CHECK-LABEL: @window_beside_full
// CHECK: sp.attention{{.*}} plan <axis = "sp", heads = 1, outer = 1, inner = 8, gather = 1, layout = zigzag, placement = head_first, row_split = 2, direct = true> {name = "window"}
// CHECK: sp.attention{{.*}} plan <axis = "sp", heads = 2, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first> {name = "full"}
sp.mesh @mesh <["sp" = 8]> sequence "sp"
func.func @window_beside_full(%q: tensor<1x4096x8x8xf32>, %k: tensor<1x4096x2x8xf32>) {
  %0, %lse = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 4096, k 0 to 4096, lo -31, hi 0>] scale 1.0 {name = "window"}
     : tensor<1x4096x8x8xf32>, tensor<1x4096x2x8xf32>, tensor<1x4096x2x8xf32> -> tensor<1x4096x8x8xf32>, tensor<1x4096x8xf32>
  %1, %lse_1 = sp.attention(%0, %k, %k) bands [#sp.band<q 0 to 4096, k 0 to 4096, lo -inf, hi 0>] scale 1.0 {name = "full"}
     : tensor<1x4096x8x8xf32>, tensor<1x4096x2x8xf32>, tensor<1x4096x2x8xf32> -> tensor<1x4096x8x8xf32>, tensor<1x4096x8xf32>
  return
}
