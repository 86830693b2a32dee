// RUN: sp-opt %s | FileCheck %s

// CHECK-LABEL: @sums_while_importing
// CHECK: %[[L:.*]] = sp.log_sum_exp %{{.*}} along 1 : tensor<4x16x8xf32> -> tensor<4x8xf32>
// CHECK: sp.add_log_sum_exp_gradient %{{.*}} by %[[L]] of %{{.*}} along 1 : tensor<4x16x8xf32>, tensor<4x8xf32>
func.func @sums_while_importing(%s: tensor<4x16x8xf32>) -> tensor<4x16x8xf32> {
  %l = sp.log_sum_exp %s along 1 : tensor<4x16x8xf32> -> tensor<4x8xf32>
  %d = sp.add_log_sum_exp_gradient %s by %l of %s along 1 : tensor<4x16x8xf32>, tensor<4x8xf32>
  return %d : tensor<4x16x8xf32>
}

// CHECK-LABEL: @gradient_with_a_cotangent_of_lse
// CHECK: sp.attention_backward(%{{.*}}, %{{.*}}, %{{.*}}) of(%{{.*}}, %{{.*}}) by(%{{.*}}) lse(%{{.*}} : tensor<1x64x8xf32>) bands [] scale 1.000000e+00 :
func.func @gradient_with_a_cotangent_of_lse(%q: tensor<1x64x8x16xbf16>, %k: tensor<1x64x2x16xbf16>, %l: tensor<1x64x8xf32>) {
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %l) by(%q) lse(%l : tensor<1x64x8xf32>) bands [] scale 1.0
     : (tensor<1x64x8x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x8x16xbf16>, tensor<1x64x8xf32>, tensor<1x64x8x16xbf16>)
     -> (tensor<1x64x8x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>)
  return
}
