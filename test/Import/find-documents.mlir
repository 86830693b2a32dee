// RUN: sp-opt %s -split-input-file -sp-find-documents | FileCheck %s

// Score functions that hide every pair whose elements of two arguments differ.

// As it is mostly spelled; another mask beside it only hides more.
// CHECK-LABEL: module @selected
// CHECK: sp.documents @documents_0 of 8 in arguments [1]
// CHECK: documents <queries @documents_0 keys @documents_0> scale
module @selected {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %real = stablehlo.compare GT, %b, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %shown = stablehlo.and %same, %real : tensor<i1>
    %e = stablehlo.select %shown, %s, %hidden : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi32>) -> tensor<1x8x2x4xf32> {
    %a = stablehlo.reshape %ids : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// Masks that are combined as bytes.
// CHECK-LABEL: module @of_bytes
// CHECK: sp.documents @documents_0 of 8 in arguments [1]
// CHECK: documents <queries @documents_0 keys @documents_0> scale
module @of_bytes {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %one = stablehlo.convert %same : (tensor<i1>) -> tensor<ui8>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %real = stablehlo.compare GT, %b, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %two = stablehlo.convert %real : (tensor<i1>) -> tensor<ui8>
    %both = stablehlo.and %two, %one : tensor<ui8>
    %none = stablehlo.constant dense<0> : tensor<ui8>
    %shown = stablehlo.compare NE, %both, %none, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    %e = stablehlo.select %shown, %s, %hidden : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi32>) -> tensor<1x8x2x4xf32> {
    %a = stablehlo.reshape %ids : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// A difference that is not 0.
// CHECK-LABEL: module @difference
// CHECK: sp.documents @documents_0 of 8 in arguments [1]
// CHECK: documents <queries @documents_0 keys @documents_0> scale
module @difference {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %d = stablehlo.subtract %a, %b : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %other = stablehlo.compare NE, %d, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %e = stablehlo.select %other, %hidden, %s : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi32>) -> tensor<1x8x2x4xf32> {
    %a = stablehlo.reshape %ids : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// A fill that is added, as Import writes it: scores are less than half of it.
// CHECK-LABEL: module @added
// CHECK: sp.documents @documents_0 of 8 in arguments [1]
// CHECK: documents <queries @documents_0 keys @documents_0> scale
module @added {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %fill = stablehlo.constant dense<-1.0e9> : tensor<f32>
    %add = stablehlo.select %same, %zero, %fill : tensor<i1>, tensor<f32>
    %t = stablehlo.add %s, %add : tensor<f32>
    %half = stablehlo.constant dense<-5.0e8> : tensor<f32>
    %low = stablehlo.compare LE, %t, %half : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %e = stablehlo.select %low, %hidden, %t : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi32>) -> tensor<1x8x2x4xf32> {
    %a = stablehlo.reshape %ids : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// Numbers of fewer bits are the same in more, in rows that a batch shares.
// CHECK-LABEL: module @widened
// CHECK: sp.documents @documents_0 of 8 in arguments [1]
// CHECK: documents <queries @documents_0 keys @documents_0> scale
module @widened {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %e = stablehlo.select %same, %s, %hidden : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<8xui8>) -> tensor<1x8x2x4xf32> {
    %w = stablehlo.convert %ids : (tensor<8xui8>) -> tensor<8xi32>
    %r = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<8xi32>) -> tensor<1x8xi32>
    %a = stablehlo.reshape %r : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// Two documents may have the same lowest bits: those are what counts.
// CHECK-LABEL: module @narrowed
// CHECK: sp.documents @documents_0 of 8 in arguments [1] {
// CHECK: %[[N:.*]] = stablehlo.convert
// CHECK: sp.yield %[[N]]
// CHECK: documents <queries @documents_0 keys @documents_0> scale
module @narrowed {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %e = stablehlo.select %same, %s, %hidden : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi64>) -> tensor<1x8x2x4xf32> {
    %n = stablehlo.convert %ids : (tensor<1x8xi64>) -> tensor<1x8xi32>
    %a = stablehlo.reshape %n : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// Numbers that the program computes are computed before a run as well.
// CHECK-LABEL: module @order
// CHECK: sp.documents @documents_0 of 8 in arguments [1] {
// CHECK: %[[N:.*]] = stablehlo.reverse
// CHECK: sp.yield %[[N]]
// CHECK: documents <queries @documents_0 keys @documents_0> scale
module @order {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %e = stablehlo.select %same, %s, %hidden : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi32>) -> tensor<1x8x2x4xf32> {
    %back = stablehlo.reverse %ids, dims = [1] : tensor<1x8xi32>
    %a = stablehlo.reshape %back : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// Not where fractions come in between, which another machine may round otherwise.
// CHECK-LABEL: module @rounded
// CHECK-NOT: sp.documents
// CHECK: sp.attention
module @rounded {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %e = stablehlo.select %same, %s, %hidden : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi32>) -> tensor<1x8x2x4xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %back:2 = stablehlo.while(%x = %ids, %t = %zero) : tensor<1x8xi32>, tensor<i32>
    cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %goes = stablehlo.compare LT, %t, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %f = stablehlo.convert %x : (tensor<1x8xi32>) -> tensor<1x8xf32>
      %g = stablehlo.sqrt %f : tensor<1x8xf32>
      %y = stablehlo.convert %g : (tensor<1x8xf32>) -> tensor<1x8xi32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %u = stablehlo.add %t, %one : tensor<i32>
      stablehlo.return %y, %u : tensor<1x8xi32>, tensor<i32>
    }
    %a = stablehlo.reshape %back#0 : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// A score that is only lowered.
// CHECK-LABEL: module @lowered
// CHECK-NOT: documents
// CHECK: sp.attention
module @lowered {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %fill = stablehlo.constant dense<-1.0e4> : tensor<f32>
    %add = stablehlo.select %same, %zero, %fill : tensor<i1>, tensor<f32>
    %e = stablehlo.add %s, %add : tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi32>) -> tensor<1x8x2x4xf32> {
    %a = stablehlo.reshape %ids : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// Pairs of two documents that something else shows.
// CHECK-LABEL: module @either
// CHECK-NOT: documents
// CHECK: sp.attention
module @either {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %global = stablehlo.compare EQ, %b, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %shown = stablehlo.or %same, %global : tensor<i1>
    %e = stablehlo.select %shown, %s, %hidden : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi32>) -> tensor<1x8x2x4xf32> {
    %a = stablehlo.reshape %ids : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// Pairs of one document are hidden.
// CHECK-LABEL: module @turned
// CHECK-NOT: documents
// CHECK: sp.attention
module @turned {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %e = stablehlo.select %same, %hidden, %s : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi32>) -> tensor<1x8x2x4xf32> {
    %a = stablehlo.reshape %ids : (tensor<1x8xi32>) -> tensor<1x8x1x1xi32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xi32>) per_key(%a : tensor<1x8x1x1xi32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}

// -----

// Numbers that are no whole ones.
// CHECK-LABEL: module @fractions
// CHECK-NOT: documents
// CHECK: sp.attention
module @fractions {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %same = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %e = stablehlo.select %same, %s, %hidden : tensor<i1>, tensor<f32>
    return %e : tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %ids: tensor<1x8xi32>) -> tensor<1x8x2x4xf32> {
    %f = stablehlo.convert %ids : (tensor<1x8xi32>) -> tensor<1x8xf32>
    %a = stablehlo.reshape %f : (tensor<1x8xf32>) -> tensor<1x8x1x1xf32>
    %o = sp.attention(%q, %q, %q) score @score_0 per_query(%a : tensor<1x8x1x1xf32>) per_key(%a : tensor<1x8x1x1xf32>) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
        : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32> -> tensor<1x8x2x4xf32>
    return %o : tensor<1x8x2x4xf32>
  }
}
