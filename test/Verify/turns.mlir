// RUN: sp-opt %s --sp-verify-coverage --sp-verify-stacks --split-input-file --verify-diagnostics | FileCheck %s

// What a turn takes of its own rows, and puts together again, stays that turn's:
// the last of blocks that leave a rest too.
// CHECK-LABEL: module @rest_of_a_turn
// CHECK-COUNT-2: sp.attend
#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @rest_of_a_turn {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %p0 = sp.take %qt at %c0 dim 1 : tensor<1x4x1x8xf32> -> tensor<1x3x1x8xf32>
      %p1 = sp.take %qt at %c3 dim 1 : tensor<1x4x1x8xf32> -> tensor<1x1x1x8xf32>
      %none = sp.empty : tensor<1x4x1x8xf32>
      %some = sp.put %p0 into %none at %c0 dim 1 : tensor<1x3x1x8xf32>, tensor<1x4x1x8xf32>
      %all = sp.put %p1 into %some at %c3 dim 1 : tensor<1x1x1x8xf32>, tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %a, %l = sp.attend(%all, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      %b, %n = sp.attend(%all, %m#0, %m#1) onto(%a, %l) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      %p = sp.put %b into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}

// -----

// Rows lie where those of the other turn do in the whole, but are this turn's.
// CHECK-LABEL: module @place_within_a_turn_is_no_turn
// CHECK-COUNT-2: sp.attend
#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @place_within_a_turn_is_no_turn {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %no = affine.apply #other(%t)
      %none = sp.empty : tensor<1x8x1x8xf32>
      %first = sp.put %qt into %none at %c0 dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      %both = sp.put %qt into %first at %c4 dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      %part = sp.take %both at %no dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %a, %l = sp.attend(%part, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      %b, %n = sp.attend(%part, %m#0, %m#1) onto(%a, %l) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      %p = sp.put %b into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}
