// RUN: sp-opt %s -split-input-file --sp-insert-copies | FileCheck %s --check-prefixes=CHECK,COPIES
// RUN: sp-opt %s -split-input-file --sp-memory-pipeline | FileCheck %s --check-prefixes=CHECK,PLACES

// Gradients of a ring are continued where they lie: those of queries in one
// place, those of keys in the slot in which their block came.
// PLACES-DAG: #[[HERE:.*]] = affine_map<(d0) -> (((d0 + 1) mod 2) * 128 + [[DK:[0-9]+]])>
// PLACES-DAG: #[[NEXT:.*]] = affine_map<(d0) -> ((d0 mod 2) * 128 + [[DK]])>
// PLACES-DAG: #[[FIRST:.*]] = affine_map<() -> ([[DK]])>
// CHECK-LABEL: module @ring
// COPIES-NOT: sp.copy
// PLACES: scf.for
// PLACES: sp.attend_backward{{.*}}sp.places = [#sp.place<arena #[[DQ:[^,]*]]>, #sp.place<arena #[[HERE]]>, #sp.place<
// PLACES-NEXT: sp.shift_start{{.*}}sp.places = [#sp.place<arena #[[NEXT]]>, #sp.place<
// PLACES: sp.carried_places = [#sp.place<arena #[[DQ]]>, #sp.place<arena #{{.*}}>, #sp.place<arena #{{.*}}>, #sp.place<arena #[[HERE]]>, #sp.place<
// PLACES: sp.attend_backward{{.*}}sp.places = [#sp.place<arena #{{[^,]*}}>, #sp.place<arena #[[FIRST]]>, #sp.place<
// CHECK: return
#back = affine_map<(d0)[s0] -> ((s0 - d0) mod 4)>
#last = affine_map<()[s0] -> ((s0 + 1) mod 4)>
module @ring {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32>, %do: tensor<1x4x2x8xf32>, %lse: tensor<1x4x2xf32>, %delta: tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
    %c1 = arith.constant 1 : index
    %cn = arith.constant 3 : index
    %rank = sp.rank "sp" : index
    %k0:2, %t0 = sp.shift_start %k, %v from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    %dq0, %dk0, %dv0 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %rank bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %g0:2, %u0 = sp.shift_start %dk0, %dv0 from %rank by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %t0
    sp.wait %u0
    %r:5 = scf.for %i = %c1 to %cn step %c1 iter_args(%dq1 = %dq0, %k1 = %k0#0, %v1 = %k0#1, %dk1 = %g0#0, %dv1 = %g0#1) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
      %src = affine.apply #back(%i)[%rank]
      %k2:2, %t2 = sp.shift_start %k1, %v1 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      %dq2, %dk2, %dv2 = sp.attend_backward(%q, %k1, %v1) of(%do, %lse, %delta) onto_query(%dq1) onto_keys(%dk1, %dv1) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %src bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      %g2:2, %u2 = sp.shift_start %dk2, %dv2 from %src by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
      sp.wait %t2
      sp.wait %u2
      scf.yield %dq2, %k2#0, %k2#1, %g2#0, %g2#1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    }
    %end = affine.apply #last()[%rank]
    %dq9, %dk9, %dv9 = sp.attend_backward(%q, %r#1, %r#2) of(%do, %lse, %delta) onto_query(%r#0) onto_keys(%r#3, %r#4) queries <contiguous 16 on "sp" of 4> keys <contiguous 16 on "sp" of 4> from %end bands [#sp.band<q 0 to 16, k 0 to 16, lo -inf, hi inf>] scale 1.0
      : (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
    %h:2, %w = sp.shift_start %dk9, %dv9 from %end by 1 in <contiguous 16 on "sp" of 4> : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
    sp.wait %w
    return %dq9, %h#0, %h#1 : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  }
}

// -----

// What is still read is copied, each gradient by itself.
// CHECK-LABEL: module @gradient_read_later
// COPIES: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attend_backward
// COPIES: %[[COPY:.*]] = sp.copy %[[DK]]
// COPIES-NOT: sp.copy
// COPIES: sp.attend_backward({{.*}}) of({{.*}}) onto_query(%[[DQ]]) onto_keys(%[[COPY]], %[[DV]])
// CHECK: return
module @gradient_read_later {
  func.func @main(%q: tensor<1x8x2x4xf32>, %l: tensor<1x8x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) {
    %dq, %dk, %dv = sp.attend_backward(%q, %q, %q) of(%q, %l, %l) queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 1.0
       : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %q, %q) of(%q, %l, %l) onto_query(%dq) onto_keys(%dk, %dv) queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 1.0
       : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
    return %dq1, %dk1, %dv1, %dk : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>
  }
}

// -----

// One value cannot become two.
// CHECK-LABEL: module @one_gradient_for_both
// COPIES: %{{.*}}, %[[DK:.*]], %{{.*}} = sp.attend_backward
// COPIES: %[[COPY:.*]] = sp.copy %[[DK]]
// COPIES-NOT: sp.copy
// COPIES: onto_keys(%[[COPY]], %[[DK]])
// CHECK: return
module @one_gradient_for_both {
  func.func @main(%q: tensor<1x8x2x4xf32>, %l: tensor<1x8x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) {
    %dq, %dk, %dv = sp.attend_backward(%q, %q, %q) of(%q, %l, %l) queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 1.0
       : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %q, %q) of(%q, %l, %l) onto_keys(%dk, %dk) queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 1.0
       : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
    return %dk1, %dv1 : tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>
  }
}

// -----

// Gradients of terms begin in a place of their own, and one that is read later
// is copied.
// CHECK-LABEL: module @terms
// COPIES: %[[ZEROS:.*]] = stablehlo.constant dense<0.{{.*}}> : tensor<1x8x2x8xf32>
// COPIES: %[[ZERO:.*]] = stablehlo.constant dense<0.{{.*}}> : tensor<1x1x2x1xf32>
// COPIES: %[[B:.*]] = sp.copy %[[ZEROS]]
// COPIES: %[[S:.*]] = sp.copy %[[ZERO]]
// COPIES: %[[T:[^, ]*]]:2 = sp.attend_backward({{.*}}) of({{.*}}) onto_terms(%[[B]], %[[S]])
// COPIES: %[[COPY:.*]] = sp.copy %[[T]]#1
// COPIES-NOT: sp.copy
// COPIES: sp.attend_backward({{.*}}) of({{.*}}) onto_query({{.*}}) onto_keys({{.*}}) onto_terms(%[[T]]#0, %[[COPY]])
// PLACES: sp.copy {{.*}}sp.places = [#sp.place<arena #[[AT:map[0-9]*]]>]} : tensor<1x8x2x8xf32>
// PLACES: sp.attend_backward{{.*}}sp.places = [#sp.place<arena #{{[^,]*}}>, #sp.place<arena #{{[^,]*}}>, #sp.place<arena #{{[^,]*}}>, #sp.place<arena #[[AT]]>, #sp.place<
// PLACES: sp.attend_backward{{.*}}sp.places = [#sp.place<arena #{{[^,]*}}>, #sp.place<arena #{{[^,]*}}>, #sp.place<arena #{{[^,]*}}>, #sp.place<arena #[[AT]]>, #sp.place<
// CHECK: return
module @terms {
  func.func private @biased(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    return %s, %one, %one, %one : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  func.func @main(%q: tensor<1x8x2x4xf32>, %l: tensor<1x8x2x2xf32>, %d: tensor<1x8x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x8xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) {
    %zeros = stablehlo.constant dense<0.0> : tensor<1x8x2x8xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<1x1x2x1xf32>
    %dq, %dk, %dv, %db, %ds = sp.attend_backward(%q, %q, %q) of(%q, %l, %d) onto_terms(%zeros, %zero) score @biased queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 1.0
       : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) terms (tensor<1x8x2x8xf32>, tensor<1x1x2x1xf32>)
    %dq1, %dk1, %dv1, %db1, %ds1 = sp.attend_backward(%q, %q, %q) of(%q, %l, %d) onto_query(%dq) onto_keys(%dk, %dv) onto_terms(%db, %ds) score @biased queries <contiguous 8 on "sp" of 1> keys <contiguous 8 on "sp" of 1> bands [] scale 1.0
       : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x2xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) terms (tensor<1x8x2x8xf32>, tensor<1x1x2x1xf32>)
    return %dq1, %db1, %ds, %ds1 : tensor<1x8x2x4xf32>, tensor<1x8x2x8xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>
  }
}
