// RUN: sp-opt %s -split-input-file --sp-insert-copies | FileCheck %s

// The next value is computed where the old one is not read any more; the counter
// reads itself.
// CHECK-LABEL: module @next_value_in_place
// CHECK: %[[I:.*]] = sp.copy %{{.*}} : tensor<i32>
// CHECK: %[[X:.*]] = sp.copy %{{.*}} : tensor<8xf32>
// CHECK: stablehlo.while(%{{.*}} = %[[I]], %{{.*}} = %[[X]])
// CHECK: %[[NEXT:.*]] = stablehlo.negate
// CHECK: %[[J:.*]] = sp.copy %{{.*}} : tensor<i32>
// CHECK: stablehlo.return %[[J]], %[[NEXT]]
module @next_value_in_place {
  func.func @main(%x: tensor<8xf32>, %zero: tensor<i32>, %one: tensor<i32>) -> tensor<8xf32> {
    %r:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %a = stablehlo.add %h, %h : tensor<8xf32>
      %b = stablehlo.negate %a : tensor<8xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %b : tensor<i32>, tensor<8xf32>
    }
    return %r#1 : tensor<8xf32>
  }
}

// -----

// A swap goes aside first, also through a reshape.
// CHECK-LABEL: module @swap_goes_aside
// CHECK: do {
// CHECK: %[[VIEW:.*]] = stablehlo.reshape %[[A:.*]] : (tensor<2x4xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[BACK:.*]] = stablehlo.reshape %[[B:.*]] : (tensor<8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %[[ASIDE0:.*]] = sp.copy %[[BACK]]
// CHECK-NEXT: %[[ASIDE1:.*]] = sp.copy %[[VIEW]]
// CHECK-NEXT: %[[NEW0:.*]] = sp.copy %[[ASIDE0]]
// CHECK-NEXT: %[[NEW1:.*]] = sp.copy %[[ASIDE1]]
// CHECK-NEXT: stablehlo.return %[[NEW0]], %[[NEW1]]
module @swap_goes_aside {
  func.func @main(%x: tensor<2x4xf32>, %y: tensor<8xf32>, %go: tensor<i1>) -> tensor<8xf32> {
    %r:2 = stablehlo.while(%a = %x, %b = %y) : tensor<2x4xf32>, tensor<8xf32>
    cond {
      stablehlo.return %go : tensor<i1>
    } do {
      %v = stablehlo.reshape %a : (tensor<2x4xf32>) -> tensor<8xf32>
      %w = stablehlo.reshape %b : (tensor<8xf32>) -> tensor<2x4xf32>
      stablehlo.return %w, %v : tensor<2x4xf32>, tensor<8xf32>
    }
    return %r#1 : tensor<8xf32>
  }
}

// -----

// What the loop starts from is read again: the loop has its own.
// CHECK-LABEL: module @initial_value_read_later
// CHECK: %[[X:.*]] = stablehlo.negate
// CHECK: %[[OWN:.*]] = sp.copy %[[X]]
// CHECK: stablehlo.while(%{{.*}} = %[[OWN]])
// CHECK: stablehlo.add %{{.*}}, %[[X]]
module @initial_value_read_later {
  func.func @main(%x: tensor<8xf32>, %go: tensor<i1>) -> tensor<8xf32> {
    %n = stablehlo.negate %x : tensor<8xf32>
    %r = stablehlo.while(%a = %n) : tensor<8xf32>
    cond {
      stablehlo.return %go : tensor<i1>
    } do {
      %b = stablehlo.abs %a : tensor<8xf32>
      %c = stablehlo.negate %b : tensor<8xf32>
      stablehlo.return %c : tensor<8xf32>
    }
    %y = stablehlo.add %r, %n : tensor<8xf32>
    return %y : tensor<8xf32>
  }
}

// -----

// Two attentions that continue one state.
// CHECK-LABEL: module @state_continued_twice
// CHECK: %[[O:.*]], %[[L:.*]] = sp.attend
// CHECK: %[[O1:.*]] = sp.copy %[[O]]
// CHECK: %[[L1:.*]] = sp.copy %[[L]]
// CHECK: sp.attend({{.*}}) onto(%[[O1]], %[[L1]])
// CHECK: sp.attend({{.*}}) onto(%[[O]], %[[L]])
module @state_continued_twice {
  func.func @main(%q: tensor<1x8x2x4xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) {
    %o, %l = sp.attend(%q, %q, %q) queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 1.0 : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
    %o1, %l1 = sp.attend(%q, %q, %q) onto(%o, %l) queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 1.0 : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
    %o2, %l2 = sp.attend(%q, %q, %q) onto(%o, %l) queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 2.0 : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
    return %o1, %o2 : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>
  }
}

// -----

// A state that two steps of a loop continue stays where it is.
// CHECK-LABEL: module @state_continued_twice
// CHECK-NOT: sp.copy
// CHECK: return
module @state_continued_twice {
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x2x8xf32>) -> tensor<1x4x2x8xf32> {
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %o, %l = sp.attend(%q, %k, %k) queries <contiguous 4 on "sp" of 1> keys <contiguous 4 on "sp" of 1> bands [] scale 1.0
       : (tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>) -> tensor<1x4x2x8xf32>, tensor<1x4x2xf32>
    %r:2 = scf.for %i = %one to %three step %one iter_args(%state = %o, %lse = %l) -> (tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) {
      %o1, %l1 = sp.attend(%q, %k, %k) onto(%state, %lse) queries <contiguous 4 on "sp" of 1> keys <contiguous 4 on "sp" of 1> bands [] scale 1.0
         : (tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>) -> tensor<1x4x2x8xf32>, tensor<1x4x2xf32>
      %o2, %l2 = sp.attend(%q, %k, %k) onto(%o1, %l1) queries <contiguous 4 on "sp" of 1> keys <contiguous 4 on "sp" of 1> bands [] scale 1.0
         : (tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>) -> tensor<1x4x2x8xf32>, tensor<1x4x2xf32>
      scf.yield %o2, %l2 : tensor<1x4x2x8xf32>, tensor<1x4x2xf32>
    }
    return %r#0 : tensor<1x4x2x8xf32>
  }
}

// -----

// Values are summed where they are; one that is still read, or that the caller
// gave, is summed in a copy.
// CHECK-LABEL: module @sums_in_place
// CHECK: %[[OWN:.*]] = stablehlo.negate %arg0
// CHECK-NEXT: %[[READ:.*]] = stablehlo.abs %arg0
// CHECK-NEXT: %[[READ_COPY:.*]] = sp.copy %[[READ]]
// CHECK-NEXT: %[[GIVEN_COPY:.*]] = sp.copy %arg0
// CHECK-NEXT: sp.all_reduce_start %[[OWN]], %[[READ_COPY]], %[[GIVEN_COPY]] sum
module @sums_in_place {
  func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %own = stablehlo.negate %x : tensor<8xf32>
    %read = stablehlo.abs %x : tensor<8xf32>
    %s:3, %t = sp.all_reduce_start %own, %read, %x sum over ["sp"] of 2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    %y = stablehlo.negate %read : tensor<8xf32>
    sp.wait %t
    return %s#0, %s#1, %s#2, %y : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
