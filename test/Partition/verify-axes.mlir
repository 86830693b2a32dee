// RUN: sp-opt %s -split-input-file --sp-verify-axes | FileCheck %s

// What is right, though each looks like something that is refused.

// Parts go through linear operations, on their own and beside what is 0.
// CHECK-LABEL: module @linear
module @linear {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}, %w: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) -> (tensor<8x2xbf16> {sp.sharding = #sp.sharding<[[8], [2]]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %half = stablehlo.constant dense<0.5> : tensor<4x4xf32>
    %p = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %a = stablehlo.add %p, %zeros : tensor<4x4xf32>
    %b = stablehlo.multiply %a, %half : tensor<4x4xf32>
    %c = stablehlo.dot_general %w, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = stablehlo.reshape %c : (tensor<4x4xf32>) -> tensor<8x2xf32>
    %e = stablehlo.convert %d : (tensor<8x2xf32>) -> tensor<8x2xbf16>
    %s = sp.all_reduce %e sum over ["sp"] of 4 : tensor<8x2xbf16>
    return %s : tensor<8x2xbf16>
  }
}

// -----

// Rows that are all alike: 2 on each of 4 ranks are 8, though every rank adds up the
// same. A maximum of maxima is one, as often as it is taken.
// CHECK-LABEL: module @counted
module @counted {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<f32> {sp.sharding = #sp.sharding<[]>}, tensor<4xf32> {sp.sharding = #sp.sharding<[[4]]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %ones = stablehlo.constant dense<1.0> : tensor<2xf32>
    %own = stablehlo.reduce(%ones init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %all = sp.all_reduce %own sum over ["sp"] of 4 : tensor<f32>
    %p = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
    %m = sp.all_reduce %p max over ["sp"] of 4 : tensor<4xf32>
    %again = sp.all_reduce %m max over ["sp"] of 4 : tensor<4xf32>
    return %all, %again : tensor<f32>, tensor<4xf32>
  }
}

// -----

// A loop adds up parts, from 0, and of a stack of them; they are reduced behind it.
// CHECK-LABEL: module @accumulated
module @accumulated {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>}) -> (tensor<4xf32> {sp.sharding = #sp.sharding<[[4]]>}, tensor<3x4xf32> {sp.sharding = #sp.sharding<[[3], [4]]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.constant dense<0.0> : tensor<4xf32>
    %rows = stablehlo.constant dense<0.0> : tensor<3x4xf32>
    %n = stablehlo.constant dense<0> : tensor<i32>
    %end = stablehlo.constant dense<3> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:3 = stablehlo.while(%i = %n, %sum = %zeros, %stack = %rows) : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %p = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
      %next = stablehlo.add %sum, %p : tensor<4xf32>
      %row = stablehlo.reshape %p : (tensor<4xf32>) -> tensor<1x4xf32>
      %put = stablehlo.dynamic_update_slice %stack, %row, %i, %n : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %put : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>
    }
    %s = sp.all_reduce %r#1 sum over ["sp"] of 4 : tensor<4xf32>
    %t = sp.all_reduce %r#2 sum over ["sp"] of 4 : tensor<3x4xf32>
    return %s, %t : tensor<4xf32>, tensor<3x4xf32>
  }
}

// -----

