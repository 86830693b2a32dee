// RUN: sp-opt %s --split-input-file --sp-deal-tensors | FileCheck %s

// Heads, with the weights that make them and read them, and the features of the
// feed-forward network; what an optimizer has of each lies as the weight does. The
// model's width stays whole.
module @layer {
  sp.mesh @mesh <["tp" = 2]> tensor "tp"
  // CHECK-LABEL: module @layer
  // CHECK: func.func @main(%{{[^:]*}}: tensor<1x64x32xf32>,
  // CHECK-SAME: %{{[^:]*}}: tensor<32x32xf32> {sp.sharding = #sp.sharding<{{\[\[}}32], [32 by <contiguous 32 on "tp" of 2>]]>}
  // CHECK-SAME: %{{[^:]*}}: tensor<32x16xf32> {sp.sharding = #sp.sharding<{{\[\[}}32], [16 by <contiguous 16 on "tp" of 2>]]>}
  // CHECK-SAME: %{{[^:]*}}: tensor<32x32xf32> {sp.sharding = #sp.sharding<{{\[\[}}32 by <contiguous 32 on "tp" of 2>], [32]]>}
  // CHECK-SAME: %{{[^:]*}}: tensor<32x99xf32> {sp.sharding = #sp.sharding<{{\[\[}}32], [99 by <contiguous 99 on "tp" of 2>]]>}
  // CHECK-SAME: %{{[^:]*}}: tensor<99xf32> {sp.sharding = #sp.sharding<{{\[\[}}99 by <contiguous 99 on "tp" of 2>]]>}
  // CHECK-SAME: %{{[^:]*}}: tensor<99x32xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<{{\[\[}}99 by <contiguous 99 on "tp" of 2>], [32]]>}
  // CHECK-SAME: %{{[^:]*}}: tensor<99x32xf32> {sp.donated_to = 2 : i64, sp.sharding = #sp.sharding<{{\[\[}}99 by <contiguous 99 on "tp" of 2>], [32]]>})
  func.func @main(%x: tensor<1x64x32xf32>, %wq: tensor<32x32xf32>, %wk: tensor<32x16xf32>, %wo: tensor<32x32xf32>,
                  %up: tensor<32x99xf32>, %bias: tensor<99xf32>,
                  %down: tensor<99x32xf32> {sp.donated_to = 1 : i64}, %m: tensor<99x32xf32> {sp.donated_to = 2 : i64})
      -> (tensor<1x64x32xf32>, tensor<99x32xf32>, tensor<99x32xf32>) {
    %q0 = stablehlo.dot_general %x, %wq, contracting_dims = [2] x [0] : (tensor<1x64x32xf32>, tensor<32x32xf32>) -> tensor<1x64x32xf32>
    %k0 = stablehlo.dot_general %x, %wk, contracting_dims = [2] x [0] : (tensor<1x64x32xf32>, tensor<32x16xf32>) -> tensor<1x64x16xf32>
    %q = stablehlo.reshape %q0 : (tensor<1x64x32xf32>) -> tensor<1x64x4x8xf32>
    %k = stablehlo.reshape %k0 : (tensor<1x64x16xf32>) -> tensor<1x64x2x8xf32>
    %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 : tensor<1x64x4x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32> -> tensor<1x64x4x8xf32>
    %o0 = stablehlo.reshape %o : (tensor<1x64x4x8xf32>) -> tensor<1x64x32xf32>
    %a = stablehlo.dot_general %o0, %wo, contracting_dims = [2] x [0] : (tensor<1x64x32xf32>, tensor<32x32xf32>) -> tensor<1x64x32xf32>
    %h = stablehlo.add %x, %a : tensor<1x64x32xf32>
    %u = stablehlo.dot_general %h, %up, contracting_dims = [2] x [0] : (tensor<1x64x32xf32>, tensor<32x99xf32>) -> tensor<1x64x99xf32>
    %b = stablehlo.broadcast_in_dim %bias, dims = [2] : (tensor<99xf32>) -> tensor<1x64x99xf32>
    %v = stablehlo.add %u, %b : tensor<1x64x99xf32>
    %t = stablehlo.tanh %v : tensor<1x64x99xf32>
    %y = stablehlo.dot_general %t, %down, contracting_dims = [2] x [0] : (tensor<1x64x99xf32>, tensor<99x32xf32>) -> tensor<1x64x32xf32>
    %r = stablehlo.add %h, %y : tensor<1x64x32xf32>
    %next = stablehlo.add %down, %m : tensor<99x32xf32>
    return %r, %next, %m : tensor<1x64x32xf32>, tensor<99x32xf32>, tensor<99x32xf32>
  }
}

