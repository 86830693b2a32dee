// RUN: sp-opt %s -split-input-file --sp-propagate-shardings --sp-localize --canonicalize --cse --sp-verify-partition \
// RUN:   | FileCheck %s

// CHECK-LABEL: module @joined_batch_and_tokens
// CHECK: stablehlo.reshape %{{.*}} : (tensor<2x4x4xf32>) -> tensor<8x4xf32>
// CHECK: stablehlo.dot_general {{.*}} -> tensor<8x6xf32>
// CHECK: stablehlo.reshape %{{.*}} : (tensor<8x6xf32>) -> tensor<2x4x6xf32>
module @joined_batch_and_tokens {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}, %w: tensor<4x6xf32>) -> tensor<2x10x6xf32> {
    %r = stablehlo.reshape %x : (tensor<2x10x4xf32>) -> tensor<20x4xf32>
    %p = stablehlo.dot_general %r, %w, contracting_dims = [1] x [0] : (tensor<20x4xf32>, tensor<4x6xf32>) -> tensor<20x6xf32>
    %y = stablehlo.reshape %p : (tensor<20x6xf32>) -> tensor<2x10x6xf32>
    return %y : tensor<2x10x6xf32>
  }
}

// -----

// CHECK-LABEL: module @positions_follow_the_layout
// CHECK: %[[POS:.*]] = sp.positions <contiguous 10 on "sp" of 3> : tensor<4xi32>
// CHECK: %[[F:.*]] = stablehlo.convert %[[POS]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK: stablehlo.broadcast_in_dim %[[F]], dims = [1] : (tensor<4xf32>) -> tensor<2x4x4xf32>
module @positions_follow_the_layout {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x10x4xf32> {
    %i = stablehlo.iota dim = 1 : tensor<2x10x4xf32>
    %y = stablehlo.add %x, %i : tensor<2x10x4xf32>
    return %y : tensor<2x10x4xf32>
  }
}

// -----

// CHECK-LABEL: module @table_of_constants_is_cut
// CHECK: %[[TABLE:.*]] = stablehlo.constant {{.*}} : tensor<10xf32>
// CHECK: sp.positions
// CHECK: "stablehlo.gather"(%[[TABLE]], %{{.*}}) {{.*}} -> tensor<4xf32>
module @table_of_constants_is_cut {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x10x4xf32> {
    %t = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : tensor<10xf32>
    %i = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<10xf32>) -> tensor<2x10x4xf32>
    %y = stablehlo.add %x, %i : tensor<2x10x4xf32>
    return %y : tensor<2x10x4xf32>
  }
}

// -----

// CHECK-LABEL: module @learned_positions_are_dealt
// CHECK: %{{.*}}: tensor<4x4xf32> {sp.sharding = #sp.sharding<{{\[}}[10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> 
module @learned_positions_are_dealt {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}, %table: tensor<10x4xf32>) -> tensor<2x10x4xf32> {
    %t = stablehlo.broadcast_in_dim %table, dims = [1, 2] : (tensor<10x4xf32>) -> tensor<2x10x4xf32>
    %y = stablehlo.add %x, %t : tensor<2x10x4xf32>
    return %y : tensor<2x10x4xf32>
  }
}

// -----

// CHECK-LABEL: module @embedding_is_looked_up_locally
// CHECK: "stablehlo.gather"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<50x4xf32>, tensor<2x4x1xi32>) -> tensor<2x4x4xf32>
module @embedding_is_looked_up_locally {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%ids: tensor<2x10xi32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>]]>}, %table: tensor<50x4xf32>) -> tensor<2x10x4xf32> {
    %i = stablehlo.reshape %ids : (tensor<2x10xi32>) -> tensor<2x10x1xi32>
    %y = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>}> : (tensor<50x4xf32>, tensor<2x10x1xi32>) -> tensor<2x10x4xf32>
    return %y : tensor<2x10x4xf32>
  }
}

// -----

// CHECK-LABEL: module @cache_rows_are_updated_where_they_lie
// CHECK: func.func @main(%[[CACHE:.*]]: tensor<2x4x4xf32> {{.*}}, %[[ROW:.*]]: tensor<2x1x4xf32>
// CHECK: sp.positions <contiguous 10 on "sp" of 3> : tensor<4xi32>
// CHECK: %[[SPREAD:.*]] = "stablehlo.gather"(%[[ROW]], %{{.*}}) {{.*}} -> tensor<2x4x4xf32>
// CHECK: stablehlo.select %{{.*}}, %[[SPREAD]], %[[CACHE]]
// CHECK-NOT: sp.all_gather
module @cache_rows_are_updated_where_they_lie {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%cache: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}, %row: tensor<2x1x4xf32>, %at: tensor<i32>) -> tensor<2x10x4xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %y = stablehlo.dynamic_update_slice %cache, %row, %zero, %at, %zero : (tensor<2x10x4xf32>, tensor<2x1x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x10x4xf32>
    return %y : tensor<2x10x4xf32>
  }
}
