// RUN: sp-opt %s --sp-split-windows | FileCheck %s
// RUN: sp-opt %s --sp-split-windows | sp-interpret - --random-inputs=1 --outputs=%t.split.npz
// RUN: sp-interpret %s --random-inputs=1 --outputs=%t.npz
// RUN: %python -c "import sys, numpy; a, b = map(numpy.load, sys.argv[1:]); assert a.files == b.files and len(a.files) == 10; assert all(numpy.allclose(a[k], b[k], atol=1e-5) for k in a.files)" %t.npz %t.split.npz

// CHECK-LABEL: func.func @main
// CHECK-NOT:     stablehlo.convolution
// CHECK-NOT:     reduce_window
// CHECK:         return
func.func @main(%x: tensor<2x9x4xf32>, %first: tensor<2x4x9xf32>, %each: tensor<3x1x4xf32>, %mixing: tensor<2x4x6xf32>,
                %grouped: tensor<3x2x6xf32>, %outer: tensor<6x3x4xf32>, %long: tensor<2x20x4xf32>, %dy: tensor<2x20x4xf32>, %dz: tensor<2x20x6xf32>) -> (
                tensor<2x9x4xf32>, tensor<2x8x6xf32>, tensor<2x9x6xf32>, tensor<2x6x8xf32>, tensor<3x1x4xf32>, tensor<2x4x6xf32>,
                tensor<6x4x3xf32>, tensor<2x9x4xf32>, tensor<2x7x4xf32>, tensor<3x2x6xf32>) {
  // Each feature for itself, causal and dilated.
  %0 = stablehlo.convolution(%x, %each) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[4, 0]], rhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<2x9x4xf32>, tensor<3x1x4xf32>) -> tensor<2x9x4xf32>
  %1 = stablehlo.convolution(%x, %mixing) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x4xf32>, tensor<2x4x6xf32>) -> tensor<2x8x6xf32>
  %2 = stablehlo.convolution(%x, %grouped) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x9x4xf32>, tensor<3x2x6xf32>) -> tensor<2x9x6xf32>
  %3 = stablehlo.convolution(%first, %outer) dim_numbers = [b, f, 0]x[o, 0, i]->[b, f, 0], window = {pad = [[1, 0]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x9xf32>, tensor<6x3x4xf32>) -> tensor<2x6x8xf32>
  // Gradients of kernels: windows as long as the sequence, and longer than those
  // that are written out place by place.
  %4 = stablehlo.convolution(%long, %dy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[2, 0]]}
    {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<2x20x4xf32>, tensor<2x20x4xf32>) -> tensor<3x1x4xf32>
  %5 = stablehlo.convolution(%long, %dz) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 0]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x20x4xf32>, tensor<2x20x6xf32>) -> tensor<2x4x6xf32>
  %6 = stablehlo.convolution(%long, %dz) dim_numbers = [f, 0, b]x[i, 0, o]->[f, b, 0], window = {pad = [[1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x20x4xf32>, tensor<2x20x6xf32>) -> tensor<6x4x3xf32>
  %9 = stablehlo.convolution(%long, %dz) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 1]]}
    {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x20x4xf32>, tensor<2x20x6xf32>) -> tensor<3x2x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %7 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 3, 1>, padding = dense<[[0, 0], [2, 0], [0, 0]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x9x4xf32>, tensor<f32>) -> tensor<2x9x4xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %8 = "stablehlo.reduce_window"(%x, %least) <{window_dimensions = array<i64: 1, 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %max = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %max : tensor<f32>
  }) : (tensor<2x9x4xf32>, tensor<f32>) -> tensor<2x7x4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<2x9x4xf32>, tensor<2x8x6xf32>, tensor<2x9x6xf32>, tensor<2x6x8xf32>, tensor<3x1x4xf32>,
    tensor<2x4x6xf32>, tensor<6x4x3xf32>, tensor<2x9x4xf32>, tensor<2x7x4xf32>, tensor<3x2x6xf32>
}

// A long window and another start stay.
// CHECK-LABEL: func.func private @kept
// CHECK-COUNT-2: reduce_window
func.func private @kept(%x: tensor<2x32x4xf32>, %start: tensor<f32>) -> (tensor<2x32x4xf32>, tensor<2x31x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 32, 1>, padding = dense<[[0, 0], [31, 0], [0, 0]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x32x4xf32>, tensor<f32>) -> tensor<2x32x4xf32>
  %2 = "stablehlo.reduce_window"(%x, %start) <{window_dimensions = array<i64: 1, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x32x4xf32>, tensor<f32>) -> tensor<2x31x4xf32>
  return %1, %2 : tensor<2x32x4xf32>, tensor<2x31x4xf32>
}
