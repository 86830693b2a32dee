// RUN: sp-opt %s --sp-deal-loops --remarks-filter=sp-deal-loops -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir
// RUN: sp-interpret %t.mlir --random-inputs=1 --outputs=%t.joined.npz
// RUN: sp-interpret %s --random-inputs=1 --outputs=%t.npz
// RUN: %python -c "import sys, numpy; a, b = map(numpy.load, sys.argv[1:]); assert a.files == b.files and len(a.files) == 3; assert all(numpy.allclose(a[k], b[k], atol=1e-5) and a[k].any() for k in a.files)" %t.npz %t.joined.npz

// Two trips of six tokens each, which ranks hold in four runs: what they do to
// tokens is done to all at once, and what they add up is summed over all.
// REMARK: remark: [Analysis] MadeAtOnce {{.*}}tokens=6
sp.mesh @mesh <["sp" = 4]> sequence "sp"
// CHECK-LABEL: func.func @main
// CHECK-NOT: stablehlo.while
// CHECK: %[[ALL:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<2x12x4xf32>, tensor<4x8xf32>) -> tensor<2x12x8xf32>
// CHECK: stablehlo.iota dim = 2 : tensor<2x12x8xi32>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0, 1]
// CHECK: stablehlo.dot_general {{.*}}contracting_dims = [0, 1] x [0, 1]
func.func @main(%x: tensor<2x12x4xf32> {sp.sharding = #sp.sharding<[[2], [12 by <contiguous 12 on "sp" of 4>], [4]]>}, %w: tensor<4x8xf32>) -> (tensor<2x12x8xf32>, tensor<8xf32>, tensor<4x8xf32>) {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %i1 = stablehlo.constant dense<1> : tensor<i32>
  %i2 = stablehlo.constant dense<2> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %stack = stablehlo.constant dense<0.0> : tensor<2x2x6x8xf32>
  %start = stablehlo.constant dense<0.5> : tensor<8xf32>
  %slope = stablehlo.constant dense<0.25> : tensor<4x8xf32>
  %cut = stablehlo.reshape %x : (tensor<2x12x4xf32>) -> tensor<2x2x6x4xf32>
  %chunks = stablehlo.transpose %cut, dims = [1, 0, 2, 3] : (tensor<2x2x6x4xf32>) -> tensor<2x2x6x4xf32>
  %all:4 = stablehlo.while(%i = %i0, %rows = %stack, %sum = %start, %dw = %slope) : tensor<i32>, tensor<2x2x6x8xf32>, tensor<8xf32>, tensor<4x8xf32>
    cond {
      %more = stablehlo.compare LT, %i, %i2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %slice = stablehlo.dynamic_slice %chunks, %i, %i0, %i0, %i0, sizes = [1, 2, 6, 4] : (tensor<2x2x6x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x6x4xf32>
      %chunk = stablehlo.reshape %slice : (tensor<1x2x6x4xf32>) -> tensor<2x6x4xf32>
      %y = stablehlo.dot_general %chunk, %w, contracting_dims = [2] x [0] : (tensor<2x6x4xf32>, tensor<4x8xf32>) -> tensor<2x6x8xf32>
      %numbers = stablehlo.iota dim = 2 : tensor<2x6x8xi32>
      %one = stablehlo.broadcast_in_dim %i1, dims = [] : (tensor<i32>) -> tensor<2x6x8xi32>
      %first = stablehlo.compare LT, %numbers, %one : (tensor<2x6x8xi32>, tensor<2x6x8xi32>) -> tensor<2x6x8xi1>
      %zeros = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<2x6x8xf32>
      %z = stablehlo.select %first, %y, %zeros : tensor<2x6x8xi1>, tensor<2x6x8xf32>
      %s = stablehlo.sine %z : tensor<2x6x8xf32>
      %part = stablehlo.reduce(%s init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<8xf32>
      %halves = stablehlo.add %part, %part : tensor<8xf32>
      %less = stablehlo.subtract %sum, %halves : tensor<8xf32>
      %d = stablehlo.dot_general %chunk, %s, contracting_dims = [0, 1] x [0, 1] : (tensor<2x6x4xf32>, tensor<2x6x8xf32>) -> tensor<4x8xf32>
      %more = stablehlo.add %dw, %d : tensor<4x8xf32>
      %row = stablehlo.reshape %s : (tensor<2x6x8xf32>) -> tensor<1x2x6x8xf32>
      %put = stablehlo.dynamic_update_slice %rows, %row, %i, %i0, %i0, %i0 : (tensor<2x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x6x8xf32>
      %j = stablehlo.add %i, %i1 : tensor<i32>
      stablehlo.return %j, %put, %less, %more : tensor<i32>, tensor<2x2x6x8xf32>, tensor<8xf32>, tensor<4x8xf32>
    }
  %back = stablehlo.transpose %all#1, dims = [1, 0, 2, 3] : (tensor<2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %whole = stablehlo.reshape %back : (tensor<2x2x6x8xf32>) -> tensor<2x12x8xf32>
  return %whole, %all#2, %all#3 : tensor<2x12x8xf32>, tensor<8xf32>, tensor<4x8xf32>
}
