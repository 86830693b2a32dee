// RUN: sp-opt %s -split-input-file --sp-resolve-donations --remarks-filter=sp-resolve-donations -verify-diagnostics | FileCheck %s

// CHECK-LABEL: module @named_results
// CHECK: @main(%{{.*}}: tensor<4xf32> {sp.donated_to = 2 : i64}, %{{.*}}: tensor<3xf32>, %{{.*}}: tensor<4xf32> {sp.donated_to = 0 : i64})
module @named_results {
  func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 2 : i32}, %x: tensor<3xf32>, %b: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32>, tensor<3xf32>, tensor<4xf32>) {
    return %a, %x, %b : tensor<4xf32>, tensor<3xf32>, tensor<4xf32>
  }
}

// -----

// Donors take what is left of their type, in order; one for which nothing is
// left keeps its memory.
// CHECK-LABEL: module @donors
// CHECK: @main(%{{.*}}: tensor<4xf32> {sp.donated_to = 2 : i64}, %{{.*}}: tensor<4xf32> {sp.donated_to = 0 : i64}, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<3xf32> {sp.donated_to = 1 : i64})
module @donors {
  // expected-remark @below {{[Missed] DonationUnused | Category:sp-resolve-donations | Remark="argument ", Remark=" is donated but no result of its type is left for it: it keeps its memory, and each step sees it as it was given", argument=2}}
  func.func @main(%a: tensor<4xf32> {jax.buffer_donor = true}, %b: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %c: tensor<4xf32> {jax.buffer_donor = true}, %d: tensor<3xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<3xf32>, tensor<4xf32>) {
    return %a, %d, %c : tensor<4xf32>, tensor<3xf32>, tensor<4xf32>
  }
}

// -----

// CHECK-LABEL: module @resolved_before
// CHECK: @main(%{{.*}}: tensor<4xf32> {sp.donated_to = 1 : i64}, %{{.*}}: tensor<4xf32> {sp.donated_to = 0 : i64})
module @resolved_before {
  func.func @main(%a: tensor<4xf32> {sp.donated_to = 1 : i64}, %b: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32>) {
    return %a, %b : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Caches are what some argument is donated for but for rows that are written, also
// by a mask; an update that skips steps is none.
// CHECK-LABEL: module @caches
// CHECK: @main(%{{.*}}: tensor<8x4xf32> {sp.cache, sp.donated_to = 1 : i64}, %{{.*}}: tensor<8x4xf32> {sp.cache, sp.donated_to = 0 : i64}, %{{.*}}: tensor<8x4xf32> {sp.donated_to = 2 : i64}, %{{.*}}: tensor<8x4xf32> {sp.donated_to = 3 : i64},
module @caches {
  func.func @main(%k: tensor<8x4xf32> {tf.aliasing_output = 1 : i32}, %v: tensor<8x4xf32> {tf.aliasing_output = 0 : i32}, %w: tensor<8x4xf32> {tf.aliasing_output = 2 : i32}, %kept: tensor<8x4xf32> {tf.aliasing_output = 3 : i32}, %new: tensor<1x4xf32>, %at: tensor<i32>, %rows: tensor<8xi1>, %finite: tensor<i1>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.dynamic_update_slice %k, %new, %at, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    %mask = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<8xi1>) -> tensor<8x4xi1>
    %wide = stablehlo.broadcast_in_dim %new, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %v1 = stablehlo.select %mask, %wide, %v : tensor<8x4xi1>, tensor<8x4xf32>
    %less = stablehlo.subtract %w, %wide : tensor<8x4xf32>
    %is = stablehlo.broadcast_in_dim %finite, dims = [] : (tensor<i1>) -> tensor<8x4xi1>
    %w1 = stablehlo.select %is, %less, %w : tensor<8x4xi1>, tensor<8x4xf32>
    return %k1, %v1, %w1, %kept : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  }
}
