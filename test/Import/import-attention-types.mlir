// RUN: sp-opt %s --sp-import-pipeline --split-input-file | FileCheck %s

// Mixed precision.

// CHECK-LABEL: module @bf16_with_f32_softmax
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xbf16>, %[[ARG1:.*]]: tensor<2x6x4x8xbf16>, %[[ARG2:.*]]: tensor<2x6x4x8xbf16>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]])
// CHECK-SAME: bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf{{ ?}}>] scale 0.353553{{[0-9]*}} {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xbf16>, tensor<2x6x4x8xbf16>, tensor<2x6x4x8xbf16> -> tensor<2x6x4x8xbf16>
// CHECK-NEXT: return %[[O]]
// CHECK-NOT: {{x6x6x|<6x6x}}
module @bf16_with_f32_softmax {
  func.func public @main(%arg0: tensor<2x6x4x8xbf16>, %arg1: tensor<2x6x4x8xbf16>, %arg2: tensor<2x6x4x8xbf16>) -> (tensor<2x6x4x8xbf16>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xbf16>, tensor<2x6x4x8xbf16>) -> tensor<2x4x6x6xbf16>
    %1 = stablehlo.convert %0 : (tensor<2x4x6x6xbf16>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %6 = stablehlo.maximum %5, %4 : tensor<2x4x6xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %9 = stablehlo.subtract %3, %8 : tensor<2x4x6x6xf32>
    %10 = stablehlo.exponential %9 : tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %14 = stablehlo.divide %10, %13 : tensor<2x4x6x6xf32>
    %15 = stablehlo.convert %14 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xbf16>
    %16 = stablehlo.dot_general %arg2, %15, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xbf16>, tensor<2x4x6x6xbf16>) -> tensor<2x4x8x6xbf16>
    %17 = stablehlo.transpose %16, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xbf16>) -> tensor<2x6x4x8xbf16>
    return %17 : tensor<2x6x4x8xbf16>
  }
}

// -----

// CHECK-LABEL: module @bf16_upcast
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xbf16>, %[[ARG1:.*]]: tensor<2x6x4x8xbf16>, %[[ARG2:.*]]: tensor<2x6x4x8xbf16>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]])
// CHECK-SAME: bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf{{ ?}}>] scale 0.353553{{[0-9]*}} {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xbf16>, tensor<2x6x4x8xbf16>, tensor<2x6x4x8xbf16> -> tensor<2x6x4x8xbf16>
// CHECK-NEXT: return %[[O]]
// CHECK-NOT: {{x6x6x|<6x6x}}
module @bf16_upcast {
  func.func public @main(%arg0: tensor<2x6x4x8xbf16>, %arg1: tensor<2x6x4x8xbf16>, %arg2: tensor<2x6x4x8xbf16>) -> (tensor<2x6x4x8xbf16>) {
    %0 = stablehlo.convert %arg0 : (tensor<2x6x4x8xbf16>) -> tensor<2x6x4x8xf32>
    %1 = stablehlo.convert %arg1 : (tensor<2x6x4x8xbf16>) -> tensor<2x6x4x8xf32>
    %2 = stablehlo.convert %arg2 : (tensor<2x6x4x8xbf16>) -> tensor<2x6x4x8xf32>
    %3 = stablehlo.dot_general %0, %1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x4x6x6xf32>
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
    %17 = stablehlo.dot_general %2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %18 = stablehlo.transpose %17, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    %19 = stablehlo.convert %18 : (tensor<2x6x4x8xf32>) -> tensor<2x6x4x8xbf16>
    return %19 : tensor<2x6x4x8xbf16>
  }
}

// -----

// CHECK-LABEL: module @bf16_to_f32
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-SAME: bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf{{ ?}}>] scale 0.353553{{[0-9]*}} {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NEXT: return %[[O]]
// CHECK-NOT: {{x6x6x|<6x6x}}
module @bf16_to_f32 {
  func.func public @main(%arg0: tensor<2x6x4x8xbf16>, %arg1: tensor<2x6x4x8xbf16>, %arg2: tensor<2x6x4x8xbf16>) -> (tensor<2x6x4x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xbf16>, tensor<2x6x4x8xbf16>) -> tensor<2x4x6x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4x6x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4x6xf32>
    %5 = stablehlo.maximum %4, %3 : tensor<2x4x6xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %8 = stablehlo.subtract %2, %7 : tensor<2x4x6x6xf32>
    %9 = stablehlo.exponential %8 : tensor<2x4x6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
    %13 = stablehlo.divide %9, %12 : tensor<2x4x6x6xf32>
    %14 = stablehlo.convert %arg2 : (tensor<2x6x4x8xbf16>) -> tensor<2x6x4x8xf32>
    %15 = stablehlo.dot_general %14, %13, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
    %16 = stablehlo.transpose %15, dims = [0, 3, 1, 2] : (tensor<2x4x8x6xf32>) -> tensor<2x6x4x8xf32>
    return %16 : tensor<2x6x4x8xf32>
  }
}

