// RUN: sp-opt %s | sp-opt | FileCheck %s

// CHECK: sp.documents @documents_1 of 64 in arguments [1]
sp.documents @documents_1 of 64 in arguments [1]
// CHECK: sp.documents @documents_2 of 32 in arguments [2]
sp.documents @documents_2 of 32 in arguments [2]
// CHECK: sp.documents @documents_3 of 64 in arguments [1, 2] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<1x64xi32>, %{{.*}}: tensor<32xui8>):
// CHECK: sp.yield %{{.*}} : tensor<1x64xi32>
sp.documents @documents_3 of 64 in arguments [1, 2] {
^bb0(%x: tensor<1x64xi32>, %y: tensor<32xui8>):
  %0 = stablehlo.negate %x : tensor<1x64xi32>
  sp.yield %0 : tensor<1x64xi32>
}

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x64x2x16xf32>, %ids: tensor<1x64xi32>, %others: tensor<32xui8>) {
  return
}

// CHECK-LABEL: func.func @attention
// CHECK: bands [#sp.band<q 0 to 64, k 0 to 32, lo -inf, hi inf>] documents <queries @documents_1 keys @documents_2> scale 1.000000e+00 :
// CHECK: bands [#sp.band<q 0 to 64, k 0 to 32, lo -inf, hi inf>] documents <queries @documents_1 keys @documents_2> scale 1.000000e+00 :
func.func @attention(%q: tensor<1x64x2x16xf32>, %k: tensor<1x32x2x16xf32>, %l: tensor<1x64x2xf32>) {
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 64, k 0 to 32, lo -inf, hi inf>] documents <queries @documents_1 keys @documents_2> scale 1.0
     : tensor<1x64x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32> -> tensor<1x64x2x16xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%o, %l) by(%o) bands [#sp.band<q 0 to 64, k 0 to 32, lo -inf, hi inf>]
     documents <queries @documents_1 keys @documents_2> scale 1.0
     : (tensor<1x64x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2xf32>, tensor<1x64x2x16xf32>)
     -> (tensor<1x64x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>)
  return
}

// CHECK-LABEL: func.func @parts
// CHECK: sp.shift {{.*}} needed_by <rows <zigzag 64 on "sp" of 4> bands [#sp.band<q 0 to 64, k 0 to 32, lo -inf, hi inf>] documents <queries @documents_1 keys @documents_2>> :
// CHECK: sp.attend({{.*}} documents <queries @documents_1 keys @documents_2> scale 1.000000e+00 :
func.func @parts(%q: tensor<1x16x2x16xf32>, %k: tensor<1x8x2x16xf32>) {
  %r = sp.rank "sp" : index
  %k1 = sp.shift %k from %r by 1 in <zigzag 32 on "sp" of 4>
     needed_by <rows <zigzag 64 on "sp" of 4> bands [#sp.band<q 0 to 64, k 0 to 32, lo -inf, hi inf>] documents <queries @documents_1 keys @documents_2>> : tensor<1x8x2x16xf32>
  %o, %l = sp.attend(%q, %k, %k) queries <zigzag 64 on "sp" of 4> keys <zigzag 32 on "sp" of 4>
     bands [#sp.band<q 0 to 64, k 0 to 32, lo -inf, hi inf>] documents <queries @documents_1 keys @documents_2> scale 1.0
     : (tensor<1x16x2x16xf32>, tensor<1x8x2x16xf32>, tensor<1x8x2x16xf32>) -> tensor<1x16x2x16xf32>, tensor<1x16x2xf32>
  return
}
