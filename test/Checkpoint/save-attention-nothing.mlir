// RUN: sp-opt %s --sp-save-attention=through-barriers --remarks-filter=sp-save-attention -verify-diagnostics -o /dev/null

// Nothing is computed again.
// expected-remark @below {{[Missed] NothingSaved | Category:sp-save-attention | Remark="no attention is computed again for gradients, so --checkpoint=attention-out saves none; write jax.checkpoint around layers"}}
module {
  func.func public @forward(%x: tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32> {
    %b = stablehlo.optimization_barrier %x : tensor<1x8x2x4xf32>
    %o = sp.attention(%b, %b, %b) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0 {name = "layer0"}
      : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}
