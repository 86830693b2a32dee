// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func @reduce_c1_shapes(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce' op expected inputs of one shape but got [2, 3] and [2, 4]}}
  %0:2 = stablehlo.reduce(%x init: %c), (%y init: %c) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%d: tensor<f32>, %e: tensor<f32>) {
    stablehlo.return %a, %d : tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @reduce_c2_dimension(%x: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce' op expected dimensions below rank 2 but got 2}}
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c2_result(%x: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce' op expected a result of shape [2] but got [3]}}
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @reduce_c3_returns(%x: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce' op expected the body to return ('tensor<f32>') but got ('tensor<f32>', 'tensor<f32>')}}
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // expected-note@+1 {{returned here}}
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @reduce_applies_what(%x: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a commutative operation of two stablehlo values but got 'stablehlo.subtract'}}
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.subtract across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_element_type(%x: tensor<2x3xf32>, %c: tensor<f64>) {
  // expected-error@+1 {{'stablehlo.reduce' op expected an initial value of the input's element type 'f32' but got 'tensor<f64>'}}
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_window_c2(%x: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window' op expected 2 values in window_dimensions but got 1}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reduce_window_c2_padding(%x: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window' op expected padding of shape [2, 2] but got [2]}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1, 3>, padding = dense<0> : tensor<2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reduce_window_c3(%x: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window' op expected a result of shape [2, 1] but got [2, 3]}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @sort_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.sort' op expected a dimension from -2 to 1 but got 2}}
  %0 = "stablehlo.sort"(%x) <{dimension = 2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @sort_c2(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.sort' op expected the comparator to return ('tensor<i1>') but got ('tensor<f32>')}}
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-note@+1 {{returned here}}
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @map_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.map' op expected dimensions 0..1 in order but got [1, 0]}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 1, 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @while_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.while' op expected the body to return ('tensor<2xf32>') but got ()}}
  %0 = stablehlo.while(%iterArg = %x) : tensor<2xf32>
   cond {
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    // expected-note@+1 {{returned here}}
    stablehlo.return
  }
  return
}

// -----

func.func @while_c2(%x: tensor<2xi1>) {
  // expected-error@+1 {{'stablehlo.while' op expected the condition to return ('tensor<i1>') but got ('tensor<2xi1>')}}
  %0 = stablehlo.while(%iterArg = %x) : tensor<2xi1>
   cond {
    // expected-note@+1 {{returned here}}
    stablehlo.return %iterArg : tensor<2xi1>
  } do {
    stablehlo.return %iterArg : tensor<2xi1>
  }
  return
}

// -----

func.func @if_c1(%p: tensor<2xi1>) {
  // expected-error@+1 {{'stablehlo.if' op expected a scalar predicate but got 'tensor<2xi1>'}}
  "stablehlo.if"(%p) ({
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<2xi1>) -> ()
  return
}

// -----

func.func @case_c1_none(%i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.case' op expected at least one branch}}
  "stablehlo.case"(%i) : (tensor<i32>) -> ()
  return
}

// -----

func.func @case_c1_results(%i: tensor<i32>, %x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.case' op expected branch 1 to return ('tensor<2xf32>') but got ()}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    // expected-note@+1 {{returned here}}
    stablehlo.return
  }) : (tensor<i32>) -> tensor<2xf32>
  return
}
