// RUN: sp-opt %s --sp-verify-coverage --split-input-file --verify-diagnostics

// A ring in a group of any size. What is here is right.
module @right {
  sp.mesh @mesh <["sp" = 8]> sequence "sp"
  sp.documents @ids of 16 in arguments [3]
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %ids: tensor<4xi32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %rank = sp.rank "sp" : index
    %size = sp.group_size <batch 16 on "sp" of 8 holds 4> : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %t = %c1 to %size step %c1 iter_args(%o = %o0, %l = %l0, %a = %k0#0, %b = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %from = sp.group_source %t in <batch 16 on "sp" of 8 holds 4> : index
      %k1:2, %t1 = sp.shift_start %a, %b from %from by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o1, %l1 = sp.attend(%q, %a, %b) onto(%o, %l) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %from bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t1
      scf.yield %o1, %l1, %k1#0, %k1#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    return %r#0 : tensor<1x4x1x8xf32>
  }
}

// -----

// It ends a step too early: in a group of two the other block is not met.
module @short {
  sp.mesh @mesh <["sp" = 8]> sequence "sp"
  sp.documents @ids of 16 in arguments [3]
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %ids: tensor<4xi32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %rank = sp.rank "sp" : index
    %size = sp.group_size <batch 16 on "sp" of 8 holds 4> : index
    %less = affine.apply affine_map<(d0) -> (d0 - 1)>(%size)
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    // expected-error@+1 {{is the last of its state, but the queries of owner 0 have not met the keys of owner 1, who is one of 2 in their group}}
    %o0, %l0 = sp.attend(%q, %k, %v) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %t = %c1 to %less step %c1 iter_args(%o = %o0, %l = %l0, %a = %k0#0, %b = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %from = sp.group_source %t in <batch 16 on "sp" of 8 holds 4> : index
      %k1:2, %t1 = sp.shift_start %a, %b from %from by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o1, %l1 = sp.attend(%q, %a, %b) onto(%o, %l) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %from bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t1
      scf.yield %o1, %l1, %k1#0, %k1#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    return %r#0 : tensor<1x4x1x8xf32>
  }
}

// -----

// It goes on a step too far: the group's first block is met again.
module @long {
  sp.mesh @mesh <["sp" = 8]> sequence "sp"
  sp.documents @ids of 16 in arguments [3]
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %ids: tensor<4xi32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %rank = sp.rank "sp" : index
    %size = sp.group_size <batch 16 on "sp" of 8 holds 4> : index
    %more = affine.apply affine_map<(d0) -> (d0 + 1)>(%size)
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %t = %c1 to %more step %c1 iter_args(%o = %o0, %l = %l0, %a = %k0#0, %b = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %from = sp.group_source %t in <batch 16 on "sp" of 8 holds 4> : index
      %k1:2, %t1 = sp.shift_start %a, %b from %from by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      // expected-error@+1 {{attends a second time to keys that its state has met: at owner 0 those of owner 0}}
      %o1, %l1 = sp.attend(%q, %a, %b) onto(%o, %l) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %from bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t1
      scf.yield %o1, %l1, %k1#0, %k1#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    return %r#0 : tensor<1x4x1x8xf32>
  }
}

// -----

// It takes the block of another step to be there.
module @other_step {
  sp.mesh @mesh <["sp" = 8]> sequence "sp"
  sp.documents @ids of 16 in arguments [3]
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %ids: tensor<4xi32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %rank = sp.rank "sp" : index
    %size = sp.group_size <batch 16 on "sp" of 8 holds 4> : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %t = %c1 to %size step %c1 iter_args(%o = %o0, %l = %l0, %a = %k0#0, %b = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %from = sp.group_source %size in <batch 16 on "sp" of 8 holds 4> : index
      // expected-error@+1 {{takes rows to be those of owner 0 which are those of owner 1, at owner 0}}
      %k1:2, %t1 = sp.shift_start %a, %b from %from by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o1, %l1 = sp.attend(%q, %a, %b) onto(%o, %l) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %from bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t1
      scf.yield %o1, %l1, %k1#0, %k1#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    return %r#0 : tensor<1x4x1x8xf32>
  }
}

// -----

// A loop over all ranks, where a group may be smaller.
module @all {
  sp.mesh @mesh <["sp" = 8]> sequence "sp"
  sp.documents @ids of 16 in arguments [3]
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %ids: tensor<4xi32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %rank = sp.rank "sp" : index
    %size = sp.group_size <batch 16 on "sp" of 8 holds 4> : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %o0, %l0 = sp.attend(%q, %k, %v) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %t = %c1 to %c8 step %c1 iter_args(%o = %o0, %l = %l0, %a = %k0#0, %b = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %from = sp.group_source %t in <batch 16 on "sp" of 8 holds 4> : index
      %k1:2, %t1 = sp.shift_start %a, %b from %from by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids>> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      // expected-error@+1 {{attends a second time to keys that its state has met}}
      %o1, %l1 = sp.attend(%q, %a, %b) onto(%o, %l) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %from bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] documents <queries @ids keys @ids> scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t1
      scf.yield %o1, %l1, %k1#0, %k1#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    return %r#0 : tensor<1x4x1x8xf32>
  }
}

// -----

// Nothing hides the pairs of two groups.
module @no_documents {
  sp.mesh @mesh <["sp" = 8]> sequence "sp"
  sp.documents @ids of 16 in arguments [3]
  func.func @main(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %ids: tensor<4xi32>) -> tensor<1x4x1x8xf32> {
    %c1 = arith.constant 1 : index
    %rank = sp.rank "sp" : index
    %size = sp.group_size <batch 16 on "sp" of 8 holds 4> : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    // expected-error@+1 {{attends to keys of a group but expected both sides to be dealt by the same documents, within which alone pairs count}}
    %o0, %l0 = sp.attend(%q, %k, %v) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
    sp.wait %t0
    %r:4 = scf.for %t = %c1 to %size step %c1 iter_args(%o = %o0, %l = %l0, %a = %k0#0, %b = %k0#1) -> (tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %from = sp.group_source %t in <batch 16 on "sp" of 8 holds 4> : index
      %k1:2, %t1 = sp.shift_start %a, %b from %from by 1 in <batch 16 on "sp" of 8 holds 4> needed_by <rows <batch 16 on "sp" of 8 holds 4> bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>]> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %o1, %l1 = sp.attend(%q, %a, %b) onto(%o, %l) queries <batch 16 on "sp" of 8 holds 4> keys <batch 16 on "sp" of 8 holds 4> from %from bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.000000e+00 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x1x8xf32>, tensor<1x4x1xf32>
      sp.wait %t1
      scf.yield %o1, %l1, %k1#0, %k1#1 : tensor<1x4x1x8xf32>, tensor<1x4x1xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    return %r#0 : tensor<1x4x1x8xf32>
  }
}

