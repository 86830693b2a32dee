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
