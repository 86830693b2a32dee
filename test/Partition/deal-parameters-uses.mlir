// RUN: sp-opt %s --split-input-file --sp-deal-parameters=zero=1 | FileCheck %s

// A moment is state though its norm scales the update, as in LAMB, and a mean of its
// rows and its transpose go into it.
// CHECK-LABEL: module @norms
// CHECK: func.func @main(%{{[^:]*}}: tensor<160x160xf32> {sp.donated_to = 0 : i64, sp.sharding = #sp.sharding<{{\[\[}}160], [160]]>}
// CHECK-SAME: %{{[^:]*}}: tensor<160x160xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<{{\[\[}}160 by <contiguous 160 on "sp" of 4>], [160]]>}
module @norms {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%w: tensor<160x160xf32> {sp.donated_to = 0 : i64}, %moment: tensor<160x160xf32> {sp.donated_to = 1 : i64}, %x: tensor<64x160xf32>)
      -> (tensor<160x160xf32>, tensor<160x160xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x160xf32>, tensor<160x160xf32>) -> tensor<64x160xf32>
    %dw = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<64x160xf32>, tensor<64x160xf32>) -> tensor<160x160xf32>
    %m = stablehlo.add %moment, %dw : tensor<160x160xf32>
    %square = stablehlo.multiply %m, %m : tensor<160x160xf32>
    %sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<160x160xf32>, tensor<f32>) -> tensor<f32>
    %norm = stablehlo.sqrt %sum : tensor<f32>
    %norms = stablehlo.broadcast_in_dim %norm, dims = [] : (tensor<f32>) -> tensor<160x160xf32>
    %mean = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<160x160xf32>, tensor<f32>) -> tensor<160xf32>
    %means = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<160xf32>) -> tensor<160x160xf32>
    %turned = stablehlo.transpose %m, dims = [1, 0] : (tensor<160x160xf32>) -> tensor<160x160xf32>
    %scaled = stablehlo.divide %m, %norms : tensor<160x160xf32>
    %centred = stablehlo.subtract %scaled, %means : tensor<160x160xf32>
    %u = stablehlo.subtract %centred, %turned : tensor<160x160xf32>
    %n = stablehlo.subtract %w, %u : tensor<160x160xf32>
    return %n, %m : tensor<160x160xf32>, tensor<160x160xf32>
  }
}

// -----

