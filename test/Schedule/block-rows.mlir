// RUN: sp-opt %s --sp-block-rows="blocks=3" --split-input-file | FileCheck %s

// Ten rows are two blocks of four, in a loop, and one of two. What comes before
// attention and what comes after it are two regions; a sum over rows goes on from
// block to block.
// CHECK-LABEL: @main
// CHECK-SAME: (%[[X:.*]]: tensor<1x10x4xf32>, %[[W:.*]]: tensor<4x8xf32>, %[[K:.*]]: tensor<1x10x2x4xf32>, %[[M:.*]]: tensor<8x6xf32>, %[[N:.*]]: tensor<6x4xf32>)
func.func @main(%x: tensor<1x10x4xf32>, %w: tensor<4x8xf32>, %k: tensor<1x10x2x4xf32>, %m: tensor<8x6xf32>, %n: tensor<6x4xf32>) -> (tensor<1x10x4xf32>, tensor<8x6xf32>) {
  // CHECK: %[[EMPTY:.*]] = sp.empty : tensor<1x10x8xf32>
  // CHECK: %[[QS:.*]] = scf.for %[[I:.*]] = %{{.*}} to %c2 step %{{.*}} iter_args(%[[PUT:.*]] = %[[EMPTY]])
  // CHECK: %[[AT:.*]] = affine.apply #{{.*}}(%[[I]])
  // CHECK: %[[XS:.*]] = sp.take %[[X]] at %[[AT]] dim 1 : tensor<1x10x4xf32> -> tensor<1x4x4xf32>
  // CHECK: %[[P:.*]] = stablehlo.dot_general %[[XS]], %[[W]], {{.*}} -> tensor<1x4x8xf32>
  // CHECK: %[[NEXT:.*]] = sp.put %[[P]] into %[[PUT]] at %{{.*}} dim 1
  // CHECK: scf.yield %[[NEXT]]
  // CHECK: {sp.row_blocks = array<i64: 0, 10, 4>}
  // CHECK: %[[LAST:.*]] = sp.take %[[X]] at %c8 dim 1 : tensor<1x10x4xf32> -> tensor<1x2x4xf32>
  // CHECK: %[[PS:.*]] = sp.put %{{.*}} into %[[QS]] at %c8{{.*}} : tensor<1x2x8xf32>
  // CHECK: %[[Q:.*]] = stablehlo.reshape %[[PS]]
  %p = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<1x10x4xf32>, tensor<4x8xf32>) -> tensor<1x10x8xf32>
  %q = stablehlo.reshape %p : (tensor<1x10x8xf32>) -> tensor<1x10x2x4xf32>
  // CHECK: %[[O:.*]], %{{.*}} = sp.attend(%[[Q]], %[[K]], %[[K]])
  %o, %l = sp.attend(%q, %k, %k) queries <contiguous 10 on "" of 1> keys <contiguous 10 on "" of 1> bands [#sp.band<q 0 to 10, k 0 to 10, lo -inf, hi 0>] scale 1.0 : (tensor<1x10x2x4xf32>, tensor<1x10x2x4xf32>, tensor<1x10x2x4xf32>) -> tensor<1x10x2x4xf32>, tensor<1x10x2xf32>
  // CHECK: %[[ZERO:.*]] = stablehlo.broadcast_in_dim %{{.*}} -> tensor<8x6xf32>
  // CHECK: %[[AFTER:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SUM:.*]] = %[[ZERO]])
  // CHECK: sp.take %[[O]] at {{.*}} -> tensor<1x4x2x4xf32>
  // CHECK: stablehlo.tanh %{{.*}} : tensor<1x4x6xf32>
  // CHECK: %[[D:.*]] = stablehlo.dot_general {{.*}} : (tensor<1x4x8xf32>, tensor<1x4x6xf32>) -> tensor<8x6xf32>
  // CHECK: %[[MORE:.*]] = stablehlo.add %[[SUM]], %[[D]]
  // CHECK: scf.yield %{{.*}}, %[[MORE]]
  // CHECK: %[[ALL:.*]] = stablehlo.add %[[AFTER]]#1, %{{.*}} : tensor<8x6xf32>
  // CHECK: return %{{.*}}, %[[ALL]]
  %a = stablehlo.reshape %o : (tensor<1x10x2x4xf32>) -> tensor<1x10x8xf32>
  %h = stablehlo.dot_general %a, %m, contracting_dims = [2] x [0] : (tensor<1x10x8xf32>, tensor<8x6xf32>) -> tensor<1x10x6xf32>
  %t = stablehlo.tanh %h : tensor<1x10x6xf32>
  %y = stablehlo.dot_general %t, %n, contracting_dims = [2] x [0] : (tensor<1x10x6xf32>, tensor<6x4xf32>) -> tensor<1x10x4xf32>
  %d = stablehlo.dot_general %a, %t, contracting_dims = [0, 1] x [0, 1] : (tensor<1x10x8xf32>, tensor<1x10x6xf32>) -> tensor<8x6xf32>
  return %y, %d : tensor<1x10x4xf32>, tensor<8x6xf32>
}

