// RUN: sp-interpret %s --precision=program | FileCheck %s

// Scores are 0, so that each query gets the mean of the keys that it sees: from
// query - 1 to query, of the first two keys, for queries before the third. Rows
// that see no key are 0.
// CHECK: result0: tensor<1x1x4x1xbf16> [1, 2, 0, 0]
// CHECK-NEXT: result1: tensor<1x1x4xf32> [0, 0.6931472, -inf, -inf]
// CHECK-NEXT: result2: tensor<2xui8> [0, 0]
func.func @main() -> (tensor<1x1x4x1xbf16>, tensor<1x1x4xf32>, tensor<2xui8>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<1x4x1x1xbf16>
  %values = stablehlo.constant dense<[[[[1.0]], [[3.0]], [[5.0]], [[7.0]]]]> : tensor<1x4x1x1xbf16>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %0:3 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%zeros, %zeros, %values, %two, %two) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 1, \22mask_type\22: \22PADDING_CAUSAL\22, \22sliding_window_length\22: 2, \22bmm1_dot_dimension_numbers\22: {\22lhs_contracting_dimensions\22: [3], \22rhs_contracting_dimensions\22: [3], \22lhs_batch_dimensions\22: [0, 2], \22rhs_batch_dimensions\22: [0, 2]}}}"} : (tensor<1x4x1x1xbf16>, tensor<1x4x1x1xbf16>, tensor<1x4x1x1xbf16>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1x1x4x1xbf16>, tensor<1x1x4xf32>, tensor<2xui8>)
  return %0#0, %0#1, %0#2 : tensor<1x1x4x1xbf16>, tensor<1x1x4xf32>, tensor<2xui8>
}
