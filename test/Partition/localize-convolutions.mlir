// RUN: sp-opt %s --sp-propagate-shardings --sp-localize | FileCheck %s

// Patches of a rank's images, and the gradient of their kernel, of which the batch is
// contracted: each rank's part is added up.
sp.mesh @mesh <["dp" = 2, "sp" = 1]> sequence "sp" batch "dp"
// CHECK-LABEL: func.func @main
// CHECK: %[[PATCHES:.*]] = stablehlo.convolution(%arg0, %arg1) {{.*}} : (tensor<2x8x8x3xf32>, tensor<4x4x3x5xf32>) -> tensor<2x2x2x5xf32>
// CHECK: %[[PART:.*]] = stablehlo.convolution(%arg0, %arg2) {{.*}} : (tensor<2x8x8x3xf32>, tensor<2x2x2x5xf32>) -> tensor<4x4x3x5xf32>
// CHECK: sp.all_reduce %[[PART]] sum over ["dp"] of 2 : tensor<4x4x3x5xf32>
// CHECK-NOT: sp.all_gather
func.func @main(%images: tensor<4x8x8x3xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "dp" of 2>], [8], [8], [3]]>},
                %kernel: tensor<4x4x3x5xf32> {sp.sharding = #sp.sharding<[[4], [4], [3], [5]]>},
                %d: tensor<4x2x2x5xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "dp" of 2>], [2], [2], [5]]>})
    -> (tensor<4x2x2x5xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "dp" of 2>], [2], [2], [5]]>}, tensor<4x4x3x5xf32>) {
  %0 = stablehlo.convolution(%images, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [4, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x3xf32>, tensor<4x4x3x5xf32>) -> tensor<4x2x2x5xf32>
  %1 = stablehlo.convolution(%images, %d) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {rhs_dilate = [4, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x3xf32>, tensor<4x2x2x5xf32>) -> tensor<4x4x3x5xf32>
  return %0, %1 : tensor<4x2x2x5xf32>, tensor<4x4x3x5xf32>
}