// -----

// Narrow sums are added in f32 and rounded once. What needs a sum comes behind all
// blocks, and so does what needs that.
// CHECK-LABEL: @main
func.func @main(%q: tensor<1x6x1x4xbf16>, %w: tensor<4x4xbf16>) -> (tensor<4x4xbf16>, tensor<1x6x4xbf16>) {
  // CHECK: sp.attend
  %o, %l = sp.attend(%q, %q, %q) queries <contiguous 6 on "" of 1> keys <contiguous 6 on "" of 1> bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0 : (tensor<1x6x1x4xbf16>, tensor<1x6x1x4xbf16>, tensor<1x6x1x4xbf16>) -> tensor<1x6x1x4xf32>, tensor<1x6x1xf32>
  // CHECK: %[[R:.*]]:2 = scf.for {{.*}} -> (tensor<6x4xbf16>, tensor<4x4xf32>)
  // CHECK: stablehlo.dot_general {{.*}} : (tensor<2x4xbf16>, tensor<2x4xbf16>) -> tensor<4x4xf32>
  // CHECK: %[[D:.*]] = stablehlo.convert %[[R]]#1 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  %a = stablehlo.reshape %o : (tensor<1x6x1x4xf32>) -> tensor<6x4xf32>
  %b = stablehlo.convert %a : (tensor<6x4xf32>) -> tensor<6x4xbf16>
  %d = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0] : (tensor<6x4xbf16>, tensor<6x4xbf16>) -> tensor<4x4xbf16>
  // CHECK: %[[E:.*]] = stablehlo.add %[[D]], %{{.*}}
  %e = stablehlo.add %d, %w : tensor<4x4xbf16>
  // Half as many bytes are kept as if it were rounded again.
  // CHECK: scf.for
  // CHECK: %[[B:.*]] = sp.take %[[R]]#0 {{.*}} -> tensor<2x4xbf16>
  // CHECK: stablehlo.dot_general %[[B]], %[[E]]
  %y = stablehlo.dot_general %b, %e, contracting_dims = [1] x [0] : (tensor<6x4xbf16>, tensor<4x4xbf16>) -> tensor<6x4xbf16>
  %z = stablehlo.reshape %y : (tensor<6x4xbf16>) -> tensor<1x6x4xbf16>
  return %d, %z : tensor<4x4xbf16>, tensor<1x6x4xbf16>
}

// -----

// Numbers of rows are taken like other rows; numbers of columns are each block's.
// CHECK-LABEL: @main
func.func @main(%q: tensor<1x6x1x4xf32>, %w: tensor<4x5xf32>) -> tensor<1x6x5xf32> {
  // CHECK: %[[NUMBERS:.*]] = stablehlo.iota dim = 0 : tensor<6xf32>
  %o, %l = sp.attend(%q, %q, %q) queries <contiguous 6 on "" of 1> keys <contiguous 6 on "" of 1> bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0 : (tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>) -> tensor<1x6x1x4xf32>, tensor<1x6x1xf32>
  %a = stablehlo.reshape %o : (tensor<1x6x1x4xf32>) -> tensor<1x6x4xf32>
  // CHECK: scf.for
  // CHECK: stablehlo.dot_general
  // CHECK: sp.take %[[NUMBERS]] at %{{.*}} dim 0 : tensor<6xf32> -> tensor<2xf32>
  // CHECK: stablehlo.broadcast_in_dim {{.*}} -> tensor<1x2x5xf32>
  // CHECK: stablehlo.iota dim = 2 : tensor<1x2x5xf32>
  %h = stablehlo.dot_general %a, %w, contracting_dims = [2] x [0] : (tensor<1x6x4xf32>, tensor<4x5xf32>) -> tensor<1x6x5xf32>
  %rows = stablehlo.iota dim = 1 : tensor<1x6x5xf32>
  %columns = stablehlo.iota dim = 2 : tensor<1x6x5xf32>
  %s = stablehlo.add %h, %rows : tensor<1x6x5xf32>
  %t = stablehlo.multiply %s, %columns : tensor<1x6x5xf32>
  return %t : tensor<1x6x5xf32>
}

