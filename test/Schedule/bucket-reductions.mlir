// RUN: sp-opt %s -split-input-file --sp-bucket-reductions | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: sp-opt %s -split-input-file --sp-bucket-reductions=bucket-bytes=64 | FileCheck %s --check-prefixes=CHECK,SMALL

// The first sum waits for the second, and what is made of it for its use. A full
// bucket is closed.
// CHECK-LABEL: module @sums_are_joined_at_the_last
// CHECK: %[[A:.*]] = sp.launch @double(%arg0)
// SMALL-NEXT: %[[SA:.*]] = sp.all_reduce %[[A]] sum
// CHECK-NEXT: %[[B:.*]] = sp.launch @double(%[[A]])
// LARGE-NEXT: %[[S:.*]]:2 = sp.all_reduce %[[A]], %[[B]] sum over ["dp", "sp"] of 4 : tensor<16xf32>, tensor<16xf32>
// SMALL-NEXT: %[[SB:.*]] = sp.all_reduce %[[B]] sum
// CHECK-NEXT: %[[C:.*]] = sp.launch @double(%[[B]])
// LARGE-NEXT: %[[USED:.*]] = sp.launch @double(%[[S]]#0)
// LARGE-NEXT: return %[[USED]], %[[S]]#1, %[[C]]
// SMALL-NEXT: %[[USED:.*]] = sp.launch @double(%[[SA]])
// SMALL-NEXT: return %[[USED]], %[[SB]], %[[C]]
module @sums_are_joined_at_the_last {
  func.func private @double(%x: tensor<16xf32>) -> tensor<16xf32> {
    %y = stablehlo.add %x, %x : tensor<16xf32>
    return %y : tensor<16xf32>
  }
  func.func @main(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
    %a = sp.launch @double(%x) : (tensor<16xf32>) -> tensor<16xf32>
    %sa = sp.all_reduce %a sum over ["dp", "sp"] of 4 : tensor<16xf32>
    %used = sp.launch @double(%sa) : (tensor<16xf32>) -> tensor<16xf32>
    %b = sp.launch @double(%a) : (tensor<16xf32>) -> tensor<16xf32>
    %sb = sp.all_reduce %b sum over ["dp", "sp"] of 4 : tensor<16xf32>
    %c = sp.launch @double(%b) : (tensor<16xf32>) -> tensor<16xf32>
    return %used, %sb, %c : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  }
}

// -----

// CHECK-LABEL: module @not_over_other_axes_types_or_kinds
// CHECK: sp.all_reduce %arg0 sum over ["dp"]
// CHECK-NEXT: sp.all_reduce %arg1 max over ["sp"]
// CHECK-NEXT: sp.all_reduce %arg2 sum over ["sp"]
// CHECK-NEXT: sp.all_reduce %arg0, %arg1 sum over ["sp"]
module @not_over_other_axes_types_or_kinds {
  func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf64>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>, tensor<8xf32>) {
    %0 = sp.all_reduce %x sum over ["dp"] of 2 : tensor<8xf32>
    %1 = sp.all_reduce %x sum over ["sp"] of 2 : tensor<8xf32>
    %2 = sp.all_reduce %y max over ["sp"] of 2 : tensor<8xf32>
    %3 = sp.all_reduce %z sum over ["sp"] of 2 : tensor<8xf64>
    %4 = sp.all_reduce %y sum over ["sp"] of 2 : tensor<8xf32>
    return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>, tensor<8xf32>
  }
}

// -----

