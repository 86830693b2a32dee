// RUN: sp-opt %s --sp-plan-attention="tokens-per-rank=6" | FileCheck %s
// RUN: sp-opt %s --sp-plan-attention="tokens-per-rank=6 strategy=2d heads=2" | FileCheck %s --check-prefix=HEADS2
// RUN: not sp-opt %s --sp-plan-attention="tokens-per-rank=3" 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not sp-opt %s --sp-plan-attention="tokens-per-rank=17" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not sp-opt %s --sp-plan-attention="tokens-per-rank=6 strategy=ulysses" 2>&1 | FileCheck %s --check-prefix=HEADS
// RUN: not sp-opt %s --sp-plan-attention="tokens-per-rank=6 layout=zigzag" 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: not sp-opt %s --sp-plan-attention="tokens-per-rank=7 turns=2" 2>&1 | FileCheck %s --check-prefix=TURNS
// RUN: not sp-opt %s --sp-plan-attention="tokens-per-rank=6 strategy=2d heads=2 turns=2" 2>&1 | FileCheck %s --check-prefix=EXCHANGED
// RUN: sp-opt %s --sp-plan-attention="tokens-per-rank=6 turns=3" | FileCheck %s --check-prefix=TURNS3
// RUN: not sp-opt %s --sp-plan-attention="tokens-per-rank=6 strategy=ring bidirectional" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not sp-opt %s --sp-plan-attention="tokens-per-rank=6 strategy=2d heads=4" 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not sp-opt %s --sp-plan-attention="tokens-per-rank=6 strategy=2d heads=1 inner=2" 2>&1 | FileCheck %s --check-prefix=WINDOWS
// RUN: not sp-opt %s --sp-plan-attention="layout=batch" 2>&1 | FileCheck %s --check-prefix=KIND

sp.mesh @mesh <["sp" = 4]> sequence "sp"
sp.documents @ids of 16 in arguments [1]

// FEW: plan-batches.mlir:[[@LINE+11]]:8: error: expected --tokens-per-rank of 4 to 16, to hold the 16 tokens of an attention on 4 ranks, but got 3
// MANY: error: expected --tokens-per-rank of 4 to 16, to hold the 16 tokens of an attention on 4 ranks, but got 17
// HEADS: error: expected --tokens-per-rank with --strategy=auto, ring or 2d but got "ulysses"
// LAYOUT: error: expected --tokens-per-rank, by which documents say who has which tokens, without --layout but got "zigzag"
// TURNS: error: expected --tokens-per-rank of a multiple of the 2 blocks that --chunks cuts a rank's tokens into but got 7; 8 is one
// EXCHANGED: error: expected --tokens-per-rank with --chunks on a ring of all 4 ranks but 2 of them share heads, whose exchange knows all of a rank's rows alone; ask for --strategy=ring, or leave one of them out
// BOTH: error: expected --tokens-per-rank without --bidirectional
// ALL: error: expected a ring for --tokens-per-rank but all 4 ranks share heads; give fewer with --heads
// WINDOWS: error: expected --tokens-per-rank without --inner
// KIND: error: expected --layout to be auto, contiguous, zigzag or striped but got "batch"
func.func @main(%q: tensor<1x16x2x8xf32>, %ids: tensor<1x16xi32>) -> tensor<1x16x2x8xf32> {
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] documents <queries @ids keys @ids> scale 1.0
      : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32> -> tensor<1x16x2x8xf32>
  return %o : tensor<1x16x2x8xf32>
}

// TURNS3: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = batch, placement = head_first, turns = 3, holds = 6>
// HEADS2: plan <axis = "sp", heads = 2, outer = 1, inner = 2, gather = 1, layout = batch, placement = head_first, holds = 6>
// CHECK: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = batch, placement = head_first, holds = 6>
