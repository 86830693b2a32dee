// RUN: sp-opt %s --sp-split-windows --sp-split-strides | FileCheck %s
// RUN: sp-opt %s --sp-split-windows --sp-split-strides | sp-interpret - --random-inputs=1 --outputs=%t.split.npz
// RUN: sp-interpret %s --random-inputs=1 --outputs=%t.npz
// RUN: %python -c "import sys, numpy; a, b = map(numpy.load, sys.argv[1:]); assert a.files == b.files and len(a.files) == 7; assert all(numpy.allclose(a[k], b[k], atol=1e-5) and a[k].any() for k in a.files)" %t.npz %t.split.npz

// Windows that move by more than one, and what their gradients are: rows with
// others between, and places that lie apart.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     stablehlo.convolution
// CHECK-NOT:     reduce_window
// CHECK-NOT:     interior = {{\[[0, ]*[1-9]}}
// CHECK:         return
func.func @main(%x: tensor<2x40x4xf32>, %odd: tensor<2x21x4xf32>, %kernel: tensor<3x4x6xf32>, %back: tensor<3x6x4xf32>, %one: tensor<1x4x6xf32>,
                %dy: tensor<2x20x6xf32>) -> (tensor<2x20x6xf32>, tensor<2x40x4xf32>, tensor<3x4x6xf32>, tensor<2x20x6xf32>, tensor<2x10x4xf32>, tensor<2x7x4xf32>, tensor<2x40x6xf32>) {
  %0 = stablehlo.convolution(%x, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[2, -1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x40x4xf32>, tensor<3x4x6xf32>) -> tensor<2x20x6xf32>
  %1 = stablehlo.convolution(%dy, %back) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 3]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x20x6xf32>, tensor<3x6x4xf32>) -> tensor<2x40x4xf32>
  %2 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[2, -1]], rhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x40x4xf32>, tensor<2x20x6xf32>) -> tensor<3x4x6xf32>
  %3 = stablehlo.convolution(%x, %one) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x40x4xf32>, tensor<1x4x6xf32>) -> tensor<2x20x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 4, 1>, window_strides = array<i64: 1, 4, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x40x4xf32>, tensor<f32>) -> tensor<2x10x4xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %5 = "stablehlo.reduce_window"(%odd, %least) <{window_dimensions = array<i64: 1, 4, 1>, window_strides = array<i64: 1, 3, 1>, padding = dense<[[0, 0], [1, 1], [0, 0]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %max = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %max : tensor<f32>
  }) : (tensor<2x21x4xf32>, tensor<f32>) -> tensor<2x7x4xf32>
  %6 = "stablehlo.reduce_window"(%dy, %zero) <{window_dimensions = array<i64: 1, 2, 1>, base_dilations = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 0]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x20x6xf32>, tensor<f32>) -> tensor<2x40x6xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x20x6xf32>, tensor<2x40x4xf32>, tensor<3x4x6xf32>, tensor<2x20x6xf32>, tensor<2x10x4xf32>, tensor<2x7x4xf32>, tensor<2x40x6xf32>
}
