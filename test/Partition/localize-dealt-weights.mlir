// RUN: sp-opt %s -split-input-file --sp-propagate-shardings --sp-localize | FileCheck %s
//
// Gradients of weights that a user deals by the axis of the tokens.

// Partial sums are added where each rank keeps its part; no token is gathered.
// CHECK-LABEL: module @dealt_weight
// CHECK:       func.func @main(%[[X:.*]]: tensor<1x32x8xf32>{{.*}}, %[[DY:.*]]: tensor<1x32x4xf32>
// CHECK:         %[[P:.*]] = stablehlo.dot_general %[[X]], %[[DY]], {{.*}} -> tensor<8x4xf32>
// CHECK:         sp.reduce_scatter %[[P]] sum dim 0 in <contiguous 8 on "sp" of 4> : tensor<8x4xf32> -> tensor<2x4xf32>
module @dealt_weight {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x128x8xf32> {sp.sharding = #sp.sharding<[[1], [128 by <zigzag 128 on "sp" of 4>], [8]]>},
                  %dy: tensor<1x128x4xf32> {sp.sharding = #sp.sharding<[[1], [128 by <zigzag 128 on "sp" of 4>], [4]]>},
                  %w: tensor<8x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> tensor<8x4xf32> {
    %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0, 1] x [0, 1] : (tensor<1x128x8xf32>, tensor<1x128x4xf32>) -> tensor<8x4xf32>
    %new = stablehlo.subtract %w, %dw : tensor<8x4xf32>
    return %new : tensor<8x4xf32>
  }
}

// -----

// Sums of narrow numbers are rounded once, behind the last sum.
// CHECK-LABEL: module @narrow_weight
// CHECK:         %[[P:.*]] = stablehlo.dot_general {{.*}} -> tensor<8x4xf32>
// CHECK:         %[[S:.*]] = sp.reduce_scatter %[[P]] sum dim 1 in <contiguous 4 on "sp" of 4> : tensor<8x4xf32> -> tensor<8x1xf32>
// CHECK:         stablehlo.convert %[[S]] : (tensor<8x1xf32>) -> tensor<8x1xbf16>
module @narrow_weight {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<128x8xbf16> {sp.sharding = #sp.sharding<[[128 by <zigzag 128 on "sp" of 4>], [8]]>},
                  %dy: tensor<128x4xbf16> {sp.sharding = #sp.sharding<[[128 by <zigzag 128 on "sp" of 4>], [4]]>},
                  %w: tensor<8x4xbf16> {sp.sharding = #sp.sharding<[[8], [4 by <contiguous 4 on "sp" of 4>]]>}) -> tensor<8x4xbf16> {
    %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<128x8xbf16>, tensor<128x4xbf16>) -> tensor<8x4xbf16>
    %new = stablehlo.subtract %w, %dw : tensor<8x4xbf16>
    return %new : tensor<8x4xbf16>
  }
}

// -----

// Partial sums over two axes, each of which deals a part of the result.
// CHECK-LABEL: module @two_axes
// CHECK:         %[[P:.*]] = stablehlo.dot_general
// CHECK-NEXT:    %[[T:.*]] = stablehlo.reshape %[[P]] : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
// CHECK-NEXT:    %[[D:.*]] = sp.reduce_scatter %[[T]] sum dim 0 in <contiguous 2 on "dp" of 2> : tensor<2x4x4xf32> -> tensor<1x4x4xf32>
// CHECK-NEXT:    %[[S:.*]] = sp.reduce_scatter %[[D]] sum dim 1 in <contiguous 4 on "sp" of 4> : tensor<1x4x4xf32> -> tensor<1x1x4xf32>
// CHECK-NEXT:    stablehlo.reshape %[[S]] : (tensor<1x1x4xf32>) -> tensor<1x4xf32>
// CHECK-NOT:     sp.all_reduce
module @two_axes {
  sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
  func.func @main(%x: tensor<2x128x8xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [128 by <zigzag 128 on "sp" of 4>], [8]]>},
                  %dy: tensor<2x128x4xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [128 by <zigzag 128 on "sp" of 4>], [4]]>},
                  %w: tensor<8x4xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>, 4 by <contiguous 4 on "sp" of 4>], [4]]>}) -> tensor<8x4xf32> {
    %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0, 1] x [0, 1] : (tensor<2x128x8xf32>, tensor<2x128x4xf32>) -> tensor<8x4xf32>
    %new = stablehlo.subtract %w, %dw : tensor<8x4xf32>
    return %new : tensor<8x4xf32>
  }
}

// -----

// Where there are fewer tokens than the weight has rows, they are gathered.
// CHECK-LABEL: module @few_tokens
// CHECK:         sp.all_gather
// CHECK-NOT:     sp.reduce_scatter
module @few_tokens {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<4x64xf32> {sp.sharding = #sp.sharding<[[4 by <zigzag 4 on "sp" of 4>], [64]]>},
                  %dy: tensor<4x64xf32> {sp.sharding = #sp.sharding<[[4 by <zigzag 4 on "sp" of 4>], [64]]>},
                  %w: tensor<64x64xf32> {sp.sharding = #sp.sharding<[[64 by <contiguous 64 on "sp" of 4>], [64]]>}) -> tensor<64x64xf32> {
    %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
    %new = stablehlo.subtract %w, %dw : tensor<64x64xf32>
    return %new : tensor<64x64xf32>
  }
}

// -----

// Where both send as much, nothing is gathered: a rank scatters 3 of 4 parts of
// 8 x 8, and would gather 3 of 4 rows twice, of 8 each.
// CHECK-LABEL: module @as_many
// CHECK-NOT:     sp.all_gather
// CHECK:         sp.reduce_scatter {{.*}} : tensor<8x8xf32> -> tensor<2x8xf32>
module @as_many {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<4x8xf32> {sp.sharding = #sp.sharding<[[4 by <zigzag 4 on "sp" of 4>], [8]]>},
                  %dy: tensor<4x8xf32> {sp.sharding = #sp.sharding<[[4 by <zigzag 4 on "sp" of 4>], [8]]>},
                  %w: tensor<8x8xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [8]]>}) -> tensor<8x8xf32> {
    %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %new = stablehlo.subtract %w, %dw : tensor<8x8xf32>
    return %new : tensor<8x8xf32>
  }
}

// -----

// Every rank makes zeros of its own: scattering 7 x 6 sends 84 bytes, gathering
// four rows of six and their four indices 112.
// CHECK-LABEL: module @from_zeros
// CHECK-NOT:     sp.all_gather
// CHECK:         sp.reduce_scatter {{.*}} : tensor<7x6xf32> -> tensor<7x3xf32>
module @from_zeros {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%tokens: tensor<8x1xi32> {sp.sharding = #sp.sharding<[[8 by <zigzag 8 on "sp" of 2>], [1]]>},
                  %dy: tensor<8x6xf32> {sp.sharding = #sp.sharding<[[8 by <zigzag 8 on "sp" of 2>], [6]]>},
                  %w: tensor<7x6xf32> {sp.sharding = #sp.sharding<[[7], [6 by <contiguous 6 on "sp" of 2>]]>}) -> tensor<7x6xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<7x6xf32>
    %dw = "stablehlo.scatter"(%zeros, %tokens, %dy) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<7x6xf32>, tensor<8x1xi32>, tensor<8x6xf32>) -> tensor<7x6xf32>
    %new = stablehlo.subtract %w, %dw : tensor<7x6xf32>
    return %new : tensor<7x6xf32>
  }
}
