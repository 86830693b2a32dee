// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=split-kv" --sp-partition-pipeline | FileCheck %s --implicit-check-not=sp.all_gather

// Of a window of one position each index picks one: whoever has the position
// writes, or reads, and nothing of the cache travels.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[CACHE:[a-z0-9]+]]: tensor<2x10x1x4xf32> {{{.*}}[40 by <contiguous 40 on "sp" of 4>]
func.func @main(%cache: tensor<2x40x1x4xf32>, %new: tensor<2x1x1x4xf32>, %at: tensor<2x1xi32>, %q: tensor<2x1x1x4xf32>) -> (tensor<2x1x1x4xf32>, tensor<2x40x1x4xf32>, tensor<2x1x1x4xf32>) {
  // CHECK: %[[FIRST:.*]] = sp.positions <contiguous 40 on "sp" of 4>
  // CHECK: %[[OWN:.*]] = stablehlo.subtract %{{.*}}, %{{.*}} : tensor<2x1xi32>
  // CHECK: %[[WRITTEN:.*]] = "stablehlo.scatter"(%[[CACHE]], %[[OWN]], %{{.*}}) <{{.*}}update_window_dims = [1, 2, 3], input_batching_dims = [0]{{.*}}
  // CHECK: (tensor<2x10x1x4xf32>, tensor<2x1xi32>, tensor<2x1x1x4xf32>) -> tensor<2x10x1x4xf32>
  %0 = "stablehlo.scatter"(%cache, %at, %new) <{indices_are_sorted = true, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2x40x1x4xf32>, tensor<2x1xi32>, tensor<2x1x1x4xf32>) -> tensor<2x40x1x4xf32>
  // CHECK: "stablehlo.gather"(%[[WRITTEN]], %{{.*}}) <{{.*}}slice_sizes = array<i64: 1, 1, 1, 4>
  // CHECK: stablehlo.select %{{.*}} : tensor<2x1x1x4xi1>, tensor<2x1x1x4xf32>
  // CHECK: sp.all_reduce %{{.*}} sum over ["sp"] of 4 : tensor<2x1x1x4xf32>
  %1 = "stablehlo.gather"(%0, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2, 3], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 1, 1, 4>}> : (tensor<2x40x1x4xf32>, tensor<2x1xi32>) -> tensor<2x1x1x4xf32>
  %o = sp.attention(%q, %0, %0) bands [#sp.band<q 0 to 1, k 0 to 40, lo -inf, hi inf>] scale 0.5
     : tensor<2x1x1x4xf32>, tensor<2x40x1x4xf32>, tensor<2x40x1x4xf32> -> tensor<2x1x1x4xf32>
  return %o, %0, %1 : tensor<2x1x1x4xf32>, tensor<2x40x1x4xf32>, tensor<2x1x1x4xf32>
}
