// RUN: sp-opt %s --sp-pair-batches | FileCheck %s
// RUN: sp-opt %s --sp-pair-batches | sp-interpret - --random-inputs=1 --int-range=-2..9 --outputs=%t.paired.npz
// RUN: sp-interpret %s --random-inputs=1 --int-range=-2..9 --outputs=%t.npz
// RUN: %python -c "import sys, numpy; a, b = map(numpy.load, sys.argv[1:]); assert a.files == b.files and len(a.files) == 4; assert all((a[k] == b[k]).all() for k in a.files)" %t.npz %t.paired.npz
//
// A component of indices that counts the batch is a dimension of it; one that counts something else,
// or is what an input says, stays.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x8x2xf32>, %[[I:[a-z0-9]+]]: tensor<3x1xi32>, %[[U:[a-z0-9]+]]: tensor<3x2xf32>, %[[B:[a-z0-9]+]]: tensor<3x1xi32>
func.func @main(%x: tensor<3x8x2xf32>, %i: tensor<3x1xi32>, %u: tensor<3x2xf32>, %b: tensor<3x1xi32>)
    -> (tensor<3x8x2xf32>, tensor<3x2xf32>, tensor<3x8x2xf32>, tensor<3x8x2xf32>) {
  // As JAX has `x.at[arange(3), i].set(u)`: negative numbers would count from the end.
  %count = stablehlo.iota dim = 0 : tensor<3xi32>
  %zero = stablehlo.constant dense<0> : tensor<3xi32>
  %three = stablehlo.constant dense<3> : tensor<3xi32>
  %negative = stablehlo.compare LT, %count, %zero, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %behind = stablehlo.add %count, %three : tensor<3xi32>
  %chosen = stablehlo.select %negative, %behind, %count : tensor<3xi1>, tensor<3xi32>
  %wide = stablehlo.convert %chosen : (tensor<3xi32>) -> tensor<3xi64>
  %row = stablehlo.convert %wide : (tensor<3xi64>) -> tensor<3xi32>
  %rows = stablehlo.broadcast_in_dim %row, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
  %at = stablehlo.concatenate %rows, %i, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  // CHECK: "stablehlo.scatter"(%[[X]], %[[I]], %[[U]]) <{{{.*}}update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>
  %0 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = false, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    stablehlo.return %c : tensor<f32>
  }) : (tensor<3x8x2xf32>, tensor<3x2xi32>, tensor<3x2xf32>) -> tensor<3x8x2xf32>
  // CHECK: "stablehlo.gather"(%[[X]], %[[I]]) <{{{.*}}offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>
  %1 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<3x8x2xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
  // Rows in another order, and rows that count positions.
  // CHECK: "stablehlo.scatter"(%[[X]], %{{.*}}, %[[U]]) <{{{.*}}inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]
  %other = stablehlo.concatenate %b, %i, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  %2 = "stablehlo.scatter"(%x, %other, %u) <{indices_are_sorted = false, unique_indices = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %s = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x8x2xf32>, tensor<3x2xi32>, tensor<3x2xf32>) -> tensor<3x8x2xf32>
  // CHECK: "stablehlo.scatter"(%[[X]], %{{.*}}, %[[U]]) <{{{.*}}inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0]
  %3 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = false, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    stablehlo.return %c : tensor<f32>
  }) : (tensor<3x8x2xf32>, tensor<3x2xi32>, tensor<3x2xf32>) -> tensor<3x8x2xf32>
  return %0, %1, %2, %3 : tensor<3x8x2xf32>, tensor<3x2xf32>, tensor<3x8x2xf32>, tensor<3x8x2xf32>
}
