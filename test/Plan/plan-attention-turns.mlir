// RUN: not sp-opt --sp-plan-attention="strategy=allgather turns=2" %s 2>&1 | FileCheck %s --check-prefix=GATHER
// RUN: not sp-opt --sp-plan-attention="strategy=ring turns=17" %s 2>&1 | FileCheck %s --check-prefix=MOST
// RUN: not sp-opt --sp-plan-attention="strategy=none turns=65" %s 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not sp-opt --sp-plan-attention="strategy=ring turns=2 backward=q" %s 2>&1 | FileCheck %s --check-prefix=TRAVEL
// RUN: not sp-opt --sp-plan-attention="turns=9223372036854775807" %s 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: sp-opt --sp-plan-attention="strategy=ring turns=3" %s | FileCheck %s --check-prefix=PLAN
// RUN: sp-opt --sp-plan-attention="turns=3" %s | FileCheck %s --check-prefix=AUTO

// PLAN: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = contiguous, placement = head_first, turns = 3>

// A ring would hand all keys on three times.
// AUTO: plan <axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = contiguous, placement = head_first, turns = 3>
sp.mesh @mesh <["sp" = 4]> sequence "sp"

// GATHER: plan-attention-turns.mlir:[[@LINE+6]]:8: error: expected --chunks with a strategy that does not keep the keys, or the queries, of all ranks but got "allgather"; take ring, ulysses, double-ring or 2d
// MOST: plan-attention-turns.mlir:[[@LINE+5]]:8: error: expected --chunks of 1 to 16, the tokens of a rank in an attention, but got 17
// HUGE: error: expected --chunks of 1 to 16, the tokens of a rank in an attention, but got 9223372036854775807
// ALONE: error: expected --chunks of 1 to 64, the tokens in an attention, but got 65
// TRAVEL: error: expected keys and values to travel in the backward of rings with --chunks but got --backward=q; leave it out
func.func @main(%q: tensor<1x64x8x16xf32>) {
  %a = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0
     : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}
