// RUN: not sp-opt --sp-plan-attention="strategy=2d heads=3" %s 2>&1 | FileCheck %s --check-prefix=HEADS
// RUN: not sp-opt --sp-plan-attention="strategy=double-ring inner=3" %s 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: not sp-opt --sp-plan-attention="strategy=2d heads=2 inner=4" %s 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: not sp-opt --sp-plan-attention="strategy=ring heads=2" %s 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not sp-opt --sp-plan-attention="strategy=ulysses inner=2" %s 2>&1 | FileCheck %s --check-prefix=NO-RING
// RUN: not sp-opt --sp-plan-attention="strategy=2d placement=across" %s 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not sp-opt --sp-plan-attention="strategy=ulysses head-groups=3" %s 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: not sp-opt --sp-plan-attention="strategy=allgather head-groups=9" %s 2>&1 | FileCheck %s --check-prefix=MOST-GATHERED
// RUN: not sp-opt --sp-plan-attention="strategy=ring head-groups=2" %s 2>&1 | FileCheck %s --check-prefix=NO-HEADS
// RUN: not sp-opt --sp-plan-attention="strategy=ulysses bidirectional" %s 2>&1 | FileCheck %s --check-prefix=NO-WAYS
// RUN: not sp-opt --sp-plan-attention="strategy=ulysses backward=q" %s 2>&1 | FileCheck %s --check-prefix=NO-BACKWARD
// RUN: not sp-opt --sp-plan-attention="strategy=ring backward=dq" %s 2>&1 | FileCheck %s --check-prefix=BACKWARD
// RUN: not sp-opt --sp-plan-attention="bidirectional" %s 2>&1 | FileCheck %s --check-prefix=AUTO-WAYS

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// HEADS: plan-attention-invalid.mlir:[[@LINE+5]]:8: error: expected --heads to divide the 4 ranks of the sequence but got 3
// INNER: error: expected --inner to divide the 4 ranks of the ring but got 3
// WINDOW: error: expected --inner to divide the 2 ranks of the ring but got 4
// ALONE: error: expected --heads with --strategy=2d only but got "ring"
func.func @main(%q: tensor<1x64x8x16xf32>) {
  %a = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0
     : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}
// NO-RING: error: expected --inner with --strategy=double-ring or 2d only but got "ulysses"
// PLACE: error: expected --placement to be head-first or context-first but got "across"
// GROUPS: error: expected --head-groups to be at most 2, the kv heads of a rank, but got 3
// MOST-GATHERED: error: expected --head-groups to be at most 8, the kv heads of a rank, but got 9
// NO-HEADS: error: expected --head-groups with --strategy=ulysses, allgather or 2d only but got "ring"
// NO-WAYS: error: expected --bidirectional with --strategy=ring, double-ring or 2d only but got "ulysses"
// NO-BACKWARD: error: expected --backward with --strategy=auto, ring, double-ring or 2d only but got "ulysses"
// BACKWARD: error: expected --backward to be kv or q but got "dq"
// AUTO-WAYS: error: expected --bidirectional with --strategy=ring, double-ring or 2d only but got "auto"
