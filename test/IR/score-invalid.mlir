// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
func.func @attention_c4_mean_of_empty_rows_without_a_mean(%q: tensor<1x64x2x16xf32>) {
  // expected-error @below {{'sp.attention' op expected uniform bands over every row without visible keys when 'empty' is mean}}
  %o = sp.attention(%q, %q, %q) score @scores bands [#sp.band<q 1 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 empty mean : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
func.func @attention_c6_queries_as_long_as_keys(%q: tensor<2x64x2x16xf32>, %k: tensor<2x32x2x16xf32>, %a: tensor<2x32x1x1xi32>) {
  // expected-error @below {{'sp.attention' op expected a per_query term of [2, 64, 1, 1], 1 where all share an element, but got 'tensor<2x32x1x1xi32>'}}
  %o = sp.attention(%q, %k, %k) score @scores per_query(%a : tensor<2x32x1x1xi32>) bands [] scale 1.0 : tensor<2x64x2x16xf32>, tensor<2x32x2x16xf32>, tensor<2x32x2x16xf32> -> tensor<2x64x2x16xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
func.func @attention_c6_keys_of_another_batch(%q: tensor<2x64x2x16xf32>, %a: tensor<3x64x1x1xi32>) {
  // expected-error @below {{'sp.attention' op expected a per_key term of [2, 64, 1, 1], 1 where all share an element, but got 'tensor<3x64x1x1xi32>'}}
  %o = sp.attention(%q, %q, %q) score @scores per_key(%a : tensor<3x64x1x1xi32>) bands [] scale 1.0 : tensor<2x64x2x16xf32>, tensor<2x64x2x16xf32>, tensor<2x64x2x16xf32> -> tensor<2x64x2x16xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> tensor<f32>
func.func @attention_c6_pair_of_queries_last(%q: tensor<1x64x2x16xf32>, %k: tensor<1x32x2x16xf32>, %a: tensor<1x2x32x64xf32>) {
  // expected-error @below {{'sp.attention' op expected a pair term of [1, 2, 64, 32], 1 where all share an element, but got 'tensor<1x2x32x64xf32>'}}
  %o = sp.attention(%q, %k, %k) score @scores pair(%a : tensor<1x2x32x64xf32>) bands [] scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> tensor<f32>
func.func @attention_c6_pair_of_kv_heads(%q: tensor<1x64x8x16xf32>, %k: tensor<1x64x2x16xf32>, %a: tensor<1x2x64x64xf32>) {
  // expected-error @below {{'sp.attention' op expected a pair term of [1, 8, 64, 64], 1 where all share an element, but got 'tensor<1x2x64x64xf32>'}}
  %o = sp.attention(%q, %k, %k) score @scores pair(%a : tensor<1x2x64x64xf32>) bands [] scale 1.0 : tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

func.func @attention_c6_terms_of_no_function(%q: tensor<2x64x2x16xf32>, %a: tensor<2x64x1x1xi32>) {
  // expected-error @below {{'sp.attention' op expected a score function that takes the terms}}
  %o = sp.attention(%q, %q, %q) per_key(%a : tensor<2x64x1x1xi32>) bands [] scale 1.0 : tensor<2x64x2x16xf32>, tensor<2x64x2x16xf32>, tensor<2x64x2x16xf32> -> tensor<2x64x2x16xf32>
  return
}

// -----

func.func @attention_c6_sinks_of_kv_heads(%q: tensor<1x64x8x16xf32>, %k: tensor<1x64x2x16xf32>, %s: tensor<2xf32>) {
  // expected-error @below {{'sp.attention' op expected a sink for each of the 8 heads but got 'tensor<2xf32>'}}
  %o = sp.attention(%q, %k, %k) sink(%s : tensor<2xf32>) bands [] scale 1.0 : tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

func.func @attention_c6_mean_without_a_function(%q: tensor<1x64x2x16xf32>, %m: tensor<1x1x2x16xf32>) {
  // expected-error @below {{'sp.attention' op expected a mean with 'empty' mean and a score function only}}
  %o = sp.attention(%q, %q, %q) mean(%m : tensor<1x1x2x16xf32>) bands [] scale 1.0 empty mean : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
func.func @attention_c6_mean_of_rows_that_give_zero(%q: tensor<1x64x2x16xf32>, %m: tensor<1x1x2x16xf32>) {
  // expected-error @below {{'sp.attention' op expected a mean with 'empty' mean and a score function only}}
  %o = sp.attention(%q, %q, %q) score @scores mean(%m : tensor<1x1x2x16xf32>) bands [] scale 1.0 empty zero : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
func.func @attention_c6_mean_of_kv_heads(%q: tensor<1x64x8x16xf32>, %k: tensor<1x64x2x16xf32>, %m: tensor<1x1x2x16xf32>) {
  // expected-error @below {{'sp.attention' op expected a mean of [batch, 1, heads, dv] but got 'tensor<1x1x2x16xf32>'}}
  %o = sp.attention(%q, %k, %k) score @scores mean(%m : tensor<1x1x2x16xf32>) bands [] scale 1.0 empty mean : tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

func.func @attention_c7_no_function(%q: tensor<1x64x2x16xf32>) {
  // expected-error @below {{'sp.attention' op expected a score function called 'scores'}}
  %o = sp.attention(%q, %q, %q) score @scores bands [] scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func private @scores(tensor<bf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<bf16>
func.func @attention_c7_scores_in_bf16(%q: tensor<1x64x2x16xbf16>) {
  // expected-error @below {{'sp.attention' op expected score function 'scores' to be '(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>', or with a weight of the same type, but got '(tensor<bf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<bf16>'}}
  %o = sp.attention(%q, %q, %q) score @scores bands [] scale 1.0 : tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16> -> tensor<1x64x2x16xbf16>
  return
}

// -----

func.func private @scores(tensor<f64>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<8x2xf32>) -> tensor<f64>
func.func @attention_c7_terms_in_another_order(%q: tensor<1x64x2x16xf64>, %a: tensor<1x64x1x1xi1>, %b: tensor<1x64x1x1xi8>, %t: tensor<8x2xf32>) {
  // expected-error @below {{'sp.attention' op expected score function 'scores' to be '(tensor<f64>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i8>, tensor<i1>, tensor<8x2xf32>) -> tensor<f64>', or with a weight of the same type, but got '(tensor<f64>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<8x2xf32>) -> tensor<f64>'}}
  %o = sp.attention(%q, %q, %q) score @scores per_query(%b : tensor<1x64x1x1xi8>) per_key(%a : tensor<1x64x1x1xi1>) table(%t : tensor<8x2xf32>) bands [] scale 1.0 : tensor<1x64x2x16xf64>, tensor<1x64x2x16xf64>, tensor<1x64x2x16xf64> -> tensor<1x64x2x16xf64>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f64>)
func.func @attention_c7_weight_of_another_type(%q: tensor<1x64x2x16xf32>) {
  // expected-error @below {{'sp.attention' op expected score function 'scores' to be '(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>', or with a weight of the same type, but got '(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, tensor<f64>)'}}
  %o = sp.attention(%q, %q, %q) score @scores bands [] scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
func.func @attend_c6_one_number_goes_on(%q: tensor<1x3x2x4xf32>, %m: tensor<1x3x2xf32>) {
  // expected-error @below {{'sp.attend' op expected a state with a score function that is continued to be sums_base_e but got mean}}
  %o, %l = sp.attend(%q, %q, %q) onto(%q, %m) score @scores queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>, tensor<1x3x2xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
func.func @attend_c4_keys_of_all_ranks(%q: tensor<1x3x2x4xf32>, %a: tensor<1x10x1x1xi32>) {
  // expected-error @below {{'sp.attend' op expected a per_key term of [1, 3, 1, 1], 1 where all share an element, but got 'tensor<1x10x1x1xi32>'}}
  %o, %l = sp.attend(%q, %q, %q) score @scores per_key(%a : tensor<1x10x1x1xi32>) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 as sums_base_e : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> tensor<f32>
func.func @attend_c4_pair_of_all_queries(%q: tensor<1x3x2x4xf32>, %a: tensor<1x2x10x10xf32>) {
  // expected-error-re @below {{'sp.attend' op expected a pair term of [1, 2, 3, {{.*}}], 1 where all share an element, but got 'tensor<1x2x10x10xf32>'}}
  %o, %l = sp.attend(%q, %q, %q) score @scores pair(%a : tensor<1x2x10x10xf32>) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 as sums_base_e : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>) -> tensor<f32>
func.func @attend_c5_function_without_keys(%q: tensor<1x3x2x4xf32>) {
  // expected-error @below {{'sp.attend' op expected score function 'scores' to be '(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>', or with a weight of the same type, but got '(tensor<f32>, tensor<i32>, tensor<i32>) -> tensor<f32>'}}
  %o, %l = sp.attend(%q, %q, %q) score @scores queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 as sums_base_e : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> tensor<f32>
func.func @attend_c4_heads_before_the_group(%q: tensor<1x3x2x4xf32>, %a: tensor<1x1x4x1xf32>) {
  // expected-error @below {{'sp.attend' op expected a per_head term of [1, 1, 6, 1], 1 where all share an element, but got 'tensor<1x1x4x1xf32>'}}
  %o, %l = sp.attend(%q, %q, %q) score @scores per_head(%a : tensor<1x1x4x1xf32>) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> first_head 4 bands [] scale 1.0 as sums_base_e : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> tensor<f32>
func.func @attend_c4_pair_of_heads_before_the_group(%q: tensor<1x3x2x4xf32>, %a: tensor<1x4x3x10xf32>) {
  // expected-error @below {{'sp.attend' op expected a pair term of [1, 6, 3, 10], 1 where all share an element, but got 'tensor<1x4x3x10xf32>'}}
  %o, %l = sp.attend(%q, %q, %q) score @scores pair(%a : tensor<1x4x3x10xf32>) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> first_head 4 bands [] scale 1.0 as sums_base_e : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>
  return
}

// -----

func.func private @scores(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
func.func @attend_c6_powers_of_2(%q: tensor<1x3x2x4xf32>) {
  // expected-error @below {{'sp.attend' op expected a state with a score function to be mean or sums_base_e but got sums_base_2}}
  %o, %l = sp.attend(%q, %q, %q) score @scores queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 as sums_base_2 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>, tensor<1x3x2x2xf32>
  return
}

// -----

func.func @attend_c1_sums_of_one_number(%q: tensor<1x3x2x4xf32>) {
  // expected-error @below {{'sp.attend' op expected a state [batch, queries, heads, dv] and [batch, queries, heads, 2] for queries 'tensor<1x3x2x4xf32>' but got 'tensor<1x3x2x4xf32>' and 'tensor<1x3x2xf32>'}}
  %o, %l = sp.attend(%q, %q, %q) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 as sums_base_2 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>, tensor<1x3x2xf32>
  return
}

// -----

func.func @terms_out_of_order(%q: tensor<1x64x2x16xf32>, %a: tensor<1x64x1x1xi8>) {
  // expected-error @below {{'sp.attention' op expected a kind for each of 2 terms, ascending, but got #sp<term_kinds[per_key, per_query]>}}
  %o = "sp.attention"(%q, %q, %q, %a, %a) <{bands = [], scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, term_kinds = #sp<term_kinds[per_key, per_query]>}>
    : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x1x1xi8>, tensor<1x64x1x1xi8>) -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func @terms_without_kinds(%q: tensor<1x64x2x16xf32>, %a: tensor<1x64x1x1xi8>) {
  // expected-error @below {{'sp.attention' op expected a kind for each of 1 terms, ascending, but got #sp<term_kinds[]>}}
  %o = "sp.attention"(%q, %q, %q, %a) <{bands = [], scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, term_kinds = #sp<term_kinds[]>}>
    : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x1x1xi8>) -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func @term_of_another_rank(%q: tensor<1x64x2x16xf32>, %a: tensor<1x64xi8>) {
  // expected-error @below {{'sp.attention' op expected a per_key term of 4 dimensions but got 'tensor<1x64xi8>'}}
  %o = sp.attention(%q, %q, %q) per_key(%a : tensor<1x64xi8>) bands [] scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func @term_without_type(%q: tensor<1x64x2x16xf32>, %a: tensor<1x64x1x1xi8>) {
  // expected-error @below {{expected a type for each per_key term}}
  %o = sp.attention(%q, %q, %q) per_key(%a, %a : tensor<1x64x1x1xi8>) bands [] scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}
