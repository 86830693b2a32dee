// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func @abs_c1_type(%x: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.abs' op expected result elements of type 'f32' but got 'f64'}}
  %0 = stablehlo.abs %x : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @add_of_two_types(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.add' op requires the same type for all operands and results}}
  %0 = stablehlo.add %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @bitcast_c1_bits(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert' op expected a result of shape [2, 2] but got [2]}}
  %0 = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @complex_c1_parts(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.complex' op expected operand elements of type 'f64' but got 'f32'}}
  %0 = stablehlo.complex %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f64>>
  return
}

// -----

func.func @compare_c1_type(%x: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.compare' op expected a compare_type for elements of type 'i32' but got FLOAT}}
  %0 = stablehlo.compare LT, %x, %x, FLOAT : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @select_c1_predicate(%p: tensor<3xi1>, %x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.select' op expected a scalar predicate or one of shape [2] but got [3]}}
  %0 = stablehlo.select %p, %x, %x : tensor<3xi1>, tensor<2xf32>
  return
}

// -----

func.func @clamp_c1_bounds(%lo: tensor<3xf32>, %x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.clamp' op expected min to be a scalar of 'f32' or 'tensor<2xf32>' but got 'tensor<3xf32>'}}
  %0 = stablehlo.clamp %lo, %x, %x : (tensor<3xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_precision_format(%x: tensor<2xf32>) {
  // expected-error@+1 {{expected a format like e8m7 but got 'f8'}}
  %0 = stablehlo.reduce_precision %x, format = f8 : tensor<2xf32>
  return
}

// -----

func.func @constant_c1_type() {
  // expected-error@+1 {{'stablehlo.constant' op expected a value of type 'tensor<3xf32>' but got 'tensor<2xf32>'}}
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  return
}

// -----

func.func @iota_c1_dimension() {
  // expected-error@+1 {{'stablehlo.iota' op expected iota_dimension below rank 2 but got 2}}
  %0 = stablehlo.iota dim = 2 : tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_in_dim_c1_count(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op expected 2 values in broadcast_dimensions but got 1}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @broadcast_in_dim_c1_twice(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op expected broadcast_dimensions to differ but got 0 twice}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @broadcast_in_dim_c1_size(%x: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op expected operand dimension 0 of size 1 or 4 but got 3}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @broadcast_c1(%x: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast' op expected a result of shape [2, 3] but got [3, 2]}}
  %0 = stablehlo.broadcast %x, sizes = [2] : (tensor<3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.reshape' op expected 6 elements in the result but got 8}}
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @transpose_c1_order(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.transpose' op expected a result of shape [3, 2] but got [2, 3]}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_c1_range(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.transpose' op expected permutation below rank 2 but got 2}}
  %0 = stablehlo.transpose %x, dims = [2, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @slice_c1_bounds(%x: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.slice' op expected 0 <= start <= limit <= 8 in dimension 0 but got 2:9}}
  %0 = stablehlo.slice %x [2:9] : (tensor<8xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @slice_c1_stride(%x: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.slice' op expected a stride of at least 1 in dimension 0 but got 0}}
  %0 = stablehlo.slice %x [2:8:0] : (tensor<8xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @slice_c2_size(%x: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.slice' op expected a result of shape [3] but got [2]}}
  %0 = stablehlo.slice %x [2:7:2] : (tensor<8xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dynamic_slice_c1_count(%x: tensor<8x9xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_slice' op expected 2 values in start_indices but got 1}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [1, 6] : (tensor<8x9xf32>, tensor<i32>) -> tensor<1x6xf32>
  return
}

// -----

func.func @dynamic_slice_c2_size(%x: tensor<8xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_slice' op expected slice size of dimension 0 from 0 to 8 but got 9}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [9] : (tensor<8xf32>, tensor<i32>) -> tensor<9xf32>
  return
}

// -----

func.func @dynamic_update_slice_c1(%x: tensor<8xf32>, %u: tensor<9xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_update_slice' op expected an update that fits [8] but got [9]}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<8xf32>, tensor<9xf32>, tensor<i32>) -> tensor<8xf32>
  return
}

// -----

func.func @concatenate_c1_shape(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.concatenate' op expected input 1 to have the shape of input 0 except in dimension 1 but got 'tensor<3x4xf32>'}}
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x7xf32>
  return
}

// -----

func.func @concatenate_c1_sum(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.concatenate' op expected a result of shape [4, 3] but got [5, 3]}}
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @pad_c1_interior(%x: tensor<2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.pad' op expected interior padding of at least 0 but got -1}}
  %0 = stablehlo.pad %x, %z, low = [0], high = [0], interior = [-1] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @pad_c2_size(%x: tensor<2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.pad' op expected a result of shape [6] but got [5]}}
  %0 = stablehlo.pad %x, %z, low = [1], high = [2], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @optimization_barrier_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.optimization_barrier' op expected results of the operands' types}}
  %0 = "stablehlo.optimization_barrier"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @top_k_c1(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'chlo.top_k' op expected k of at most the last dimension of 'tensor<8x4xf32>' but got 5}}
  %0, %1 = chlo.top_k(%x, k = 5) : tensor<8x4xf32> -> (tensor<8x5xf32>, tensor<8x5xi32>)
  return
}

// -----

func.func @top_k_c2(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'chlo.top_k' op expected values of type 'f32' but got 'f64'}}
  %0, %1 = chlo.top_k(%x, k = 2) : tensor<8x4xf32> -> (tensor<8x2xf64>, tensor<8x2xi32>)
  return
}

// -----

func.func @top_k_c3(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'chlo.top_k' op expected a result of shape [8, 2] but got [8, 3]}}
  %0, %1 = chlo.top_k(%x, k = 2) : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x3xi32>)
  return
}
