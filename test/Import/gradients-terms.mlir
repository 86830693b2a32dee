// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s
// RUN: sp-opt %s --sp-import-pipeline --split-input-file --remarks-filter=sp-import-attention -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A bias of all sequences has the sum of what each gives: the operation keeps apart
// sequences, heads, queries and keys.

// CHECK-LABEL: module @bias
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention({{.*}}) score @score_0 pair(%[[BIAS:.*]] : tensor<1x4x6x6xf32>)
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]], %[[DT:.*]] = sp.attention_backward({{.*}}) of(%[[O]], %[[LSE]]) by(%arg4) score @score_0_gradient pair(%[[BIAS]] : tensor<1x4x6x6xf32>) {{.*}} terms(tensor<2x6x4x6xf32>)
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[DT]] init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<2x6x4x6xf32>, tensor<f32>) -> tensor<6x4x6xf32>
// CHECK-NEXT: %[[DB:.*]] = stablehlo.transpose %[[SUM]], dims = [1, 0, 2]
// CHECK-NEXT: return %[[O]], %[[DQ]], %[[DK]], %[[DV]], %[[DB]]
// CHECK: func private @score_0_gradient({{.*}}, %arg4: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
// CHECK-DAG: %[[SLOPE:.*]] = stablehlo.constant dense<2.500000e-01>
// CHECK-DAG: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK: return %{{.*}}, %[[SLOPE]], %[[ONE]]
// REMARK: gradients with respect to {{.*}}operands="queries, keys, values, terms of scores"
module @bias {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<4x6x6xf32>, %arg4: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<4x6x6xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4x6x6xf32>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [1, 2, 3] : (tensor<4x6x6xf32>) -> tensor<1x4x6x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %5 = stablehlo.add %2, %4 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<2x4x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x4x6x6xf32>
    %12 = stablehlo.exponential %11 : tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %16 = stablehlo.divide %12, %15 : tensor<2x4x6x6xf32>
    %17 = stablehlo.multiply %14, %14 : tensor<2x4x6x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x4x6x1xf32>
    %19 = stablehlo.divide %18, %17 : tensor<2x4x6x1xf32>
    %20 = stablehlo.dot_general %arg2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %21 = stablehlo.transpose %20, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %22 = stablehlo.transpose %arg4, dims = [0, 2, 3, 1] : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
    %23 = stablehlo.dot_general %22, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x4x8x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %24 = stablehlo.dot_general %22, %16, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x8x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %25 = stablehlo.transpose %24, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %26 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %27 = stablehlo.multiply %23, %26 : tensor<2x4x6x6xf32>
    %28 = stablehlo.multiply %27, %12 : tensor<2x4x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %30 = stablehlo.reshape %29 : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %31 = stablehlo.negate %30 : tensor<2x4x6x1xf32>
    %32 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %33 = stablehlo.divide %23, %32 : tensor<2x4x6x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%31 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %36 = stablehlo.add %33, %35 : tensor<2x4x6x6xf32>
    %37 = stablehlo.multiply %36, %12 : tensor<2x4x6x6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<4x6x6xf32>
    %39 = stablehlo.reshape %38 : (tensor<4x6x6xf32>) -> tensor<1x4x6x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<4x6x6xf32>
    %cst_8 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %42 = stablehlo.multiply %37, %41 : tensor<2x4x6x6xf32>
    %43 = stablehlo.dot_general %42, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %44 = stablehlo.transpose %43, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %45 = stablehlo.dot_general %42, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %46 = stablehlo.transpose %45, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    return %21, %46, %44, %25, %40 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<4x6x6xf32>
  }
}

// -----

// One of each sequence has what the pairs themselves give.