// -----

// Of several sequences each is one row: blocks lie in one piece.
// CHECK-LABEL: @main
func.func @main(%q: tensor<3x6x1x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x6x5xf32> {
  %o, %l = sp.attend(%q, %q, %q) queries <contiguous 6 on "" of 1> keys <contiguous 6 on "" of 1> bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0 : (tensor<3x6x1x4xf32>, tensor<3x6x1x4xf32>, tensor<3x6x1x4xf32>) -> tensor<3x6x1x4xf32>, tensor<3x6x1xf32>
  %a = stablehlo.reshape %o : (tensor<3x6x1x4xf32>) -> tensor<18x4xf32>
  // CHECK: sp.take {{.*}} dim 0 : tensor<3x6x1x4xf32> -> tensor<1x6x1x4xf32>
  // CHECK: stablehlo.dot_general {{.*}} : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  // CHECK: {sp.row_blocks = array<i64: 0, 18, 6>}
  %h = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<18x4xf32>, tensor<4x5xf32>) -> tensor<18x5xf32>
  %t = stablehlo.reshape %h : (tensor<18x5xf32>) -> tensor<3x6x5xf32>
  return %t : tensor<3x6x5xf32>
}

// -----

// Of the product and its tangent, which a later region reads, the product alone is
// kept: it is read anyway. It lies there once, whatever its shape.
// CHECK-LABEL: @main
func.func @main(%q: tensor<1x6x1x4xf32>, %w: tensor<4x4xf32>) -> tensor<1x6x1x4xf32> {
  // CHECK: %[[H:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<6x4xf32>)
  // CHECK-NOT: stablehlo.tanh
  // CHECK: %[[K:.*]] = stablehlo.reshape %[[H]] : (tensor<6x4xf32>) -> tensor<1x6x1x4xf32>
  // CHECK: sp.attend(%[[K]]
  // CHECK: scf.for
  // CHECK: %[[PART:.*]] = sp.take %[[H]]
  // CHECK: %[[T:.*]] = stablehlo.tanh %[[PART]]
  // CHECK: stablehlo.add %[[T]], %[[PART]]
  %a = stablehlo.reshape %q : (tensor<1x6x1x4xf32>) -> tensor<6x4xf32>
  %h = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %t = stablehlo.tanh %h : tensor<6x4xf32>
  %k = stablehlo.reshape %h : (tensor<6x4xf32>) -> tensor<1x6x1x4xf32>
  %o, %l = sp.attend(%k, %k, %k) queries <contiguous 6 on "" of 1> keys <contiguous 6 on "" of 1> bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0 : (tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>) -> tensor<1x6x1x4xf32>, tensor<1x6x1xf32>
  %b = stablehlo.reshape %o : (tensor<1x6x1x4xf32>) -> tensor<6x4xf32>
  %g = stablehlo.add %t, %h : tensor<6x4xf32>
  %s = stablehlo.multiply %b, %g : tensor<6x4xf32>
  %y = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %z = stablehlo.reshape %y : (tensor<6x4xf32>) -> tensor<1x6x1x4xf32>
  return %z : tensor<1x6x1x4xf32>
}

// -----

