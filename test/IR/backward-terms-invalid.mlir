// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func private @gradient(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
func.func @attention_backward_c6_fewer_keys(%q: tensor<1x64x2x16xf32>, %k: tensor<1x32x2x16xf32>, %lse: tensor<1x64x2x2xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected a gradient of a term to be [1, 64, 2, 32 or 1] or, summed over queries, [1, 1, 2, 32 or 1] of 'f32' but got 'tensor<1x64x2x64xf32>'}}
  %dq, %dk, %dv, %dt = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) score @gradient bands [] scale 1.0 : (tensor<1x64x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x2xf32>, tensor<1x64x2x16xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>) terms (tensor<1x64x2x64xf32>)
  return
}

// -----

func.func private @gradient(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
func.func @attention_backward_c6_summed_over_heads(%q: tensor<1x64x2x16xf32>, %lse: tensor<1x64x2x2xf32>) {
  // expected-error-re @below {{'sp.attention_backward' op expected a gradient of a term to be {{.*}} but got 'tensor<1x64x1x64xf32>'}}
  %dq, %dk, %dv, %dt = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) score @gradient bands [] scale 1.0 : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x2xf32>, tensor<1x64x2x16xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>) terms (tensor<1x64x1x64xf32>)
  return
}

// -----

func.func private @gradient(tensor<f64>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f64>, tensor<f64>, tensor<f64>)
func.func @attention_backward_c6_rounded(%q: tensor<1x64x2x16xf64>, %lse: tensor<1x64x2x2xf64>) {
  // expected-error-re @below {{'sp.attention_backward' op expected a gradient of a term to be {{.*}} of 'f64' but got 'tensor<1x1x2x1xf32>'}}
  %dq, %dk, %dv, %dt = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) score @gradient bands [] scale 1.0 : (tensor<1x64x2x16xf64>, tensor<1x64x2x16xf64>, tensor<1x64x2x16xf64>, tensor<1x64x2x16xf64>, tensor<1x64x2x2xf64>, tensor<1x64x2x16xf64>) -> (tensor<1x64x2x16xf64>, tensor<1x64x2x16xf64>, tensor<1x64x2x16xf64>) terms (tensor<1x1x2x1xf32>)
  return
}

// -----

func.func @attention_backward_c6_no_function(%q: tensor<1x64x2x16xf32>, %lse: tensor<1x64x2xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected a score function that gives derivatives by terms}}
  %dq, %dk, %dv, %dt = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) bands [] scale 1.0 : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2xf32>, tensor<1x64x2x16xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>) terms (tensor<1x1x2x1xf32>)
  return
}

// -----

func.func private @gradient(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)
func.func @attention_backward_c5_no_derivative(%q: tensor<1x64x2x16xf32>, %lse: tensor<1x64x2x2xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected score function 'gradient' to be '(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)', or with a weight of the same type, but got '(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)'}}
  %dq, %dk, %dv, %dt = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) score @gradient bands [] scale 1.0 : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x2xf32>, tensor<1x64x2x16xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>) terms (tensor<1x1x2x1xf32>)
  return
}

// -----

func.func private @gradient(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
func.func @attend_backward_c7_heads_before_the_group(%q: tensor<1x3x2x4xf32>, %lse: tensor<1x3x2x2xf32>, %delta: tensor<1x3x2xf32>, %dt: tensor<1x1x4x10xf32>) {
  // expected-error @below {{'sp.attend_backward' op expected a gradient of a term to be [1, 3, 2, 10 or 1] or, summed over queries, [1, 1, 6, 10 or 1] of 'f32' but got 'tensor<1x1x4x10xf32>'}}
  %dq, %dk, %dv, %d = sp.attend_backward(%q, %q, %q) of(%q, %lse, %delta) onto_terms(%dt) score @gradient queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> first_head 4 bands [] scale 1.0 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>) -> (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) terms (tensor<1x1x4x10xf32>)
  return
}

// -----

func.func private @gradient(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
func.func @attend_backward_c7_local_keys(%q: tensor<1x3x2x4xf32>, %lse: tensor<1x3x2x2xf32>, %delta: tensor<1x3x2xf32>, %dt: tensor<1x3x2x3xf32>) {
  // expected-error-re @below {{'sp.attend_backward' op expected a gradient of a term to be [1, 3, 2, 10 or 1] or{{.*}} but got 'tensor<1x3x2x3xf32>'}}
  %dq, %dk, %dv, %d = sp.attend_backward(%q, %q, %q) of(%q, %lse, %delta) onto_terms(%dt) score @gradient queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>) -> (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) terms (tensor<1x3x2x3xf32>)
  return
}

// -----

func.func private @gradient(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
func.func @attend_backward_c7_not_continued(%q: tensor<1x3x2x4xf32>, %lse: tensor<1x3x2x2xf32>, %delta: tensor<1x3x2xf32>) {
  // expected-error-re @below {{'sp.attend_backward' op expected every gradient of a term to be continued by its own type}}
  %dq, %dk, %dv, %d = "sp.attend_backward"(%q, %q, %q, %q, %lse, %delta) <{bands = [], first_head = 0 : i64, keys = #sp.layout<contiguous 10 on "sp" of 4>, name = "", operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>, queries = #sp.layout<contiguous 10 on "sp" of 4>, scale = 1.0 : f64, score = @gradient, term_kinds = #sp<term_kinds[]>}> : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2xf32>) -> (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x1x2x1xf32>)
  return
}
