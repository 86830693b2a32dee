// RUN: sp-opt %s --sp-plan-attention="tokens-per-rank=6" --split-input-file --verify-diagnostics

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @none(%q: tensor<1x16x2x8xf32>) -> tensor<1x16x2x8xf32> {
  // expected-error@+1 {{expected --tokens-per-rank where all attentions are within the same documents but an attention is within none that could be found; --explain says more, leave out the option or the attention's mask must tell documents apart by inputs}}
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] scale 1.0
      : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32> -> tensor<1x16x2x8xf32>
  return %o : tensor<1x16x2x8xf32>
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
sp.documents @a of 16 in arguments [1]
sp.documents @b of 16 in arguments [2]
func.func @of_two(%q: tensor<1x16x2x8xf32>, %a: tensor<1x16xi32>, %b: tensor<1x16xi32>) -> tensor<1x16x2x8xf32> {
  // expected-error@+1 {{but an attention tells those of queries and of keys by different numbers}}
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] documents <queries @a keys @b> scale 1.0
      : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32> -> tensor<1x16x2x8xf32>
  return %o : tensor<1x16x2x8xf32>
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
sp.documents @a of 16 in arguments [1]
sp.documents @b of 16 in arguments [2]
func.func @others(%q: tensor<1x16x2x8xf32>, %a: tensor<1x16xi32>, %b: tensor<1x16xi32>) -> tensor<1x16x2x8xf32> {
  // expected-note@+1 {{which is this one}}
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] documents <queries @a keys @a> scale 1.0
      : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32> -> tensor<1x16x2x8xf32>
  // expected-error@+1 {{but an attention has others than the first one}}
  %p = sp.attention(%o, %q, %q) bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] documents <queries @b keys @b> scale 1.0
      : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32> -> tensor<1x16x2x8xf32>
  return %p : tensor<1x16x2x8xf32>
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
sp.documents @ids of 16 in arguments [1]
func.func @rows(%q: tensor<3x16x2x8xf32>, %ids: tensor<3x16xi32>) -> tensor<3x16x2x8xf32> {
  // expected-error@+1 {{but an attention has 3 sequences at a time, each with documents of its own; --accumulate with as many micro-batches as the batch has rows takes one at a time}}
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] documents <queries @ids keys @ids> scale 1.0
      : tensor<3x16x2x8xf32>, tensor<3x16x2x8xf32>, tensor<3x16x2x8xf32> -> tensor<3x16x2x8xf32>
  return %o : tensor<3x16x2x8xf32>
}

// -----

module {
  sp.mesh @mesh <["sp" = 1]> sequence "sp"
  sp.documents @ids of 16 in arguments [1]
  func.func @main(%q: tensor<1x16x2x8xf32>, %ids: tensor<1x16xi32>) -> tensor<1x16x2x8xf32> {
    // expected-error@+1 {{expected a mesh with several ranks that share the sequence for --tokens-per-rank but it has one; leave the option out}}
    %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] documents <queries @ids keys @ids> scale 1.0
        : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32> -> tensor<1x16x2x8xf32>
    return %o : tensor<1x16x2x8xf32>
  }
}

// -----

// expected-error@+1 {{expected an attention for --tokens-per-rank but the model has none that could be taken}}
module {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
sp.documents @ids of 16 in arguments [1]
func.func @batch_axis(%q: tensor<1x16x2x8xf32>, %ids: tensor<1x16xi32>) -> tensor<1x16x2x8xf32> {
  // expected-error@+1 {{expected no axis of 2 ranks for the batch with --tokens-per-rank, whose rows run one after the other; give its ranks to the sequence}}
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi 0>] documents <queries @ids keys @ids> scale 1.0
      : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32> -> tensor<1x16x2x8xf32>
  return %o : tensor<1x16x2x8xf32>
}
