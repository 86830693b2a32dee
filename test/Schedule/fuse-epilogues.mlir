// RUN: sp-opt %s --sp-fuse-epilogues | FileCheck %s
// RUN: sp-opt %s --sp-fuse-epilogues --remarks-filter=sp-fuse-epilogues -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: a product of {{.*}} adds its bias and applies relu itself{{.*}}columns=16, rows=8
// REMARK: a product of {{.*}} adds its bias itself{{.*}}columns=16, rows=24
// REMARK: a product of {{.*}} applies relu itself
// CHECK-LABEL: @bias_and_relu
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<4x16xf32>, %[[V:.*]]: tensor<16xf32>
// CHECK-NEXT: %[[Y:.*]] = sp.gemm %[[X]], %[[W]] bias %[[V]] then relu sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: return %[[Y]]
func.func @bias_and_relu(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %v: tensor<16xf32>) -> tensor<8x16xf32> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
  %s = stablehlo.add %p, %b : tensor<8x16xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
  %y = stablehlo.maximum %z, %s : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// The bias is made behind the product, in other shapes; two dimensions are its columns.
// CHECK-LABEL: @bias_in_other_shapes
// CHECK: %[[V:.*]] = stablehlo.convert %{{.*}} : (tensor<2x8xf64>) -> tensor<2x8xf32>
// CHECK: sp.gemm %{{.*}}, %{{.*}} bias %[[V]] sizes [1, 24, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<24x4xf32>, tensor<4x2x8xf32>, tensor<2x8xf32>) -> tensor<3x8x2x8xf32>
func.func @bias_in_other_shapes(%x: tensor<24x4xf32>, %w: tensor<4x2x8xf32>, %v: tensor<2x8xf64>) -> tensor<3x8x2x8xf32> {
  %p = sp.gemm %x, %w sizes [1, 24, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<24x4xf32>, tensor<4x2x8xf32>) -> tensor<24x16xf32>
  %q = stablehlo.reshape %p : (tensor<24x16xf32>) -> tensor<3x8x2x8xf32>
  %n = stablehlo.convert %v : (tensor<2x8xf64>) -> tensor<2x8xf32>
  %r = stablehlo.reshape %n : (tensor<2x8xf32>) -> tensor<1x1x2x8xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0, 1, 2, 3] : (tensor<1x1x2x8xf32>) -> tensor<3x8x2x8xf32>
  %y = stablehlo.add %b, %q : tensor<3x8x2x8xf32>
  return %y : tensor<3x8x2x8xf32>
}

