// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s
// RUN: sp-opt %s --sp-import-pipeline --split-input-file --remarks-filter=sp-import-attention -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Softmax that is no attention.

// CHECK-LABEL: module @softmax_alone
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}no contraction sums values with its weights
module @softmax_alone {
  func.func public @main(%arg0: tensor<2x6x8xf32>, %arg1: tensor<8x10xf32>) -> (tensor<2x6x10xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<2x6x8xf32>, tensor<8x10xf32>) -> tensor<2x6x10xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x6x10xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<2x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x10xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<2x6x10xf32>
    %7 = stablehlo.exponential %6 : tensor<2x6x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x6x10xf32>, tensor<f32>) -> tensor<2x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x10xf32>
    %11 = stablehlo.divide %7, %10 : tensor<2x6x10xf32>
    return %11 : tensor<2x6x10xf32>
  }
}

// -----

// CHECK-LABEL: module @cross_entropy
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}no contraction sums values with its weights
module @cross_entropy {
  func.func public @main(%arg0: tensor<2x6x8xf32>, %arg1: tensor<8x10xf32>, %arg2: tensor<2x6xi32>) -> (tensor<f32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<2x6x8xf32>, tensor<8x10xf32>) -> tensor<2x6x10xf32>
    %1 = call @log_softmax(%0) : (tensor<2x6x10xf32>) -> tensor<2x6x10xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<2x6xi32>) -> tensor<2x6x1xi32>
    %3 = call @take_along_axis(%1, %2) : (tensor<2x6x10xf32>, tensor<2x6x1xi32>) -> tensor<2x6x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x6x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %5 = stablehlo.divide %4, %cst_0 : tensor<f32>
    %6 = stablehlo.negate %5 : tensor<f32>
    return %6 : tensor<f32>
  }
  func.func private @log_softmax(%arg0: tensor<2x6x10xf32>) -> tensor<2x6x10xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x6x10xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<2x6xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x6x10xf32>
    %6 = stablehlo.exponential %5 : tensor<2x6x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x6x10xf32>, tensor<f32>) -> tensor<2x6xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %9 = stablehlo.log %8 : tensor<2x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x6x10xf32>
    return %11 : tensor<2x6x10xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<2x6x10xf32>, %arg1: tensor<2x6x1xi32>) -> tensor<2x6x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x6x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2x6x1xi32>, tensor<2x6x1xi32>) -> tensor<2x6x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x6x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2x6x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<2x6x1xi1>, tensor<2x6x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<2x6x1xi32>) -> tensor<2x6x1x1xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x6x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<2x6x1x1xi32>, tensor<2x6x1x1xi32>) -> tensor<2x6x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<2x6x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<2x6x1x1xi32>, tensor<2x6x1x1xi32>) -> tensor<2x6x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<2x6x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<2x6x1x1xi1>, tensor<i1>) -> tensor<2x6x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x6x10xf32>, tensor<2x6x1x1xi32>) -> tensor<2x6x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<2x6x1xi1>, tensor<2x6x1xf32>
    return %15 : tensor<2x6x1xf32>
  }
}

// -----

// CHECK-LABEL: module @vocabulary
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}its keys are weights, not a sequence: they have neither batch nor heads
module @vocabulary {
  func.func public @main(%arg0: tensor<2x6x8xf32>, %arg1: tensor<8x10xf32>, %arg2: tensor<10x8xf32>) -> (tensor<2x6x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<2x6x8xf32>, tensor<8x10xf32>) -> tensor<2x6x10xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x6x10xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<2x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x10xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<2x6x10xf32>
    %7 = stablehlo.exponential %6 : tensor<2x6x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x6x10xf32>, tensor<f32>) -> tensor<2x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x10xf32>
    %11 = stablehlo.divide %7, %10 : tensor<2x6x10xf32>
    %12 = stablehlo.dot_general %11, %arg2, contracting_dims = [2] x [0] : (tensor<2x6x10xf32>, tensor<10x8xf32>) -> tensor<2x6x8xf32>
    return %12 : tensor<2x6x8xf32>
  }
}

// -----