// Factors of an axis, one after the other, and each rank's part of a sum, which it
// updates its state by; what a product reads is gathered.
// CHECK-LABEL: module @step_by_step
module @step_by_step {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "sp" of 4>], [4]]>},
                  %m: tensor<1x4xf32> {sp.donated_to = 0 : i64, sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp" of 4>], [4]]>})
      -> (tensor<1x4xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp" of 4>], [4]]>}, tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}, tensor<4x4xf32> {sp.sharding = #sp.sharding<[[4], [4]]>}) {
    %p = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %half = sp.all_reduce %p sum over ["sp:(2)2"] of 2 : tensor<4x4xf32>
    %both = sp.all_reduce %half sum over ["sp:(1)2"] of 2 : tensor<4x4xf32>
    %own = sp.reduce_scatter %p sum dim 0 in <contiguous 4 on "sp" of 4> : tensor<4x4xf32> -> tensor<1x4xf32>
    %new = stablehlo.subtract %m, %own : tensor<1x4xf32>
    %all = sp.all_gather %new dim 0 in <contiguous 4 on "sp" of 4> : tensor<1x4xf32> -> tensor<4x4xf32>
    return %new, %both, %all : tensor<1x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
}

// -----

// Rows that reshapes take apart and join, and rows that are exchanged for heads.
// CHECK-LABEL: module @rows
module @rows {
  sp.mesh @mesh <["dp" = 2, "sp" = 2]> sequence "sp" batch "dp"
  func.func @main(%x: tensor<3x4x2x8xf32> {sp.sharding = #sp.sharding<[[6 by <contiguous 6 on "dp" of 2>], [8 by <zigzag 8 on "sp" of 2>], [2], [8]]>}, %w: tensor<16x16xf32> {sp.sharding = #sp.sharding<[[16], [16]]>})
      -> (tensor<3x4x2x8xf32> {sp.sharding = #sp.sharding<[[6 by <contiguous 6 on "dp" of 2>], [8 by <zigzag 8 on "sp" of 2>], [2], [8]]>}, tensor<16x16xf32> {sp.sharding = #sp.sharding<[[16], [16]]>}) {
    %flat = stablehlo.reshape %x : (tensor<3x4x2x8xf32>) -> tensor<12x16xf32>
    %y = stablehlo.dot_general %flat, %w, contracting_dims = [1] x [0] : (tensor<12x16xf32>, tensor<16x16xf32>) -> tensor<12x16xf32>
    %dw = stablehlo.dot_general %flat, %y, contracting_dims = [0] x [0] : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<16x16xf32>
    %sum = sp.all_reduce %dw sum over ["dp", "sp"] of 4 : tensor<16x16xf32>
    %apart = stablehlo.reshape %y : (tensor<12x16xf32>) -> tensor<3x4x2x8xf32>
    %h = sp.all_to_all %apart rows <zigzag 8 on "sp" of 2> heads <contiguous 2 on "sp" of 2> of 2 : tensor<3x4x2x8xf32> -> tensor<3x8x1x8xf32>
    %back = sp.all_to_all %h rows <zigzag 8 on "sp" of 2> heads <contiguous 2 on "sp" of 2> of 2 to_rows : tensor<3x8x1x8xf32> -> tensor<3x4x2x8xf32>
    return %back, %sum : tensor<3x4x2x8xf32>, tensor<16x16xf32>
  }
}

// -----

// One value is queries, keys and values: gradients of its heads are those of keys,
// not parts of a sum over queries. Where keys are gathered they are parts.
// CHECK-LABEL: module @attention_to_itself
module @attention_to_itself {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%x: tensor<1x4x2x8xf32> {sp.sharding = #sp.sharding<[[1], [8 by <contiguous 8 on "sp" of 2>], [2], [8]]>}, %lse: tensor<1x4x2xf32> {sp.sharding = #sp.sharding<[[1], [8 by <contiguous 8 on "sp" of 2>], [2]]>})
      -> (tensor<1x4x2x8xf32> {sp.sharding = #sp.sharding<[[1], [8 by <contiguous 8 on "sp" of 2>], [2], [8]]>}, tensor<1x4x2x8xf32> {sp.sharding = #sp.sharding<[[1], [8 by <contiguous 8 on "sp" of 2>], [2], [8]]>}) {
    %h = sp.all_to_all %x rows <contiguous 8 on "sp" of 2> heads <contiguous 2 on "sp" of 2> of 2 : tensor<1x4x2x8xf32> -> tensor<1x8x1x8xf32>
    %l4 = stablehlo.reshape %lse : (tensor<1x4x2xf32>) -> tensor<1x4x2x1xf32>
    %lh = sp.all_to_all %l4 rows <contiguous 8 on "sp" of 2> heads <contiguous 2 on "sp" of 2> of 2 : tensor<1x4x2x1xf32> -> tensor<1x8x1x1xf32>
    %l = stablehlo.reshape %lh : (tensor<1x8x1x1xf32>) -> tensor<1x8x1xf32>
    %dq, %dk, %dv = sp.attend_backward(%h, %h, %h) of(%h, %l, %l) queries <contiguous 8 on "" of 1> keys <contiguous 8 on "" of 1>
       heads <contiguous 2 on "sp" of 2> kv_heads 2 bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.000000e+00
       : (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1xf32>)
       -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
    %own = sp.all_to_all %dk rows <contiguous 8 on "sp" of 2> heads <contiguous 2 on "sp" of 2> of 2 to_rows : tensor<1x8x1x8xf32> -> tensor<1x4x2x8xf32>
    %k = sp.all_gather %x dim 1 in <contiguous 8 on "sp" of 2> : tensor<1x4x2x8xf32> -> tensor<1x8x2x8xf32>
    %dq1, %dk1, %dv1 = sp.attend_backward(%x, %k, %k) of(%x, %lse, %lse) queries <contiguous 8 on "sp" of 2> keys <contiguous 8 on "" of 1>
       bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.000000e+00
       : (tensor<1x4x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>)
       -> (tensor<1x4x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>)
    %sum = sp.reduce_scatter %dk1 sum dim 1 in <contiguous 8 on "sp" of 2> : tensor<1x8x2x8xf32> -> tensor<1x4x2x8xf32>
    return %own, %sum : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>
  }
}

// -----

// Rows of two sequences behind each other, of which tensor ranks have one each:
// runs of what the other axis deals, inside which its rows stay as they are.
// CHECK-LABEL: module @runs_around_dealt_rows
module @runs_around_dealt_rows {
  sp.mesh @mesh <["sp" = 2, "tp" = 2]> sequence "sp" tensor "tp"
  func.func @main(%x: tensor<1x12x4xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "tp" of 2>], [24 by <zigzag 24 on "sp" of 2>], [4]]>}) -> (tensor<2x4xf32> {sp.sharding = #sp.sharding<[[2], [4]]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %rows = stablehlo.reshape %x {sp.one_row = {tp = 0}} : (tensor<1x12x4xf32>) -> tensor<12x4xf32>
    %all = sp.all_gather %rows dim 0 in <contiguous 24 on "tp" of 2> : tensor<12x4xf32> -> tensor<24x4xf32>
    %y = stablehlo.reshape %all : (tensor<24x4xf32>) -> tensor<2x12x4xf32>
    %part = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x12x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %sum = sp.all_reduce %part sum over ["sp"] of 2 : tensor<2x4xf32>
    return %sum : tensor<2x4xf32>
  }
}

// -----

// Chunks of a sequence alone in its batch, of which a rank has one, and back:
// which dimension of one they lie in is said.
// CHECK-LABEL: module @chunks_beside_a_batch_of_one
module @chunks_beside_a_batch_of_one {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x4x8xf32> {sp.sharding = #sp.sharding<[[1], [16 by <contiguous 16 on "sp" of 4>], [8]]>})
      -> (tensor<1x4x8xf32> {sp.sharding = #sp.sharding<[[1], [16 by <contiguous 16 on "sp" of 4>], [8]]>}, tensor<4x1x4x8xf32> {sp.sharding = #sp.sharding<[[4], [1], [4], [8]]>}) {
    %inside = stablehlo.reshape %x {sp.one_row = {sp = 1}} : (tensor<1x4x8xf32>) -> tensor<1x1x4x8xf32>
    %first = stablehlo.transpose %inside, dims = [1, 0, 2, 3] : (tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
    %back = stablehlo.transpose %first, dims = [1, 0, 2, 3] : (tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
    %y = stablehlo.reshape %back {sp.one_row = {sp = 1}} : (tensor<1x1x4x8xf32>) -> tensor<1x4x8xf32>
    %flat = stablehlo.reshape %y {sp.one_row = {sp = 0}} : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %apart = stablehlo.reshape %flat {sp.one_row = {sp = 0}} : (tensor<1x4x8xf32>) -> tensor<1x1x4x8xf32>
    %all = sp.all_gather %apart dim 0 in <contiguous 4 on "sp" of 4> : tensor<1x1x4x8xf32> -> tensor<4x1x4x8xf32>
    return %y, %all : tensor<1x4x8xf32>, tensor<4x1x4x8xf32>
  }
}

// -----

// The first positions of a longer sequence, cut further where ranks keep as many
// rows: pairs of rows are dealt as pairs of all its positions, however many are left.
// CHECK-LABEL: module @runs_of_first_positions
module @runs_of_first_positions {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%x: tensor<16x4xf32> {sp.sharding = #sp.sharding<[[31 by <zigzag 31 within 32 on "sp" of 2 blocks 2>], [4]]>}, %y: tensor<8x4xf32> {sp.sharding = #sp.sharding<[[15 by <contiguous 15 within 16 on "sp" of 2>], [4]]>})
      -> (tensor<8x4xf32> {sp.sharding = #sp.sharding<[[15 by <zigzag 15 within 16 on "sp" of 2 blocks 2>], [4]]>}, tensor<4x2x4xf32> {sp.sharding = #sp.sharding<[[7 by <contiguous 7 within 8 on "sp" of 2>], [2], [4]]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %pairs = stablehlo.reshape %x : (tensor<16x4xf32>) -> tensor<8x2x4xf32>
    %sums = stablehlo.reduce(%pairs init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x2x4xf32>, tensor<f32>) -> tensor<8x4xf32>
    %apart = stablehlo.reshape %y : (tensor<8x4xf32>) -> tensor<4x2x4xf32>
    return %sums, %apart : tensor<8x4xf32>, tensor<4x2x4xf32>
  }
}

// -----

// Rows of two axes, of which one run is left: both deal runs then.
// CHECK-LABEL: module @one_run_of_two_axes
module @one_run_of_two_axes {
  sp.mesh @mesh <["sp" = 2, "tp" = 2]> sequence "sp" tensor "tp"
  func.func @main(%x: tensor<6x8xf32> {sp.sharding = #sp.sharding<[[12 by <zigzag 12 on "sp" of 2>], [16 by <contiguous 16 on "tp" of 2>]]>},
                  %w: tensor<8x4xf32> {sp.sharding = #sp.sharding<[[16 by <contiguous 16 on "tp" of 2>], [4]]>}) -> (tensor<4x3x4xf32> {sp.sharding = #sp.sharding<[[4], [3], [4]]>}) {
    %part = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
    %sum = sp.reduce_scatter %part sum dim 0 in <contiguous 6 on "tp" of 2> : tensor<6x4xf32> -> tensor<3x4xf32>
    %run = stablehlo.reshape %sum {sp.one_row = {sp = 0 : i64, tp = 0 : i64}} : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
    %runs = sp.all_gather %run dim 0 in <contiguous 2 on "tp" of 2> : tensor<1x3x4xf32> -> tensor<2x3x4xf32>
    %all = sp.all_gather %runs dim 0 in <zigzag 4 on "sp" of 2> : tensor<2x3x4xf32> -> tensor<4x3x4xf32>
    return %all : tensor<4x3x4xf32>
  }
}

// -----

// Rows that a second axis deals as well: runs of a rank are as long as they were
// before that, wherever its rows are.
// CHECK-LABEL: module @rows_dealt_again
module @rows_dealt_again {
  sp.mesh @mesh <["sp" = 2, "tp" = 2]> sequence "sp" tensor "tp"
  func.func @main(%x: tensor<2x12x4xf32> {sp.sharding = #sp.sharding<[[2], [24 by <contiguous 24 on "sp" of 2>], [8 by <contiguous 8 on "tp" of 2>]]>}, %w: tensor<4x4xf32> {sp.sharding = #sp.sharding<[[8 by <contiguous 8 on "tp" of 2>], [4]]>})
      -> (tensor<2x12x4xf32> {sp.sharding = #sp.sharding<[[2], [24 by <contiguous 24 on "sp" of 2>], [4]]>}) {
    %part = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<2x12x4xf32>, tensor<4x4xf32>) -> tensor<2x12x4xf32>
    %own = sp.reduce_scatter %part sum dim 1 in <contiguous 12 on "tp" of 2> : tensor<2x12x4xf32> -> tensor<2x6x4xf32>
    %chunk = stablehlo.reshape %own {sp.one_row = {sp = 1, tp = 2}} : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
    %first = stablehlo.transpose %chunk, dims = [1, 0, 2, 3] : (tensor<2x1x6x4xf32>) -> tensor<1x2x6x4xf32>
    %all = sp.all_gather %first dim 2 in <contiguous 12 on "tp" of 2> : tensor<1x2x6x4xf32> -> tensor<1x2x12x4xf32>
    %back = stablehlo.transpose %all, dims = [1, 0, 2, 3] : (tensor<1x2x12x4xf32>) -> tensor<2x1x12x4xf32>
    %y = stablehlo.reshape %back {sp.one_row = {sp = 1}} : (tensor<2x1x12x4xf32>) -> tensor<2x12x4xf32>
    return %y : tensor<2x12x4xf32>
  }
}
