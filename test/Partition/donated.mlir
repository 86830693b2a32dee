// RUN: sp-opt %s -split-input-file --sp-partition-pipeline | FileCheck %s

// The argument is dealt; the result that is it in the next step follows.
// CHECK-LABEL: module @result_follows_argument
// CHECK: @main(%{{.*}}: tensor<2x8xf32> {sp.donated_to = 0 : i64, sp.sharding = [[DEALT:#sp.sharding<.*4 by <contiguous 4 on "sp" of 2>.*>]]}, %[[NEW:[a-z0-9]+]]: tensor<4x8xf32> {{{.*}}}) -> (tensor<2x8xf32> {sp.sharding = [[DEALT]]})
// CHECK: %[[OWN:.*]] = "stablehlo.gather"(%[[NEW]], %{{.*}}) {{.*}} -> tensor<2x8xf32>
// CHECK: return %[[OWN]] : tensor<2x8xf32>
module @result_follows_argument {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%w: tensor<4x8xf32> {sp.donated_to = 0 : i64, sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp" of 2>], [8]]>},
                  %new: tensor<4x8xf32> {sp.sharding = #sp.sharding<[[4], [8]]>}) -> tensor<4x8xf32> {
    return %new : tensor<4x8xf32>
  }
}

// -----

// Nothing says how the argument is dealt: it follows its result.
// CHECK-LABEL: module @argument_follows_result
// CHECK: @main(%{{.*}}: tensor<2x8xf32> {sp.donated_to = 0 : i64, sp.sharding = [[DEALT:#sp.sharding<.*4 by <contiguous 4 on "sp" of 2>.*>]]}, %[[X:[a-z0-9]+]]: tensor<2x8xf32> {sp.sharding = [[DEALT]]}) -> (tensor<2x8xf32> {sp.sharding = [[DEALT]]})
// CHECK-NEXT: %[[Y:.*]] = stablehlo.add %[[X]], %[[X]]
// CHECK-NEXT: return %[[Y]]
module @argument_follows_result {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%w: tensor<4x8xf32> {jax.buffer_donor = true},
                  %x: tensor<4x8xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp" of 2>], [8]]>}) -> tensor<4x8xf32> {
    %y = stablehlo.add %x, %x : tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

// Both are decided, and differ: the result is gathered.
// CHECK-LABEL: module @decided_otherwise
// CHECK: @main(%{{.*}}: tensor<4xf32> {sp.donated_to = 0 : i64, sp.sharding = [[WHOLE:#sp.sharding<.*4.*>]]}, %[[X:[a-z0-9]+]]: tensor<2xf32> {{{.*}}}) -> (tensor<4xf32> {sp.sharding = [[WHOLE]]})
// CHECK-NEXT: %[[GATHERED:.*]] = sp.all_gather %[[X]]
// CHECK-NEXT: return %[[GATHERED]]
module @decided_otherwise {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%w: tensor<4xf32> {sp.donated_to = 0 : i64, sp.sharding = #sp.sharding<[[4]]>},
                  %x: tensor<4xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp" of 2>]]>}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
