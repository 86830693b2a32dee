// RUN: sp-opt %s --sp-import-pipeline --split-input-file --remarks-filter=sp-import-attention -o /dev/null 2>&1 | FileCheck %s --implicit-check-not="softmax is not taken"

// Exponentials that nothing is divided by a sum of are no softmax, whatever else is summed.

// Gates of a scan, each the product of two that follow each other, and a sum over its rows
// of all that is made of them.
// CHECK: there is no softmax
module @gates {
  func.func public @main(%x: tensor<2x6x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x8xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
    %1 = stablehlo.negate %0 : tensor<2x6x8xf32>
    %2 = stablehlo.exponential %1 : tensor<2x6x8xf32>
    %3 = stablehlo.slice %2 [0:2, 1:6:2, 0:8] : (tensor<2x6x8xf32>) -> tensor<2x3x8xf32>
    %4 = stablehlo.slice %x [0:2, 0:6:2, 0:8] : (tensor<2x6x8xf32>) -> tensor<2x3x8xf32>
    %5 = stablehlo.slice %x [0:2, 1:6:2, 0:8] : (tensor<2x6x8xf32>) -> tensor<2x3x8xf32>
    %6 = stablehlo.multiply %3, %4 : tensor<2x3x8xf32>
    %7 = stablehlo.add %6, %5 : tensor<2x3x8xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %8 = stablehlo.pad %7, %zero, low = [0, 1, 0], high = [0, 0, 0], interior = [0, 1, 0] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x6x8xf32>
    %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %10 = stablehlo.dot_general %7, %v, contracting_dims = [2] x [0] : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
    return %10, %9 : tensor<2x3x8xf32>, tensor<2x8xf32>
  }
}

// -----

// A number of each pair, by a number of it.
// CHECK: there is no softmax
module @sigmoids {
  func.func public @main(%q: tensor<2x6x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> (tensor<2x6x8xf32>, tensor<2x6xf32>) {
    %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x6xf32>
    %1 = stablehlo.exponential %0 : tensor<2x6x6xf32>
    %ones = stablehlo.constant dense<1.0> : tensor<2x6x6xf32>
    %2 = stablehlo.add %1, %ones : tensor<2x6x6xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x6x6xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x6x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %5 = stablehlo.dot_general %3, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x6x6xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
    return %5, %4 : tensor<2x6x8xf32>, tensor<2x6xf32>
  }
}

// -----

// Sums that are divided, but divide nothing.
// CHECK: there is no softmax
module @means {
  func.func public @main(%x: tensor<2x6x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<2x8xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
    %1 = stablehlo.exponential %0 : tensor<2x6x8xf32>
    %2 = stablehlo.multiply %1, %x : tensor<2x6x8xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %six = stablehlo.constant dense<6.0> : tensor<2x8xf32>
    %4 = stablehlo.divide %3, %six : tensor<2x8xf32>
    %5 = stablehlo.dot_general %4, %v, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    return %5 : tensor<2x8xf32>
  }
}

// -----

// By the power -1 of a guarded sum, and of keys that are weights: this is one.
// CHECK: softmax is not taken as attention: {{.*}}its keys are weights
module @inverted {
  func.func public @main(%x: tensor<2x6x8xf32>, %w: tensor<8x11xf32>, %v: tensor<11x5xf32>) -> tensor<2x6x5xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<2x6x8xf32>, tensor<8x11xf32>) -> tensor<2x6x11xf32>
    %1 = stablehlo.exponential %0 : tensor<2x6x11xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x6x11xf32>, tensor<f32>) -> tensor<2x6xf32>
    %least = stablehlo.constant dense<1.0e-9> : tensor<2x6xf32>
    %3 = stablehlo.maximum %2, %least : tensor<2x6xf32>
    %minus = stablehlo.constant dense<-1.0> : tensor<2x6xf32>
    %4 = stablehlo.power %3, %minus : tensor<2x6xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x11xf32>
    %6 = stablehlo.multiply %1, %5 : tensor<2x6x11xf32>
    %7 = stablehlo.dot_general %6, %v, contracting_dims = [2] x [0] : (tensor<2x6x11xf32>, tensor<11x5xf32>) -> tensor<2x6x5xf32>
    return %7 : tensor<2x6x5xf32>
  }
}
