// RUN: sp-opt %s --sp-select-scatters | FileCheck %s
// RUN: sp-opt %s --sp-select-scatters | sp-interpret - --random-inputs=1 --int-range=-2..9 --outputs=%t.chosen.npz
// RUN: sp-interpret %s --random-inputs=1 --int-range=-2..9 --outputs=%t.npz
// RUN: %python -c "import sys, numpy; a, b = map(numpy.load, sys.argv[1:]); assert a.files == b.files and len(a.files) == 4; assert all((a[k] == b[k]).all() for k in a.files)" %t.npz %t.chosen.npz
//
// One update a row is a choice; what may add to a place twice, or changes what is there, is none.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<4x1x1xi32>, %[[U:[a-z0-9]+]]: tensor<1x4x1xf32>
func.func @main(%picked: tensor<4x1x1xi32>, %slopes: tensor<1x4x1xf32>,
                %pairs: tensor<3x2xi8>, %rows: tensor<5x3xf32>,
                %many: tensor<4xi32>, %each: tensor<4xf32>, %full: tensor<1x4x8xf32>)
    -> (tensor<1x4x8xf32>, tensor<3x5x6x7xf32>, tensor<8xf32>, tensor<1x4x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // The gradient of logits of which a loss picks one a token, as JAX has it.
  // CHECK:      %[[I:.*]] = stablehlo.reshape %[[A]] : (tensor<4x1x1xi32>) -> tensor<4xi32>
  // CHECK:      %[[INDEX:.*]] = stablehlo.broadcast_in_dim %[[I]], dims = [1] : (tensor<4xi32>) -> tensor<1x4x8xi32>
  // CHECK:      %[[POSITION:.*]] = stablehlo.iota dim = 2 : tensor<1x4x8xi32>
  // CHECK:      %[[HERE:.*]] = stablehlo.compare EQ, %[[POSITION]], %[[INDEX]]
  // CHECK:      %[[SUM:.*]] = stablehlo.add %[[ZEROS:.*]], %{{.*}} : tensor<1x4x8xf32>
  // CHECK:      stablehlo.select %[[HERE]], %[[SUM]], %[[ZEROS]] : tensor<1x4x8xi1>, tensor<1x4x8xf32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1x4x8xf32>
  %0 = "stablehlo.scatter"(%zeros, %picked, %slopes) <{indices_are_sorted = false, unique_indices = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [2], input_batching_dims = [1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1x4x8xf32>, tensor<4x1x1xi32>, tensor<1x4x1xf32>) -> tensor<1x4x8xf32>
  // Two indices a row, of a narrow type, and whole windows, in another order.
  // CHECK:      stablehlo.convert %{{.*}} : (tensor<3x5x6x7xi8>) -> tensor<3x5x6x7xi32>
  // CHECK:      stablehlo.and
  // CHECK:      stablehlo.select %{{.*}} : tensor<3x5x6x7xi1>, tensor<3x5x6x7xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<3x5x6x7xf32>
  %1 = "stablehlo.scatter"(%ones, %pairs, %rows) <{indices_are_sorted = false, unique_indices = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [2, 3], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [3, 2], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3x5x6x7xf32>, tensor<3x2xi8>, tensor<5x3xf32>) -> tensor<3x5x6x7xf32>
  // Several updates may meet.
  // CHECK:      "stablehlo.scatter"
  %line = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %2 = "stablehlo.scatter"(%line, %many, %each) <{indices_are_sorted = false, unique_indices = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<8xf32>
  // What is there already is changed in place.
  // CHECK:      "stablehlo.scatter"
  %3 = "stablehlo.scatter"(%full, %picked, %slopes) <{indices_are_sorted = false, unique_indices = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [2], input_batching_dims = [1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1x4x8xf32>, tensor<4x1x1xi32>, tensor<1x4x1xf32>) -> tensor<1x4x8xf32>
  return %0, %1, %2, %3 : tensor<1x4x8xf32>, tensor<3x5x6x7xf32>, tensor<8xf32>, tensor<1x4x8xf32>
}