// -----

// With fewer kv heads than ranks, query heads are dealt within a part of the axis.
// What has a sharding stays, and so do features that meet it.
module @few_kv_heads {
  sp.mesh @mesh <["tp" = 4]> tensor "tp"
  // CHECK-LABEL: module @few_kv_heads
  // CHECK: %{{[^:]*}}: tensor<32x48xf32> {sp.sharding = #sp.sharding<{{\[\[}}32], [2 by <contiguous 2 on "tp:(1)2" of 2>, 24 by <contiguous 24 on "tp:(2)2" of 2>]]>}
  // CHECK-SAME: %{{[^:]*}}: tensor<32x24xf32> {sp.sharding = #sp.sharding<{{\[\[}}32], [24 by <contiguous 24 on "tp:(1)2" of 2>]]>}
  // CHECK-SAME: %{{[^:]*}}: tensor<48x64xf32> {sp.sharding = #sp.sharding<{{\[\[}}12, 2 by <contiguous 2 on "tp:(1)2" of 2>, 2 by <contiguous 2 on "tp:(2)2" of 2>], [64]]>}
  // CHECK-SAME: %{{[^:]*}}: tensor<64x32xf32> {sp.sharding = #sp.sharding<{{\[\[}}64], [32]]>}
  func.func @main(%x: tensor<1x64x32xf32>, %wq: tensor<32x48xf32>, %wk: tensor<32x24xf32>, %up: tensor<48x64xf32>,
                  %down: tensor<64x32xf32> {sp.sharding = #sp.sharding<[[64], [32]]>}) -> tensor<1x64x32xf32> {
    %q0 = stablehlo.dot_general %x, %wq, contracting_dims = [2] x [0] : (tensor<1x64x32xf32>, tensor<32x48xf32>) -> tensor<1x64x48xf32>
    %k0 = stablehlo.dot_general %x, %wk, contracting_dims = [2] x [0] : (tensor<1x64x32xf32>, tensor<32x24xf32>) -> tensor<1x64x24xf32>
    %q = stablehlo.reshape %q0 : (tensor<1x64x48xf32>) -> tensor<1x64x4x12xf32>
    %k = stablehlo.reshape %k0 : (tensor<1x64x24xf32>) -> tensor<1x64x2x12xf32>
    %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 : tensor<1x64x4x12xf32>, tensor<1x64x2x12xf32>, tensor<1x64x2x12xf32> -> tensor<1x64x4x12xf32>
    %t = stablehlo.transpose %o, dims = [0, 1, 3, 2] : (tensor<1x64x4x12xf32>) -> tensor<1x64x12x4xf32>
    %o0 = stablehlo.reshape %t : (tensor<1x64x12x4xf32>) -> tensor<1x64x48xf32>
    %u = stablehlo.dot_general %o0, %up, contracting_dims = [2] x [0] : (tensor<1x64x48xf32>, tensor<48x64xf32>) -> tensor<1x64x64xf32>
    %y = stablehlo.dot_general %u, %down, contracting_dims = [2] x [0] : (tensor<1x64x64xf32>, tensor<64x32xf32>) -> tensor<1x64x32xf32>
    return %y : tensor<1x64x32xf32>
  }
}
