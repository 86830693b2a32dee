// RUN: sp-opt %s -split-input-file -verify-diagnostics -sp-replace-custom-calls

func.func @smallest(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{expected 'k' and 'largest = true' in 'mhlo.attributes' of custom call '@mhlo.topk'}}
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = false}} : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return
}

// -----

func.func @erf_of_two(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected custom call '@mhlo.erf' to take 1 operand and return 1 of its type}}
  %0 = stablehlo.custom_call @mhlo.erf(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @erf_of_integers(%x: tensor<8xi32>) {
  // expected-error@+1 {{expected custom call '@mhlo.erf' to take floats but got 'tensor<8xi32>'}}
  %0 = stablehlo.custom_call @mhlo.erf(%x) : (tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @topk_c1_more_than_there_are(%x: tensor<8x4xf32>) -> tensor<8x5xf32> {
  // expected-error@+1 {{'chlo.top_k' op expected k of at most the last dimension of 'tensor<8x4xf32>' but got 5}}
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 5 : i64, largest = true}} : (tensor<8x4xf32>) -> (tensor<8x5xf32>, tensor<8x5xi32>)
  return %0#0 : tensor<8x5xf32>
}
