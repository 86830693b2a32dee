// RUN: sp-opt %s --sp-deal-tensors | FileCheck %s

sp.mesh @mesh <["tp" = 2]> tensor "tp"

// Queries, keys and values of one product, gate and up of another: each part is dealt
// by itself. Weights that share a constant are not dealt alike for it.
// CHECK: func.func @main(%{{[^:]*}}: tensor<1x64x32xf32>,
// CHECK-SAME: %{{[^:]*}}: tensor<32x96xf32> {sp.donated_to = 2 : i64, sp.sharding = #sp.sharding<{{\[\[}}32], [3, 32 by <contiguous 32 on "tp" of 2>]]>}
// CHECK-SAME: %{{[^:]*}}: tensor<32x96xf32> {sp.donated_to = 3 : i64, sp.sharding = #sp.sharding<{{\[\[}}32], [2, 48 by <contiguous 48 on "tp" of 2>]]>}
// CHECK-SAME: %{{[^:]*}}: tensor<48x32xf32> {sp.sharding = #sp.sharding<{{\[\[}}48 by <contiguous 48 on "tp" of 2>], [32]]>})
// CHECK: stablehlo.slice %{{.*}} [0:1, 0:64, 2:3, 0:32] : (tensor<1x64x3x32xf32>) -> tensor<1x64x1x32xf32>
// CHECK: stablehlo.slice %{{.*}} [0:1, 0:64, 1:2, 0:48] : (tensor<1x64x2x48xf32>) -> tensor<1x64x1x48xf32>
// Halves of what nothing deals stay as they are.
// CHECK: stablehlo.slice %{{.*}} [0:1, 0:64, 0:16] : (tensor<1x64x32xf32>) -> tensor<1x64x16xf32>
func.func @main(%x: tensor<1x64x32xf32>, %qkv: tensor<32x96xf32> {sp.donated_to = 2 : i64}, %gateup: tensor<32x96xf32> {sp.donated_to = 3 : i64},
                %down: tensor<48x32xf32>) -> (tensor<1x64x16xf32>, tensor<1x64x32xf32>, tensor<32x96xf32>, tensor<32x96xf32>) {
  %0 = stablehlo.dot_general %x, %qkv, contracting_dims = [2] x [0] : (tensor<1x64x32xf32>, tensor<32x96xf32>) -> tensor<1x64x96xf32>
  %1 = stablehlo.slice %0 [0:1, 0:64, 0:32] : (tensor<1x64x96xf32>) -> tensor<1x64x32xf32>
  %2 = stablehlo.slice %0 [0:1, 0:64, 32:64] : (tensor<1x64x96xf32>) -> tensor<1x64x32xf32>
  %3 = stablehlo.slice %0 [0:1, 0:64, 64:96] : (tensor<1x64x96xf32>) -> tensor<1x64x32xf32>
  %q = stablehlo.reshape %1 : (tensor<1x64x32xf32>) -> tensor<1x64x4x8xf32>
  %k = stablehlo.reshape %2 : (tensor<1x64x32xf32>) -> tensor<1x64x4x8xf32>
  %v = stablehlo.reshape %3 : (tensor<1x64x32xf32>) -> tensor<1x64x4x8xf32>
  %o = sp.attention(%q, %k, %v) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi inf>] scale 1.0 : tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32> -> tensor<1x64x4x8xf32>
  %4 = stablehlo.reshape %o : (tensor<1x64x4x8xf32>) -> tensor<1x64x32xf32>
  %5 = stablehlo.add %x, %x : tensor<1x64x32xf32>
  %6 = stablehlo.dot_general %5, %gateup, contracting_dims = [2] x [0] : (tensor<1x64x32xf32>, tensor<32x96xf32>) -> tensor<1x64x96xf32>
  %7 = stablehlo.slice %6 [0:1, 0:64, 0:48] : (tensor<1x64x96xf32>) -> tensor<1x64x48xf32>
  %8 = stablehlo.slice %6 [0:1, 0:64, 48:96] : (tensor<1x64x96xf32>) -> tensor<1x64x48xf32>
  %9 = stablehlo.multiply %7, %8 : tensor<1x64x48xf32>
  %10 = stablehlo.dot_general %9, %down, contracting_dims = [2] x [0] : (tensor<1x64x48xf32>, tensor<48x32xf32>) -> tensor<1x64x32xf32>
  %y = stablehlo.add %5, %10 : tensor<1x64x32xf32>
  %12 = stablehlo.slice %x [0:1, 0:64, 0:16] : (tensor<1x64x32xf32>) -> tensor<1x64x16xf32>
  %c = stablehlo.constant dense<0.5> : tensor<32x96xf32>
  %13 = stablehlo.multiply %qkv, %c : tensor<32x96xf32>
  %14 = stablehlo.multiply %gateup, %c : tensor<32x96xf32>
  return %12, %y, %13, %14 : tensor<1x64x16xf32>, tensor<1x64x32xf32>, tensor<32x96xf32>, tensor<32x96xf32>
}
