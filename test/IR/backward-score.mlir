// RUN: sp-opt %s | FileCheck %s

// CHECK-LABEL: func.func private @capped
func.func private @capped(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %e = stablehlo.tanh %s : tensor<f32>
  %square = stablehlo.multiply %e, %e : tensor<f32>
  %slope = stablehlo.subtract %one, %square : tensor<f32>
  return %e, %slope : tensor<f32>, tensor<f32>
}

func.func private @everything(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i1>, %b: tensor<bf16>, %c: tensor<f32>, %d: tensor<f32>, %e: tensor<i8>, %t: tensor<32x8xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  return %s, %c, %d : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @gradient_without_terms
// CHECK: sp.attention_backward(%{{.*}}, %{{.*}}, %{{.*}}) of(%{{.*}}, %{{.*}}) by(%{{.*}}) score @capped bands [] scale 1.000000e+00 :
// CHECK-SAME: (tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x2xf32>, tensor<1x64x2x16xbf16>) ->
func.func @gradient_without_terms(%q: tensor<1x64x2x16xbf16>, %lse: tensor<1x64x2x2xf32>) {
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) score @capped bands [] scale 1.0
     : (tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x2xf32>, tensor<1x64x2x16xbf16>)
     -> (tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>)
  return
}

// CHECK-LABEL: @gradient_with_everything
// CHECK: sp.attention_backward({{.*}}) of({{.*}}) by({{.*}}) score @everything
// CHECK-SAME: per_query(%{{.*}} : tensor<1x7x1x1xi1>)
// CHECK-SAME: per_key(%{{.*}} : tensor<2x9x1x1xbf16>)
// CHECK-SAME: per_head(%{{.*}} : tensor<1x1x8x1xf32>)
// CHECK-SAME: pair(%{{.*}}, %{{.*}} : tensor<2x8x7x9xf32>, tensor<1x1x1x9xi8>)
// CHECK-SAME: table(%{{.*}} : tensor<32x8xf32>)
// CHECK-SAME: bands [] scale 1.000000e+00 plan <axis = "sp", heads = 1, outer = 1, inner = 2, gather = 1, layout = striped, placement = head_first> {name = "layer0"}
func.func @gradient_with_everything(
    %q: tensor<2x7x8x8xbf16>, %k: tensor<2x9x2x8xbf16>, %v: tensor<2x9x2x6xbf16>, %o: tensor<2x7x8x6xbf16>, %lse: tensor<2x7x8x2xf32>,
    %seen: tensor<1x7x1x1xi1>, %prior: tensor<2x9x1x1xbf16>, %weight: tensor<1x1x8x1xf32>, %bias: tensor<2x8x7x9xf32>,
    %kind: tensor<1x1x1x9xi8>, %buckets: tensor<32x8xf32>) {
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %v) of(%o, %lse) by(%o) score @everything
     per_query(%seen : tensor<1x7x1x1xi1>) per_key(%prior : tensor<2x9x1x1xbf16>) per_head(%weight : tensor<1x1x8x1xf32>)
     pair(%bias, %kind : tensor<2x8x7x9xf32>, tensor<1x1x1x9xi8>) table(%buckets : tensor<32x8xf32>) bands [] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 2, gather = 1, layout = striped, placement = head_first> {name = "layer0"}
     : (tensor<2x7x8x8xbf16>, tensor<2x9x2x8xbf16>, tensor<2x9x2x6xbf16>, tensor<2x7x8x6xbf16>, tensor<2x7x8x2xf32>, tensor<2x7x8x6xbf16>)
     -> (tensor<2x7x8x8xbf16>, tensor<2x9x2x8xf32>, tensor<2x9x2x6xbf16>)
  return
}

// Delta is one number where lse is two.

// CHECK-LABEL: @part_of_a_gradient
// CHECK: sp.attend_backward(%{{.*}}, %{{.*}}, %{{.*}}) of(%{{.*}}, %{{.*}}, %{{.*}}) onto_query(%{{.*}}) onto_keys(%{{.*}}, %{{.*}}) score @everything
// CHECK-SAME: per_query(%{{.*}} : tensor<1x2x1x1xi1>)
// CHECK-SAME: per_key(%{{.*}} : tensor<2x3x1x1xbf16>)
// CHECK-SAME: per_head(%{{.*}} : tensor<1x1x8x1xf32>)
// CHECK-SAME: pair(%{{.*}}, %{{.*}} : tensor<2x8x2x9xf32>, tensor<1x1x1x9xi8>)
// CHECK-SAME: table(%{{.*}} : tensor<32x8xf32>)
// CHECK-SAME: queries <contiguous 7 on "sp" of 4> keys <contiguous 9 on "sp" of 4> from %{{.*}} bands [] scale 1.000000e+00
// CHECK-SAME: tensor<2x2x8x2xf32>) -> (
func.func @part_of_a_gradient(
    %q: tensor<2x2x8x8xf32>, %k: tensor<2x3x2x8xf32>, %v: tensor<2x3x2x6xf32>, %o: tensor<2x2x8x6xf32>, %lse: tensor<2x2x8x2xf32>, %delta: tensor<2x2x8xf32>,
    %seen: tensor<1x2x1x1xi1>, %prior: tensor<2x3x1x1xbf16>, %weight: tensor<1x1x8x1xf32>, %bias: tensor<2x8x2x9xf32>,
    %kind: tensor<1x1x1x9xi8>, %buckets: tensor<32x8xf32>, %source: index) {
  %dq, %dk, %dv = sp.attend_backward(%q, %k, %v) of(%o, %lse, %delta) onto_query(%q) onto_keys(%k, %v) score @everything
     per_query(%seen : tensor<1x2x1x1xi1>) per_key(%prior : tensor<2x3x1x1xbf16>) per_head(%weight : tensor<1x1x8x1xf32>)
     pair(%bias, %kind : tensor<2x8x2x9xf32>, tensor<1x1x1x9xi8>) table(%buckets : tensor<32x8xf32>)
     queries <contiguous 7 on "sp" of 4> keys <contiguous 9 on "sp" of 4> from %source bands [] scale 1.0
     : (tensor<2x2x8x8xf32>, tensor<2x3x2x8xf32>, tensor<2x3x2x6xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8x2xf32>)
     -> (tensor<2x2x8x8xf32>, tensor<2x3x2x8xf32>, tensor<2x3x2x6xf32>)
  return
}
