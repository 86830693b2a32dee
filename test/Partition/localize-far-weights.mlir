// RUN: sp-opt %s --split-input-file --sp-propagate-shardings --sp-localize | FileCheck %s

// A parameter that a product reads in front of two attentions and behind them is
// gathered for each; one with a single attention in between is kept.
sp.mesh @mesh <["sp" = 4]> sequence "sp"
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4x16xf32> {{{.*}}}, %[[U:[a-z0-9]*]]: tensor<4x16xf32> {sp.donated_to = 1
func.func @main(%w: tensor<16x16xf32> {sp.donated_to = 0 : i64, sp.sharding = #sp.sharding<[[16 by <contiguous 16 on "sp" of 4>], [16]]>},
                %u: tensor<16x16xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<[[16 by <contiguous 16 on "sp" of 4>], [16]]>},
                %x: tensor<1x128x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<1x128x16xf32>) {
  // CHECK: %[[W0:.*]] = sp.all_gather %[[W]] dim 0
  // CHECK-NEXT: stablehlo.dot_general %{{.*}}, %[[W0]]
  %a = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<1x128x16xf32>, tensor<16x16xf32>) -> tensor<1x128x16xf32>
  %h0 = stablehlo.reshape %a : (tensor<1x128x16xf32>) -> tensor<1x128x2x8xf32>
  %o0 = sp.attention(%h0, %h0, %h0) bands [#sp.band<q 0 to 128, k 0 to 128, lo -inf, hi 0>] scale 1.0
      plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first>
      : tensor<1x128x2x8xf32>, tensor<1x128x2x8xf32>, tensor<1x128x2x8xf32> -> tensor<1x128x2x8xf32>
  %b = stablehlo.reshape %o0 : (tensor<1x128x2x8xf32>) -> tensor<1x128x16xf32>
  // CHECK: %[[U0:.*]] = sp.all_gather %[[U]] dim 0
  // CHECK-NEXT: stablehlo.dot_general %{{.*}}, %[[U0]]
  %c = stablehlo.dot_general %b, %u, contracting_dims = [2] x [0] : (tensor<1x128x16xf32>, tensor<16x16xf32>) -> tensor<1x128x16xf32>
  %h1 = stablehlo.reshape %c : (tensor<1x128x16xf32>) -> tensor<1x128x2x8xf32>
  %o1 = sp.attention(%h1, %h1, %h1) bands [#sp.band<q 0 to 128, k 0 to 128, lo -inf, hi 0>] scale 1.0
      plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first>
      : tensor<1x128x2x8xf32>, tensor<1x128x2x8xf32>, tensor<1x128x2x8xf32> -> tensor<1x128x2x8xf32>
  %d = stablehlo.reshape %o1 : (tensor<1x128x2x8xf32>) -> tensor<1x128x16xf32>
  // CHECK-NOT: sp.all_gather
  // CHECK: stablehlo.dot_general %{{.*}}, %[[U0]]
  %e = stablehlo.dot_general %d, %u, contracting_dims = [2] x [1] : (tensor<1x128x16xf32>, tensor<16x16xf32>) -> tensor<1x128x16xf32>
  // CHECK: %[[AGAIN:.*]] = stablehlo.optimization_barrier %[[W]]
  // CHECK-NEXT: %[[W1:.*]] = sp.all_gather %[[AGAIN]] dim 0
  // CHECK-NEXT: stablehlo.dot_general %{{.*}}, %[[W1]]
  %f = stablehlo.dot_general %e, %w, contracting_dims = [2] x [1] : (tensor<1x128x16xf32>, tensor<16x16xf32>) -> tensor<1x128x16xf32>
  return %w, %u, %f : tensor<16x16xf32>, tensor<16x16xf32>, tensor<1x128x16xf32>
}
