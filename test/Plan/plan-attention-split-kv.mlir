// RUN: sp-opt %s --split-input-file --sp-plan-attention | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: sp-opt %s --split-input-file --sp-plan-attention=strategy=split-kv | FileCheck %s --check-prefixes=CHECK,SPLIT

sp.mesh @mesh <["sp" = 8]> sequence "sp"

// Queries and states are fewer bytes than keys where queries are few; of as many
// queries as keys never, as states are in f32.
// CHECK-LABEL: @main
func.func @main(%one: tensor<1x1x8x16xf32>, %some: tensor<1x32x8x16xf32>, %all: tensor<1x1024x8x16xbf16>, %k: tensor<1x4096x2x16xf32>, %l: tensor<1x1024x8x16xbf16>) {
  // CHECK: sp.attention
  // CHECK-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 1, layout = contiguous, placement = head_first, merge = 8>
  // CHECK-SAME: {name = "one"}
  // CHECK: sp.attention
  // CHECK-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 1, layout = contiguous, placement = head_first, merge = 8>
  // CHECK-SAME: {name = "some"}
  // CHECK: sp.attention
  // AUTO-SAME: plan <axis = "sp", heads = 8, outer = 1, inner = 1, gather = 1, layout = contiguous, placement = head_first>
  // SPLIT-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 1, layout = contiguous, placement = head_first, merge = 8>
  // CHECK-SAME: {name = "all"}
  %a = sp.attention(%one, %k, %k) bands [#sp.band<q 0 to 1, k 0 to 4096, lo -inf, hi inf>] scale 1.0 {name = "one"}
     : tensor<1x1x8x16xf32>, tensor<1x4096x2x16xf32>, tensor<1x4096x2x16xf32> -> tensor<1x1x8x16xf32>
  %b = sp.attention(%some, %k, %k) bands [#sp.band<q 0 to 32, k 0 to 4096, lo -inf, hi inf>] scale 1.0 {name = "some"}
     : tensor<1x32x8x16xf32>, tensor<1x4096x2x16xf32>, tensor<1x4096x2x16xf32> -> tensor<1x32x8x16xf32>
  %c = sp.attention(%all, %l, %l) bands [#sp.band<q 0 to 1024, k 0 to 1024, lo -inf, hi inf>] scale 1.0 {name = "all"}
     : tensor<1x1024x8x16xbf16>, tensor<1x1024x8x16xbf16>, tensor<1x1024x8x16xbf16> -> tensor<1x1024x8x16xbf16>
  return
}