// -----

// CHECK-LABEL: module @dot_product_attention_bf16
// CHECK: func.func public @main(%[[ARG0:.*]]: tensor<2x6x4x8xbf16>, %[[ARG1:.*]]: tensor<2x6x2x8xbf16>, %[[ARG2:.*]]: tensor<2x6x2x8xbf16>)
// CHECK-NOT: exponential
// CHECK: %[[O:.*]] = sp.attention(%[[ARG0]], %[[ARG1]], %[[ARG2]])
// CHECK-SAME: bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0{{ ?}}>] scale 0.353553{{[0-9]*}} {name = "layer0"}
// CHECK-SAME: : tensor<2x6x4x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16> -> tensor<2x6x4x8xbf16>
// CHECK-NEXT: return %[[O]]
// CHECK-NOT: {{x6x6x|<6x6x}}
module @dot_product_attention_bf16 {
  func.func public @main(%arg0: tensor<2x6x4x8xbf16>, %arg1: tensor<2x6x2x8xbf16>, %arg2: tensor<2x6x2x8xbf16>) -> (tensor<2x6x4x8xbf16>) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x6x4x8xbf16>) -> tensor<2x6x2x2x8xbf16>
    %1 = stablehlo.dot_general %0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x6x2x2x8xbf16>, tensor<2x6x2x8xbf16>) -> tensor<2x2x6x2x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x6x2x6xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<2x2x6x2x6xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x2x6x6xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %6 = call @tril(%5) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x1x6x6xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xi1>) -> tensor<2x2x6x6xi1>
    %9 = stablehlo.and %4, %8 : tensor<2x2x6x6xi1>
    %cst_1 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %10 = call @_where(%9, %3, %cst_1) : (tensor<2x2x6x6xi1>, tensor<2x2x6x2x6xf32>, tensor<f32>) -> tensor<2x2x2x6x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x2x2x6xf32>
    %13 = stablehlo.maximum %12, %11 : tensor<2x2x2x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %16 = stablehlo.subtract %10, %15 : tensor<2x2x2x6x6xf32>
    %17 = stablehlo.exponential %16 : tensor<2x2x2x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_4) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
    %21 = stablehlo.divide %17, %20 : tensor<2x2x2x6x6xf32>
    %22 = stablehlo.convert %21 : (tensor<2x2x2x6x6xf32>) -> tensor<2x2x2x6x6xbf16>
    %23 = stablehlo.dot_general %arg2, %22, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4] : (tensor<2x6x2x8xbf16>, tensor<2x2x2x6x6xbf16>) -> tensor<2x2x8x2x6xbf16>
    %24 = stablehlo.transpose %23, dims = [3, 0, 4, 1, 2] : (tensor<2x2x8x2x6xbf16>) -> tensor<2x2x6x2x8xbf16>
    %25 = stablehlo.transpose %24, dims = [1, 2, 3, 0, 4] : (tensor<2x2x6x2x8xbf16>) -> tensor<2x6x2x2x8xbf16>
    %26 = stablehlo.reshape %25 : (tensor<2x6x2x2x8xbf16>) -> tensor<2x6x4x8xbf16>
    return %26 : tensor<2x6x4x8xbf16>
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
  func.func private @_where(%arg0: tensor<2x2x6x6xi1>, %arg1: tensor<2x2x6x2x6xf32>, %arg2: tensor<f32>) -> tensor<2x2x2x6x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x2x6x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<2x2x6x6xi1>) -> tensor<2x2x2x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x2x6x6xf32>) -> tensor<2x2x2x6x6xf32>
    %3 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<2x2x6x2x6xf32>) -> tensor<2x2x2x6x6xf32>
    %4 = stablehlo.select %1, %3, %2 : tensor<2x2x2x6x6xi1>, tensor<2x2x2x6x6xf32>
    return %4 : tensor<2x2x2x6x6xf32>
  }
}
