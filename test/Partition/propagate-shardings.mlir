// RUN: sp-opt %s -split-input-file --sp-propagate-shardings | FileCheck %s

// From the attention back to the inputs, through a reshape that joins batch and
// sequence, each on an axis of its own.
// CHECK-LABEL: module @back_to_the_inputs
// CHECK: func.func @main(%{{.*}}: tensor<2x12x8xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [12 by <zigzag 12 on "sp" of 3>], [8]]>},
// CHECK-SAME: %{{.*}}: tensor<8x8xf32> {sp.sharding = #sp.sharding<{{\[}}[8], [8]]>})
// CHECK: stablehlo.dot_general {{.*}} {sp.shardings = [#sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>, 12 by <zigzag 12 on "sp" of 3>], [8]]>]}
module @back_to_the_inputs {
  sp.mesh @mesh <["dp" = 2, "sp" = 3]> sequence "sp" batch "dp"
  func.func @main(%x: tensor<2x12x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x12x2x4xf32> {
    %r = stablehlo.reshape %x : (tensor<2x12x8xf32>) -> tensor<24x8xf32>
    %p = stablehlo.dot_general %r, %w, contracting_dims = [1] x [0] : (tensor<24x8xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
    %q = stablehlo.reshape %p : (tensor<24x8xf32>) -> tensor<2x12x2x4xf32>
    %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 12, k 0 to 12, lo -inf, hi 0>] scale 0.5
       plan <axis = "sp", heads = 1, outer = 1, inner = 3, gather = 1, layout = zigzag, placement = head_first>
       : tensor<2x12x2x4xf32>, tensor<2x12x2x4xf32>, tensor<2x12x2x4xf32> -> tensor<2x12x2x4xf32>
    return %o : tensor<2x12x2x4xf32>
  }
}

// -----

// Closed dimensions that the module shards are kept; open ones are derived.
// CHECK-LABEL: module @shardings_of_the_module
// CHECK: func.func @main(%{{.*}}: tensor<2x12x8xf32> {{.*}}sp.sharding = #sp.sharding<{{\[}}[2], [12 by <contiguous 12 on "sp" of 3>], [8]]>},
// CHECK-SAME: %{{.*}}: tensor<2x12x8xf32> {{.*}}sp.sharding = #sp.sharding<{{\[}}[2], [12], [8]]>},
// CHECK-SAME: %{{.*}}: tensor<2x12x8xf32> {sp.sharding = #sp.sharding<{{\[}}[2], [12 by <contiguous 12 on "sp" of 3>], [8]]>})
module @shardings_of_the_module {
  sdy.mesh @cluster = <["sp"=3]>
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x12x8xf32> {sdy.sharding = #sdy.sharding<@cluster, [{?}, {"sp"}, {?}]>},
                  %y: tensor<2x12x8xf32> {sdy.sharding = #sdy.sharding<@cluster, [{}, {}, {}]>},
                  %z: tensor<2x12x8xf32>) -> tensor<2x12x8xf32> {
    %a = stablehlo.add %x, %y : tensor<2x12x8xf32>
    %b = stablehlo.add %a, %z : tensor<2x12x8xf32>
    return %b : tensor<2x12x8xf32>
  }
}

// -----

// CHECK-LABEL: module @constraint_is_a_wish
// CHECK: func.func @main(%{{.*}}: tensor<2x12x8xf32> {sp.sharding = #sp.sharding<{{\[}}[2], [12 by <contiguous 12 on "sp" of 3>], [8]]>})
module @constraint_is_a_wish {
  sdy.mesh @cluster = <["sp"=3]>
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x12x8xf32>) -> tensor<2x12x8xf32> {
    %a = sdy.sharding_constraint %x <@cluster, [{}, {"sp"}, {}]> : tensor<2x12x8xf32>
    return %a : tensor<2x12x8xf32>
  }
}

// -----

// The sums of an attention are dealt as its queries are. Of its gradients, that
// of queries and all that belongs to queries go together, and those of keys and
// values with these; also where the attention is elsewhere.
// CHECK-LABEL: module @gradients
// CHECK: func.func @main(%{{.*}}: tensor<2x12x2x4xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [12 by <zigzag 12 on "sp" of 3>], [2], [4]]>},
// CHECK-SAME: %{{.*}}: tensor<2x15x2x4xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [15 by <zigzag 15 on "sp" of 3>], [2], [4]]>},
// CHECK-SAME: %{{.*}}: tensor<2x12x2xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [12 by <zigzag 12 on "sp" of 3>], [2]]>},
// CHECK-SAME: %{{.*}}: tensor<2x12x2x4xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [12 by <zigzag 12 on "sp" of 3>], [2], [4]]>})
// CHECK: sp.attention_backward
// CHECK-SAME: sp.shardings = [#sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [12 by <zigzag 12 on "sp" of 3>], [2], [4]]>,
// CHECK-SAME: #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [15 by <zigzag 15 on "sp" of 3>], [2], [4]]>,
// CHECK-SAME: #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [15 by <zigzag 15 on "sp" of 3>], [2], [4]]>]
// CHECK: sp.attention(
// CHECK-SAME: sp.shardings = [#sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [12 by <zigzag 12 on "sp" of 3>], [2], [4]]>,
// CHECK-SAME: #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [12 by <zigzag 12 on "sp" of 3>], [2]]>]
// CHECK: stablehlo.negate {{.*}} {sp.shardings = [#sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [12 by <zigzag 12 on "sp" of 3>], [2]]>]}
module @gradients {
  sp.mesh @mesh <["dp" = 2, "sp" = 3]> sequence "sp" batch "dp"
  func.func @main(%q: tensor<2x12x2x4xf32>, %k: tensor<2x15x2x4xf32>, %lse: tensor<2x12x2xf32>, %do: tensor<2x12x2x4xf32>) -> tensor<2x12x2xf32> {
    %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%do, %lse) by(%do) bands [#sp.band<q 0 to 12, k 0 to 15, lo -inf, hi 0>] scale 0.5
       plan <axis = "sp", heads = 1, outer = 1, inner = 3, gather = 1, layout = zigzag, placement = head_first>
       : (tensor<2x12x2x4xf32>, tensor<2x15x2x4xf32>, tensor<2x15x2x4xf32>, tensor<2x12x2x4xf32>, tensor<2x12x2xf32>, tensor<2x12x2x4xf32>)
       -> (tensor<2x12x2x4xf32>, tensor<2x15x2x4xf32>, tensor<2x15x2x4xf32>)
    %o, %l = sp.attention(%dq, %dk, %dv) bands [#sp.band<q 0 to 12, k 0 to 15, lo -inf, hi 0>] scale 0.5
       plan <axis = "sp", heads = 1, outer = 1, inner = 3, gather = 1, layout = zigzag, placement = head_first>
       : tensor<2x12x2x4xf32>, tensor<2x15x2x4xf32>, tensor<2x15x2x4xf32> -> tensor<2x12x2x4xf32>, tensor<2x12x2xf32>
    %n = stablehlo.negate %l : tensor<2x12x2xf32>
    return %n : tensor<2x12x2xf32>
  }
}
