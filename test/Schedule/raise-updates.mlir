// RUN: sp-opt %s -split-input-file --sp-raise-updates | FileCheck %s

// An update follows its gradient, and what is made for it alone comes along, views too.
// CHECK-LABEL: module @behind_its_gradient
// CHECK: %[[DW:.*]] = sp.gemm %arg0, %arg1
// CHECK-NEXT: %[[G:.*]] = stablehlo.reshape %[[DW]]
// CHECK-NEXT: %[[SCALED:.*]] = sp.launch @double(%[[G]])
// CHECK-NEXT: %[[M:.*]] = stablehlo.reshape %arg2
// CHECK-NEXT: %[[N:.*]] = sp.launch @update(%[[M]], %[[SCALED]])
// CHECK-NEXT: %[[X:.*]] = sp.gemm %[[DW]], %arg1
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[N]]
// CHECK-NEXT: return %[[X]], %[[R]]
module @behind_its_gradient {
  func.func private @double(%x: tensor<64xf32>) -> tensor<64xf32> {
    %y = stablehlo.add %x, %x : tensor<64xf32>
    return %y : tensor<64xf32>
  }
  func.func private @update(%m: tensor<64xf32>, %g: tensor<64xf32>) -> tensor<64xf32> {
    %n = stablehlo.add %m, %g : tensor<64xf32>
    return %n : tensor<64xf32>
  }
  func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %m: tensor<8x8xf32> {sp.donated_to = 1 : i64}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %dw = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = sp.gemm %dw, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %g = stablehlo.reshape %dw : (tensor<8x8xf32>) -> tensor<64xf32>
    %s = sp.launch @double(%g) : (tensor<64xf32>) -> tensor<64xf32>
    %f = stablehlo.reshape %m : (tensor<8x8xf32>) -> tensor<64xf32>
    %n = sp.launch @update(%f, %s) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %r = stablehlo.reshape %n : (tensor<64xf32>) -> tensor<8x8xf32>
    return %y, %r : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// Weights are replaced behind the last operation that reads them, also in a loop.
// CHECK-LABEL: module @behind_readers
// CHECK: %[[DW:.*]] = sp.gemm %arg0, %arg1
// CHECK-NEXT: %[[N:.*]] = sp.launch @update(%arg1, %[[DW]])
// CHECK-NEXT: %[[V:.*]] = sp.gemm %arg0, %arg2
// CHECK: %[[L:.*]] = scf.for
// CHECK: %[[Z:.*]] = sp.gemm %arg2
// CHECK-NEXT: %[[K:.*]] = sp.launch @update(%arg2, %[[DW]])
// CHECK-NEXT: %[[U:.*]] = sp.gemm %[[V]], %arg0
// CHECK-NEXT: return %[[U]], %[[N]], %[[K]], %[[Z]]
module @behind_readers {
  func.func private @update(%m: tensor<8x8xf32>, %g: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %n = stablehlo.add %m, %g : tensor<8x8xf32>
    return %n : tensor<8x8xf32>
  }
  func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {sp.donated_to = 1 : i64}, %k: tensor<8x8xf32> {sp.donated_to = 2 : i64}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %dw = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %v = sp.gemm %x, %k sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %l = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %v) -> (tensor<8x8xf32>) {
      %b = sp.gemm %a, %k sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %b : tensor<8x8xf32>
    }
    %z = sp.gemm %k, %l sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %u = sp.gemm %v, %x sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %n = sp.launch @update(%w, %dw) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %j = sp.launch @update(%k, %dw) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %u, %n, %j, %z : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// What would keep much more than it frees is made where it is used, and what is not
// for updates alone, or replaces nothing, stays where it is.
// CHECK-LABEL: module @stays
// CHECK: sp.launch @sum
// CHECK-NEXT: sp.gemm
// CHECK-NEXT: sp.gemm
// CHECK-NEXT: sp.launch @spread
// CHECK-NEXT: sp.launch @update
// CHECK-NEXT: sp.launch @small
// CHECK-NEXT: sp.launch @small
// CHECK-NEXT: return
module @stays {
  func.func private @sum(%x: tensor<8x8xf32>, %zero: tensor<f32>) -> tensor<f32> {
    %n = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    return %n : tensor<f32>
  }
  func.func private @spread(%g: tensor<f32>) -> tensor<256x128xf32> {
    %n = stablehlo.broadcast_in_dim %g, dims = [] : (tensor<f32>) -> tensor<256x128xf32>
    return %n : tensor<256x128xf32>
  }
  func.func private @update(%m: tensor<256x128xf32>, %g: tensor<256x128xf32>) -> tensor<256x128xf32> {
    %n = stablehlo.add %m, %g : tensor<256x128xf32>
    return %n : tensor<256x128xf32>
  }
  func.func private @small(%m: tensor<8x8xf32>, %g: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %n = stablehlo.add %m, %g : tensor<8x8xf32>
    return %n : tensor<8x8xf32>
  }
  func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %zero: tensor<f32>, %m: tensor<256x128xf32> {sp.donated_to = 1 : i64}) -> (tensor<8x8xf32>, tensor<256x128xf32>, tensor<8x8xf32>) {
    %s = sp.launch @sum(%x, %zero) : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %dw = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = sp.gemm %dw, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %g = sp.launch @spread(%s) : (tensor<f32>) -> tensor<256x128xf32>
    %n = sp.launch @update(%m, %g) : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32>
    %a = sp.launch @small(%dw, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = sp.launch @small(%a, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %b, %n, %y : tensor<8x8xf32>, tensor<256x128xf32>, tensor<8x8xf32>
  }
}

// -----

// Whoever reads rows of what is replaced reads it.
// CHECK-LABEL: module @behind_readers_of_rows
// CHECK: %[[T:.*]] = sp.take %arg1
// CHECK: sp.gemm %arg0, %[[T]]
// CHECK-NEXT: %[[Z:.*]] = sp.gemm %{{.*}}, %[[T]]
// CHECK-NEXT: sp.launch @update(%arg1
// CHECK-NEXT: sp.gemm %[[Z]]
module @behind_readers_of_rows {
  func.func private @double(%x: tensor<8x8xf32>) -> tensor<2x8x8xf32> {
    %y = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<2x8x8xf32>
    return %y : tensor<2x8x8xf32>
  }
  func.func private @update(%m: tensor<2x8x8xf32>, %g: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
    %n = stablehlo.add %m, %g : tensor<2x8x8xf32>
    return %n : tensor<2x8x8xf32>
  }
  func.func @main(%x: tensor<8x8xf32>, %s: tensor<2x8x8xf32> {sp.donated_to = 1 : i64}) -> (tensor<8x8xf32>, tensor<2x8x8xf32>) {
    %c0 = arith.constant 0 : index
    %g = sp.launch @double(%x) : (tensor<8x8xf32>) -> tensor<2x8x8xf32>
    %t = sp.take %s at %c0 dim 0 : tensor<2x8x8xf32> -> tensor<1x8x8xf32>
    %y = sp.gemm %x, %t sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %z = sp.gemm %y, %t sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %u = sp.gemm %z, %x sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %n = sp.launch @update(%s, %g) : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    return %u, %n : tensor<8x8xf32>, tensor<2x8x8xf32>
  }
}

// -----

// Rows of a gradient come by an index, which takes no memory.
// CHECK-LABEL: module @rows_of_a_gradient
// CHECK: %[[P:.*]] = sp.take
// CHECK-NEXT: sp.launch @update(%arg1, %[[P]])
// CHECK-NEXT: sp.gemm
module @rows_of_a_gradient {
  func.func private @update(%m: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %n = stablehlo.add %m, %g : tensor<4x8xf32>
    return %n : tensor<4x8xf32>
  }
  func.func @main(%x: tensor<8x8xf32>, %m: tensor<4x8xf32> {sp.donated_to = 0 : i64}) -> (tensor<4x8xf32>, tensor<8x8xf32>) {
    %c4 = arith.constant 4 : index
    %dw = sp.gemm %x, %x sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %p = sp.take %dw at %c4 dim 0 : tensor<8x8xf32> -> tensor<4x8xf32>
    %y = sp.gemm %dw, %x sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %n = sp.launch @update(%m, %p) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %n, %y : tensor<4x8xf32>, tensor<8x8xf32>
  }
}

// -----

// Of a whole weight each rank updates its rows, which are then gathered: all of that
// follows the part of the gradient.
// CHECK-LABEL: module @gathered
// CHECK: %[[S:.*]] = sp.reduce_scatter
// CHECK-NEXT: %[[AT:.*]] = sp.positions
// CHECK-NEXT: %[[N:.*]] = sp.launch @update(%arg1, %[[S]], %[[AT]])
// CHECK-NEXT: %[[G:.*]] = sp.all_gather %[[N]] dim 0
// CHECK-NEXT: %[[Y:.*]] = sp.gemm
// CHECK-NEXT: return %[[Y]], %[[G]]
module @gathered {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func private @update(%w: tensor<8x8xf32>, %g: tensor<2x8xf32>, %at: tensor<2xi32>) -> tensor<2x8xf32> {
    return %g : tensor<2x8xf32>
  }
  func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {sp.donated_to = 1 : i64}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %dw = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %s = sp.reduce_scatter %dw sum dim 0 in <contiguous 8 on "sp" of 4> : tensor<8x8xf32> -> tensor<2x8xf32>
    %y = sp.gemm %dw, %x sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %at = sp.positions <contiguous 8 on "sp" of 4> : tensor<2xi32>
    %n = sp.launch @update(%w, %s, %at) : (tensor<8x8xf32>, tensor<2x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
    %g = sp.all_gather %n dim 0 in <contiguous 8 on "sp" of 4> : tensor<2x8xf32> -> tensor<8x8xf32>
    return %y, %g : tensor<8x8xf32>, tensor<8x8xf32>
  }
}
