// RUN: sp-opt %s --sp-verify-coverage --sp-verify-stacks --split-input-file --verify-diagnostics | FileCheck %s
//
// Queries in turns, of which something was damaged; the first module is right.

// CHECK-LABEL: module @right
// CHECK: sp.put
#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @right {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %a, %l = sp.attend(%qt, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      %b, %n = sp.attend(%qt, %m#0, %m#1) onto(%a, %l) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      %p = sp.put %b into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}

// -----

// Results of a turn lie where those of another belong.
#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @put_where_another_turn_belongs {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %a, %l = sp.attend(%qt, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      %b, %n = sp.attend(%qt, %m#0, %m#1) onto(%a, %l) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      %no = affine.apply #other(%t)
      // expected-error @below {{'sp.put' op puts rows of turn 0 where those of turn 1 belong}}
      %p = sp.put %b into %s at %no dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}

// -----

// The rows are not those that the mask is applied to.
#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @rows_of_another_turn {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %no = affine.apply #other(%t)
      %qt = sp.take %q at %no dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      // expected-error @below {{'sp.attend' op takes queries to be those of owner 0 which are those of owner 2, in turn 1}}
      %a, %l = sp.attend(%qt, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      %b, %n = sp.attend(%qt, %m#0, %m#1) onto(%a, %l) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      %p = sp.put %b into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}

// -----

#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> ((1 - d0) * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @owner_of_another_turn {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      // expected-error @below {{'sp.attend' op takes queries to be those of owner 2 which are those of owner 0, in turn 0}}
      %a, %l = sp.attend(%qt, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      %b, %n = sp.attend(%qt, %m#0, %m#1) onto(%a, %l) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      %p = sp.put %b into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}

// -----

#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + 1 - s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @owner_of_another_rank {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      // expected-error @below {{'sp.attend' op takes queries to be those of owner 1 which are those of owner 0, in turn 0}}
      %a, %l = sp.attend(%qt, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      %b, %n = sp.attend(%qt, %m#0, %m#1) onto(%a, %l) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      %p = sp.put %b into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}

// -----

// The other rank's keys are never met.
#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @keys_of_nobody_else {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      // expected-error @below {{'sp.attend' op is the last of its state, but the queries of owner 0 have not met the keys of owner 1, with which they share 32 visible pairs}}
      %a, %l = sp.attend(%qt, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      %p = sp.put %a into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}

// -----

#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @own_keys_twice {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %a, %l = sp.attend(%qt, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      // expected-error @below {{'sp.attend' op attends a second time to keys that its state has met: at owner 0 those of owner 0}}
      %b, %n = sp.attend(%qt, %k, %k) onto(%a, %l) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      %p = sp.put %b into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}

// -----

// Rows that lie half in one turn, half in the next.
#row = affine_map<(d0) -> (d0 * 4 - (d0 floordiv 1) * 2)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @between_two_turns {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      // expected-error @below {{'sp.attend' op attends with queries of several turns}}
      %a, %l = sp.attend(%qt, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      %b, %n = sp.attend(%qt, %m#0, %m#1) onto(%a, %l) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      %p = sp.put %b into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}

// -----

// A state goes on with the queries of another turn.
#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @state_of_another_turn {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>) -> tensor<1x8x1x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %o = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %e) -> (tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %no = affine.apply #other(%t)
      %qn = sp.take %q at %no dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %a, %l = sp.attend(%qt, %k, %k) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      sp.wait %came
      // expected-error @below {{'sp.attend' op takes queries to be those of owner 0 which are those of owner 2, in turn 1}}
      %b, %n = sp.attend(%qn, %m#0, %m#1) onto(%a, %l) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 as sums_base_2 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1x2xf32>
      %p = sp.put %b into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      scf.yield %p : tensor<1x8x1x8xf32>
    } {sp.turns}
    return %o : tensor<1x8x1x8xf32>
  }
}