// CHECK-LABEL: @relu_alone
// CHECK: %[[Y:.*]] = sp.gemm %{{.*}}, %{{.*}} then relu sizes
// CHECK-NEXT: return %[[Y]]
func.func @relu_alone(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %z = stablehlo.constant dense<0.0> : tensor<8x16xf32>
  %y = stablehlo.maximum %p, %z : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// CHECK-LABEL: @maximum_with_another_number
// CHECK: sp.gemm %{{.*}}, %{{.*}} sizes
func.func @maximum_with_another_number(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %z = stablehlo.constant dense<1.0> : tensor<8x16xf32>
  %y = stablehlo.maximum %p, %z : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// CHECK-LABEL: @product_with_two_users
// CHECK: sp.gemm %{{.*}}, %{{.*}} sizes
func.func @product_with_two_users(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %v: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
  %y = stablehlo.add %p, %b : tensor<8x16xf32>
  return %p, %y : tensor<8x16xf32>, tensor<8x16xf32>
}

// Only what comes before both users is the product's.
// CHECK-LABEL: @sum_with_two_users
// CHECK: %[[S:.*]] = sp.gemm %{{.*}}, %{{.*}} bias %{{.*}} sizes
// CHECK: %[[Y:.*]] = stablehlo.maximum %[[S]], %{{.*}}
// CHECK: return %[[S]], %[[Y]]
func.func @sum_with_two_users(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %v: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
  %s = stablehlo.add %p, %b : tensor<8x16xf32>
  %z = stablehlo.constant dense<0.0> : tensor<8x16xf32>
  %y = stablehlo.maximum %s, %z : tensor<8x16xf32>
  return %s, %y : tensor<8x16xf32>, tensor<8x16xf32>
}

// As many rows as columns: only the dimension tells.
// CHECK-LABEL: @bias_of_rows
// CHECK: sp.gemm %{{.*}}, %{{.*}} sizes
func.func @bias_of_rows(%x: tensor<16x4xf32>, %w: tensor<4x16xf32>, %v: tensor<16xf32>) -> tensor<16x16xf32> {
  %p = sp.gemm %x, %w sizes [1, 16, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<16x4xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<16xf32>) -> tensor<16x16xf32>
  %y = stablehlo.add %p, %b : tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// CHECK-LABEL: @bias_of_part_of_the_columns
// CHECK: sp.gemm %{{.*}}, %{{.*}} sizes
func.func @bias_of_part_of_the_columns(%x: tensor<24x4xf32>, %w: tensor<4x2x8xf32>, %v: tensor<8xf32>) -> tensor<24x2x8xf32> {
  %p = sp.gemm %x, %w sizes [1, 24, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<24x4xf32>, tensor<4x2x8xf32>) -> tensor<24x2x8xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [2] : (tensor<8xf32>) -> tensor<24x2x8xf32>
  %y = stablehlo.add %p, %b : tensor<24x2x8xf32>
  return %y : tensor<24x2x8xf32>
}

// CHECK-LABEL: @bias_of_every_element
// CHECK: sp.gemm %{{.*}}, %{{.*}} sizes
func.func @bias_of_every_element(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %b: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %y = stablehlo.add %p, %b : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// CHECK-LABEL: @product_with_a_vector
// CHECK: sp.gemm %{{.*}}, %{{.*}} sizes
func.func @product_with_a_vector(%x: tensor<8x4xf32>, %w: tensor<4x1xf32>, %v: tensor<1xf32>) -> tensor<8x1xf32> {
  %p = sp.gemm %x, %w sizes [1, 8, 1, 4] strides [0, 4, 1] x [0, 1, 1] : (tensor<8x4xf32>, tensor<4x1xf32>) -> tensor<8x1xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<1xf32>) -> tensor<8x1xf32>
  %y = stablehlo.add %p, %b : tensor<8x1xf32>
  return %y : tensor<8x1xf32>
}

// CHECK-LABEL: @bias_of_another_type
// CHECK: sp.gemm %{{.*}}, %{{.*}} sizes
func.func @bias_of_another_type(%x: tensor<8x4xbf16>, %w: tensor<4x16xbf16>, %v: tensor<16xf32>) -> tensor<8x16xf32> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  %q = stablehlo.convert %p : (tensor<8x16xbf16>) -> tensor<8x16xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
  %y = stablehlo.add %q, %b : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// Partial sums are whole only behind the reduction.
sp.mesh @mesh <["sp" = 3]>
// CHECK-LABEL: @sums_of_parts
// CHECK: sp.gemm %{{.*}}, %{{.*}} sizes
// CHECK: sp.all_reduce
// CHECK: stablehlo.add
func.func @sums_of_parts(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %v: tensor<16xf32>) -> tensor<8x16xf32> {
  %p = sp.gemm %x, %w sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %r = sp.all_reduce %p sum over ["sp"] of 3 : tensor<8x16xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
  %y = stablehlo.add %r, %b : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// Blocks of rows go on with their sum.
// CHECK-LABEL: @sums_of_blocks
// CHECK: sp.gemm %{{.*}}, %{{.*}} onto %{{.*}} sizes
// CHECK: stablehlo.maximum
func.func @sums_of_blocks(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8x16xf32>
  %p = sp.gemm %x, %w onto %c sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = stablehlo.maximum %p, %zero : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
