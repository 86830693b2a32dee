// RUN: sp-opt %s --sp-join-sums | FileCheck %s

sp.mesh @mesh <["tp" = 2]> tensor "tp"

// Two reductions and what is added between them, of numbers that are reduced in f32.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = stablehlo.dot_general
// CHECK: %[[Q:.*]] = stablehlo.dot_general
// CHECK-NOT: sp.all_reduce
// CHECK: %[[S:.*]] = stablehlo.add %[[P]], %[[Q]] : tensor<4x4xf32>
// CHECK: %[[R:.*]] = sp.all_reduce %[[S]] sum over ["tp"] of 2 : tensor<4x4xf32>
// CHECK: %[[N:.*]] = stablehlo.convert %[[R]] : (tensor<4x4xf32>) -> tensor<4x4xbf16>
// CHECK: stablehlo.add %arg0, %[[N]] : tensor<4x4xbf16>
// Somebody else reads one of these.
// CHECK-COUNT-2: sp.all_reduce
// The largest of a rank is no sum.
// CHECK-COUNT-2: sp.all_reduce
// CHECK-NOT: sp.all_reduce
func.func @main(%x: tensor<4x4xbf16>, %a: tensor<4x4xbf16> {sp.sharding = #sp.sharding<[[4], [8 by <contiguous 8 on "tp" of 2>]]>},
                %p: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [8 by <contiguous 8 on "tp" of 2>]]>})
    -> (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %2 = sp.all_reduce %0 sum over ["tp"] of 2 : tensor<4x4xf32>
  %3 = sp.all_reduce %1 sum over ["tp"] of 2 : tensor<4x4xf32>
  %4 = stablehlo.convert %2 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  %5 = stablehlo.convert %3 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  %6 = stablehlo.add %4, %x : tensor<4x4xbf16>
  %7 = stablehlo.add %6, %5 : tensor<4x4xbf16>
  %8 = sp.all_reduce %p sum over ["tp"] of 2 : tensor<4x4xf32>
  %9 = stablehlo.negate %p : tensor<4x4xf32>
  %10 = sp.all_reduce %9 sum over ["tp"] of 2 : tensor<4x4xf32>
  %11 = stablehlo.add %8, %10 : tensor<4x4xf32>
  %12 = sp.all_reduce %p max over ["tp"] of 2 : tensor<4x4xf32>
  %13 = sp.all_reduce %9 max over ["tp"] of 2 : tensor<4x4xf32>
  %14 = stablehlo.add %12, %13 : tensor<4x4xf32>
  return %7, %8, %11, %14 : tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
