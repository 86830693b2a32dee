// RUN: sp-opt %s --split-input-file --sp-propagate-shardings="shard=arg0=tp" | FileCheck %s

// An axis named for columns of heads deals whole heads, as the attention does: 5 of 8 features each over 2
// ranks are 24 and 16 columns, not 20 and 20.
module @option {
  sp.mesh @mesh <["tp" = 2]> tensor "tp"
  // CHECK-LABEL: module @option
  // CHECK: func.func @main(%{{[a-z0-9]+}}: tensor<40xf32> {sp.sharding = #sp.sharding<{{\[}}[5 by <contiguous 5 on "tp" of 2>, 8]]>}
  func.func @main(%b: tensor<40xf32>, %x: tensor<1x6x40xf32>) -> tensor<1x6x5x8xf32> {
    %b0 = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<40xf32>) -> tensor<1x6x40xf32>
    %q0 = stablehlo.add %x, %b0 : tensor<1x6x40xf32>
    %q = stablehlo.reshape %q0 : (tensor<1x6x40xf32>) -> tensor<1x6x5x8xf32>
    %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0 : tensor<1x6x5x8xf32>, tensor<1x6x5x8xf32>, tensor<1x6x5x8xf32> -> tensor<1x6x5x8xf32>
    return %o : tensor<1x6x5x8xf32>
  }
}

// -----

// Query heads of 2 kv heads over 4 ranks: 2 parts of the axis for kv heads and 2 for the heads of each. Of
// keys half of the axis deals the heads, so that what the user asks for is another layout.
module @sharding {
  sp.mesh @mesh <["tp" = 4]> tensor "tp"
  sdy.mesh @cluster = <["tp"=4]>
  // CHECK-LABEL: module @sharding
  // CHECK: func.func @main({{.*}} tensor<4x32xf32> {{{.*}}sp.sharding = #sp.sharding<{{\[}}[4], [2 by <contiguous 2 on "tp:(1)2" of 2>, 16 by <contiguous 16 on "tp:(2)2" of 2>]]>}
  // CHECK-SAME: tensor<4x16xf32> {{{.*}}sp.sharding = #sp.sharding<{{\[}}[4], [16 by <contiguous 16 on "tp" of 4>]]>}
  func.func @main(%b: tensor<32xf32>, %wq: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@cluster, [{}, {"tp"}]>},
                  %wk: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@cluster, [{}, {"tp"}]>}, %x: tensor<1x6x4xf32>) -> tensor<1x6x4x8xf32> {
    %q0 = stablehlo.dot_general %x, %wq, contracting_dims = [2] x [0] : (tensor<1x6x4xf32>, tensor<4x32xf32>) -> tensor<1x6x32xf32>
    %b0 = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<32xf32>) -> tensor<1x6x32xf32>
    %q1 = stablehlo.add %q0, %b0 : tensor<1x6x32xf32>
    %q = stablehlo.reshape %q1 : (tensor<1x6x32xf32>) -> tensor<1x6x4x8xf32>
    %k0 = stablehlo.dot_general %x, %wk, contracting_dims = [2] x [0] : (tensor<1x6x4xf32>, tensor<4x16xf32>) -> tensor<1x6x16xf32>
    %k = stablehlo.reshape %k0 : (tensor<1x6x16xf32>) -> tensor<1x6x2x8xf32>
    %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0 : tensor<1x6x4x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6x2x8xf32> -> tensor<1x6x4x8xf32>
    return %o : tensor<1x6x4x8xf32>
  }
}

// -----

// Both axes deal columns, as weights of data and tensors are exported.
module @axes {
  sp.mesh @mesh <["dp" = 2, "tp" = 2]> batch "dp" tensor "tp"
  sdy.mesh @cluster = <["dp"=2, "tp"=2]>
  // CHECK-LABEL: module @axes
  // CHECK: func.func @main({{.*}} tensor<4x6xf32> {{{.*}}sp.sharding = #sp.sharding<{{\[}}[4], [2 by <contiguous 2 on "dp" of 2>, 3 by <contiguous 3 on "tp" of 2>]]>}
  func.func @main(%b: tensor<6xf32>, %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@cluster, [{}, {"dp", "tp"}]>}) -> tensor<4x6xf32> {
    %y = stablehlo.add %w, %w : tensor<4x6xf32>
    return %y : tensor<4x6xf32>
  }
}
