// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)
func.func @attention_backward_c1_one_number_for_a_function(%q: tensor<1x64x2x16xf32>, %lse: tensor<1x64x2xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected [batch, queries, heads, d], [batch, keys, kvHeads, d], [batch, keys, kvHeads, dv], a result and its cotangent [batch, queries, heads, dv] and lse [batch, queries, heads, 2] but got 'tensor<1x64x2x16xf32>', 'tensor<1x64x2x16xf32>', 'tensor<1x64x2x16xf32>', 'tensor<1x64x2x16xf32>', 'tensor<1x64x2x16xf32>' and 'tensor<1x64x2xf32>'}}
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) score @scores bands [] scale 1.0 : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2xf32>, tensor<1x64x2x16xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>)
  return
}

// -----

func.func @attention_backward_c1_two_numbers_without_a_function(%q: tensor<1x64x2x16xf32>, %lse: tensor<1x64x2x2xf32>) {
  // expected-error-re @below {{'sp.attention_backward' op expected {{.*}} and lse [batch, queries, heads] but got {{.*}} and 'tensor<1x64x2x2xf32>'}}
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) bands [] scale 1.0 : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x2xf32>, tensor<1x64x2x16xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>)
  return
}

// -----

func.func @attention_backward_c5_terms_of_no_function(%q: tensor<1x64x2x16xf32>, %lse: tensor<1x64x2xf32>, %a: tensor<1x64x1x1xi1>) {
  // expected-error @below {{'sp.attention_backward' op expected a score function that takes the terms}}
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) per_key(%a : tensor<1x64x1x1xi1>) bands [] scale 1.0 : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2xf32>, tensor<1x64x2x16xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>)
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
func.func @attention_backward_c5_pair_of_queries_last(%q: tensor<1x64x2x16xf32>, %k: tensor<1x32x2x16xf32>, %lse: tensor<1x64x2x2xf32>, %a: tensor<1x2x32x64xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected a pair term of [1, 2, 64, 32], 1 where all share an element, but got 'tensor<1x2x32x64xf32>'}}
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) score @scores pair(%a : tensor<1x2x32x64xf32>) bands [] scale 1.0 : (tensor<1x64x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x2xf32>, tensor<1x64x2x16xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>)
  return
}

// -----

func.func @attention_backward_c5_no_function(%q: tensor<1x64x2x16xf32>, %lse: tensor<1x64x2x2xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected a score function called 'scores'}}
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) score @scores bands [] scale 1.0 : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x2xf32>, tensor<1x64x2x16xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>)
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
func.func @attention_backward_c5_function_without_slope(%q: tensor<1x64x2x16xf32>, %lse: tensor<1x64x2x2xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected score function 'scores' to be '(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)', or with a weight of the same type, but got '(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>'}}
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) score @scores bands [] scale 1.0 : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x2xf32>, tensor<1x64x2x16xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>)
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)
func.func @attend_backward_c1_one_number_for_a_function(%q: tensor<1x3x2x4xf32>, %lse: tensor<1x3x2xf32>) {
  // expected-error-re @below {{'sp.attend_backward' op expected {{.*}}, lse [batch, queries, heads, 2] and delta [batch, queries, heads] but got {{.*}}, 'tensor<1x3x2xf32>' and 'tensor<1x3x2xf32>'}}
  %dq, %dk, %dv = sp.attend_backward(%q, %q, %q) of(%q, %lse, %lse) score @scores queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2xf32>) -> (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>)
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)
func.func @attend_backward_c5_keys_of_all_ranks(%q: tensor<1x3x2x4xf32>, %lse: tensor<1x3x2x2xf32>, %delta: tensor<1x3x2xf32>, %a: tensor<1x10x1x1xi32>) {
  // expected-error @below {{'sp.attend_backward' op expected a per_key term of [1, 3, 1, 1], 1 where all share an element, but got 'tensor<1x10x1x1xi32>'}}
  %dq, %dk, %dv = sp.attend_backward(%q, %q, %q) of(%q, %lse, %delta) score @scores per_key(%a : tensor<1x10x1x1xi32>) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>) -> (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>)
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
func.func @attend_backward_c5_heads_before_the_group(%q: tensor<1x3x2x4xf32>, %lse: tensor<1x3x2x2xf32>, %delta: tensor<1x3x2xf32>, %a: tensor<1x1x4x1xf32>) {
  // expected-error @below {{'sp.attend_backward' op expected a per_head term of [1, 1, 6, 1], 1 where all share an element, but got 'tensor<1x1x4x1xf32>'}}
  %dq, %dk, %dv = sp.attend_backward(%q, %q, %q) of(%q, %lse, %delta) score @scores per_head(%a : tensor<1x1x4x1xf32>) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> first_head 4 bands [] scale 1.0 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>) -> (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>)
  return
}

// -----

func.func private @scores(tensor<f64>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>) -> (tensor<f64>, tensor<f64>, tensor<f32>)
func.func @attend_backward_c5_weight_of_another_type(%q: tensor<1x3x2x4xf64>, %lse: tensor<1x3x2x2xf64>, %delta: tensor<1x3x2xf64>, %a: tensor<1x3x1x1xi1>) {
  // expected-error @below {{'sp.attend_backward' op expected score function 'scores' to be '(tensor<f64>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>) -> (tensor<f64>, tensor<f64>)', or with a weight of the same type, but got '(tensor<f64>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>) -> (tensor<f64>, tensor<f64>, tensor<f32>)'}}
  %dq, %dk, %dv = sp.attend_backward(%q, %q, %q) of(%q, %lse, %delta) score @scores per_query(%a : tensor<1x3x1x1xi1>) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 : (tensor<1x3x2x4xf64>, tensor<1x3x2x4xf64>, tensor<1x3x2x4xf64>, tensor<1x3x2x4xf64>, tensor<1x3x2x2xf64>) -> (tensor<1x3x2x4xf64>, tensor<1x3x2x4xf64>, tensor<1x3x2x4xf64>)
  return
}

// -----

func.func @attend_backward_c6_both_of_another_rank(%q: tensor<1x16x2x16xf32>, %lse: tensor<1x16x2xf32>, %i: index) {
  // expected-error @below {{'sp.attend_backward' op expected queries or keys of another rank but got both}}
  %dq, %dk, %dv = sp.attend_backward(%q, %q, %q) of(%q, %lse, %lse) queries <contiguous 64 on "sp" of 4> from %i keys <contiguous 64 on "sp" of 4> from %i bands [] scale 1.0
     : (tensor<1x16x2x16xf32>, tensor<1x16x2x16xf32>, tensor<1x16x2x16xf32>, tensor<1x16x2x16xf32>, tensor<1x16x2xf32>) -> (tensor<1x16x2x16xf32>, tensor<1x16x2x16xf32>, tensor<1x16x2x16xf32>)
  return
}

// -----

func.func @attend_backward_c6_turn_of_no_owner(%q: tensor<1x16x2x16xf32>, %k: tensor<1x32x2x16xf32>, %lse: tensor<1x16x2xf32>) {
  // expected-error @below {{'sp.attend_backward' op expected a query_source for queries by turn}}
  %dq, %dk, %dv = sp.attend_backward(%q, %k, %k) of(%q, %lse, %lse) queries <contiguous 128 on "sp" of 4 turns 2> keys <contiguous 128 on "sp" of 4 blocks 2> bands [] scale 1.0
     : (tensor<1x16x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x16x2x16xf32>, tensor<1x16x2xf32>) -> (tensor<1x16x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>)
  return
}
