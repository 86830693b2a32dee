// RUN: sp-kernel-check %s | FileCheck %s
// RUN: sp-kernel-check --cpu=x86-64-v3 %s | FileCheck %s
// RUN: sp-kernel-check --grid %s | FileCheck %s
// CHECK-NOT: WRONG

// Reductions, windows, contractions and convolutions.

func.func @reductions(%arg0: tensor<6x10x4xf32>) -> (tensor<6x4xf32>, tensor<10xf32>, tensor<10x4xf32>, tensor<6xf32>, tensor<6x4xi1>, tensor<10x4xi1>, tensor<6x4xi64>) {
  %c = stablehlo.constant dense<0> : tensor<i64>
  %c_0 = stablehlo.constant dense<true> : tensor<i1>
  %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
  %c_1 = stablehlo.constant dense<false> : tensor<i1>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %cst_4 = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst_5) applies stablehlo.maximum across dimensions = [1] : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<6x4xf32>
  %1 = stablehlo.reduce(%arg0 init: %cst_4) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<10xf32>
  %2 = stablehlo.reduce(%arg0 init: %cst_3) applies stablehlo.multiply across dimensions = [0] : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<10x4xf32>
  %3 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.add across dimensions = [1, 2] : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<6xf32>
  %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x10x4xf32>
  %5 = stablehlo.compare GT, %arg0, %4, FLOAT : (tensor<6x10x4xf32>, tensor<6x10x4xf32>) -> tensor<6x10x4xi1>
  %6 = stablehlo.reduce(%5 init: %c_1) applies stablehlo.or across dimensions = [1] : (tensor<6x10x4xi1>, tensor<i1>) -> tensor<6x4xi1>
  %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x10x4xf32>
  %8 = stablehlo.compare LT, %arg0, %7, FLOAT : (tensor<6x10x4xf32>, tensor<6x10x4xf32>) -> tensor<6x10x4xi1>
  %9 = stablehlo.reduce(%8 init: %c_0) applies stablehlo.and across dimensions = [0] : (tensor<6x10x4xi1>, tensor<i1>) -> tensor<10x4xi1>
  %10 = stablehlo.convert %5 : (tensor<6x10x4xi1>) -> tensor<6x10x4xi32>
  %11 = stablehlo.convert %10 : (tensor<6x10x4xi32>) -> tensor<6x10x4xi64>
  %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<6x10x4xi64>, tensor<i64>) -> tensor<6x4xi64>
  return %0, %1, %2, %3, %6, %9, %12 : tensor<6x4xf32>, tensor<10xf32>, tensor<10x4xf32>, tensor<6xf32>, tensor<6x4xi1>, tensor<10x4xi1>, tensor<6x4xi64>
}

func.func @column_sum(%arg0: tensor<1030x70xf32>) -> (tensor<70xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<1030x70xf32>, tensor<f32>) -> tensor<70xf32>
  return %0 : tensor<70xf32>
}

func.func @row_sum(%arg0: tensor<70x1030xf32>) -> (tensor<70xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<70x1030xf32>, tensor<f32>) -> tensor<70xf32>
  return %0 : tensor<70xf32>
}

func.func @sum_f64(%arg0: tensor<70x103xf64>) -> (tensor<103xf64>, tensor<70xf64>, tensor<f64>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<70x103xf64>, tensor<f64>) -> tensor<103xf64>
  %1 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<70x103xf64>, tensor<f64>) -> tensor<70xf64>
  %2 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<70x103xf64>, tensor<f64>) -> tensor<f64>
  return %0, %1, %2 : tensor<103xf64>, tensor<70xf64>, tensor<f64>
}

func.func @sum_bf16(%arg0: tensor<70x103xbf16>) -> (tensor<103xbf16>, tensor<70xbf16>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.convert %arg0 : (tensor<70x103xbf16>) -> tensor<70x103xf32>
  %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<70x103xf32>, tensor<f32>) -> tensor<103xf32>
  %2 = stablehlo.convert %1 : (tensor<103xf32>) -> tensor<103xbf16>
  %3 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<70x103xf32>, tensor<f32>) -> tensor<70xf32>
  %4 = stablehlo.convert %3 : (tensor<70xf32>) -> tensor<70xbf16>
  return %2, %4 : tensor<103xbf16>, tensor<70xbf16>
}

