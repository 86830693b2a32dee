// RUN: sp-opt %s --sp-split-strides | FileCheck %s
// RUN: sp-opt %s --sp-split-strides | sp-interpret - --random-inputs=1 --outputs=%t.split.npz
// RUN: sp-interpret %s --random-inputs=1 --outputs=%t.npz
// RUN: %python -c "import sys, numpy; a, b = map(numpy.load, sys.argv[1:]); assert a.files == b.files and len(a.files) == 7; assert all((a[k] == b[k]).all() and a[k].any() for k in a.files)" %t.npz %t.split.npz

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:.*]]: tensor<2x9x4xf32>, %[[Y:.*]]: tensor<2x5x4xf32>, %[[E:.*]]: tensor<2x8x4xf32>
func.func @main(%x: tensor<2x9x4xf32>, %y: tensor<2x5x4xf32>, %even: tensor<2x8x4xf32>, %pad: tensor<f32>) -> (
                tensor<2x4x4xf32>, tensor<2x5x4xf32>, tensor<1x3x2xf32>, tensor<2x1x4xf32>, tensor<2x9x4xf32>, tensor<2x13x4xf32>, tensor<2x11x7xf32>) {
  // Nothing moves where runs are whole.
  // CHECK: %[[RUNS:.*]] = stablehlo.reshape %[[E]] : (tensor<2x8x4xf32>) -> tensor<2x4x2x4xf32>
  // CHECK-NEXT: %[[COLUMN:.*]] = stablehlo.slice %[[RUNS]] [0:2, 0:4, 1:2, 0:4]
  // CHECK-NEXT: stablehlo.reshape %[[COLUMN]] : (tensor<2x4x1x4xf32>) -> tensor<2x4x4xf32>
  %0 = stablehlo.slice %even [0:2, 1:8:2, 0:4] : (tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  // The last run is filled, the first ones are cut.
  // CHECK: stablehlo.pad %[[X]], %{{.*}}, low = [0, 0, 0], high = [0, 1, 0]
  %1 = stablehlo.slice %x [0:2, 0:9:2, 0:4] : (tensor<2x9x4xf32>) -> tensor<2x5x4xf32>
  // CHECK: stablehlo.slice %[[X]] [1:2, 0:9, 0:4]
  // CHECK: stablehlo.pad %{{.*}}, low = [0, -2, 0], high = [0, -1, 0]
  %2 = stablehlo.slice %x [1:2, 3:8:2, 1:4:2] : (tensor<2x9x4xf32>) -> tensor<1x3x2xf32>
  %3 = stablehlo.slice %x [0:2, 4:6:3, 0:4] : (tensor<2x9x4xf32>) -> tensor<2x1x4xf32>
  // CHECK: stablehlo.slice %[[X]] [0:2, 4:5, 0:4]
  // CHECK-NOT: interior = {{\[[0, ]*[1-9]}}
  %4 = stablehlo.pad %y, %pad, low = [0, 0, 0], high = [0, 0, 0], interior = [0, 1, 0] : (tensor<2x5x4xf32>, tensor<f32>) -> tensor<2x9x4xf32>
  %5 = stablehlo.pad %y, %pad, low = [0, -1, 0], high = [0, 1, 0], interior = [0, 2, 0] : (tensor<2x5x4xf32>, tensor<f32>) -> tensor<2x13x4xf32>
  %6 = stablehlo.pad %y, %pad, low = [0, 4, 1], high = [0, -2, -1], interior = [0, 1, 1] : (tensor<2x5x4xf32>, tensor<f32>) -> tensor<2x11x7xf32>
  // CHECK: return
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x4x4xf32>, tensor<2x5x4xf32>, tensor<1x3x2xf32>, tensor<2x1x4xf32>, tensor<2x9x4xf32>, tensor<2x13x4xf32>, tensor<2x11x7xf32>
}
