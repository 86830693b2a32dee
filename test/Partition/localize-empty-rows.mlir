// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ring" --sp-partition-pipeline --split-input-file | FileCheck %s --check-prefixes=CHECK,RING
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ulysses" --sp-partition-pipeline --split-input-file | FileCheck %s --check-prefixes=CHECK,ULYSSES

// A sink is the state before any key: its exponent, and no value. No row is
// empty then. What steps hand on is sums: its exponent in base 2, and 1.

// CHECK-LABEL: module @sink_begins_the_state
// CHECK: %[[NONE:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<1x{{4x6|13x2}}x8xf32>
// RING: %[[POWER:.*]] = stablehlo.multiply %[[S:.*]], %{{.*}} : tensor<6xf32>
// RING: %[[M:.*]] = stablehlo.broadcast_in_dim %[[POWER]], dims = [2] : (tensor<6xf32>) -> tensor<1x4x6x1xf32>
// RING: %[[L:.*]] = stablehlo.concatenate %[[M]], %{{.*}}, dim = 3
// RING: sp.attend({{.*}} onto(%[[NONE]], %[[L]])
// RING: scf.for
// ULYSSES: %[[HEADS:.*]] = sp.positions <contiguous 6 on "sp" of 4> : tensor<2xi32>
// ULYSSES: %[[AT:.*]] = stablehlo.reshape %[[HEADS]]
// ULYSSES: %[[OWN:.*]] = "stablehlo.gather"(%{{.*}}, %[[AT]]) {{.*}} : (tensor<6xf32>, tensor<2x1xi32>) -> tensor<2xf32>
// ULYSSES: %[[L:.*]] = stablehlo.broadcast_in_dim %[[OWN]], dims = [2] : (tensor<2xf32>) -> tensor<1x13x2xf32>
// ULYSSES: sp.attend({{.*}} onto(%[[NONE]], %[[L]])
// CHECK-NOT: stablehlo.select
// CHECK: return
module @sink_begins_the_state {
  func.func @main(%q: tensor<1x13x6x8xf32>, %k: tensor<1x17x3x8xf32>, %s: tensor<6xf32>) -> tensor<1x13x6x8xf32> {
    %o = sp.attention(%q, %k, %k) sink(%s : tensor<6xf32>) bands [#sp.band<q 1 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5 empty zero
       : tensor<1x13x6x8xf32>, tensor<1x17x3x8xf32>, tensor<1x17x3x8xf32> -> tensor<1x13x6x8xf32>
    return %o : tensor<1x13x6x8xf32>
  }
}

// -----

// With a score function the state is the greatest exponent and a sum: of the
// sink alone, its exponent and 1.

// CHECK-LABEL: module @sink_begins_the_state_of_a_function
// CHECK: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK: %[[NONE:.*]] = stablehlo.constant dense<0.000000e+00>
// CHECK: %[[S:.*]] = stablehlo.broadcast_in_dim {{.*}} -> tensor<1x{{4x6|13x2}}x1xf32>
// CHECK: %[[L:.*]] = stablehlo.concatenate %[[S]], %[[ONE]], dim = 3
// CHECK: sp.attend({{.*}} onto(%[[NONE]], %[[L]]) score @score_0
// CHECK-NOT: stablehlo.select
// CHECK: return %{{.*}} : tensor<1x4x6x8xf32>
module @sink_begins_the_state_of_a_function {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<f32> {
    return %s : tensor<f32>
  }
  func.func @main(%q: tensor<1x13x6x8xf32>, %k: tensor<1x17x3x8xf32>, %s: tensor<6xf32>) -> tensor<1x13x6x8xf32> {
    %o = sp.attention(%q, %k, %k) score @score_0 sink(%s : tensor<6xf32>) bands [#sp.band<q 1 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5 empty zero
       : tensor<1x13x6x8xf32>, tensor<1x17x3x8xf32>, tensor<1x17x3x8xf32> -> tensor<1x13x6x8xf32>
    return %o : tensor<1x13x6x8xf32>
  }
}

// -----

// Rows that saw no key on any rank, which only the last state tells, become the
// mean that was given. Their greatest exponent is -inf.

// CHECK-LABEL: module @mean_of_empty_rows
// RING: scf.yield
// RING: %[[O:.*]], %[[L:.*]] = sp.attend({{.*}} onto(
// RING: %[[MEAN:.*]] = stablehlo.divide %[[O]],
// RING: %[[M:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0, 1, 2, 3] : (tensor<1x1x6x8xf32>) -> tensor<1x4x6x8xf32>
// ULYSSES: %[[O:.*]], %[[L:.*]] = sp.attend(
// ULYSSES: %[[MEAN:.*]] = stablehlo.divide %[[O]],
// ULYSSES: %[[OWN:.*]] = "stablehlo.gather"(%{{.*}}) {{.*}} : (tensor<1x1x6x8xf32>, tensor<2x1xi32>) -> tensor<1x1x2x8xf32>
// ULYSSES: %[[M:.*]] = stablehlo.broadcast_in_dim %[[OWN]], dims = [0, 1, 2, 3] : (tensor<1x1x2x8xf32>) -> tensor<1x13x2x8xf32>
// CHECK: %[[FIRST:.*]] = stablehlo.slice %[[L]] [0:1, 0:{{[0-9]+}}, 0:{{[0-9]+}}, 0:1]
// CHECK: %[[GREATEST:.*]] = stablehlo.reshape %[[FIRST]]
// CHECK: %[[IS:.*]] = stablehlo.compare EQ, %[[GREATEST]], %{{.*}}
// CHECK: %[[EMPTY:.*]] = stablehlo.broadcast_in_dim %[[IS]], dims = [0, 1, 2]
// CHECK: %[[R:.*]] = stablehlo.select %[[EMPTY]], %[[M]], %[[MEAN]]
// CHECK: stablehlo.convert %[[R]] : {{.*}} -> tensor<1x{{4x6|13x2}}x8xbf16>
module @mean_of_empty_rows {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<f32> {
    return %s : tensor<f32>
  }
  func.func @main(%q: tensor<1x13x6x8xbf16>, %k: tensor<1x17x3x8xbf16>, %m: tensor<1x1x6x8xf32>) -> tensor<1x13x6x8xbf16> {
    %o = sp.attention(%q, %k, %k) score @score_0 mean(%m : tensor<1x1x6x8xf32>) bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5 empty mean
       : tensor<1x13x6x8xbf16>, tensor<1x17x3x8xbf16>, tensor<1x17x3x8xbf16> -> tensor<1x13x6x8xbf16>
    return %o : tensor<1x13x6x8xbf16>
  }
}

// -----

// A function may hide what bands show, so every row may be empty: a last state
// tells. A single step divides by the sum itself, which is NaN where that is 0.

// CHECK-LABEL: module @nan_of_empty_rows
// RING: %[[NAN:.*]] = stablehlo.constant dense<0x7FC00000>
// RING: scf.yield
// RING: %[[O:.*]], %[[L:.*]] = sp.attend(
// RING: %[[MEAN:.*]] = stablehlo.divide %[[O]],
// RING: %[[FIRST:.*]] = stablehlo.slice %[[L]] [0:1, 0:{{[0-9]+}}, 0:{{[0-9]+}}, 0:1]
// RING: %[[GREATEST:.*]] = stablehlo.reshape %[[FIRST]]
// RING: %[[IS:.*]] = stablehlo.compare EQ, %[[GREATEST]], %{{.*}}
// RING: %[[EMPTY:.*]] = stablehlo.broadcast_in_dim %[[IS]], dims = [0, 1, 2]
// RING: stablehlo.select %[[EMPTY]], %[[NAN]], %[[MEAN]]
// ULYSSES: %[[O:.*]], %{{.*}} = sp.attend({{.*}} -> tensor<1x13x2x8xf32>, tensor<1x13x2xf32>
// ULYSSES-NEXT: sp.all_to_all %[[O]]
module @nan_of_empty_rows {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<f32> {
    return %s : tensor<f32>
  }
  func.func @main(%q: tensor<1x13x6x8xf32>, %k: tensor<1x17x3x8xf32>) -> tensor<1x13x6x8xf32> {
    %o = sp.attention(%q, %k, %k) score @score_0 bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5
       : tensor<1x13x6x8xf32>, tensor<1x17x3x8xf32>, tensor<1x17x3x8xf32> -> tensor<1x13x6x8xf32>
    return %o : tensor<1x13x6x8xf32>
  }
}

// -----

// Rows that give 0, or that bands hide, need sums: the step does not know them.

// CHECK-LABEL: module @zero_of_empty_rows
// ULYSSES: sp.attend({{.*}} -> tensor<1x13x2x8xf32>, tensor<1x13x2x2xf32>
// ULYSSES: stablehlo.select
// ULYSSES: sp.attend({{.*}} -> tensor<1x13x2x8xf32>, tensor<1x13x2x2xf32>
// ULYSSES: stablehlo.select
module @zero_of_empty_rows {
  func.func private @score_0(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<f32> {
    return %s : tensor<f32>
  }
  func.func @main(%q: tensor<1x13x6x8xf32>, %k: tensor<1x17x3x8xf32>) -> (tensor<1x13x6x8xf32>, tensor<1x13x6x8xf32>) {
    %o = sp.attention(%q, %k, %k) score @score_0 bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5 empty zero
       : tensor<1x13x6x8xf32>, tensor<1x17x3x8xf32>, tensor<1x17x3x8xf32> -> tensor<1x13x6x8xf32>
    %p = sp.attention(%q, %k, %k) score @score_0 bands [#sp.band<q 1 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5
       : tensor<1x13x6x8xf32>, tensor<1x17x3x8xf32>, tensor<1x17x3x8xf32> -> tensor<1x13x6x8xf32>
    return %o, %p : tensor<1x13x6x8xf32>, tensor<1x13x6x8xf32>
  }
}