// Layers that are cut out of a stack by numbers, and those that loops within loops take of
// one that is reshaped for them: the stack's moment is dealt by another dimension, as
// gradients of layers are sums that end there.
// CHECK-LABEL: module @stacks
// CHECK: func.func @main(%{{[^:]*}}: tensor<4x96x96xf32> {sp.donated_to = 0 : i64, sp.sharding = #sp.sharding<{{\[\[}}4], [96], [96]]>}
// CHECK-SAME: %{{[^:]*}}: tensor<4x96x96xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<{{\[\[}}4], [96 by <contiguous 96 on "sp" of 4>], [96]]>}
// CHECK-SAME: %{{[^:]*}}: tensor<4x96x96xf32> {sp.donated_to = 3 : i64, sp.sharding = #sp.sharding<{{\[\[}}4], [96 by <contiguous 96 on "sp" of 4>], [96]]>}
// Of one dimension alone, that is dealt.
// CHECK-SAME: %{{[^:]*}}: tensor<20000xf32> {sp.donated_to = 4 : i64, sp.sharding = #sp.sharding<{{\[\[}}20000 by <contiguous 20000 on "sp" of 4>]]>}
module @stacks {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%w: tensor<4x96x96xf32> {sp.donated_to = 0 : i64}, %m: tensor<4x96x96xf32> {sp.donated_to = 1 : i64},
                  %v: tensor<4x96x96xf32> {sp.donated_to = 2 : i64}, %n: tensor<4x96x96xf32> {sp.donated_to = 3 : i64},
                  %flat: tensor<20000xf32> {sp.donated_to = 4 : i64}, %x: tensor<96x96xf32>)
      -> (tensor<4x96x96xf32>, tensor<4x96x96xf32>, tensor<4x96x96xf32>, tensor<4x96x96xf32>, tensor<20000xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %part = stablehlo.slice %w [1:2, 0:96, 0:96] : (tensor<4x96x96xf32>) -> tensor<1x96x96xf32>
    %layer = stablehlo.reshape %part : (tensor<1x96x96xf32>) -> tensor<96x96xf32>
    %y = stablehlo.dot_general %x, %layer, contracting_dims = [1] x [0] : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xf32>
    %pairs = stablehlo.reshape %v : (tensor<4x96x96xf32>) -> tensor<2x2x96x96xf32>
    %pair = stablehlo.dynamic_slice %pairs, %zero, %zero, %zero, %zero, sizes = [1, 2, 96, 96] : (tensor<2x2x96x96xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x96x96xf32>
    %second = stablehlo.slice %pair [0:1, 1:2, 0:96, 0:96] : (tensor<1x2x96x96xf32>) -> tensor<1x1x96x96xf32>
    %inner = stablehlo.reshape %second : (tensor<1x1x96x96xf32>) -> tensor<96x96xf32>
    %z = stablehlo.dot_general %y, %inner, contracting_dims = [1] x [0] : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xf32>
    %g = stablehlo.broadcast_in_dim %z, dims = [1, 2] : (tensor<96x96xf32>) -> tensor<4x96x96xf32>
    %m1 = stablehlo.add %m, %g : tensor<4x96x96xf32>
    %w1 = stablehlo.subtract %w, %m1 : tensor<4x96x96xf32>
    %n1 = stablehlo.add %n, %g : tensor<4x96x96xf32>
    %v1 = stablehlo.subtract %v, %n1 : tensor<4x96x96xf32>
    %head = stablehlo.slice %flat [0:9216] : (tensor<20000xf32>) -> tensor<9216xf32>
    %square = stablehlo.reshape %head : (tensor<9216xf32>) -> tensor<96x96xf32>
    %squares = stablehlo.broadcast_in_dim %square, dims = [1, 2] : (tensor<96x96xf32>) -> tensor<4x96x96xf32>
    %w2 = stablehlo.add %w1, %squares : tensor<4x96x96xf32>
    return %w2, %m1, %v1, %n1, %flat : tensor<4x96x96xf32>, tensor<4x96x96xf32>, tensor<4x96x96xf32>, tensor<4x96x96xf32>, tensor<20000xf32>
  }
}

// -----

// Behind a barrier each value is what it was: a product reads the weight there, and none
// the moment beside it.
// CHECK-LABEL: module @barriers
// CHECK: func.func @main(%{{[^:]*}}: tensor<160x160xf32> {sp.donated_to = 0 : i64, sp.sharding = #sp.sharding<{{\[\[}}160], [160]]>}
// CHECK-SAME: %{{[^:]*}}: tensor<160x160xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<{{\[\[}}160 by <contiguous 160 on "sp" of 4>], [160]]>}
module @barriers {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%w: tensor<160x160xf32> {sp.donated_to = 0 : i64}, %moment: tensor<160x160xf32> {sp.donated_to = 1 : i64}, %x: tensor<160x160xf32>)
      -> (tensor<160x160xf32>, tensor<160x160xf32>) {
    %b:2 = stablehlo.optimization_barrier %moment, %w : tensor<160x160xf32>, tensor<160x160xf32>
    %y = stablehlo.dot_general %x, %b#1, contracting_dims = [1] x [0] : (tensor<160x160xf32>, tensor<160x160xf32>) -> tensor<160x160xf32>
    %m = stablehlo.add %b#0, %y : tensor<160x160xf32>
    %n = stablehlo.subtract %w, %m : tensor<160x160xf32>
    return %n, %m : tensor<160x160xf32>, tensor<160x160xf32>
  }
}