// An update of some rows changes those of one block: it stays outside.
// CHECK-LABEL: @main
func.func @main(%q: tensor<1x6x1x4xf32>, %w: tensor<4x4xf32>, %i: tensor<i32>) -> tensor<6x4xf32> {
  // CHECK: %[[U:.*]] = stablehlo.dynamic_update_slice {{.*}} -> tensor<6x4xf32>
  // CHECK: scf.for
  // CHECK: sp.take %[[U]]
  // CHECK-NOT: dynamic_update_slice
  %o, %l = sp.attend(%q, %q, %q) queries <contiguous 6 on "" of 1> keys <contiguous 6 on "" of 1> bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0 : (tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>) -> tensor<1x6x1x4xf32>, tensor<1x6x1xf32>
  %a = stablehlo.reshape %o : (tensor<1x6x1x4xf32>) -> tensor<6x4xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.slice %w [0:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %u = stablehlo.dynamic_update_slice %a, %s, %i, %zero : (tensor<6x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
  %y = stablehlo.dot_general %u, %w, contracting_dims = [1] x [0] : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// -----

// A narrow number that is compared is kept as it was rounded, though it could be
// made of the product that others read anyway.
// CHECK-LABEL: @main
func.func @main(%q: tensor<1x6x1x4xbf16>, %w: tensor<4x4xbf16>) -> (tensor<6x4xbf16>, tensor<6x4xi1>) {
  // CHECK: %[[R:.*]]:2 = scf.for {{.*}} -> (tensor<6x4xbf16>, tensor<6x4xbf16>)
  // CHECK: scf.for
  // CHECK-NOT: stablehlo.tanh
  // CHECK: stablehlo.compare
  %a = stablehlo.reshape %q : (tensor<1x6x1x4xbf16>) -> tensor<6x4xbf16>
  %h = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<6x4xbf16>, tensor<4x4xbf16>) -> tensor<6x4xbf16>
  %t = stablehlo.tanh %h : tensor<6x4xbf16>
  %k = stablehlo.reshape %h : (tensor<6x4xbf16>) -> tensor<1x6x1x4xbf16>
  %o, %l = sp.attend(%k, %k, %k) queries <contiguous 6 on "" of 1> keys <contiguous 6 on "" of 1> bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0 : (tensor<1x6x1x4xbf16>, tensor<1x6x1x4xbf16>, tensor<1x6x1x4xbf16>) -> tensor<1x6x1x4xf32>, tensor<1x6x1xf32>
  %b = stablehlo.reshape %o : (tensor<1x6x1x4xf32>) -> tensor<6x4xf32>
  %g = stablehlo.convert %b : (tensor<6x4xf32>) -> tensor<6x4xbf16>
  %y = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] : (tensor<6x4xbf16>, tensor<4x4xbf16>) -> tensor<6x4xbf16>
  %s = stablehlo.add %y, %h : tensor<6x4xbf16>
  %c = stablehlo.compare EQ, %t, %s : (tensor<6x4xbf16>, tensor<6x4xbf16>) -> tensor<6x4xi1>
  return %s, %c : tensor<6x4xbf16>, tensor<6x4xi1>
}

// -----

// Twelve rows of one attention, and three of another, each of which is four of those:
// a sum over both is in no region.
// CHECK-LABEL: @main
// CHECK: %[[H:.*]] = scf.for
// CHECK: stablehlo.tanh %{{.*}} : tensor<1x4x8xf32>
// CHECK: %[[G:.*]] = scf.for
// CHECK: stablehlo.tanh %{{.*}} : tensor<1x1x4x8xf32>
// CHECK: %[[ROWS:.*]] = stablehlo.reshape %[[G]] : (tensor<1x3x4x8xf32>) -> tensor<1x12x8xf32>
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[H]], %[[ROWS]]
// CHECK: return %[[D]]
func.func @main(%q: tensor<1x12x2x4xf32>, %w: tensor<8x8xf32>, %k: tensor<1x3x8x4xf32>, %g: tensor<1x3x8x4xf32>) -> tensor<8x8xf32> {
  %o, %l = sp.attend(%q, %q, %q) queries <contiguous 12 on "" of 1> keys <contiguous 12 on "" of 1> bands [#sp.band<q 0 to 12, k 0 to 12, lo -inf, hi 0>] scale 1.0 : (tensor<1x12x2x4xf32>, tensor<1x12x2x4xf32>, tensor<1x12x2x4xf32>) -> tensor<1x12x2x4xf32>, tensor<1x12x2xf32>
  %p, %m = sp.attend(%k, %g, %g) queries <contiguous 3 on "" of 1> keys <contiguous 3 on "" of 1> bands [#sp.band<q 0 to 3, k 0 to 3, lo -inf, hi 0>] scale 1.0 : (tensor<1x3x8x4xf32>, tensor<1x3x8x4xf32>, tensor<1x3x8x4xf32>) -> tensor<1x3x8x4xf32>, tensor<1x3x8xf32>
  %x = stablehlo.reshape %o : (tensor<1x12x2x4xf32>) -> tensor<1x12x8xf32>
  %xw = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<1x12x8xf32>, tensor<8x8xf32>) -> tensor<1x12x8xf32>
  %h = stablehlo.tanh %xw : tensor<1x12x8xf32>
  %y = stablehlo.reshape %p : (tensor<1x3x8x4xf32>) -> tensor<1x3x4x8xf32>
  %yw = stablehlo.dot_general %y, %w, contracting_dims = [3] x [0] : (tensor<1x3x4x8xf32>, tensor<8x8xf32>) -> tensor<1x3x4x8xf32>
  %t = stablehlo.tanh %yw : tensor<1x3x4x8xf32>
  %z = stablehlo.reshape %t : (tensor<1x3x4x8xf32>) -> tensor<1x12x8xf32>
  %d = stablehlo.dot_general %h, %z, contracting_dims = [0, 1] x [0, 1] : (tensor<1x12x8xf32>, tensor<1x12x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}
