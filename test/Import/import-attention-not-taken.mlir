// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s
// RUN: sp-opt %s --sp-import-pipeline --split-input-file --remarks-filter=sp-import-attention -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Weights that are no function of single pairs, or that something else reads.

// CHECK-LABEL: module @weights_returned
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}its scores or weights are used again by 'func.return'
module @weights_returned {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<2x4x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<2x4x6x6xf32>
    %7 = stablehlo.exponential %6 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %11 = stablehlo.divide %7, %10 : tensor<2x4x6x6xf32>
    %12 = stablehlo.dot_general %arg2, %11, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %13 = stablehlo.transpose %12, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %13, %11 : tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>
  }
}

// -----

// CHECK-LABEL: module @values_of_queries
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}its values carry an axis of the queries
module @values_of_queries {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x6x4x8xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %4 = stablehlo.subtract %0, %3 : tensor<2x4x6x6xf32>
    %5 = stablehlo.exponential %4 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %9 = stablehlo.divide %5, %8 : tensor<2x4x6x6xf32>
    %10 = stablehlo.dot_general %9, %arg2, batching_dims = [0, 2, 1] x [0, 1, 3], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x6x6x4x8xf32>) -> tensor<2x6x4x8xf32>
    return %10 : tensor<2x6x4x8xf32>
  }
}

// -----

// CHECK-LABEL: module @weights_used_twice
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}its scores or weights are used again by 'stablehlo.reduce'
module @weights_used_twice {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<6xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %4 = stablehlo.subtract %0, %3 : tensor<2x4x6x6xf32>
    %5 = stablehlo.exponential %4 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %9 = stablehlo.divide %5, %8 : tensor<2x4x6x6xf32>
    %10 = stablehlo.dot_general %arg2, %9, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %11 = stablehlo.transpose %10, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<6xf32>
    return %11, %12 : tensor<2x6x4x8xf32>, tensor<6xf32>
  }
}

// -----

// CHECK-LABEL: module @vocabulary_with_bias
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}its keys are weights, not a sequence: they have neither batch nor heads
module @vocabulary_with_bias {
  func.func public @main(%arg0: tensor<2x6x8xf32>, %arg1: tensor<8x11xf32>, %arg2: tensor<11xf32>, %arg3: tensor<11x5xf32>) -> (tensor<2x6x5xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<2x6x8xf32>, tensor<8x11xf32>) -> tensor<2x6x11xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<11xf32>) -> tensor<1x1x11xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x11xf32>) -> tensor<2x6x11xf32>
    %3 = stablehlo.add %0, %2 : tensor<2x6x11xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x6x11xf32>, tensor<f32>) -> tensor<2x6xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x11xf32>
    %7 = stablehlo.subtract %3, %6 : tensor<2x6x11xf32>
    %8 = stablehlo.exponential %7 : tensor<2x6x11xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<2x6x11xf32>, tensor<f32>) -> tensor<2x6xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x11xf32>
    %12 = stablehlo.divide %8, %11 : tensor<2x6x11xf32>
    %13 = stablehlo.dot_general %12, %arg3, contracting_dims = [2] x [0] : (tensor<2x6x11xf32>, tensor<11x5xf32>) -> tensor<2x6x5xf32>
    return %13 : tensor<2x6x5xf32>
  }
}

// -----

// CHECK-LABEL: module @scores_of_all_heads
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}its values carry an axis of the queries
module @scores_of_all_heads {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<4x4xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %1 = stablehlo.dot_general %arg3, %0, contracting_dims = [0] x [1] : (tensor<4x4xf32>, tensor<2x4x6x6xf32>) -> tensor<4x2x6x6xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0, 2, 3] : (tensor<4x2x6x6xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %6 = stablehlo.subtract %2, %5 : tensor<2x4x6x6xf32>
    %7 = stablehlo.exponential %6 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %11 = stablehlo.divide %7, %10 : tensor<2x4x6x6xf32>
    %12 = stablehlo.dot_general %arg2, %11, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %13 = stablehlo.transpose %12, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %13 : tensor<2x6x4x8xf32>
  }
}

// -----

// CHECK-LABEL: module @ten_dimensions_of_batch
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}it has 14 axes, more than 12
module @ten_dimensions_of_batch {
  func.func public @main(%q: tensor<2x2x2x2x2x2x2x2x2x2x4x8xf32>, %k: tensor<2x2x2x2x2x2x2x2x2x2x4x8xf32>, %v: tensor<2x2x2x2x2x2x2x2x2x2x4x8xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2x4x8xf32> {
    %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] x [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], contracting_dims = [11] x [11] : (tensor<2x2x2x2x2x2x2x2x2x2x4x8xf32>, tensor<2x2x2x2x2x2x2x2x2x2x4x8xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2x4x4xf32>
    %1 = stablehlo.exponential %0 : tensor<2x2x2x2x2x2x2x2x2x2x4x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [11] : (tensor<2x2x2x2x2x2x2x2x2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x2x2x2x2x2x2x2x2x4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : (tensor<2x2x2x2x2x2x2x2x2x2x4xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2x4x4xf32>
    %4 = stablehlo.divide %1, %3 : tensor<2x2x2x2x2x2x2x2x2x2x4x4xf32>
    %5 = stablehlo.dot_general %4, %v, batching_dims = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] x [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], contracting_dims = [11] x [10] : (tensor<2x2x2x2x2x2x2x2x2x2x4x4xf32>, tensor<2x2x2x2x2x2x2x2x2x2x4x8xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2x4x8xf32>
    return %5 : tensor<2x2x2x2x2x2x2x2x2x2x4x8xf32>
  }
}

// -----

// CHECK-LABEL: module @groups_without_heads
// CHECK-NOT: sp.attention
module @groups_without_heads {
  func.func public @main(%q: tensor<2x6x4x0x8xf32>, %k: tensor<2x6x4x8xf32>, %v: tensor<2x6x4x8xf32>, %w: tensor<4x0x8x5xf32>) -> tensor<2x6x5xf32> {
    %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3] : (tensor<2x6x4x0x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x0x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [4] : (tensor<2x4x6x0x6xf32>, tensor<f32>) -> tensor<2x4x6x0xf32>
    %5 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<2x4x6x0xf32>) -> tensor<2x4x6x0x6xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<2x4x6x0x6xf32>
    %7 = stablehlo.exponential %6 : tensor<2x4x6x0x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [4] : (tensor<2x4x6x0x6xf32>, tensor<f32>) -> tensor<2x4x6x0xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<2x4x6x0xf32>) -> tensor<2x4x6x0x6xf32>
    %11 = stablehlo.divide %7, %10 : tensor<2x4x6x0x6xf32>
    %12 = stablehlo.dot_general %11, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1] : (tensor<2x4x6x0x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x0x8xf32>
    %13 = stablehlo.dot_general %12, %w, contracting_dims = [1, 3, 4] x [0, 1, 2] : (tensor<2x4x6x0x8xf32>, tensor<4x0x8x5xf32>) -> tensor<2x6x5xf32>
    return %13 : tensor<2x6x5xf32>
  }
}
