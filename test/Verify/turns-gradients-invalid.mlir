// RUN: sp-opt %s --sp-verify-coverage --sp-verify-stacks --split-input-file --verify-diagnostics | FileCheck %s
//
// Gradients of queries in turns, of which something was damaged; the first module is right.

// CHECK-LABEL: module @right
// CHECK: sp.put
#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @right {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>, %do: tensor<1x8x1x8xf32>, %l: tensor<1x8x1xf32>, %d: tensor<1x8x1xf32>, %z: tensor<1x8x1x8xf32>) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %g:3 = scf.for %t = %c0 to %c2 step %c1 iter_args(%dk = %z, %dv = %z, %s = %e) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %dot = sp.take %do at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %lt = sp.take %l at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %dt = sp.take %d at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %a:3 = sp.attend_backward(%qt, %k, %k) of(%dot, %lt, %dt) onto_keys(%dk, %dv) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %h:2, %here = sp.shift_start %a#1, %a#2 from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %came
      sp.wait %here
      %b:3 = sp.attend_backward(%qt, %m#0, %m#1) of(%dot, %lt, %dt) onto_query(%a#0) onto_keys(%h#0, %h#1) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %r:2, %home = sp.shift_start %b#1, %b#2 from %next by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %p = sp.put %b#0 into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %home
      scf.yield %r#0, %r#1, %p : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
    } {sp.turns}
    return %g#2, %g#0, %g#1 : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
  }
}

// -----

// What turns before have left is forgotten.
#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @gradient_begins_anew {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>, %do: tensor<1x8x1x8xf32>, %l: tensor<1x8x1xf32>, %d: tensor<1x8x1xf32>, %z: tensor<1x8x1x8xf32>) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %g:3 = scf.for %t = %c0 to %c2 step %c1 iter_args(%dk = %z, %dv = %z, %s = %e) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %dot = sp.take %do at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %lt = sp.take %l at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %dt = sp.take %d at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %a:3 = sp.attend_backward(%qt, %k, %k) of(%dot, %lt, %dt) onto_keys(%z, %z) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %h:2, %here = sp.shift_start %a#1, %a#2 from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %came
      sp.wait %here
      %b:3 = sp.attend_backward(%qt, %m#0, %m#1) of(%dot, %lt, %dt) onto_query(%a#0) onto_keys(%h#0, %h#1) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      // expected-error @below {{'sp.shift_start' op makes a part of a gradient of keys that is lost}}
      %r:2, %home = sp.shift_start %b#1, %b#2 from %next by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %p = sp.put %b#0 into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %home
      scf.yield %r#0, %r#1, %p : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
    } {sp.turns}
    return %g#2, %g#0, %g#1 : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
  }
}

// -----

#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @sums_of_another_turn {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>, %do: tensor<1x8x1x8xf32>, %l: tensor<1x8x1xf32>, %d: tensor<1x8x1xf32>, %z: tensor<1x8x1x8xf32>) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %g:3 = scf.for %t = %c0 to %c2 step %c1 iter_args(%dk = %z, %dv = %z, %s = %e) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %dot = sp.take %do at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %lt = sp.take %l at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %no = affine.apply #other(%t)
      %dt = sp.take %d at %no dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      // expected-error @below {{'sp.attend_backward' op attends with queries of several turns}}
      %a:3 = sp.attend_backward(%qt, %k, %k) of(%dot, %lt, %dt) onto_keys(%dk, %dv) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %h:2, %here = sp.shift_start %a#1, %a#2 from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %came
      sp.wait %here
      %b:3 = sp.attend_backward(%qt, %m#0, %m#1) of(%dot, %lt, %dt) onto_query(%a#0) onto_keys(%h#0, %h#1) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %r:2, %home = sp.shift_start %b#1, %b#2 from %next by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %p = sp.put %b#0 into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %home
      scf.yield %r#0, %r#1, %p : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
    } {sp.turns}
    return %g#2, %g#0, %g#1 : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
  }
}

// -----

#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @gradient_where_another_turn_belongs {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>, %do: tensor<1x8x1x8xf32>, %l: tensor<1x8x1xf32>, %d: tensor<1x8x1xf32>, %z: tensor<1x8x1x8xf32>) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %g:3 = scf.for %t = %c0 to %c2 step %c1 iter_args(%dk = %z, %dv = %z, %s = %e) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %dot = sp.take %do at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %lt = sp.take %l at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %dt = sp.take %d at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %a:3 = sp.attend_backward(%qt, %k, %k) of(%dot, %lt, %dt) onto_keys(%dk, %dv) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %h:2, %here = sp.shift_start %a#1, %a#2 from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %came
      sp.wait %here
      %b:3 = sp.attend_backward(%qt, %m#0, %m#1) of(%dot, %lt, %dt) onto_query(%a#0) onto_keys(%h#0, %h#1) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %r:2, %home = sp.shift_start %b#1, %b#2 from %next by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %no = affine.apply #other(%t)
      // expected-error @below {{'sp.put' op puts rows of turn 0 where those of turn 1 belong}}
      %p = sp.put %b#0 into %s at %no dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %home
      scf.yield %r#0, %r#1, %p : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
    } {sp.turns}
    return %g#2, %g#0, %g#1 : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
  }
}

