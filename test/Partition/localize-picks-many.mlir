// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ring" --sp-partition-pipeline | FileCheck %s

// Of 4 rows of 32 each rank picks its own, and adds up what all picked; for 32 of them the
// rows themselves are gathered, which takes half of that.
// CHECK-LABEL: func.func @main
// CHECK: sp.all_reduce %{{.*}} sum over ["sp"] of 4 : tensor<1x4x2x4xf32>
// CHECK-NOT: sp.all_reduce
// CHECK: %[[ROWS:.*]] = sp.all_gather %{{.*}} -> tensor<1x32x2x4xf32>
// CHECK: "stablehlo.gather"(%[[ROWS]], %{{.*}}) {{.*}} -> tensor<1x32x2x4xf32>
// CHECK-NOT: sp.all_reduce
func.func @main(%q: tensor<1x32x2x4xf32>, %few: tensor<4x1xi32>, %many: tensor<32x1xi32>) -> (tensor<1x4x2x4xf32>, tensor<1x32x2x4xf32>) {
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 32, k 0 to 32, lo -inf, hi 0>] scale 0.5
     : tensor<1x32x2x4xf32>, tensor<1x32x2x4xf32>, tensor<1x32x2x4xf32> -> tensor<1x32x2x4xf32>
  %0 = "stablehlo.gather"(%o, %few) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2, 4>}> : (tensor<1x32x2x4xf32>, tensor<4x1xi32>) -> tensor<1x4x2x4xf32>
  %1 = "stablehlo.gather"(%o, %many) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2, 4>}> : (tensor<1x32x2x4xf32>, tensor<32x1xi32>) -> tensor<1x32x2x4xf32>
  return %0, %1 : tensor<1x4x2x4xf32>, tensor<1x32x2x4xf32>
}
