// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s
// RUN: sp-opt %s --sp-import-pipeline --split-input-file --remarks-filter=sp-import-attention -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Gradients with respect to sinks beside those of queries, keys and values.

// The program's own sum over batch and queries of what each row gives its sink.

// CHECK-LABEL: module @causal
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(%arg1, %arg2, %arg3) sink(%arg4 : tensor<4xf32>) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>]
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attention_backward(%arg1, %arg2, %arg3) of(%[[O]], %[[LSE]]) by(%arg0)
// CHECK: %[[SINK:.*]] = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<4xf32>) -> tensor<2x6x4xf32>
// CHECK: %[[SHIFTED:.*]] = stablehlo.subtract %[[SINK]], %[[LSE]]
// CHECK: %[[POWER:.*]] = stablehlo.exponential %[[SHIFTED]]
// CHECK: %[[PRODUCTS:.*]] = stablehlo.multiply %[[O]], %arg0
// CHECK: %[[DELTA:.*]] = stablehlo.reduce(%[[PRODUCTS]] {{.*}} stablehlo.add across dimensions = [3]
// CHECK: %[[PART:.*]] = stablehlo.multiply %[[POWER]], %[[DELTA]]
// CHECK: stablehlo.negate %[[PART]]
// CHECK: %[[DS:.*]] = stablehlo.reduce({{.*}} stablehlo.add across dimensions = [0, 2, 3] : {{.*}} -> tensor<4xf32>
// CHECK-NOT: 6x6
// CHECK: return %[[O]], %[[DQ]], %[[DK]], %[[DV]], %{{.*}} : {{.*}}, tensor<4xf32>
// REMARK: gradients with respect to {{.*}}operands="queries, keys, values, sinks"
module @causal {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6x4x8xf32>, %arg4: tensor<4xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<4xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4x6x6xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %4 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %6 = stablehlo.add %4, %5 : tensor<6x6xi32>
    %7 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %8 = stablehlo.compare GE, %6, %7, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %c_1 = stablehlo.constant dense<false> : tensor<i1>
    %9 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %10 = stablehlo.select %8, %3, %9 : tensor<6x6xi1>, tensor<6x6xi1>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.convert %cst_2 : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
    %13 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %14 = stablehlo.select %12, %2, %13 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %15 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<2x4x6x1xf32>
    %17 = stablehlo.concatenate %14, %16, dim = 3 : (tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %20 = stablehlo.maximum %19, %18 : tensor<2x4x6xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %23 = stablehlo.subtract %17, %22 : tensor<2x4x6x7xf32>
    %24 = stablehlo.exponential %23 : tensor<2x4x6x7xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %28 = stablehlo.divide %24, %27 : tensor<2x4x6x7xf32>
    %29 = stablehlo.multiply %26, %26 : tensor<2x4x6x1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4x6x1xf32>
    %31 = stablehlo.divide %30, %29 : tensor<2x4x6x1xf32>
    %32 = stablehlo.slice %28 [0:2, 0:4, 0:6, 0:6] : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x6xf32>
    %33 = stablehlo.dot_general %arg3, %32, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %34 = stablehlo.transpose %33, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %35 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
    %36 = stablehlo.dot_general %35, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x4x8x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %37 = stablehlo.dot_general %35, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x8x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %38 = stablehlo.transpose %37, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.pad %36, %cst_7, low = [0, 0, 0, 0], high = [0, 0, 0, 1], interior = [0, 0, 0, 0] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x7xf32>
    %40 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<2x4x6x7xf32>
    %42 = stablehlo.multiply %41, %24 : tensor<2x4x6x7xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %44 = stablehlo.reshape %43 : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %45 = stablehlo.negate %44 : tensor<2x4x6x1xf32>
    %46 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %47 = stablehlo.divide %39, %46 : tensor<2x4x6x7xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%45 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x7xf32>
    %50 = stablehlo.add %47, %49 : tensor<2x4x6x7xf32>
    %51 = stablehlo.multiply %50, %24 : tensor<2x4x6x7xf32>
    %52 = stablehlo.slice %51 [0:2, 0:4, 0:6, 0:6] : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x6xf32>
    %53 = stablehlo.slice %51 [0:2, 0:4, 0:6, 6:7] : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x1xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_10) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<4xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.reduce(%55 init: %cst_11) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x1x1xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %58 = stablehlo.select %12, %52, %57 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_13 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %60 = stablehlo.multiply %58, %59 : tensor<2x4x6x6xf32>
    %61 = stablehlo.dot_general %60, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %62 = stablehlo.transpose %61, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %63 = stablehlo.dot_general %60, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %64 = stablehlo.transpose %63, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    return %34, %64, %62, %38, %56 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<4xf32>
  }
}

// -----

// With a score function the power is that beside the greatest exponent.