// -----

#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @gradient_is_not_sent_home {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>, %do: tensor<1x8x1x8xf32>, %l: tensor<1x8x1xf32>, %d: tensor<1x8x1xf32>, %z: tensor<1x8x1x8xf32>) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %g:3 = scf.for %t = %c0 to %c2 step %c1 iter_args(%dk = %z, %dv = %z, %s = %e) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %dot = sp.take %do at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %lt = sp.take %l at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %dt = sp.take %d at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      // expected-error @below {{'sp.attend_backward' op adds gradients of keys of owner 0 to those of owner 1, at owner 0}}
      %a:3 = sp.attend_backward(%qt, %k, %k) of(%dot, %lt, %dt) onto_keys(%dk, %dv) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %h:2, %here = sp.shift_start %a#1, %a#2 from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %came
      sp.wait %here
      %b:3 = sp.attend_backward(%qt, %m#0, %m#1) of(%dot, %lt, %dt) onto_query(%a#0) onto_keys(%h#0, %h#1) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %r:2, %home = sp.shift_start %b#1, %b#2 from %next by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %p = sp.put %b#0 into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %home
      scf.yield %b#1, %b#2, %p : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
    } {sp.turns}
    return %g#2, %g#0, %g#1 : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
  }
}

// -----

// Of keys and of values.
#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @gradients_change_places {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>, %do: tensor<1x8x1x8xf32>, %l: tensor<1x8x1xf32>, %d: tensor<1x8x1xf32>, %z: tensor<1x8x1x8xf32>) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %g:3 = scf.for %t = %c0 to %c2 step %c1 iter_args(%dk = %z, %dv = %z, %s = %e) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %dot = sp.take %do at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %lt = sp.take %l at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %dt = sp.take %d at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      // expected-error @below {{'sp.attend_backward' op continues the gradient of other keys}}
      %a:3 = sp.attend_backward(%qt, %k, %k) of(%dot, %lt, %dt) onto_keys(%dk, %dv) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %h:2, %here = sp.shift_start %a#1, %a#2 from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %came
      sp.wait %here
      %b:3 = sp.attend_backward(%qt, %m#0, %m#1) of(%dot, %lt, %dt) onto_query(%a#0) onto_keys(%h#0, %h#1) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      // expected-note @below {{which is this one}}
      %r:2, %home = sp.shift_start %b#1, %b#2 from %next by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %p = sp.put %b#0 into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %home
      scf.yield %r#1, %r#0, %p : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
    } {sp.turns}
    return %g#2, %g#0, %g#1 : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
  }
}

// -----

#row = affine_map<(d0) -> (d0 * 4)>
#other = affine_map<(d0) -> (d0 * -4 + 4)>
#owner = affine_map<(d0)[s0] -> (s0)>
#neighbour = affine_map<()[s0] -> ((s0 + 1) mod 2)>
module @owner_of_gradients {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%q: tensor<1x8x1x8xf32>, %k: tensor<1x8x1x8xf32>, %do: tensor<1x8x1x8xf32>, %l: tensor<1x8x1xf32>, %d: tensor<1x8x1xf32>, %z: tensor<1x8x1x8xf32>) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = sp.rank "sp" : index
    %next = affine.apply #neighbour()[%rank]
    %e = sp.empty : tensor<1x8x1x8xf32>
    %g:3 = scf.for %t = %c0 to %c2 step %c1 iter_args(%dk = %z, %dv = %z, %s = %e) -> (tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>) {
      %at = affine.apply #row(%t)
      %own = affine.apply #owner(%t)[%rank]
      %qt = sp.take %q at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %dot = sp.take %do at %at dim 1 : tensor<1x8x1x8xf32> -> tensor<1x4x1x8xf32>
      %lt = sp.take %l at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %dt = sp.take %d at %at dim 1 : tensor<1x8x1xf32> -> tensor<1x4x1xf32>
      %m:2, %came = sp.shift_start %k, %k from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      // expected-error @below {{'sp.attend_backward' op takes queries to be those of owner 0 which are those of owner 2, in turn 1}}
      %a:3 = sp.attend_backward(%qt, %k, %k) of(%dot, %lt, %dt) onto_keys(%dk, %dv) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %h:2, %here = sp.shift_start %a#1, %a#2 from %rank by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %came
      sp.wait %here
      %b:3 = sp.attend_backward(%qt, %m#0, %m#1) of(%dot, %lt, %dt) onto_query(%a#0) onto_keys(%h#0, %h#1) queries <contiguous 16 on "sp" of 2 turns 2> from %own keys <contiguous 16 on "sp" of 2 blocks 2> from %next bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>)
      %r:2, %home = sp.shift_start %b#1, %b#2 from %next by 1 in <contiguous 16 on "sp" of 2 blocks 2> : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
      %p = sp.put %b#0 into %s at %at dim 1 : tensor<1x4x1x8xf32>, tensor<1x8x1x8xf32>
      sp.wait %home
      scf.yield %r#0, %r#1, %p : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
    } {sp.turns}
    return %g#2, %g#0, %g#1 : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
  }
}
