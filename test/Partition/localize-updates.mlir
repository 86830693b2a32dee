// RUN: sp-opt %s --sp-localize --sp-verify-axes --canonicalize --cse | FileCheck %s

// New rows that ranks share go to who holds the positions that they are written at, where
// these are known, as in a prefill of a longer cache; else they are gathered.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[CACHE:[a-z0-9]+]]: tensor<1x16x2xf32> {{{.*}}}, %[[NEW:[a-z0-9]+]]: tensor<1x8x2xf32>
sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @main(%cache: tensor<1x64x2xf32> {sp.sharding = #sp.sharding<[[1], [64 by <zigzag 64 on "sp" of 4>], [2]]>}, %new: tensor<1x32x2xf32> {sp.sharding = #sp.sharding<[[1], [32 by <zigzag 32 on "sp" of 4>], [2]]>}, %at: tensor<i32>) -> (tensor<1x64x2xf32>, tensor<1x64x2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  // CHECK: %[[LINE:.*]] = sp.positions <zigzag 64 on "sp" of 4>
  // CHECK: %[[ROW:.*]] = stablehlo.subtract %[[LINE]]
  // CHECK: %[[NEAREST:.*]] = stablehlo.clamp %{{.*}}, %[[ROW]]
  // CHECK: %[[IS_NEW:.*]] = stablehlo.compare EQ, %[[ROW]], %[[NEAREST]]
  // CHECK: %[[MOVED:.*]] = sp.redeal %[[NEW]] dim 1 from <zigzag 32 on "sp" of 4> to <zigzag 64 on "sp" of 4> by -3 : tensor<1x8x2xf32> -> tensor<1x16x2xf32>
  // CHECK: stablehlo.select %{{.*}}, %[[MOVED]], %[[CACHE]]
  %0 = stablehlo.dynamic_update_slice %cache, %new, %zero, %three, %zero {sp.shardings = [#sp.sharding<[[1], [64 by <zigzag 64 on "sp" of 4>], [2]]>]} : (tensor<1x64x2xf32>, tensor<1x32x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x2xf32>
  // CHECK: sp.all_gather %[[NEW]]
  %1 = stablehlo.dynamic_update_slice %cache, %new, %zero, %at, %zero {sp.shardings = [#sp.sharding<[[1], [64 by <zigzag 64 on "sp" of 4>], [2]]>]} : (tensor<1x64x2xf32>, tensor<1x32x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x2xf32>
  return %0, %1 : tensor<1x64x2xf32>, tensor<1x64x2xf32>
}