// CHECK-LABEL: module @padding
// CHECK: %[[O:.*]], %[[LSE:.*]] = sp.attention(%arg1, %arg2, %arg3) score @score_0 per_key({{.*}}) sink(%arg4 : tensor<4xf32>)
// CHECK: sp.attention_backward(%arg1, %arg2, %arg3) of(%[[O]], %[[LSE]]) by(%arg0)
// CHECK: %[[GREATEST:.*]] = stablehlo.slice %[[LSE]] [0:2, 0:6, 0:4, 0:1]
// CHECK: %[[SHIFT:.*]] = stablehlo.reshape %[[GREATEST]]
// CHECK: %[[SHIFTED:.*]] = stablehlo.subtract %{{.*}}, %[[SHIFT]]
// CHECK: %[[POWER:.*]] = stablehlo.exponential %[[SHIFTED]]
// CHECK: %[[SUM:.*]] = stablehlo.slice %[[LSE]] [0:2, 0:6, 0:4, 1:2]
// CHECK: %[[SUMS:.*]] = stablehlo.reshape %[[SUM]]
// CHECK: stablehlo.divide %[[POWER]], %[[SUMS]]
// REMARK: gradients with respect to {{.*}}operands="queries, keys, values, sinks"
module @padding {
  func.func public @main(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x4x8xf32>, %arg2: tensor<2x6x4x8xf32>, %arg3: tensor<2x6x4x8xf32>, %arg4: tensor<4xf32>, %arg5: tensor<2x6xi1>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<4xf32>, tensor<2x6xi1>) {
    %0 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4x6x6xf32>
    %3 = stablehlo.broadcast_in_dim %arg5, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %5 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %7 = stablehlo.add %5, %6 : tensor<6x6xi32>
    %8 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %9 = stablehlo.compare GE, %7, %8, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %c_1 = stablehlo.constant dense<false> : tensor<i1>
    %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %11 = stablehlo.select %9, %4, %10 : tensor<6x6xi1>, tensor<6x6xi1>
    %12 = stablehlo.broadcast_in_dim %11, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x1x6x6xi1>
    %13 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xi1>) -> tensor<2x1x6x6xi1>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xi1>) -> tensor<2x1x6x6xi1>
    %15 = stablehlo.and %13, %14 : tensor<2x1x6x6xi1>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.convert %cst_2 : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
    %18 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %19 = stablehlo.select %17, %2, %18 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %20 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [1, 2, 3] : (tensor<4x1x1xf32>) -> tensor<2x4x6x1xf32>
    %22 = stablehlo.concatenate %19, %21, dim = 3 : (tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %25 = stablehlo.maximum %24, %23 : tensor<2x4x6xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %28 = stablehlo.subtract %22, %27 : tensor<2x4x6x7xf32>
    %29 = stablehlo.exponential %28 : tensor<2x4x6x7xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %33 = stablehlo.divide %29, %32 : tensor<2x4x6x7xf32>
    %34 = stablehlo.multiply %31, %31 : tensor<2x4x6x1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4x6x1xf32>
    %36 = stablehlo.divide %35, %34 : tensor<2x4x6x1xf32>
    %37 = stablehlo.slice %33 [0:2, 0:4, 0:6, 0:6] : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x6xf32>
    %38 = stablehlo.dot_general %arg3, %37, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %39 = stablehlo.transpose %38, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %40 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
    %41 = stablehlo.dot_general %40, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x4x8x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %42 = stablehlo.dot_general %40, %37, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x8x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %43 = stablehlo.transpose %42, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.pad %41, %cst_7, low = [0, 0, 0, 0], high = [0, 0, 0, 1], interior = [0, 0, 0, 0] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x7xf32>
    %45 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %46 = stablehlo.multiply %44, %45 : tensor<2x4x6x7xf32>
    %47 = stablehlo.multiply %46, %29 : tensor<2x4x6x7xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %49 = stablehlo.reshape %48 : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %50 = stablehlo.negate %49 : tensor<2x4x6x1xf32>
    %51 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x7xf32>
    %52 = stablehlo.divide %44, %51 : tensor<2x4x6x7xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%50 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x7xf32>
    %55 = stablehlo.add %52, %54 : tensor<2x4x6x7xf32>
    %56 = stablehlo.multiply %55, %29 : tensor<2x4x6x7xf32>
    %57 = stablehlo.slice %56 [0:2, 0:4, 0:6, 0:6] : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x6xf32>
    %58 = stablehlo.slice %56 [0:2, 0:4, 0:6, 6:7] : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x1xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%58 init: %cst_10) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<4xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0] : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.reduce(%60 init: %cst_11) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x1x1xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %63 = stablehlo.select %17, %57, %62 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %cst_13 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %65 = stablehlo.multiply %63, %64 : tensor<2x4x6x6xf32>
    %66 = stablehlo.dot_general %65, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %67 = stablehlo.transpose %66, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %68 = stablehlo.dot_general %65, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %69 = stablehlo.transpose %68, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    %c_14 = stablehlo.constant dense<false> : tensor<i1>
    %70 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i1>) -> tensor<2x6xi1>
    return %39, %69, %67, %43, %61, %70 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<4xf32>, tensor<2x6xi1>
  }
}
