// RUN: sp-opt %s --sp-fold-slices-of-pads | FileCheck %s
// RUN: sp-opt %s --sp-fold-slices-of-pads | sp-interpret - --random-inputs=1 --outputs=%t.folded.npz
// RUN: sp-interpret %s --random-inputs=1 --outputs=%t.npz
// RUN: %python -c "import sys, numpy; a, b = map(numpy.load, sys.argv[1:]); assert a.files == b.files and len(a.files) == 5; assert all((a[k] == b[k]).all() for k in a.files)" %t.npz %t.folded.npz

// A convolution over three tokens: each of its slices pads for itself.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8xf32>, %[[P:[a-z0-9]+]]: tensor<f32>
func.func @main(%x: tensor<2x8xf32>, %p: tensor<f32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x8xf32>) {
  // CHECK: %[[W:.*]] = stablehlo.pad %[[X]], %[[P]], low = [0, 2], high = [0, 0]
  %padded = stablehlo.pad %x, %p, low = [0, 2], high = [0, 0], interior = [0, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x10xf32>
  // CHECK: stablehlo.pad %[[X]], %[[P]], low = [0, 2], high = [0, -2], interior = [0, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %0 = stablehlo.slice %padded [0:2, 0:8] : (tensor<2x10xf32>) -> tensor<2x8xf32>
  // CHECK: stablehlo.pad %[[X]], %[[P]], low = [0, 1], high = [0, -1], interior = [0, 0]
  %1 = stablehlo.slice %padded [0:2, 1:9] : (tensor<2x10xf32>) -> tensor<2x8xf32>
  // A stride, and nothing but padding, stay.
  // CHECK: stablehlo.slice %[[W]] [0:2, 2:10:2]
  %2 = stablehlo.slice %padded [0:2, 2:10:2] : (tensor<2x10xf32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.slice %[[W]] [0:2, 0:2]
  %3 = stablehlo.slice %padded [0:2, 0:2] : (tensor<2x10xf32>) -> tensor<2x2xf32>
  // Its gradient.
  // CHECK: %[[A:.*]] = stablehlo.pad %[[X]], %[[P]], low = [0, -2], high = [0, 2]
  // CHECK: %[[B:.*]] = stablehlo.pad %[[X]], %[[P]], low = [0, -1], high = [0, 1]
  // CHECK: %[[S:.*]] = stablehlo.add %[[A]], %[[B]] : tensor<2x8xf32>
  // CHECK: return %{{.*}}, %[[S]]
  %a = stablehlo.pad %x, %p, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x10xf32>
  %b = stablehlo.pad %x, %p, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x10xf32>
  %sum = stablehlo.add %a, %b : tensor<2x10xf32>
  %cut = stablehlo.pad %sum, %p, low = [0, -2], high = [0, 0], interior = [0, 0] : (tensor<2x10xf32>, tensor<f32>) -> tensor<2x8xf32>
  %4 = stablehlo.pad %cut, %p, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %0, %1, %2, %3, %4 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x8xf32>
}
