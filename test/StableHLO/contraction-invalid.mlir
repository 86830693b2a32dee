// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func @dot_general_c1_range(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op expected lhs dimensions below rank 2 but got 2}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_general_c1_twice(%x: tensor<3x3xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op expected rhs dimensions to differ but got 0 twice}}
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @dot_general_c2_count(%x: tensor<3x3xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op expected as many contracting dimensions on both sides but got [0, 1] x [0]}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0, 1] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dot_general_c2_size(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op expected contracting dimensions of equal size but got 3 (lhs dimension 1) and 4 (rhs dimension 0)}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @dot_general_c3_result(%x: tensor<7x2x3xf32>, %y: tensor<7x3x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op expected a result of shape [7, 2, 5] but got [2, 7, 5]}}
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<7x2x3xf32>, tensor<7x3x5xf32>) -> tensor<2x7x5xf32>
  return
}

// -----

func.func @dot_general_precision(%x: tensor<3xf32>) {
  // expected-error@+1 {{expected one of DEFAULT, HIGH, HIGHEST but got 'LOW'}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0], precision = [LOW, LOW] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_algorithm_twice(%x: tensor<3xf32>) {
  // expected-error@+1 {{expected types behind the algorithm}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, algorithm = <speed = 1> : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_algorithm_key(%x: tensor<3xf32>) {
  // expected-error@+1 {{expected one of lhs_precision_type, rhs_precision_type, accumulation_type, lhs_component_count, rhs_component_count, num_primitive_operations, allow_imprecise_accumulation but got 'speed'}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0], algorithm = <speed = 1> : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_c1_rank(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'stablehlo.dot' op expected operands of rank 1 or 2 but got 'tensor<2x3x4xf32>' and 'tensor<2x3x4xf32>'}}
  %0 = stablehlo.dot %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_c1_size(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.dot' op expected contracting dimensions of equal size but got 3 and 2}}
  %0 = stablehlo.dot %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @convolution_dimensions(%x: tensor<1x8x3xf32>, %w: tensor<2x3x4xf32>) {
  // expected-error@+1 {{expected dimensions 'b', 'f' and the spatial numbers from 0 without a gap}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 1, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<2x3x4xf32>) -> tensor<1x7x4xf32>
  return
}

// -----

func.func @convolution_c2_stride(%x: tensor<1x8x3xf32>, %w: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op expected window_strides of at least 1 but got 0}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<2x3x4xf32>) -> tensor<1x7x4xf32>
  return
}

// -----

func.func @convolution_c3_features(%x: tensor<1x8x5xf32>, %w: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op expected 5 kernel input features but got 3}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x5xf32>, tensor<2x3x4xf32>) -> tensor<1x7x4xf32>
  return
}

// -----

func.func @convolution_c3_result(%x: tensor<1x8x3xf32>, %w: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op expected a result of shape [1, 4, 4] but got [1, 7, 4]}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<2x3x4xf32>) -> tensor<1x7x4xf32>
  return
}

// -----

func.func @composite_c1_missing(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.composite' op expected a function called '@impl' as decomposition}}
  %0 = stablehlo.composite "my.op" %x {decomposition = @impl} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @composite_c1_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.composite' op expected the decomposition '@impl' to have the types of the composite}}
  %0 = stablehlo.composite "my.op" %x {decomposition = @impl} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// expected-note@+1 {{declared here}}
func.func private @impl(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
