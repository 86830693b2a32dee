// RUN: sp-opt %s --canonicalize | FileCheck %s

// What nobody reads does not travel, and what is there twice travels once.
// CHECK-LABEL: @gather_what_is_read_once
// CHECK-SAME: %[[K:.*]]: tensor<3x8xf32>, %[[V:.*]]: tensor<3x8xf32>, %[[A:.*]]: tensor<3xf32>
func.func @gather_what_is_read_once(%k: tensor<3x8xf32>, %v: tensor<3x8xf32>, %a: tensor<3xf32>) -> (tensor<10x8xf32>, tensor<10x8xf32>, tensor<10xf32>) {
  // CHECK-NEXT: %[[ALL:.*]]:2 = sp.all_gather %[[K]], %[[A]] dim 0 in <zigzag 10 on "sp" of 4> after %[[V]] : tensor<3x8xf32> : tensor<3x8xf32>, tensor<3xf32> -> tensor<10x8xf32>, tensor<10xf32>
  // CHECK-NEXT: return %[[ALL]]#0, %[[ALL]]#0, %[[ALL]]#1
  %0:4 = sp.all_gather %v, %k, %k, %a dim 0 in <zigzag 10 on "sp" of 4> after %v : tensor<3x8xf32> : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3xf32> -> tensor<10x8xf32>, tensor<10x8xf32>, tensor<10x8xf32>, tensor<10xf32>
  return %0#1, %0#2, %0#3 : tensor<10x8xf32>, tensor<10x8xf32>, tensor<10xf32>
}

// One that is gathered along two dimensions, or in two orders, travels as often.
// CHECK-LABEL: @gather_along_two_dimensions
// CHECK-NEXT: sp.all_gather %arg0, %arg0, %arg0 dims [0 in <zigzag 10 on "sp" of 4>, 1 in <zigzag 10 on "sp" of 4>, 1 in <contiguous 10 on "sp" of 4>]
func.func @gather_along_two_dimensions(%k: tensor<3x3xf32>) -> (tensor<10x3xf32>, tensor<3x10xf32>, tensor<3x10xf32>) {
  %0:3 = sp.all_gather %k, %k, %k dims [0 in <zigzag 10 on "sp" of 4>, 1 in <zigzag 10 on "sp" of 4>, 1 in <contiguous 10 on "sp" of 4>] : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32> -> tensor<10x3xf32>, tensor<3x10xf32>, tensor<3x10xf32>
  return %0#0, %0#1, %0#2 : tensor<10x3xf32>, tensor<3x10xf32>, tensor<3x10xf32>
}

// CHECK-LABEL: @gather_nothing
// CHECK-NEXT: return
func.func @gather_nothing(%k: tensor<3x8xf32>) {
  %0:2 = sp.all_gather %k, %k dim 0 in <zigzag 10 on "sp" of 4> : tensor<3x8xf32>, tensor<3x8xf32> -> tensor<10x8xf32>, tensor<10x8xf32>
  return
}

// CHECK-LABEL: @scatter_what_is_read
// CHECK-NEXT: %[[S:.*]] = sp.reduce_scatter %arg1 sum dim 1 in <contiguous 9 on "sp" of 4> : tensor<2x9xf32> -> tensor<2x3xf32>
// CHECK-NEXT: return %[[S]]
func.func @scatter_what_is_read(%x: tensor<8x2xf32>, %y: tensor<2x9xf32>) -> tensor<2x3xf32> {
  %0:2 = sp.reduce_scatter %x, %y sum dims [0 in <contiguous 8 on "sp" of 4>, 1 in <contiguous 9 on "sp" of 4>] : tensor<8x2xf32>, tensor<2x9xf32> -> tensor<2x2xf32>, tensor<2x3xf32>
  return %0#1 : tensor<2x3xf32>
}
