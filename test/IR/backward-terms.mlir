// RUN: sp-opt %s | FileCheck %s
// RUN: sp-opt %s | sp-opt | FileCheck %s

func.func private @gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %w: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  return %s, %w, %b, %w : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// With a weight there is one result more, before the derivatives.
func.func private @weighted(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %w: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  return %s, %w, %b, %w : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @whole
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[T:.*]]:2 = sp.attention_backward({{.*}} score @gradient
// CHECK-SAME: -> (tensor<2x7x8x8xbf16>, tensor<2x9x2x8xbf16>, tensor<2x9x2x8xbf16>) terms(tensor<2x1x8x1xf32>, tensor<2x7x8x9xf32>)
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = sp.attention_backward({{.*}} score @weighted
// CHECK-SAME: terms(tensor<2x7x8x1xf32>)
func.func @whole(%q: tensor<2x7x8x8xbf16>, %k: tensor<2x9x2x8xbf16>, %lse: tensor<2x7x8x2xf32>, %w: tensor<1x1x8x1xf32>, %b: tensor<1x1x1x9xf32>) {
  %dq, %dk, %dv, %dw, %db = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) score @gradient
     per_head(%w : tensor<1x1x8x1xf32>) pair(%b : tensor<1x1x1x9xf32>) bands [] scale 1.0
     : (tensor<2x7x8x8xbf16>, tensor<2x9x2x8xbf16>, tensor<2x9x2x8xbf16>, tensor<2x7x8x8xbf16>, tensor<2x7x8x2xf32>, tensor<2x7x8x8xbf16>)
     -> (tensor<2x7x8x8xbf16>, tensor<2x9x2x8xbf16>, tensor<2x9x2x8xbf16>) terms (tensor<2x1x8x1xf32>, tensor<2x7x8x9xf32>)
  %eq, %ek, %ev, %ew = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) score @weighted
     per_head(%w : tensor<1x1x8x1xf32>) pair(%b : tensor<1x1x1x9xf32>) bands [] scale 1.0
     : (tensor<2x7x8x8xbf16>, tensor<2x9x2x8xbf16>, tensor<2x9x2x8xbf16>, tensor<2x7x8x8xbf16>, tensor<2x7x8x2xf32>, tensor<2x7x8x8xbf16>)
     -> (tensor<2x7x8x8xbf16>, tensor<2x9x2x8xbf16>, tensor<2x9x2x8xbf16>) terms (tensor<2x7x8x1xf32>)
  return
}

// A sum over queries has the heads of the whole attention, rows those of the
// rank.

// CHECK-LABEL: @part
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<2x1x16x9xf32>, %[[B:[a-z0-9]*]]: tensor<2x2x8x1xf32>
// CHECK: sp.attend_backward({{.*}} onto_query(%{{.*}}) onto_terms(%[[W]], %[[B]]) score @gradient
// CHECK-SAME: first_head 8
// CHECK-SAME: -> (tensor<2x2x8x8xf32>, tensor<2x3x2x8xf32>, tensor<2x3x2x8xf32>) terms(tensor<2x1x16x9xf32>, tensor<2x2x8x1xf32>)
func.func @part(%q: tensor<2x2x8x8xf32>, %k: tensor<2x3x2x8xf32>, %lse: tensor<2x2x8x2xf32>, %delta: tensor<2x2x8xf32>,
                %dw: tensor<2x1x16x9xf32>, %db: tensor<2x2x8x1xf32>, %w: tensor<1x1x16x1xf32>, %b: tensor<1x1x1x9xf32>, %source: index) {
  %dq, %dk, %dv, %d:2 = sp.attend_backward(%q, %k, %k) of(%q, %lse, %delta) onto_query(%q) onto_terms(%dw, %db) score @gradient
     per_head(%w : tensor<1x1x16x1xf32>) pair(%b : tensor<1x1x1x9xf32>)
     queries <contiguous 7 on "sp" of 4> keys <contiguous 9 on "sp" of 4> from %source first_head 8 bands [] scale 1.0
     : (tensor<2x2x8x8xf32>, tensor<2x3x2x8xf32>, tensor<2x3x2x8xf32>, tensor<2x2x8x8xf32>, tensor<2x2x8x2xf32>)
     -> (tensor<2x2x8x8xf32>, tensor<2x3x2x8xf32>, tensor<2x3x2x8xf32>) terms (tensor<2x1x16x9xf32>, tensor<2x2x8x1xf32>)
  return
}
