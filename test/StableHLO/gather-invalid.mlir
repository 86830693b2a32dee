// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func @gather_c1_vector(%x: tensor<32x8xf32>, %i: tensor<6x1xi32>) {
  // expected-error@+1 {{'stablehlo.gather' op expected index_vector_dim from 0 to 2 but got 3}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 8>}> : (tensor<32x8xf32>, tensor<6x1xi32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @gather_c1_map(%x: tensor<32x8xf32>, %i: tensor<6x1xi32>) {
  // expected-error@+1 {{'stablehlo.gather' op expected 1 values in start_index_map but got 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<32x8xf32>, tensor<6x1xi32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @gather_c1_sorted(%x: tensor<32x8xf32>, %i: tensor<6x1xi32>) {
  // expected-error@+1 {{'stablehlo.gather' op expected collapsed_slice_dims to ascend but got [1, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<32x8xf32>, tensor<6x1xi32>) -> tensor<6xf32>
  return
}

// -----

func.func @gather_c1_batching(%x: tensor<4x8xf32>, %i: tensor<6x1xi32>) {
  // expected-error@+1 {{'stablehlo.gather' op expected batching dimensions of equal size but got 4 and 6}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<6x1xi32>) -> tensor<6xf32>
  return
}

// -----

func.func @gather_c2_size(%x: tensor<32x8xf32>, %i: tensor<6x1xi32>) {
  // expected-error@+1 {{'stablehlo.gather' op expected slice size of dimension 0 from 0 to 1 but got 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 8>}> : (tensor<32x8xf32>, tensor<6x1xi32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @gather_c3_offsets(%x: tensor<32x8xf32>, %i: tensor<6x1xi32>) {
  // expected-error@+1 {{'stablehlo.gather' op expected 1 values in offset_dims but got 0}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<32x8xf32>, tensor<6x1xi32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @gather_c3_result(%x: tensor<32x8xf32>, %i: tensor<6x1xi32>) {
  // expected-error@+1 {{'stablehlo.gather' op expected a result of shape [8, 6] but got [6, 8]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<32x8xf32>, tensor<6x1xi32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @gather_key(%x: tensor<32x8xf32>, %i: tensor<6x1xi32>) {
  // expected-error@+1 {{expected 'index_vector_dim' only once}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<index_vector_dim = 1, index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<32x8xf32>, tensor<6x1xi32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @scatter_c2_window(%x: tensor<32x8xf32>, %i: tensor<6x1xi32>, %u: tensor<6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op expected update_window_dims below rank 2 but got 2}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<32x8xf32>, tensor<6x1xi32>, tensor<6x8xf32>) -> tensor<32x8xf32>
  return
}

// -----

func.func @scatter_c3_updates(%x: tensor<32x8xf32>, %i: tensor<6x1xi32>, %u: tensor<7x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op expected updates of shape [6, 8] but got [7, 8]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<32x8xf32>, tensor<6x1xi32>, tensor<7x8xf32>) -> tensor<32x8xf32>
  return
}

// -----

func.func @scatter_c4_body(%x: tensor<32x8xf32>, %i: tensor<6x1xi32>, %u: tensor<6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op expected the body to take ('tensor<f32>', 'tensor<f32>') but got ('tensor<f32>')}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<32x8xf32>, tensor<6x1xi32>, tensor<6x8xf32>) -> tensor<32x8xf32>
  return
}
