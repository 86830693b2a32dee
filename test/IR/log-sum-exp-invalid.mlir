// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func @log_sum_exp_c1_keeps_its_dim(%s: tensor<4x16x8xf32>) {
  // expected-error @below {{'sp.log_sum_exp' op expected one number for each sum over dimension 1 of 'tensor<4x16x8xf32>' but got 'tensor<4x16xf32>'}}
  %l = sp.log_sum_exp %s along 1 : tensor<4x16x8xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @log_sum_exp_c1_other_type(%s: tensor<4x16x8xbf16>) {
  // expected-error @below {{'sp.log_sum_exp' op expected one number for each sum over dimension 2 of 'tensor<4x16x8xbf16>' but got 'tensor<4x16xf32>'}}
  %l = sp.log_sum_exp %s along 2 : tensor<4x16x8xbf16> -> tensor<4x16xf32>
  return
}

// -----

func.func @log_sum_exp_c1_no_such_dim(%s: tensor<4x16x8xf32>) {
  // expected-error @below {{'sp.log_sum_exp' op expected one number for each sum over dimension 3 of 'tensor<4x16x8xf32>' but got 'tensor<4x16xf32>'}}
  %l = sp.log_sum_exp %s along 3 : tensor<4x16x8xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @add_log_sum_exp_gradient_c1(%s: tensor<4x16x8xf32>, %l: tensor<4x16xf32>) {
  // expected-error @below {{'sp.add_log_sum_exp_gradient' op expected one number for each sum over dimension 1 of 'tensor<4x16x8xf32>' but got 'tensor<4x16xf32>'}}
  %d = sp.add_log_sum_exp_gradient %s by %l of %s along 1 : tensor<4x16x8xf32>, tensor<4x16xf32>
  return
}

// -----

func.func @attention_backward_c7_of_kv_heads(%q: tensor<1x64x8x16xf32>, %k: tensor<1x64x2x16xf32>, %l: tensor<1x64x8xf32>, %d: tensor<1x64x2xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected the cotangent of lse to be [batch, queries, heads] of lse's element type but got 'tensor<1x64x2xf32>'}}
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %l) by(%q) lse(%d : tensor<1x64x2xf32>) bands [] scale 1.0
     : (tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>)
  return
}

// -----

func.func @attention_backward_c7_other_type(%q: tensor<1x64x8x16xf32>, %l: tensor<1x64x8xf32>, %d: tensor<1x64x8xf64>) {
  // expected-error @below {{'sp.attention_backward' op expected the cotangent of lse to be [batch, queries, heads] of lse's element type but got 'tensor<1x64x8xf64>'}}
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %l) by(%q) lse(%d : tensor<1x64x8xf64>) bands [] scale 1.0
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}
