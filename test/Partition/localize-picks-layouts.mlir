// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ring layout=zigzag" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,ZIGZAG
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ring layout=striped" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,STRIPED

// Windows of three positions, and single ones, of a cache and of what is made with it,
// wherever indices have them: whoever has a position writes or reads it, and nothing else
// travels. A window that does not fit is left out whole.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[CACHE:[a-z0-9]+]]: tensor<2x10x1x4xf32>
// CHECK-NOT: sp.all_gather
// CHECK: %[[FITS:.*]] = stablehlo.and %{{.*}} : tensor<2x1xi1>
// CHECK: %[[FIRST:.*]] = stablehlo.select %[[FITS]]
// CHECK: %[[WINDOW:.*]] = stablehlo.broadcast_in_dim %[[FIRST]], dims = [0, 2] : (tensor<2x1xi32>) -> tensor<2x3x1xi32>
// CHECK: %[[COUNT:.*]] = stablehlo.iota dim = 1 : tensor<2x3x1xi32>
// CHECK: %[[AT:.*]] = stablehlo.add %[[WINDOW]], %[[COUNT]]
// CHECK: %[[LINE:.*]] = sp.positions
// STRIPED: %[[FROM:.*]] = stablehlo.subtract %[[AT]]
// STRIPED: stablehlo.remainder %[[FROM]]
// STRIPED: stablehlo.divide %[[FROM]]
// ZIGZAG: %[[BEGIN:.*]] = stablehlo.subtract %[[AT]]
// ZIGZAG: "stablehlo.gather"(%[[LINE]]
// ZIGZAG: stablehlo.compare EQ, %{{.*}}, %[[AT]]
// ZIGZAG: "stablehlo.gather"(%[[LINE]]
// ZIGZAG: stablehlo.compare EQ, %{{.*}}, %[[AT]]
// CHECK: "stablehlo.scatter"(%[[CACHE]], %{{.*}}, %{{.*}}) <{indices_are_sorted = false
// CHECK-SAME: update_window_dims = [2, 3], inserted_window_dims = [1], input_batching_dims = [0]
// CHECK: (tensor<2x10x1x4xf32>, tensor<2x3x1xi32>, tensor<2x3x1x4xf32>) -> tensor<2x10x1x4xf32>
// CHECK-NOT: sp.all_gather
// CHECK: %[[PICKED:.*]] = "stablehlo.gather"(%{{.*}} slice_sizes = array<i64: 1, 1, 1, 4>}> : (tensor<2x10x1x4xf32>, tensor<2x1xi32>) -> tensor<2x1x4xf32>
// CHECK: %[[MINE:.*]] = stablehlo.select %{{.*}}, %[[PICKED]]
// CHECK: sp.all_reduce %[[MINE]] sum over ["sp"] of 4 : tensor<2x1x4xf32>
func.func @main(%cache: tensor<2x40x1x4xf32>, %new: tensor<2x3x1x4xf32>, %at: tensor<2x1xi32>, %n: tensor<2x1xi32>, %q: tensor<2x40x1x4xf32>) -> (tensor<2x40x1x4xf32>, tensor<2x40x1x4xf32>, tensor<2x1x4xf32>) {
  %0 = "stablehlo.scatter"(%cache, %at, %new) <{indices_are_sorted = true, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2x40x1x4xf32>, tensor<2x1xi32>, tensor<2x3x1x4xf32>) -> tensor<2x40x1x4xf32>
  %o = sp.attention(%q, %0, %0) bands [#sp.band<q 0 to 40, k 0 to 40, lo -inf, hi 0>] scale 0.5
     : tensor<2x40x1x4xf32>, tensor<2x40x1x4xf32>, tensor<2x40x1x4xf32> -> tensor<2x40x1x4xf32>
  %1 = "stablehlo.gather"(%o, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 1, 1, 4>}> : (tensor<2x40x1x4xf32>, tensor<2x1xi32>) -> tensor<2x1x4xf32>
  return %o, %0, %1 : tensor<2x40x1x4xf32>, tensor<2x40x1x4xf32>, tensor<2x1x4xf32>
}
