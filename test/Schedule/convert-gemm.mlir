// RUN: sp-opt %s --sp-convert-gemm | FileCheck %s

// CHECK-LABEL: @free_dimensions_collapse
// CHECK: sp.gemm %{{.*}}, %{{.*}} sizes [1, 24, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<3x8x4xf32>, tensor<4x16xf32>) -> tensor<3x8x16xf32>
func.func @free_dimensions_collapse(%x: tensor<3x8x4xf32>, %w: tensor<4x16xf32>) -> tensor<3x8x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<3x8x4xf32>, tensor<4x16xf32>) -> tensor<3x8x16xf32>
  return %y : tensor<3x8x16xf32>
}

// CHECK-LABEL: @transposed_operand_keeps_its_strides
// CHECK: sp.gemm %{{.*}}, %{{.*}} sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 1, 4]
func.func @transposed_operand_keeps_its_strides(%x: tensor<8x4xf32>, %w: tensor<16x4xf32>) -> tensor<8x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<16x4xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// CHECK-LABEL: @scattered_dimensions_are_transposed_first
// CHECK: %[[T:.*]] = stablehlo.transpose %{{.*}}, dims = [0, 2, 1] : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
// CHECK: sp.gemm %[[T]], %{{.*}} sizes [1, 8, 16, 8] strides [0, 8, 1] x [0, 16, 1]
func.func @scattered_dimensions_are_transposed_first(%x: tensor<2x8x4xf32>, %w: tensor<8x16xf32>) -> tensor<2x4x16xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8x4xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  return %y : tensor<2x4x16xf32>
}

// CHECK-LABEL: @other_types_stay
// CHECK: stablehlo.dot_general {{.*}} : (tensor<8x4xf64>
func.func @other_types_stay(%x: tensor<8x4xf64>, %w: tensor<4x16xf64>) -> tensor<8x16xf64> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf64>, tensor<4x16xf64>) -> tensor<8x16xf64>
  return %y : tensor<8x16xf64>
}
