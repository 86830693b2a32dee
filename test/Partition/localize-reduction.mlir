// RUN: sp-opt %s -split-input-file --sp-propagate-shardings --sp-localize --canonicalize --cse --sp-verify-partition \
// RUN:   | FileCheck %s

// CHECK-LABEL: module @mean_over_tokens
// Padding rows do not count.
// CHECK: %[[COUNT:.*]] = sp.row_count <contiguous 10 on "sp" of 3> : tensor<i32>
// CHECK: stablehlo.compare LT
// CHECK: %[[VALID:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x4xi1>, tensor<2x4x4xf32>
// CHECK: %[[PART:.*]] = stablehlo.reduce(%[[VALID]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4xf32>
// CHECK-NEXT: %[[SUM:.*]] = sp.all_reduce %[[PART]] sum over ["sp"] of 3 : tensor<2x4xf32>
// CHECK-NEXT: return %[[SUM]]
module @mean_over_tokens {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x4xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x10x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    return %s : tensor<2x4xf32>
  }
}

// -----

// CHECK-LABEL: module @initial_value_counts_once
// CHECK: func.func @main(%{{.*}}: tensor<2x4x4xf32> {{.*}}, %[[INIT:.*]]: tensor<f32>
// CHECK: %[[NEUTRAL:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[PART:.*]] = stablehlo.reduce(%{{.*}} init: %[[NEUTRAL]]) applies stablehlo.maximum
// CHECK-NEXT: %[[ALL:.*]] = sp.all_reduce %[[PART]] max over ["sp"] of 3
// CHECK-NEXT: %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[INIT]], dims = []
// CHECK-NEXT: stablehlo.maximum %[[ALL]], %[[WIDE]]
module @initial_value_counts_once {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}, %init: tensor<f32>) -> tensor<2x4xf32> {
    %s = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [1] : (tensor<2x10x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    return %s : tensor<2x4xf32>
  }
}

// -----

// CHECK-LABEL: module @argmax_over_tokens_is_gathered
// CHECK: %[[ALL:.*]] = sp.all_gather %{{.*}} dim 1 in <contiguous 10 on "sp" of 3> : tensor<2x4x4xf32> -> tensor<2x10x4xf32>
// CHECK: stablehlo.reduce(%[[ALL]] init: %{{.*}})
module @argmax_over_tokens_is_gathered {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x4xi32> {
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %i = stablehlo.iota dim = 1 : tensor<2x10x4xi32>
    %m:2 = stablehlo.reduce(%x init: %least), (%i init: %zero) across dimensions = [1] : (tensor<2x10x4xf32>, tensor<2x10x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%ai: tensor<i32>, %bi: tensor<i32>) {
      %g = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %g, %a, %b : tensor<i1>, tensor<f32>
      %w = stablehlo.select %g, %ai, %bi : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }
    return %m#1 : tensor<2x4xi32>
  }
}

// -----

// CHECK-LABEL: module @contraction_over_tokens
// Both sides: what pads one may be no number.
// CHECK: %[[X:.*]] = stablehlo.select
// CHECK: %[[Y:.*]] = stablehlo.select
// CHECK: %[[PART:.*]] = stablehlo.dot_general %[[X]], %[[Y]], contracting_dims = [0, 1] x [0, 1] : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: sp.all_reduce %[[PART]] sum over ["sp"] of 3
module @contraction_over_tokens {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}, %y: tensor<2x10x4xf32>) -> tensor<4x4xf32> {
    %g = stablehlo.dot_general %x, %y, contracting_dims = [0, 1] x [0, 1] : (tensor<2x10x4xf32>, tensor<2x10x4xf32>) -> tensor<4x4xf32>
    return %g : tensor<4x4xf32>
  }
}

// -----

// CHECK-LABEL: module @scores_keep_rows_and_gather_keys
// An axis deals one dimension of a tensor: rows stay, columns are whole.
// CHECK: func.func @main(%[[Q:.*]]: tensor<2x4x4xf32> {{.*}}, %[[K:.*]]: tensor<2x4x4xf32>
// CHECK: %[[KEYS:.*]] = sp.all_gather %[[K]] dim 1
// CHECK: stablehlo.dot_general %[[Q]], %[[KEYS]], {{.*}} -> tensor<2x4x10xf32>
// CHECK: stablehlo.dot_general %{{.*}}, %[[KEYS]], {{.*}} -> tensor<2x4x4xf32>
// CHECK-NOT: sp.all_reduce
module @scores_keep_rows_and_gather_keys {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%q: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}, %k: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x10x4xf32> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x10x4xf32>, tensor<2x10x4xf32>) -> tensor<2x10x10xf32>
    %e = stablehlo.exponential %s : tensor<2x10x10xf32>
    %o = stablehlo.dot_general %e, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x10x10xf32>, tensor<2x10x4xf32>) -> tensor<2x10x4xf32>
    return %o : tensor<2x10x4xf32>
  }
}

// -----

// CHECK-LABEL: module @some_ranks_hold_no_row
// CHECK: func.func @main(%{{.*}}: tensor<1x4xf32>
// CHECK: sp.row_count <contiguous 2 on "sp" of 3>
// CHECK: sp.all_reduce
module @some_ranks_hold_no_row {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "sp" of 3>], [4]]>}) -> tensor<4xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
}
