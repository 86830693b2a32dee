// RUN: sp-opt %s -split-input-file --sp-accumulate-pipeline=micro-batches=3 -verify-diagnostics

func.func public @main(%x: tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32> {
  // expected-error @+1 {{expected a batch of at least 3 sequences for 3 micro-batches but this attention has 2; ask for at most --accumulate=2}}
  %o = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 5.000000e-01 {name = "layer0"}
     : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32> -> tensor<2x8x2x4xf32>
  return %o : tensor<2x8x2x4xf32>
}

// -----

// expected-error @+1 {{expected an attention, whose batch is cut into micro-batches, but the model has none that could be taken; leave out --accumulate}}
module {
  func.func public @main(%x: tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32> {
    return %x : tensor<2x8x2x4xf32>
  }
}

// -----

func.func public @main(%x: tensor<6x8x2x4xf32>) -> tensor<5x8x2x4xf32> {
  %o = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 5.000000e-01 {name = "layer0"}
     : tensor<6x8x2x4xf32>, tensor<6x8x2x4xf32>, tensor<6x8x2x4xf32> -> tensor<6x8x2x4xf32>
  // expected-error @+1 {{rows move from one micro-batch to another, which turns cannot do that run one after the other; leave out --accumulate}}
  %s = stablehlo.slice %o [1:6, 0:8, 0:2, 0:4] : (tensor<6x8x2x4xf32>) -> tensor<5x8x2x4xf32>
  return %s : tensor<5x8x2x4xf32>
}

// -----

func.func public @main(%x: tensor<6x8x2x4xf32>) -> tensor<6x8x2x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %trips = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %o = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 5.000000e-01 {name = "layer0"}
     : tensor<6x8x2x4xf32>, tensor<6x8x2x4xf32>, tensor<6x8x2x4xf32> -> tensor<6x8x2x4xf32>
  %r:2 = stablehlo.while(%i = %zero, %a = %o) : tensor<i32>, tensor<6x8x2x4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %trips : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    // expected-error @+1 {{all micro-batches are needed at once within a loop or a branch, which turns cannot do that run one after the other; leave out --accumulate}}
    %s = stablehlo.reduce(%a init: %none) applies stablehlo.add across dimensions = [0] : (tensor<6x8x2x4xf32>, tensor<f32>) -> tensor<8x2x4xf32>
    %b = stablehlo.broadcast_in_dim %s, dims = [1, 2, 3] : (tensor<8x2x4xf32>) -> tensor<6x8x2x4xf32>
    %n = stablehlo.divide %a, %b : tensor<6x8x2x4xf32>
    %ni = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %ni, %n : tensor<i32>, tensor<6x8x2x4xf32>
  }
  return %r#1 : tensor<6x8x2x4xf32>
}