// CHECK-LABEL: module @each_pair
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[DT:.*]] = sp.attention_backward({{.*}}) score @score_0_gradient pair(%arg3 : tensor<2x4x6x6xf32>) {{.*}} terms(tensor<2x6x4x6xf32>)
// CHECK-NEXT: %[[DB:.*]] = stablehlo.transpose %[[DT]], dims = [0, 2, 1, 3]
// CHECK-NEXT: return {{.*}}, %[[DB]] :
// REMARK: gradients with respect to {{.*}}operands="queries, keys, values, terms of scores"
module @each_pair {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x4x6x6xf32>, %arg4: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %1 = stablehlo.add %0, %arg3 : tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<2x4x6xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %7 = stablehlo.subtract %1, %6 : tensor<2x4x6x6xf32>
    %8 = stablehlo.exponential %7 : tensor<2x4x6x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %12 = stablehlo.divide %8, %11 : tensor<2x4x6x6xf32>
    %13 = stablehlo.multiply %10, %10 : tensor<2x4x6x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x6x1xf32>
    %15 = stablehlo.divide %14, %13 : tensor<2x4x6x1xf32>
    %16 = stablehlo.dot_general %arg2, %12, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %17 = stablehlo.transpose %16, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %18 = stablehlo.transpose %arg4, dims = [0, 2, 3, 1] : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
    %19 = stablehlo.dot_general %18, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x4x8x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %20 = stablehlo.dot_general %18, %12, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x8x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %21 = stablehlo.transpose %20, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %22 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %23 = stablehlo.multiply %19, %22 : tensor<2x4x6x6xf32>
    %24 = stablehlo.multiply %23, %8 : tensor<2x4x6x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %26 = stablehlo.reshape %25 : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %27 = stablehlo.negate %26 : tensor<2x4x6x1xf32>
    %28 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %29 = stablehlo.divide %19, %28 : tensor<2x4x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%27 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %32 = stablehlo.add %29, %31 : tensor<2x4x6x6xf32>
    %33 = stablehlo.multiply %32, %8 : tensor<2x4x6x6xf32>
    %34 = stablehlo.dot_general %33, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %35 = stablehlo.transpose %34, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %36 = stablehlo.dot_general %33, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %37 = stablehlo.transpose %36, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    return %17, %37, %35, %21, %33 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>
  }
}

// -----

// What all queries read is summed over them inside of the operation.

// CHECK-LABEL: module @per_key
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[DT:.*]] = sp.attention_backward({{.*}}) score @score_0_gradient pair(%arg3 : tensor<1x4x1x6xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] {{.*}} terms(tensor<2x1x4x6xf32>)
// CHECK: %[[KEYS:.*]] = stablehlo.reshape %[[DT]]
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[KEYS]] {{.*}} across dimensions = [0] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
// CHECK-NEXT: %[[DB:.*]] = stablehlo.reshape %[[SUM]]
// CHECK-NEXT: return {{.*}}, %[[DB]] :
// REMARK: gradients with respect to {{.*}}operands="queries, keys, values, terms of scores"
module @per_key {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<1x4x1x6xf32>, %arg4: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<1x4x1x6xf32>) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %1 = call @tril(%0) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %2 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 2, 3] : (tensor<1x4x1x6xf32>) -> tensor<2x4x6x6xf32>
    %4 = stablehlo.add %2, %3 : tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5:2 = call @_where(%1, %4, %cst) : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> (tensor<2x4x6x6xf32>, tensor<2x4x6x6xi1>)
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5#0 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<2x4x6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %11 = stablehlo.subtract %5#0, %10 : tensor<2x4x6x6xf32>
    %12 = stablehlo.exponential %11 : tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %16 = stablehlo.divide %12, %15 : tensor<2x4x6x6xf32>
    %17 = stablehlo.multiply %14, %14 : tensor<2x4x6x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x4x6x1xf32>
    %19 = stablehlo.divide %18, %17 : tensor<2x4x6x1xf32>
    %20 = stablehlo.dot_general %arg2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %21 = stablehlo.transpose %20, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %22 = stablehlo.transpose %arg4, dims = [0, 2, 3, 1] : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
    %23 = stablehlo.dot_general %22, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x4x8x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %24 = stablehlo.dot_general %22, %16, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x8x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %25 = stablehlo.transpose %24, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %26 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %27 = stablehlo.multiply %23, %26 : tensor<2x4x6x6xf32>
    %28 = stablehlo.multiply %27, %12 : tensor<2x4x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %30 = stablehlo.reshape %29 : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %31 = stablehlo.negate %30 : tensor<2x4x6x1xf32>
    %32 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %33 = stablehlo.divide %23, %32 : tensor<2x4x6x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%31 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %36 = stablehlo.add %33, %35 : tensor<2x4x6x6xf32>
    %37 = stablehlo.multiply %36, %12 : tensor<2x4x6x6xf32>
    %38 = call @_where_0(%5#1, %37) : (tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%38 init: %cst_6) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    %40 = stablehlo.reshape %39 : (tensor<4x6xf32>) -> tensor<1x4x1x6xf32>
    %41 = stablehlo.dot_general %38, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %42 = stablehlo.transpose %41, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %43 = stablehlo.dot_general %38, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %44 = stablehlo.transpose %43, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    return %21, %44, %42, %25, %40 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<1x4x1x6xf32>
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
  func.func private @_where(%arg0: tensor<6x6xi1>, %arg1: tensor<2x4x6x6xf32>, %arg2: tensor<f32>) -> (tensor<2x4x6x6xf32>, tensor<2x4x6x6xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    return %3, %1 : tensor<2x4x6x6xf32>, tensor<2x4x6x6xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x4x6x6xi1>, %arg1: tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    return %1 : tensor<2x4x6x6xf32>
  }
}