func.func @sum_complex(%arg0: tensor<40x3xcomplex<f32>>) -> (tensor<3xcomplex<f32>>) {
  %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<40x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

func.func @arg_extremes(%arg0: tensor<6x10x4xf32>) -> (tensor<6x4xi64>, tensor<10x4xi64>, tensor<6x10xi64>) {
  %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %c = stablehlo.constant dense<0> : tensor<i64>
  %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.iota dim = 1 : tensor<6x10x4xi64>
  %1:2 = stablehlo.reduce(%arg0 init: %cst_0), (%0 init: %c) across dimensions = [1] : (tensor<6x10x4xf32>, tensor<6x10x4xi64>, tensor<f32>, tensor<i64>) -> (tensor<6x4xf32>, tensor<6x4xi64>)
   reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
    %6 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.or %6, %7 : tensor<i1>
    %9 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %10 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %11 = stablehlo.and %9, %10 : tensor<i1>
    %12 = stablehlo.or %8, %11 : tensor<i1>
    %13 = stablehlo.select %8, %arg1, %arg3 : tensor<i1>, tensor<f32>
    %14 = stablehlo.select %12, %arg2, %arg4 : tensor<i1>, tensor<i64>
    stablehlo.return %13, %14 : tensor<f32>, tensor<i64>
  }
  %2 = stablehlo.iota dim = 0 : tensor<6x10x4xi64>
  %3:2 = stablehlo.reduce(%arg0 init: %cst), (%2 init: %c) across dimensions = [0] : (tensor<6x10x4xf32>, tensor<6x10x4xi64>, tensor<f32>, tensor<i64>) -> (tensor<10x4xf32>, tensor<10x4xi64>)
   reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
    %6 = stablehlo.compare LT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.or %6, %7 : tensor<i1>
    %9 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %10 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %11 = stablehlo.and %9, %10 : tensor<i1>
    %12 = stablehlo.or %8, %11 : tensor<i1>
    %13 = stablehlo.select %8, %arg1, %arg3 : tensor<i1>, tensor<f32>
    %14 = stablehlo.select %12, %arg2, %arg4 : tensor<i1>, tensor<i64>
    stablehlo.return %13, %14 : tensor<f32>, tensor<i64>
  }
  %4 = stablehlo.iota dim = 2 : tensor<6x10x4xi64>
  %5:2 = stablehlo.reduce(%arg0 init: %cst_0), (%4 init: %c) across dimensions = [2] : (tensor<6x10x4xf32>, tensor<6x10x4xi64>, tensor<f32>, tensor<i64>) -> (tensor<6x10xf32>, tensor<6x10xi64>)
   reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
    %6 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.or %6, %7 : tensor<i1>
    %9 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %10 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %11 = stablehlo.and %9, %10 : tensor<i1>
    %12 = stablehlo.or %8, %11 : tensor<i1>
    %13 = stablehlo.select %8, %arg1, %arg3 : tensor<i1>, tensor<f32>
    %14 = stablehlo.select %12, %arg2, %arg4 : tensor<i1>, tensor<i64>
    stablehlo.return %13, %14 : tensor<f32>, tensor<i64>
  }
  return %1#1, %3#1, %5#1 : tensor<6x4xi64>, tensor<10x4xi64>, tensor<6x10xi64>
}

func.func @variance(%arg0: tensor<6x10x4xf32>) -> (tensor<4xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i64>
  %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
  %cst_0 = stablehlo.constant dense<6.000000e+01> : tensor<f32>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
  %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x1x4xf32>
  %3 = stablehlo.divide %1, %2 : tensor<1x1x4xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<6x10x4xf32>
  %5 = stablehlo.subtract %arg0, %4 : tensor<6x10x4xf32>
  %6 = chlo.square %5 : tensor<6x10x4xf32> -> tensor<6x10x4xf32>
  %7 = stablehlo.convert %c : (tensor<i64>) -> tensor<f32>
  %8 = stablehlo.subtract %cst_0, %7 : tensor<f32>
  %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<4xf32>
  %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %11 = stablehlo.divide %9, %10 : tensor<4xf32>
  %12 = stablehlo.compare GT, %8, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %13 = stablehlo.convert %cst : (tensor<f64>) -> tensor<f32>
  %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %15 = stablehlo.select %12, %11, %14 : tensor<i1>, tensor<4xf32>
  return %15 : tensor<4xf32>
}

func.func @cumulative(%arg0: tensor<6x10x4xf32>) -> (tensor<6x10x4xf32>, tensor<6x10x4xf32>, tensor<6x10x4xf32>) {
  %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [9, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 10, 1>, window_strides = array<i64: 1, 1, 1>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %5 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<6x10x4xf32>
  %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.reduce_window"(%arg0, %2) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[5, 0], [0, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 6, 1, 1>, window_strides = array<i64: 1, 1, 1>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %5 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<6x10x4xf32>
  %4 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [0, 0], [0, 3]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 1, 4>, window_strides = array<i64: 1, 1, 1>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %5 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<6x10x4xf32>
  return %1, %3, %4 : tensor<6x10x4xf32>, tensor<6x10x4xf32>, tensor<6x10x4xf32>
}

func.func @cumulative_i64(%arg0: tensor<3x130xi64>) -> (tensor<3x130xi64>) {
  %c = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<i64>
  %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [129, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 130>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%arg1: tensor<i64>, %arg2: tensor<i64>):
    %2 = stablehlo.add %arg1, %arg2 : tensor<i64>
    stablehlo.return %2 : tensor<i64>
  }) : (tensor<3x130xi64>, tensor<i64>) -> tensor<3x130xi64>
  return %1 : tensor<3x130xi64>
}

