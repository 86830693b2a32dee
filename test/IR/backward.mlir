// RUN: sp-opt %s | FileCheck %s

// CHECK-LABEL: @attention_leaves_its_sums
// CHECK: %{{.*}}, %{{.*}} = sp.attention(%{{.*}}, %{{.*}}, %{{.*}}) bands [] scale 1.000000e+00 : tensor<1x64x8x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16> -> tensor<1x64x8x16xbf16>, tensor<1x64x8xf32>
func.func @attention_leaves_its_sums(%q: tensor<1x64x8x16xbf16>, %k: tensor<1x64x2x16xbf16>) {
  %o, %lse = sp.attention(%q, %k, %k) bands [] scale 1.0
     : tensor<1x64x8x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x16xbf16> -> tensor<1x64x8x16xbf16>, tensor<1x64x8xf32>
  return
}

// CHECK-LABEL: @gradient_of_an_attention
// CHECK: sp.attention_backward(%{{.*}}, %{{.*}}, %{{.*}}) of(%{{.*}}, %{{.*}}) by(%{{.*}}) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.250000e-01
// CHECK-SAME: plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first> {name = "layer0"}
// CHECK-SAME: -> (tensor<1x64x8x16xbf16>, tensor<1x64x2x16xf32>, tensor<1x64x2x8xbf16>)
func.func @gradient_of_an_attention(%q: tensor<1x64x8x16xbf16>, %k: tensor<1x64x2x16xbf16>, %v: tensor<1x64x2x8xbf16>,
                                    %o: tensor<1x64x8x8xbf16>, %lse: tensor<1x64x8xf32>) {
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %v) of(%o, %lse) by(%o)
     bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.250000e-01
     plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first> {name = "layer0"}
     : (tensor<1x64x8x16xbf16>, tensor<1x64x2x16xbf16>, tensor<1x64x2x8xbf16>, tensor<1x64x8x8xbf16>, tensor<1x64x8xf32>, tensor<1x64x8x8xbf16>)
     -> (tensor<1x64x8x16xbf16>, tensor<1x64x2x16xf32>, tensor<1x64x2x8xbf16>)
  return
}

// CHECK-LABEL: @gradients_start
// CHECK: sp.attend_backward(%{{.*}}, %{{.*}}, %{{.*}}) of(%{{.*}}, %{{.*}}, %{{.*}}) queries <zigzag 64 on "sp" of 4> keys <contiguous 64 on "sp" of 1> bands [] scale 1.000000e+00 :
func.func @gradients_start(%q: tensor<1x16x8x16xf32>, %k: tensor<1x64x2x16xf32>, %l: tensor<1x16x8xf32>) {
  %dq, %dk, %dv = sp.attend_backward(%q, %k, %k) of(%q, %l, %l) queries <zigzag 64 on "sp" of 4> keys <contiguous 64 on "sp" of 1>
     bands [] scale 1.0
     : (tensor<1x16x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x16x8x16xf32>, tensor<1x16x8xf32>)
     -> (tensor<1x16x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>)
  return
}

// CHECK-LABEL: @gradients_go_on
// CHECK: of(%{{.*}}, %{{.*}}, %{{.*}}) onto_query(%{{.*}}) onto_keys(%{{.*}}, %{{.*}}) queries <zigzag 64 on "sp" of 4> keys <zigzag 64 on "sp" of 4> from %{{.*}} bands
func.func @gradients_go_on(%q: tensor<1x16x8x16xf64>, %k: tensor<1x16x2x16xf64>, %l: tensor<1x16x8xf64>) {
  %src = sp.rank "sp" : index
  %dq, %dk, %dv = sp.attend_backward(%q, %k, %k) of(%q, %l, %l) onto_query(%q) onto_keys(%k, %k)
     queries <zigzag 64 on "sp" of 4> keys <zigzag 64 on "sp" of 4> from %src bands [] scale 1.0
     : (tensor<1x16x8x16xf64>, tensor<1x16x2x16xf64>, tensor<1x16x2x16xf64>, tensor<1x16x8x16xf64>, tensor<1x16x8xf64>)
     -> (tensor<1x16x8x16xf64>, tensor<1x16x2x16xf64>, tensor<1x16x2x16xf64>)
  return
}

// CHECK-LABEL: @gradients_of_some_heads
// CHECK: heads <contiguous 8 on "sp" of 4> kv_heads 2 first_head 8 bands
func.func @gradients_of_some_heads(%q: tensor<1x64x2x16xf32>, %k: tensor<1x64x1x16xf32>, %l: tensor<1x64x2xf32>) {
  %dq, %dk, %dv = sp.attend_backward(%q, %k, %k) of(%q, %l, %l) queries <contiguous 64 on "sp" of 1> keys <contiguous 64 on "sp" of 1>
     heads <contiguous 8 on "sp" of 4> kv_heads 2 first_head 8 bands [] scale 1.0
     : (tensor<1x64x2x16xf32>, tensor<1x64x1x16xf32>, tensor<1x64x1x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2xf32>)
     -> (tensor<1x64x2x16xf32>, tensor<1x64x1x16xf32>, tensor<1x64x1x16xf32>)
  return
}