// CHECK-LABEL: module @experts
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}its values carry an axis of the queries
module @experts {
  func.func public @main(%arg0: tensor<2x6x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4x8x8xf32>) -> (tensor<2x6x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<2x6x8xf32>, tensor<8x4xf32>) -> tensor<2x6x4xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x6x4xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<2x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x4xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<2x6x4xf32>
    %7 = stablehlo.exponential %6 : tensor<2x6x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x6x4xf32>, tensor<f32>) -> tensor<2x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x4xf32>
    %11 = stablehlo.divide %7, %10 : tensor<2x6x4xf32>
    %12 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [2] x [1] : (tensor<2x6x8xf32>, tensor<4x8x8xf32>) -> tensor<2x6x4x8xf32>
    %13 = stablehlo.dot_general %11, %12, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x6x4xf32>, tensor<2x6x4x8xf32>) -> tensor<2x6x8xf32>
    return %13 : tensor<2x6x8xf32>
  }
}

// -----

// CHECK-LABEL: module @softmax_over_queries
// CHECK-NOT: sp.attention
// REMARK: softmax is not taken as attention: {{.*}}its result differs from an attention over the same queries, keys and values
module @softmax_over_queries {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.maximum across dimensions = [2] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %5 = stablehlo.maximum %4, %3 : tensor<2x4x6xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 3] : (tensor<2x4x6xf32>) -> tensor<2x4x1x6xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<2x4x1x6xf32>) -> tensor<2x4x6x6xf32>
    %8 = stablehlo.subtract %2, %7 : tensor<2x4x6x6xf32>
    %9 = stablehlo.exponential %8 : tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 3] : (tensor<2x4x6xf32>) -> tensor<2x4x1x6xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x4x1x6xf32>) -> tensor<2x4x6x6xf32>
    %13 = stablehlo.divide %9, %12 : tensor<2x4x6x6xf32>
    %14 = stablehlo.dot_general %arg2, %13, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %15 = stablehlo.transpose %14, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %15 : tensor<2x6x4x8xf32>
  }
}

// -----

// CHECK-LABEL: module @mlp
// CHECK-NOT: sp.attention
module @mlp {
  func.func public @main(%arg0: tensor<2x6x8xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<16x8xf32>) -> (tensor<2x6x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<2x6x8xf32>, tensor<8x16xf32>) -> tensor<2x6x16xf32>
    %1 = stablehlo.negate %0 : tensor<2x6x16xf32>
    %2 = stablehlo.exponential %1 : tensor<2x6x16xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x16xf32>
    %4 = stablehlo.add %3, %2 : tensor<2x6x16xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6x16xf32>
    %6 = stablehlo.divide %5, %4 : tensor<2x6x16xf32>
    %7 = stablehlo.multiply %0, %6 : tensor<2x6x16xf32>
    %8 = stablehlo.dot_general %7, %arg2, contracting_dims = [2] x [0] : (tensor<2x6x16xf32>, tensor<16x8xf32>) -> tensor<2x6x8xf32>
    return %8 : tensor<2x6x8xf32>
  }
}

// -----

// CHECK-LABEL: module @linear_attention
// CHECK-NOT: sp.attention
module @linear_attention {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %1 = call @tril(%0) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %2 = stablehlo.exponential %arg0 : tensor<2x6x4x8xf32>
    %3 = stablehlo.exponential %arg1 : tensor<2x6x4x8xf32>
    %4 = stablehlo.dot_general %2, %3, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %5 = call @_where(%1, %4, %c_0) : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<i32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %9 = stablehlo.divide %5, %8 : tensor<2x4x6x6xf32>
    %10 = stablehlo.dot_general %arg2, %9, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %11 = stablehlo.transpose %10, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %11 : tensor<2x6x4x8xf32>
  }
  func.func private @tril(%arg0: tensor<6x6xi1>) -> tensor<6x6xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %2 = stablehlo.add %0, %1 : tensor<6x6xi32>
    %3 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<6x6xi1>, tensor<6x6xi1>
    return %6 : tensor<6x6xi1>
  }
  func.func private @_where(%arg0: tensor<6x6xi1>, %arg1: tensor<2x4x6x6xf32>, %arg2: tensor<i32>) -> tensor<2x4x6x6xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    return %3 : tensor<2x4x6x6xf32>
  }
}
