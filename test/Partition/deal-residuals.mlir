// RUN: sp-opt %s --split-input-file --sp-deal-residuals | FileCheck %s

// Sums over the tensor axis are scattered by rows, residual and norm are computed in
// parts, and weights read them gathered. The gradient of the norm's scale is a sum
// over rows.
module @layer {
  sp.mesh @mesh <["tp" = 2]> tensor "tp"
  // CHECK-LABEL: module @layer
  // CHECK: func.func @main(%[[X:.*]]: tensor<1x9x4xf32> {{.*}}, %[[P:.*]]: tensor<1x9x8xf32>
  // CHECK: %[[PART:.*]] = stablehlo.dot_general %[[P]]
  // CHECK: %[[Y:.*]] = sp.reduce_scatter %[[PART]] sum dim 1 in <contiguous 9 on "tp" of 2> : tensor<1x9x4xf32> -> tensor<1x5x4xf32>
  // CHECK: %[[H:.*]] = stablehlo.add %{{.*}}, %[[Y]] : tensor<1x5x4xf32>
  // CHECK: %[[N:.*]] = stablehlo.tanh %[[H]] : tensor<1x5x4xf32>
  // CHECK: %[[ALL:.*]] = sp.all_gather %[[N]] dim 1 in <contiguous 9 on "tp" of 2> : tensor<1x5x4xf32> -> tensor<1x9x4xf32>
  // CHECK: stablehlo.dot_general %[[ALL]]
  // CHECK: %[[SUM:.*]] = stablehlo.reduce(%{{.*}} : (tensor<1x5x4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: sp.all_reduce %[[SUM]] sum over ["tp"] of 2 : tensor<4xf32>
  // CHECK-NOT: sp.all_reduce
  func.func @main(%x: tensor<1x9x4xf32> {sp.sharding = #sp.sharding<[[1], [9], [4]]>},
                  %p: tensor<1x9x8xf32> {sp.sharding = #sp.sharding<[[1], [9], [16 by <contiguous 16 on "tp" of 2>]]>},
                  %down: tensor<8x4xf32> {sp.sharding = #sp.sharding<[[16 by <contiguous 16 on "tp" of 2>], [4]]>},
                  %up: tensor<4x8xf32> {sp.sharding = #sp.sharding<[[4], [16 by <contiguous 16 on "tp" of 2>]]>})
      -> (tensor<1x9x8xf32>, tensor<4xf32>) {
    %0 = stablehlo.dot_general %p, %down, contracting_dims = [2] x [0] : (tensor<1x9x8xf32>, tensor<8x4xf32>) -> tensor<1x9x4xf32>
    %1 = sp.all_reduce %0 sum over ["tp"] of 2 : tensor<1x9x4xf32>
    %2 = stablehlo.add %x, %1 : tensor<1x9x4xf32>
    %3 = stablehlo.tanh %2 : tensor<1x9x4xf32>
    %4 = stablehlo.dot_general %3, %up, contracting_dims = [2] x [0] : (tensor<1x9x4xf32>, tensor<4x8xf32>) -> tensor<1x9x8xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %5 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x9x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %4, %5 : tensor<1x9x8xf32>, tensor<4xf32>
  }
}

// -----

// A product with whole weights reads whole rows: its gradient would be but a part.
// What a rank has of its own stays.
module @whole_weights {
  sp.mesh @mesh <["sp" = 2, "tp" = 2]> sequence "sp" tensor "tp"
  // CHECK-LABEL: module @whole_weights
  // CHECK: %[[Y:.*]] = sp.reduce_scatter
  // CHECK: %[[ALL:.*]] = sp.all_gather %[[Y]] dim 0
  // CHECK: stablehlo.dot_general %[[ALL]], %arg1
  // CHECK: sp.positions <contiguous 8 on "sp" of 2> : tensor<4xi32>
  // CHECK: sp.all_reduce %{{.*}} sum over ["sp"] of 2 : tensor<4x4xf32>
  func.func @main(%p: tensor<8x4xf32> {sp.sharding = #sp.sharding<[[16 by <contiguous 16 on "tp" of 2>], [4]]>},
                  %w: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) -> (tensor<4x4xf32>, tensor<8x4xf32>, tensor<4xi32>) {
    %1 = sp.all_reduce %p sum over ["tp"] of 2 : tensor<8x4xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %rows = sp.positions <contiguous 8 on "sp" of 2> : tensor<4xi32>
    %3 = stablehlo.dot_general %2, %1, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %4 = sp.all_reduce %3 sum over ["sp"] of 2 : tensor<4x4xf32>
    return %4, %2, %rows : tensor<4x4xf32>, tensor<8x4xf32>, tensor<4xi32>
  }
}

// -----

// Steps of an attention of whole heads read one value, whole: what each of them gathers
// would be another.
module @whole_heads {
  sp.mesh @mesh <["sp" = 2, "tp" = 2]> sequence "sp" tensor "tp"
  // CHECK-LABEL: module @whole_heads
  // CHECK: %[[SUM:.*]] = sp.all_gather %{{.*}} : tensor<1x4x4xf32> -> tensor<1x8x4xf32>
  // CHECK-NEXT: %[[Q:.*]] = stablehlo.reshape %[[SUM]]
  // CHECK-NOT: sp.all_gather
  // CHECK: sp.attend(%[[Q]], %[[Q]], %[[Q]])
  // CHECK: sp.attend(%[[Q]], %[[Q]], %[[Q]])
  func.func @main(%p: tensor<1x8x4xf32> {sp.sharding = #sp.sharding<[[1], [8], [8 by <contiguous 8 on "tp" of 2>]]>}) -> tensor<1x8x1x4xf32> {
    %1 = sp.all_reduce %p sum over ["tp"] of 2 : tensor<1x8x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %here = sp.rank "sp" : index
    %o, %s = sp.attend(%2, %2, %2) queries <contiguous 16 on "sp" of 2> keys <contiguous 16 on "sp" of 2> from %here bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2
        : (tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>) -> tensor<1x8x1x4xf32>, tensor<1x8x1x2xf32>
    %o1, %s1 = sp.attend(%2, %2, %2) queries <contiguous 16 on "sp" of 2> keys <contiguous 16 on "sp" of 2> from %here bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2
        : (tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>) -> tensor<1x8x1x4xf32>, tensor<1x8x1x2xf32>
    %3 = stablehlo.add %o, %o1 : tensor<1x8x1x4xf32>
    return %3 : tensor<1x8x1x4xf32>
  }
}
