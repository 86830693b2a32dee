// RUN: sp-opt %s | FileCheck %s

// CHECK-LABEL: func.func private @masked
func.func private @masked(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<f32> {
  %same = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.select %same, %s, %hidden : tensor<i1>, tensor<f32>
  return %e : tensor<f32>
}

func.func private @everything(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i1>, %b: tensor<bf16>, %c: tensor<f32>, %d: tensor<f32>, %e: tensor<i8>, %t: tensor<32x8xf32>) -> (tensor<f32>, tensor<f32>) {
  return %s, %c : tensor<f32>, tensor<f32>
}

func.func private @scaled(%s: tensor<f64>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<f64>) -> tensor<f64> {
  %e = stablehlo.multiply %s, %a : tensor<f64>
  return %e : tensor<f64>
}

func.func private @capped(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<f32> {
  %e = stablehlo.tanh %s : tensor<f32>
  return %e : tensor<f32>
}

// CHECK-LABEL: @attention_without_terms
// CHECK: sp.attention(%{{.*}}, %{{.*}}, %{{.*}}) score @capped bands [] scale 1.000000e+00 :
func.func @attention_without_terms(%q: tensor<1x64x2x16xbf16>) -> tensor<1x64x2x16xbf16> {
  %o = sp.attention(%q, %q, %q) score @capped bands [] scale 1.0
     : tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16> -> tensor<1x64x2x16xbf16>
  return %o : tensor<1x64x2x16xbf16>
}

// CHECK-LABEL: @attention_with_terms_of_queries_and_keys
// CHECK-SAME: %[[IDS:[a-z0-9]+]]: tensor<2x64x1x1xi32>
// CHECK: sp.attention(%{{.*}}, %{{.*}}, %{{.*}}) score @masked per_query(%[[IDS]] : tensor<2x64x1x1xi32>) per_key(%[[IDS]] : tensor<2x64x1x1xi32>) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.250000e-01 {name = "layer0"} :
func.func @attention_with_terms_of_queries_and_keys(%ids: tensor<2x64x1x1xi32>, %q: tensor<2x64x8x16xf32>, %k: tensor<2x64x2x16xf32>) -> tensor<2x64x8x16xf32> {
  %o = sp.attention(%q, %k, %k) score @masked per_query(%ids : tensor<2x64x1x1xi32>) per_key(%ids : tensor<2x64x1x1xi32>)
     bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.250000e-01 {name = "layer0"}
     : tensor<2x64x8x16xf32>, tensor<2x64x2x16xf32>, tensor<2x64x2x16xf32> -> tensor<2x64x8x16xf32>
  return %o : tensor<2x64x8x16xf32>
}

// CHECK-LABEL: @attention_with_everything
// CHECK: score @everything
// CHECK-SAME: per_query(%{{.*}} : tensor<1x7x1x1xi1>)
// CHECK-SAME: per_key(%{{.*}} : tensor<2x9x1x1xbf16>)
// CHECK-SAME: per_head(%{{.*}} : tensor<1x1x8x1xf32>)
// CHECK-SAME: pair(%{{.*}}, %{{.*}} : tensor<2x8x7x9xf32>, tensor<1x1x1x9xi8>)
// CHECK-SAME: table(%{{.*}} : tensor<32x8xf32>)
// CHECK-SAME: sink(%{{.*}} : tensor<8xf32>)
// CHECK-SAME: mean(%{{.*}} : tensor<2x1x8x6xf32>)
// CHECK-SAME: bands [] scale 1.000000e+00 empty mean
// CHECK-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 2, gather = 1, layout = striped, placement = head_first>
func.func @attention_with_everything(
    %q: tensor<2x7x8x8xbf16>, %k: tensor<2x9x2x8xbf16>, %v: tensor<2x9x2x6xbf16>, %seen: tensor<1x7x1x1xi1>, %prior: tensor<2x9x1x1xbf16>,
    %weight: tensor<1x1x8x1xf32>, %bias: tensor<2x8x7x9xf32>, %kind: tensor<1x1x1x9xi8>, %buckets: tensor<32x8xf32>,
    %sinks: tensor<8xf32>, %mean: tensor<2x1x8x6xf32>) -> tensor<2x7x8x6xbf16> {
  %o = sp.attention(%q, %k, %v) score @everything
     per_query(%seen : tensor<1x7x1x1xi1>) per_key(%prior : tensor<2x9x1x1xbf16>) per_head(%weight : tensor<1x1x8x1xf32>)
     pair(%bias, %kind : tensor<2x8x7x9xf32>, tensor<1x1x1x9xi8>) table(%buckets : tensor<32x8xf32>)
     sink(%sinks : tensor<8xf32>) mean(%mean : tensor<2x1x8x6xf32>) bands [] scale 1.0 empty mean
     plan <axis = "sp", heads = 1, outer = 1, inner = 2, gather = 1, layout = striped, placement = head_first>
     : tensor<2x7x8x8xbf16>, tensor<2x9x2x8xbf16>, tensor<2x9x2x6xbf16> -> tensor<2x7x8x6xbf16>
  return %o : tensor<2x7x8x6xbf16>
}

// CHECK-LABEL: @attention_in_f64
// CHECK: score @scaled per_head(%{{.*}} : tensor<1x1x1x1xf64>) sink(%{{.*}} : tensor<2xf64>) bands [] scale 1.000000e+00 empty zero :
func.func @attention_in_f64(%q: tensor<1x64x2x16xf64>, %warmth: tensor<1x1x1x1xf64>, %sinks: tensor<2xf64>) -> tensor<1x64x2x16xf64> {
  %o = sp.attention(%q, %q, %q) score @scaled per_head(%warmth : tensor<1x1x1x1xf64>) sink(%sinks : tensor<2xf64>) bands [] scale 1.0 empty zero
     : tensor<1x64x2x16xf64>, tensor<1x64x2x16xf64>, tensor<1x64x2x16xf64> -> tensor<1x64x2x16xf64>
  return %o : tensor<1x64x2x16xf64>
}

// A sink needs no score function.

// CHECK-LABEL: @attention_with_a_sink_alone
// CHECK: sp.attention(%{{.*}}, %{{.*}}, %{{.*}}) sink(%{{.*}} : tensor<2xf32>) bands []
func.func @attention_with_a_sink_alone(%q: tensor<1x64x2x16xf32>, %sinks: tensor<2xf32>) -> tensor<1x64x2x16xf32> {
  %o = sp.attention(%q, %q, %q) sink(%sinks : tensor<2xf32>) bands [] scale 1.0
     : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return %o : tensor<1x64x2x16xf32>
}

// CHECK-LABEL: @attend_with_local_terms
// CHECK: sp.attend(%{{.*}}, %{{.*}}, %{{.*}}) onto(%{{.*}}, %{{.*}}) score @masked per_query(%{{.*}} : tensor<1x1024x1x1xi32>) per_key(%{{.*}} : tensor<1x1024x1x1xi32>) queries <zigzag 4096 on "sp" of 4> keys <zigzag 4096 on "sp" of 4> from %{{.*}} bands
func.func @attend_with_local_terms(%q: tensor<1x1024x8x64xf32>, %k: tensor<1x1024x2x64xf32>, %ids: tensor<1x1024x1x1xi32>,
                                   %o: tensor<1x1024x8x64xf32>, %l: tensor<1x1024x8x2xf32>) -> tensor<1x1024x8x64xf32> {
  %src = sp.rank "sp" : index
  %o1, %l1 = sp.attend(%q, %k, %k) onto(%o, %l) score @masked per_query(%ids : tensor<1x1024x1x1xi32>) per_key(%ids : tensor<1x1024x1x1xi32>)
     queries <zigzag 4096 on "sp" of 4> keys <zigzag 4096 on "sp" of 4> from %src
     bands [#sp.band<q 0 to 4096, k 0 to 4096, lo -inf, hi 0>] scale 1.250000e-01 as sums_base_e
     : (tensor<1x1024x8x64xf32>, tensor<1x1024x2x64xf32>, tensor<1x1024x2x64xf32>) -> tensor<1x1024x8x64xf32>, tensor<1x1024x8x2xf32>
  return %o1 : tensor<1x1024x8x64xf32>
}

// Of a rank's 2 of 8 heads: a pair over queries is cut to them, one that all
// queries share and values of heads are whole, and so are the keys of both.

// CHECK-LABEL: @attend_with_some_heads_of_pairs
// CHECK: score @everything
// CHECK-SAME: per_head(%{{.*}} : tensor<1x1x8x1xf32>) pair(%{{.*}}, %{{.*}} : tensor<1x2x16x64xf32>, tensor<1x8x1x64xi8>) table(%{{.*}} : tensor<32x8xf32>)
// CHECK-SAME: heads <contiguous 8 on "sp" of 4> kv_heads 4 bands
func.func @attend_with_some_heads_of_pairs(
    %q: tensor<1x16x2x8xf32>, %k: tensor<1x16x1x8xf32>, %seen: tensor<1x16x1x1xi1>, %prior: tensor<1x16x1x1xbf16>, %weight: tensor<1x1x8x1xf32>,
    %bias: tensor<1x2x16x64xf32>, %kind: tensor<1x8x1x64xi8>, %buckets: tensor<32x8xf32>) -> tensor<1x16x2x8xf32> {
  %o, %l = sp.attend(%q, %k, %k) score @everything
     per_query(%seen : tensor<1x16x1x1xi1>) per_key(%prior : tensor<1x16x1x1xbf16>) per_head(%weight : tensor<1x1x8x1xf32>)
     pair(%bias, %kind : tensor<1x2x16x64xf32>, tensor<1x8x1x64xi8>) table(%buckets : tensor<32x8xf32>)
     queries <contiguous 64 on "sp" of 4> keys <contiguous 64 on "sp" of 4> heads <contiguous 8 on "sp" of 4> kv_heads 4 bands [] scale 1.0 as sums_base_e
     : (tensor<1x16x2x8xf32>, tensor<1x16x1x8xf32>, tensor<1x16x1x8xf32>) -> tensor<1x16x2x8xf32>, tensor<1x16x2x2xf32>
  return %o : tensor<1x16x2x8xf32>
}

// The third and fourth of eight heads, with all heads of what is whole.

// CHECK-LABEL: @attend_with_a_later_group_of_heads
// CHECK: score @everything
// CHECK-SAME: pair(%{{.*}}, %{{.*}} : tensor<1x8x16x64xf32>, tensor<1x8x1x64xi8>)
// CHECK-SAME: keys <contiguous 64 on "sp" of 4> first_head 2 bands
func.func @attend_with_a_later_group_of_heads(
    %q: tensor<1x16x2x8xf32>, %k: tensor<1x16x1x8xf32>, %seen: tensor<1x16x1x1xi1>, %prior: tensor<1x16x1x1xbf16>, %weight: tensor<1x1x8x1xf32>,
    %bias: tensor<1x8x16x64xf32>, %kind: tensor<1x8x1x64xi8>, %buckets: tensor<32x8xf32>) -> tensor<1x16x2x8xf32> {
  %o, %l = sp.attend(%q, %k, %k) score @everything
     per_query(%seen : tensor<1x16x1x1xi1>) per_key(%prior : tensor<1x16x1x1xbf16>) per_head(%weight : tensor<1x1x8x1xf32>)
     pair(%bias, %kind : tensor<1x8x16x64xf32>, tensor<1x8x1x64xi8>) table(%buckets : tensor<32x8xf32>)
     queries <contiguous 64 on "sp" of 4> keys <contiguous 64 on "sp" of 4> first_head 2 bands [] scale 1.0 as sums_base_e
     : (tensor<1x16x2x8xf32>, tensor<1x16x1x8xf32>, tensor<1x16x1x8xf32>) -> tensor<1x16x2x8xf32>, tensor<1x16x2x2xf32>
  return %o : tensor<1x16x2x8xf32>
}
