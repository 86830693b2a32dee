// RUN: sp-opt %s -split-input-file --sp-resolve-donations -verify-diagnostics

// expected-error @below {{expected a function called 'main'}}
module @no_program {}

// -----

// expected-error @below {{expected argument 1 to be donated for one of the 1 results but 'tf.aliasing_output' is 1 : i32}}
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{expected argument 0 to be donated for one of the 1 results but 'tf.aliasing_output' is -1 : i32}}
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = -1 : i32}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{expected argument 0 to be donated for one of the 1 results but 'tf.aliasing_output' is "first"}}
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = "first"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{expected argument 1 to be donated for a result of its type, 'tensor<4xf32>', but result 0 is 'tensor<3xf32>'}}
func.func @main(%x: tensor<3xf32>, %w: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<3xf32>, tensor<4xf32>) {
  return %x, %w : tensor<3xf32>, tensor<4xf32>
}

// -----

// expected-note @below {{argument 0 is donated here}}
// expected-error @below {{expected argument 2 to be donated for a result of its own but result 0 takes argument 0}}
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<4xf32>, %b: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