// What is used before the next sum is there neither waits nor keeps others
// waiting.
// CHECK-LABEL: module @a_sum_used_at_once_stays_alone
// CHECK: %[[LOSS:.*]] = sp.all_reduce %arg1 sum over ["sp"] of 2 : tensor<f32>
// CHECK-NEXT: %[[SCALED:.*]] = sp.launch @scale(%arg0, %[[LOSS]])
// CHECK-NEXT: %[[S:.*]]:2 = sp.all_reduce %arg0, %[[SCALED]] sum
// CHECK-NEXT: return %[[S]]#0, %[[S]]#1
module @a_sum_used_at_once_stays_alone {
  func.func private @scale(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf32> {
    %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %y = stablehlo.multiply %x, %b : tensor<8xf32>
    return %y : tensor<8xf32>
  }
  func.func @main(%x: tensor<8xf32>, %l: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %sx = sp.all_reduce %x sum over ["sp"] of 2 : tensor<8xf32>
    %sl = sp.all_reduce %l sum over ["sp"] of 2 : tensor<f32>
    %y = sp.launch @scale(%x, %sl) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %sy = sp.all_reduce %y sum over ["sp"] of 2 : tensor<8xf32>
    return %sx, %sy : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// A loop in between may use a sum: the bucket before it is closed.
// CHECK-LABEL: module @not_behind_a_use_in_a_loop_nor_out_of_it
// CHECK: sp.all_reduce %arg0, %arg1 sum
// CHECK: scf.for
// CHECK: sp.all_reduce %{{.*}} sum over ["sp"] of 2 : tensor<8xf32>
// CHECK: scf.yield
// CHECK: sp.all_reduce %arg1 sum over ["sp"] of 2 : tensor<8xf32>
module @not_behind_a_use_in_a_loop_nor_out_of_it {
  func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %sx = sp.all_reduce %x sum over ["sp"] of 2 : tensor<8xf32>
    %sy = sp.all_reduce %y sum over ["sp"] of 2 : tensor<8xf32>
    %r = scf.for %i = %zero to %two step %one iter_args(%a = %sx) -> (tensor<8xf32>) {
      %s = sp.all_reduce %a sum over ["sp"] of 2 : tensor<8xf32>
      scf.yield %s : tensor<8xf32>
    }
    %sz = sp.all_reduce %y sum over ["sp"] of 2 : tensor<8xf32>
    return %r, %sy, %sz : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// At most two buckets wait: what is made of the first comes before the third.
// CHECK-LABEL: module @used_before_the_next_but_one
// SMALL: %[[A:.*]] = sp.all_reduce %arg0 sum
// SMALL-NEXT: %[[B:.*]] = sp.all_reduce %arg1 sum
// SMALL-NEXT: %[[USED:.*]] = sp.launch @halves(%[[A]])
// SMALL-NEXT: %[[C:.*]] = sp.all_reduce %arg2 sum
// SMALL-NEXT: %[[NEXT:.*]] = sp.launch @halves(%[[B]])
// SMALL-NEXT: return %[[USED]], %[[NEXT]], %[[C]]
// LARGE: %[[S:.*]]:3 = sp.all_reduce %arg0, %arg1, %arg2
// LARGE-NEXT: sp.launch @halves(%[[S]]#0)
module @used_before_the_next_but_one {
  func.func private @halves(%x: tensor<16xf32>) -> tensor<16xbf16> {
    %y = stablehlo.convert %x : (tensor<16xf32>) -> tensor<16xbf16>
    return %y : tensor<16xbf16>
  }
  func.func @main(%a: tensor<16xf32>, %b: tensor<16xf32>, %c: tensor<16xf32>) -> (tensor<16xbf16>, tensor<16xbf16>, tensor<16xf32>) {
    %sa = sp.all_reduce %a sum over ["sp"] of 2 : tensor<16xf32>
    %ha = sp.launch @halves(%sa) : (tensor<16xf32>) -> tensor<16xbf16>
    %sb = sp.all_reduce %b sum over ["sp"] of 2 : tensor<16xf32>
    %hb = sp.launch @halves(%sb) : (tensor<16xf32>) -> tensor<16xbf16>
    %sc = sp.all_reduce %c sum over ["sp"] of 2 : tensor<16xf32>
    return %ha, %hb, %sc : tensor<16xbf16>, tensor<16xbf16>, tensor<16xf32>
  }
}

// -----

// What would keep more than it makes does not wait for a bucket.
// CHECK-LABEL: module @large_operands_are_not_kept
// CHECK: %[[L:.*]] = sp.all_reduce %arg1 sum over ["sp"] of 2 : tensor<f32>
// CHECK-NEXT: %[[ROW:.*]] = sp.launch @scaled_row(%arg0, %[[L]])
// CHECK-NEXT: %[[G:.*]] = sp.launch @scaled_row(%arg0, %arg1)
// CHECK-NEXT: sp.all_reduce %[[G]] sum
module @large_operands_are_not_kept {
  func.func private @scaled_row(%x: tensor<1024x64xf32>, %s: tensor<f32>) -> tensor<64xf32> {
    %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %r = stablehlo.slice %x [0:1, 0:64] : (tensor<1024x64xf32>) -> tensor<1x64xf32>
    %v = stablehlo.reshape %r : (tensor<1x64xf32>) -> tensor<64xf32>
    %y = stablehlo.multiply %v, %b : tensor<64xf32>
    return %y : tensor<64xf32>
  }
  func.func @main(%x: tensor<1024x64xf32>, %l: tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %s = sp.all_reduce %l sum over ["sp"] of 2 : tensor<f32>
    %row = sp.launch @scaled_row(%x, %s) : (tensor<1024x64xf32>, tensor<f32>) -> tensor<64xf32>
    %g = sp.launch @scaled_row(%x, %l) : (tensor<1024x64xf32>, tensor<f32>) -> tensor<64xf32>
    %sg = sp.all_reduce %g sum over ["sp"] of 2 : tensor<64xf32>
    return %row, %sg : tensor<64xf32>, tensor<64xf32>
  }
}

// -----

// Sums that are dealt are joined as others are, and what is made of a bucket does
// not wait for more than the next one: the third waits for the use of the first.
// CHECK-LABEL: module @dealt_sums_are_used_before_the_next_but_one
// SMALL: %[[A:.*]] = sp.reduce_scatter %arg0 sum
// SMALL-NEXT: %[[X:.*]] = sp.launch @double(%arg0)
// SMALL-NEXT: %[[B:.*]] = sp.reduce_scatter %[[X]] sum
// SMALL-NEXT: %[[Y:.*]] = sp.launch @double(%[[X]])
// SMALL-NEXT: %[[UA:.*]] = sp.launch @half(%[[A]])
// SMALL-NEXT: %[[C:.*]] = sp.reduce_scatter %[[Y]] sum
// SMALL-NEXT: %[[Z:.*]] = sp.launch @double(%[[Y]])
// SMALL-NEXT: %[[UB:.*]] = sp.launch @half(%[[B]])
// SMALL-NEXT: %[[D:.*]] = sp.reduce_scatter %[[Z]] sum
// SMALL-NEXT: sp.launch @half(%[[C]])
// SMALL-NEXT: sp.launch @half(%[[D]])
// LARGE: %[[X:.*]] = sp.launch @double(%arg0)
// LARGE-NEXT: %[[Y:.*]] = sp.launch @double(%[[X]])
// LARGE-NEXT: %[[Z:.*]] = sp.launch @double(%[[Y]])
// LARGE-NEXT: %[[S:.*]]:4 = sp.reduce_scatter %arg0, %[[X]], %[[Y]], %[[Z]] sum dim 0 in <contiguous 4 on "sp" of 2> :
// LARGE-NEXT: sp.launch @half(%[[S]]#0)
module @dealt_sums_are_used_before_the_next_but_one {
  func.func private @double(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %y = stablehlo.add %x, %x : tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
  func.func private @half(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %y = stablehlo.add %x, %x : tensor<2x4xf32>
    return %y : tensor<2x4xf32>
  }
  func.func @main(%w: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
    %a = sp.reduce_scatter %w sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x4xf32> -> tensor<2x4xf32>
    %x = sp.launch @double(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %b = sp.reduce_scatter %x sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x4xf32> -> tensor<2x4xf32>
    %y = sp.launch @double(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %c = sp.reduce_scatter %y sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x4xf32> -> tensor<2x4xf32>
    %z = sp.launch @double(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = sp.reduce_scatter %z sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x4xf32> -> tensor<2x4xf32>
    %ua = sp.launch @half(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %ub = sp.launch @half(%b) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %uc = sp.launch @half(%c) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %ud = sp.launch @half(%d) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %ua, %ub, %uc, %ud : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  }
}

// -----

// Each along a dimension of its own; what is summed over another axis, of another
// type or otherwise stays apart.
// CHECK-LABEL: module @dealt_sums_of_one_axis
// CHECK: sp.reduce_scatter %arg2 sum dim 0 in <contiguous 4 on "dp" of 2>
// CHECK-NEXT: sp.reduce_scatter %arg3 sum dim 0
// CHECK-NEXT: sp.reduce_scatter %arg0 max dim 0
// LARGE-NEXT: sp.reduce_scatter %arg0, %arg1 sum dims [0 in <contiguous 4 on "sp" of 2>, 1 in <contiguous 3 on "sp" of 2>] : tensor<4x2xf32>, tensor<2x3xf32> -> tensor<2x2xf32>, tensor<2x2xf32>
module @dealt_sums_of_one_axis {
  func.func @main(%x: tensor<4x2xf32>, %y: tensor<2x3xf32>, %z: tensor<4xf32>, %w: tensor<4xf64>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf64>, tensor<2x2xf32>, tensor<2x2xf32>) {
    %0 = sp.reduce_scatter %x sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x2xf32> -> tensor<2x2xf32>
    %1 = sp.reduce_scatter %z sum dim 0 in <contiguous 4 on "dp" of 2> : tensor<4xf32> -> tensor<2xf32>
    %2 = sp.reduce_scatter %w sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4xf64> -> tensor<2xf64>
    %3 = sp.reduce_scatter %x max dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x2xf32> -> tensor<2x2xf32>
    %4 = sp.reduce_scatter %y sum dim 1 in <contiguous 3 on "sp" of 2> : tensor<2x3xf32> -> tensor<2x2xf32>
    return %0, %1, %2, %3, %4 : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf64>, tensor<2x2xf32>, tensor<2x2xf32>
  }
}

// -----

// Gradients of keys, which the next sums are made of, do not wait for the sum of
// a weight's gradient, though they are used behind it.
// CHECK-LABEL: module @a_sum_that_others_need_stays_alone
// CHECK: %[[DK:.*]] = sp.reduce_scatter %arg0 sum
// SMALL-NEXT: sp.reduce_scatter %arg1 sum
// CHECK-NEXT: %[[NEXT:.*]] = sp.launch @double(%[[DK]])
// LARGE-NEXT: sp.reduce_scatter %arg1, %[[NEXT]] sum dim 0
module @a_sum_that_others_need_stays_alone {
  func.func private @double(%x: tensor<2x4xf32>) -> tensor<4x4xf32> {
    %y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
  func.func @main(%dk: tensor<4x4xf32>, %dw: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
    %a = sp.reduce_scatter %dk sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x4xf32> -> tensor<2x4xf32>
    %b = sp.reduce_scatter %dw sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x4xf32> -> tensor<2x4xf32>
    %next = sp.launch @double(%a) : (tensor<2x4xf32>) -> tensor<4x4xf32>
    %c = sp.reduce_scatter %next sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x4xf32> -> tensor<2x4xf32>
    return %b, %c : tensor<2x4xf32>, tensor<2x4xf32>
  }
}

// -----

// What is dealt over one axis and summed over the next is joined over each.
// CHECK-LABEL: module @over_one_axis_after_another
// LARGE: %[[D:.*]]:2 = sp.reduce_scatter %arg0, %arg1 sum dim 0 in <contiguous 4 on "sp" of 2>
// LARGE-NEXT: sp.all_reduce %[[D]]#0, %[[D]]#1 sum over ["dp"] of 2
module @over_one_axis_after_another {
  func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
    %a = sp.reduce_scatter %x sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x4xf32> -> tensor<2x4xf32>
    %sa = sp.all_reduce %a sum over ["dp"] of 2 : tensor<2x4xf32>
    %b = sp.reduce_scatter %y sum dim 0 in <contiguous 4 on "sp" of 2> : tensor<4x4xf32> -> tensor<2x4xf32>
    %sb = sp.all_reduce %b sum over ["dp"] of 2 : tensor<2x4xf32>
    return %sa, %sb : tensor<2x4xf32>, tensor<2x4xf32>
  }
}
