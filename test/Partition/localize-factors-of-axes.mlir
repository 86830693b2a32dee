// RUN: sp-opt %s --sp-propagate-shardings --sp-localize --canonicalize --cse --sp-verify-partition | FileCheck %s

// A rank has the heads "sp:(2)2" of %b and the rows "sp" of the attention's result:
// ranks that differ in the factor differ in both, so that it cuts one of them only.

// CHECK: %[[ROWS:.*]] = sp.all_gather %{{.*}} dim 2 in <contiguous 8 on "sp" of 4 split 2> : tensor<1x4x2x4xf32> -> tensor<1x4x8x4xf32>
// CHECK: %[[HEADS:.*]] = "stablehlo.gather"(%[[ROWS]],
// CHECK: %[[PAIRS:.*]] = sp.all_gather %{{.*}} dim 2 in <contiguous 8 on "sp:(1)2" of 2> : tensor<1x2x4x4xf32> -> tensor<1x2x8x4xf32>
// CHECK: stablehlo.multiply %[[HEADS]], %[[PAIRS]] : tensor<1x2x8x4xf32>
module @factor_of_an_axis {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x8x4x4xf32>, %b: tensor<1x4x8x8xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x4x8x4xf32>) {
    %o = sp.attention(%q, %q, %q) score @score pair(%b : tensor<1x4x8x8xf32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 0.5
       plan <axis = "sp", heads = 2, outer = 1, inner = 2, gather = 1, layout = contiguous, placement = head_first>
       : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32>
    %t = stablehlo.transpose %o, dims = [0, 2, 1, 3] : (tensor<1x8x4x4xf32>) -> tensor<1x4x8x4xf32>
    %c = stablehlo.slice %b [0:1, 0:4, 0:8, 0:4] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x4xf32>
    %s = stablehlo.multiply %t, %c : tensor<1x4x8x4xf32>
    return %o, %s : tensor<1x8x4x4xf32>, tensor<1x4x8x4xf32>
  }
  func.func private @score(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %b: tensor<f32>) -> tensor<f32> {
    %r = stablehlo.add %s, %b : tensor<f32>
    return %r : tensor<f32>
  }
}
