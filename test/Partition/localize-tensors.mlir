// RUN: sp-opt %s --split-input-file --sp-deal-tensors --sp-propagate-shardings --sp-localize | FileCheck %s

// A rank attends with its heads and has its part of the output's sum; numbers that a
// score function has of heads are those of the whole attention, uneven as they are.
module @heads {
  sp.mesh @mesh <["sp" = 2, "tp" = 2]> sequence "sp" tensor "tp"
  // CHECK-LABEL: module @heads
  // CHECK: sp.attend(%{{.*}}) score @alibi per_head(%{{.*}} : tensor<1x1x8x1xf32>)
  // CHECK-SAME: head_part <kv <contiguous 3 on "tp" of 2> each <contiguous 2 on "" of 1>>
  // CHECK-SAME: (tensor<1x16x4x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>)
  // CHECK: %[[PART:.*]] = stablehlo.dot_general %{{.*}} : (tensor<1x16x32xf32>, tensor<32x48xf32>)
  // CHECK: sp.all_reduce %[[PART]] sum over ["tp"] of 2 : tensor<1x16x48xf32>
  func.func @main(%q: tensor<1x32x6x8xf32>, %wo: tensor<48x48xf32>, %k: tensor<1x32x3x8xf32>, %slopes: tensor<1x1x6x1xf32>) -> tensor<1x32x48xf32> {
    %o = sp.attention(%q, %k, %k) score @alibi per_head(%slopes : tensor<1x1x6x1xf32>) bands [#sp.band<q 0 to 32, k 0 to 32, lo -inf, hi 0>] scale 1.0 plan <axis = "sp", heads = 1, outer = 1, inner = 2, gather = 1, layout = zigzag, placement = head_first> : tensor<1x32x6x8xf32>, tensor<1x32x3x8xf32>, tensor<1x32x3x8xf32> -> tensor<1x32x6x8xf32>
    %o0 = stablehlo.reshape %o : (tensor<1x32x6x8xf32>) -> tensor<1x32x48xf32>
    %y = stablehlo.dot_general %o0, %wo, contracting_dims = [2] x [0] : (tensor<1x32x48xf32>, tensor<48x48xf32>) -> tensor<1x32x48xf32>
    return %y : tensor<1x32x48xf32>
  }
  func.func private @alibi(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %slope: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.subtract %j, %i : tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.multiply %1, %slope : tensor<f32>
    %3 = stablehlo.add %s, %2 : tensor<f32>
    return %3 : tensor<f32>
  }
}

// -----

// Words of a dealt vocabulary: each rank picks its own, and adds gradients to its own.
module @words {
  sp.mesh @mesh <["tp" = 2]> tensor "tp"
  // CHECK-LABEL: module @words
  // CHECK: %[[FIRST:.*]] = stablehlo.clamp %{{.*}}, %arg1
  // CHECK: %[[OWN:.*]] = stablehlo.subtract %[[FIRST]]
  // CHECK: %[[PICKED:.*]] = "stablehlo.gather"(%arg0, %[[OWN]])
  // CHECK-SAME: (tensor<6x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  // CHECK: %[[MINE:.*]] = stablehlo.select %{{.*}}, %[[PICKED]]
  // CHECK: sp.all_reduce %[[MINE]] sum over ["tp"] of 2 : tensor<8x4xf32>
  // CHECK-NOT: sp.all_reduce
  // CHECK-NOT: sp.all_gather
  // CHECK: "stablehlo.scatter"
  // CHECK: (tensor<6x4xf32>, tensor<8xi32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  func.func @main(%table: tensor<11x4xf32> {sp.donated_to = 1 : i64, sp.sharding = #sp.sharding<[[11 by <contiguous 11 on "tp" of 2>], [4]]>},
                  %words: tensor<8xi32>, %d: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<11x4xf32>) {
    %x = "stablehlo.gather"(%table, %words) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>, indices_are_sorted = false}> : (tensor<11x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
    %next = "stablehlo.scatter"(%table, %words, %d) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<11x4xf32>, tensor<8xi32>, tensor<8x4xf32>) -> tensor<11x4xf32>
    return %x, %next : tensor<8x4xf32>, tensor<11x4xf32>
  }
}

// -----

// Query heads of one kv head, 2, 2 and 1 of them, of which every rank has the kv head.
module @readers {
  sp.mesh @mesh <["sp" = 2, "tp" = 3]> sequence "sp" tensor "tp"
  // CHECK-LABEL: module @readers
  // CHECK: sp.attend(
  // CHECK-SAME: head_part <kv <contiguous 1 on "" of 1> each <contiguous 5 on "tp" of 3>>
  // CHECK-SAME: (tensor<1x16x2x8xf32>, tensor<1x16x1x8xf32>, tensor<1x16x1x8xf32>)
  // CHECK: %[[PART:.*]] = stablehlo.dot_general %{{.*}} : (tensor<1x16x16xf32>, tensor<16x40xf32>)
  // CHECK: sp.all_reduce %[[PART]] sum over ["tp"] of 3 : tensor<1x16x40xf32>
  func.func @main(%q: tensor<1x32x5x8xf32>, %wo: tensor<40x40xf32>, %k: tensor<1x32x1x8xf32>) -> tensor<1x32x40xf32> {
    %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 32, k 0 to 32, lo -inf, hi 0>] scale 1.0 plan <axis = "sp", heads = 1, outer = 1, inner = 2, gather = 1, layout = zigzag, placement = head_first> : tensor<1x32x5x8xf32>, tensor<1x32x1x8xf32>, tensor<1x32x1x8xf32> -> tensor<1x32x5x8xf32>
    %o0 = stablehlo.reshape %o : (tensor<1x32x5x8xf32>) -> tensor<1x32x40xf32>
    %y = stablehlo.dot_general %o0, %wo, contracting_dims = [2] x [0] : (tensor<1x32x40xf32>, tensor<40x40xf32>) -> tensor<1x32x40xf32>
    return %y : tensor<1x32x40xf32>
  }
}
