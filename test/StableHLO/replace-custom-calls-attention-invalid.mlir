// RUN: sp-opt %s -split-input-file -verify-diagnostics -sp-replace-custom-calls

func.func @gradient(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{custom call '@__cudnn$fmhaSoftmaxBackward' is not supported; export the gradient with implementation='xla' of attention}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmaxBackward(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @dropout(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{custom call '@__cudnn$fmhaScaleBiasSoftmaxDropout' is not supported, for its random numbers are the device's; export the model with dropout_rate=0}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaScaleBiasSoftmaxDropout(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @narrow_floats(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{custom call '@__cudnn$fmhaSoftmaxF8' is not supported, for it computes in FP8; export the model with attention in bf16 or f16}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmaxF8(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @unknown(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{custom call '@__cudnn$fmhaScaleMaskSoftmax' is not supported; export the model with implementation='xla' of attention}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaScaleMaskSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @pages(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'is_paged_attention' in 'cudnn_fmha_backend_config' of custom call '@__cudnn$fmhaSoftmax' to be false, keys and values without pages, but got true}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22is_paged_attention\22: true, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @packed(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'max_seg_per_batch' in 'cudnn_fmha_backend_config' of custom call '@__cudnn$fmhaSoftmax' to be 1, sequences that are not packed, but got 3}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22max_seg_per_batch\22: 3, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @rate(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'dropout_rate' in 'cudnn_fmha_backend_config' of custom call '@__cudnn$fmhaSoftmax' to be 0 but got 0.25}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22dropout_rate\22: 0.25, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @alibi(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'mask_type' in 'cudnn_fmha_backend_config' of custom call '@__cudnn$fmhaSoftmax' to be NO_MASK, CAUSAL, PADDING or PADDING_CAUSAL, or the model exported with implementation='xla' of attention, but got "ALIBI"}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22ALIBI\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @no_mask_type(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'mask_type' in 'cudnn_fmha_backend_config' of custom call '@__cudnn$fmhaSoftmax' to be NO_MASK, CAUSAL, PADDING or PADDING_CAUSAL, or the model exported with implementation='xla' of attention, but there is none}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @no_scale(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'fmha_scale' in 'cudnn_fmha_backend_config' of custom call '@__cudnn$fmhaSoftmax' to be a number within f32 but there is none}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @wide_scale(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'fmha_scale' in 'cudnn_fmha_backend_config' of custom call '@__cudnn$fmhaSoftmax' to be a number within f32 but got 1.0000000000000001e+300}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 1e300, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @window_of_text(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'sliding_window_length' in 'cudnn_fmha_backend_config' of custom call '@__cudnn$fmhaSoftmax' to be an integer that is not negative but got "wide"}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22sliding_window_length\22: \22wide\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @window_before_the_end(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'sliding_window_length' in 'cudnn_fmha_backend_config' of custom call '@__cudnn$fmhaSoftmax' to be an integer that is not negative but got -1}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22sliding_window_length\22: -1, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @layout(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'bmm1_dot_dimension_numbers' in 'cudnn_fmha_backend_config' of custom call '@__cudnn$fmhaSoftmax' to be those of BTNH or BNTH but got 7}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: 7}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @no_text(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'backend_config' of custom call '@__cudnn$fmhaSoftmax' to be JSON text}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = {batch = 1 : i32}} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @no_json(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'backend_config' of custom call '@__cudnn$fmhaSoftmax' to be JSON: [1:2, byte=2]: Expected object key}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{mask}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @deep_json(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'backend_config' of custom call '@__cudnn$fmhaSoftmax' to be JSON of at most 64 nested values}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @deep_json_after_quotes(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 'backend_config' of custom call '@__cudnn$fmhaSoftmax' to be JSON of at most 64 nested values}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "[\22]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\5C\22\22, [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @no_object(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected an object 'cudnn_fmha_backend_config' in 'backend_config' of custom call '@__cudnn$fmhaSoftmax'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "[]"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @too_few_operands(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>) {
  // expected-error@+1 {{expected 3 operands of custom call '@__cudnn$fmhaSoftmax' but got 2}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @lengths_without_padding(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>, %a3: tensor<2xi32>, %a4: tensor<2xi32>) {
  // expected-error@+1 {{expected 3 operands of custom call '@__cudnn$fmhaSoftmax' but got 5}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2, %a3, %a4) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @padding_without_lengths(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 5 operands of custom call '@__cudnn$fmhaSoftmax' but got 3}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22PADDING\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @three_dimensions(%a0: tensor<6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected the query of custom call '@__cudnn$fmhaSoftmax' to have 4 dimensions of 1 to 2147483647 but got 'tensor<6x4x8xbf16>'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @no_heads(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x0x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected the key of custom call '@__cudnn$fmhaSoftmax' to have 4 dimensions of 1 to 2147483647 but got 'tensor<2x5x0x8xbf16>'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x0x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @dynamic(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x?xbf16>) {
  // expected-error@+1 {{expected the value of custom call '@__cudnn$fmhaSoftmax' to have 4 dimensions of 1 to 2147483647 but got 'tensor<2x5x2x?xbf16>'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x?xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @wide_floats(%a0: tensor<2x6x4x8xf32>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected the query of custom call '@__cudnn$fmhaSoftmax' to have elements of type bf16 or f16 but got 'f32'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xf32>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @other_batch(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<3x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected the key of custom call '@__cudnn$fmhaSoftmax' to be 'tensor<2x5x2x8xbf16>' but got 'tensor<3x5x2x8xbf16>'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<3x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @other_keys(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x7x2x16xbf16>) {
  // expected-error@+1 {{expected the value of custom call '@__cudnn$fmhaSoftmax' to be 'tensor<2x5x2x16xbf16>' but got 'tensor<2x7x2x16xbf16>'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x7x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @uneven_heads(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x3x8xbf16>, %a2: tensor<2x5x3x16xbf16>) {
  // expected-error@+1 {{expected custom call '@__cudnn$fmhaSoftmax' to have a multiple of 3 heads, as the key has, but got 4}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x3x8xbf16>, tensor<2x5x3x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @long_sequences(%a0: tensor<1x999999999x1x8xbf16>, %a1: tensor<1x999999999x1x8xbf16>, %a2: tensor<1x999999999x1x8xbf16>) {
  // expected-error@+1 {{scores of custom call '@__cudnn$fmhaSoftmax' have more than 2^56 elements; export the model with smaller sizes}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<1x999999999x1x8xbf16>, tensor<1x999999999x1x8xbf16>, tensor<1x999999999x1x8xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @bias_of_another_length(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>, %a3: tensor<1x4x6x6xbf16>) {
  // expected-error@+1 {{expected the bias of custom call '@__cudnn$fmhaScaleBiasSoftmax' to be 'tensor<1x4x6x5xbf16>' but got 'tensor<1x4x6x6xbf16>'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaScaleBiasSoftmax(%a0, %a1, %a2, %a3) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>, tensor<1x4x6x6xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @lengths_of_another_batch(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>, %a3: tensor<2xi32>, %a4: tensor<3xi32>) {
  // expected-error@+1 {{expected the key lengths of custom call '@__cudnn$fmhaSoftmax' to be 'tensor<2xi32>' but got 'tensor<3xi32>'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2, %a3, %a4) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22PADDING\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>, tensor<2xi32>, tensor<3xi32>) -> (tensor<2x4x6x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @one_result(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected 2 or 3 results of custom call '@__cudnn$fmhaSoftmax' but got 1}}
  %0:1 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>)
  return
}

// -----

func.func @result_of_another_shape(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected result 0 of custom call '@__cudnn$fmhaSoftmax' to be 'tensor<2x4x6x16xbf16>' but got 'tensor<2x6x4x16xbf16>'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x6x4x16xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @narrow_sum(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected result 1 of custom call '@__cudnn$fmhaSoftmax' to be 'tensor<2x4x6xf32>' but got 'tensor<2x4x6xbf16>'}}
  %0:3 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<2x4x6xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @workspace(%a0: tensor<2x6x4x8xbf16>, %a1: tensor<2x5x2x8xbf16>, %a2: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{expected result 1 of custom call '@__cudnn$fmhaSoftmax' to be bytes of a known number but got 'tensor<4xf32>'}}
  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%a0, %a1, %a2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.5, \22mask_type\22: \22NO_MASK\22, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [\223\22], \22rhs_contracting_dimensions\22: [\223\22], \22lhs_batch_dimensions\22: [\220\22, \222\22], \22rhs_batch_dimensions\22: [\220\22, \222\22]}}}"} : (tensor<2x6x4x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x5x2x16xbf16>) -> (tensor<2x4x6x16xbf16>, tensor<4xf32>)
  return
}
