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

// What a loop carries alone is added to in place, not what others read.
// CHECK-LABEL: @sums_go_on
// CHECK-SAME: (%[[A:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<8x16xf32>, %[[ZERO:.*]]: tensor<4x16xf32>)
func.func @sums_go_on(%a: tensor<8x4xf32>, %b: tensor<8x16xf32>, %zero: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]])
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %zero) -> (tensor<4x16xf32>) {
    // CHECK-NEXT: %[[NEXT:.*]] = sp.gemm %[[A]], %[[B]] onto %[[SUM]] sizes [1, 4, 16, 8] strides [0, 1, 4] x [0, 16, 1]
    // CHECK-NEXT: scf.yield %[[NEXT]]
    %d = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %next = stablehlo.add %d, %sum : tensor<4x16xf32>
    scf.yield %next : tensor<4x16xf32>
  }
  // CHECK: %[[MORE:.*]] = sp.gemm %[[A]], %[[B]] onto %[[R]]
  %d = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %more = stablehlo.add %r, %d : tensor<4x16xf32>
  // Read twice, or not carried: it stays.
  // CHECK: %[[OTHER:.*]] = sp.gemm %[[A]], %[[B]] sizes
  // CHECK: stablehlo.add %[[MORE]], %[[OTHER]]
  %e = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %s = stablehlo.add %more, %e : tensor<4x16xf32>
  %t = stablehlo.add %s, %more : tensor<4x16xf32>
  // CHECK: sp.gemm %[[A]], %[[B]] sizes
  %f = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %u = stablehlo.add %t, %f : tensor<4x16xf32>
  return %u : tensor<4x16xf32>
}

// What a loop carries and two read stays what it is.
// CHECK-LABEL: @sums_that_are_read
func.func @sums_that_are_read(%a: tensor<8x4xf32>, %b: tensor<8x16xf32>, %zero: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK-NOT: onto
  // CHECK: return
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %zero, %before = %zero) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
    %d = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %next = stablehlo.add %d, %sum : tensor<4x16xf32>
    scf.yield %next, %sum : tensor<4x16xf32>, tensor<4x16xf32>
  }
  return %r#0, %r#1 : tensor<4x16xf32>, tensor<4x16xf32>
}