func.func @windows(%arg0: tensor<6x10x4xf32>) -> (tensor<6x5x4xf32>, tensor<6x5x4xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [0, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 3, 2>, window_strides = array<i64: 1, 2, 1>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %4 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<6x5x4xf32>
  %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.reduce_window"(%arg0, %2) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [1, 2], [0, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 2, 1>, window_dimensions = array<i64: 1, 3, 2>, window_strides = array<i64: 1, 2, 1>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %4 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<6x5x4xf32>
  return %1, %3 : tensor<6x5x4xf32>, tensor<6x5x4xf32>
}

func.func @dot_f64(%arg0: tensor<37x52xf64>, %arg1: tensor<52x70xf64>) -> (tensor<37x70xf64>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<37x52xf64>, tensor<52x70xf64>) -> tensor<37x70xf64>
  return %0 : tensor<37x70xf64>
}

func.func @dot_f64_transposed(%arg0: tensor<3x17x53xf64>, %arg1: tensor<3x29x53xf64>) -> (tensor<3x17x29xf64>) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<3x17x53xf64>, tensor<3x29x53xf64>) -> tensor<3x17x29xf64>
  return %0 : tensor<3x17x29xf64>
}

func.func @dot_heads(%arg0: tensor<2x5x3x8xf64>, %arg1: tensor<2x7x3x8xf64>) -> (tensor<2x3x5x7xf64>) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3x8xf64>, tensor<2x7x3x8xf64>) -> tensor<2x3x5x7xf64>
  return %0 : tensor<2x3x5x7xf64>
}

func.func @dot_i32(%arg0: tensor<3x5xi32>, %arg1: tensor<5x7xi32>) -> (tensor<3x7xi32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x5xi32>, tensor<5x7xi32>) -> tensor<3x7xi32>
  return %0 : tensor<3x7xi32>
}

func.func @dot_bf16(%arg0: tensor<9x33xbf16>, %arg1: tensor<33x7xbf16>) -> (tensor<9x7xbf16>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<9x33xbf16>, tensor<33x7xbf16>) -> tensor<9x7xbf16>
  return %0 : tensor<9x7xbf16>
}

func.func @outer(%arg0: tensor<9xf32>, %arg1: tensor<7xf32>) -> (tensor<9x7xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<9xf32>, tensor<7xf32>) -> tensor<9x7xf32>
  return %0 : tensor<9x7xf32>
}

func.func @dot_complex(%arg0: tensor<4x5xcomplex<f32>>, %arg1: tensor<5x6xcomplex<f32>>) -> (tensor<4x6xcomplex<f32>>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x5xcomplex<f32>>, tensor<5x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  return %0 : tensor<4x6xcomplex<f32>>
}

func.func @conv_patches(%arg0: tensor<2x16x16x3xf32>, %arg1: tensor<4x4x3x8xf32>) -> (tensor<2x4x4x8xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [4, 4], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x3xf32>, tensor<4x4x3x8xf32>) -> tensor<2x4x4x8xf32>
  return %0 : tensor<2x4x4x8xf32>
}

func.func @conv_padded(%arg0: tensor<2x3x9x8xf32>, %arg1: tensor<5x3x3x2xf32>) -> (tensor<2x5x4x10xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 1], pad = [[1, 2], [0, 3]], lhs_dilate = [1, 1], rhs_dilate = [2, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x3x9x8xf32>, tensor<5x3x3x2xf32>) -> tensor<2x5x4x10xf32>
  return %0 : tensor<2x5x4x10xf32>
}

func.func @conv_dilated(%arg0: tensor<1x5x6x3xf32>, %arg1: tensor<3x3x3x4xf32>) -> (tensor<1x9x12x4xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x5x6x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x9x12x4xf32>
  return %0 : tensor<1x9x12x4xf32>
}

func.func @conv_groups(%arg0: tensor<1x5x6x4xf32>, %arg1: tensor<3x3x2x6xf32>) -> (tensor<1x5x6x6xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x5x6x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x5x6x6xf32>
  return %0 : tensor<1x5x6x6xf32>
}

func.func @conv_f64(%arg0: tensor<2x9x3xf64>, %arg1: tensor<3x3x5xf64>) -> (tensor<2x9x5xf64>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x9x3xf64>, tensor<3x3x5xf64>) -> tensor<2x9x5xf64>
  return %0 : tensor<2x9x5xf64>
}
