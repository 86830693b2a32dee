// RUN: sp-opt --sp-plan-attention %s | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: sp-opt --sp-plan-attention=strategy=none %s | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: sp-opt --sp-plan-attention=strategy=ring %s | FileCheck %s --check-prefixes=CHECK,RING
// RUN: sp-opt --sp-plan-attention=strategy=ulysses %s | FileCheck %s --check-prefixes=CHECK,ULYSSES
// RUN: sp-opt --sp-plan-attention=strategy=allgather %s | FileCheck %s --check-prefixes=CHECK,GATHER
// RUN: sp-opt --sp-plan-attention="strategy=ring layout=striped" %s | FileCheck %s --check-prefixes=CHECK,STRIPED
// RUN: sp-opt --sp-plan-attention="strategy=allgather head-groups=2" %s | FileCheck %s --check-prefixes=CHECK,GROUPS
// RUN: sp-opt --sp-plan-attention="strategy=allgather gather-groups=3" %s | FileCheck %s --check-prefixes=CHECK,MANY
// RUN: sp-opt --sp-plan-attention="strategy=double-ring inner=2" %s | FileCheck %s --check-prefixes=CHECK,DOUBLE
// RUN: sp-opt --sp-plan-attention="strategy=double-ring" %s | FileCheck %s --check-prefixes=CHECK,DOUBLE
// RUN: sp-opt --sp-plan-attention="strategy=ring bidirectional" %s | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: sp-opt --sp-plan-attention="strategy=2d heads=4 bidirectional" %s | FileCheck %s --check-prefixes=CHECK,ULYSSES
// RUN: sp-opt --sp-plan-attention="strategy=2d" %s | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: sp-opt --sp-plan-attention="strategy=2d heads=2" %s | FileCheck %s --check-prefixes=CHECK,TWO-HEADS
// RUN: sp-opt --sp-plan-attention="strategy=2d heads=2 placement=context-first" %s | FileCheck %s --check-prefix=CONTEXT

// CONTEXT: sp.mesh @mesh <["sp" = 4]> sequence "sp" processes ["sp:(2)2", "sp:(1)2"]
sp.mesh @mesh <["sp" = 4]> sequence "sp"

// One layout serves both attentions, zigzag because one of them is causal.
// CHECK-LABEL: @main
func.func @main(%q: tensor<1x64x8x16xf32>, %k: tensor<1x64x8x16xf32>, %few: tensor<1x64x2x16xf32>) {
  // 2D without a number of heads takes one for both that copies no kv head.
  // With as many kv heads as query heads Ulysses sends fewest bytes, with few of
  // them a ring.
  // CHECK: sp.attention
  // AUTO-SAME: plan <axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first>
  // NONE-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first>
  // RING-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first>
  // ULYSSES-SAME: plan <axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first>
  // GATHER-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 4, layout = zigzag, placement = head_first>
  // GROUPS-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 4, layout = zigzag, placement = head_first, groups = 2>
  // MANY-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 4, layout = zigzag, placement = head_first, groups = 3>
  // STRIPED-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = striped, placement = head_first>
  // BOTH-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first, bidirectional = true>
  // DOUBLE-SAME: plan <axis = "sp", heads = 1, outer = 2, inner = 2, gather = 1, layout = zigzag, placement = head_first>
  // TWO-SAME: plan <axis = "sp", heads = 2, outer = 1, inner = 2, gather = 1, layout = zigzag, placement = head_first>
  // TWO-HEADS-SAME: plan <axis = "sp", heads = 2, outer = 1, inner = 2, gather = 1, layout = zigzag, placement = head_first>
  // CHECK-SAME: {name = "many"}
  // CHECK: sp.attention
  // AUTO-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first>
  // NONE-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first>
  // RING-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first>
  // ULYSSES-SAME: plan <axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first>
  // GATHER-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 4, layout = zigzag, placement = head_first>
  // GROUPS-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 4, layout = zigzag, placement = head_first, groups = 2>
  // MANY-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 1, gather = 4, layout = zigzag, placement = head_first, groups = 2>
  // STRIPED-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = striped, placement = head_first>
  // BOTH-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first, bidirectional = true>
  // DOUBLE-SAME: plan <axis = "sp", heads = 1, outer = 2, inner = 2, gather = 1, layout = zigzag, placement = head_first>
  // TWO-SAME: plan <axis = "sp", heads = 2, outer = 1, inner = 2, gather = 1, layout = zigzag, placement = head_first>
  // TWO-HEADS-SAME: plan <axis = "sp", heads = 2, outer = 1, inner = 2, gather = 1, layout = zigzag, placement = head_first>
  // CHECK-SAME: {name = "few"}
  %a = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 {name = "many"}
     : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  %b = sp.attention(%q, %few, %few) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 {name = "few"}
     : tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x8x16xf32>
  return
}
