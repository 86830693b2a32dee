// RUN: sp-opt %s --sp-partition-pipeline --split-input-file | FileCheck %s

sp.mesh @mesh <["sp" = 3]> sequence "sp"

// Each kv head is on one rank: gradients go back rounded. delta is exchanged
// instead of the result; queries, keys and values are those of the forward.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x3x6x8xbf16>
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x3x3x8xbf16>
// CHECK-SAME: %[[DO:[a-z0-9]*]]: tensor<1x3x6x8xbf16>
func.func @main(%q: tensor<1x7x6x8xbf16>, %k: tensor<1x7x3x8xbf16>, %do: tensor<1x7x6x8xbf16>)
    -> (tensor<1x7x6x8xbf16>, tensor<1x7x3x8xbf16>, tensor<1x7x3x8xf32>) {
  // CHECK: %[[QH:.*]] = sp.all_to_all %[[Q]]
  // CHECK: %[[KH:.*]] = sp.all_to_all %[[K]]
  // CHECK: %[[O:.*]], %[[LH:.*]] = sp.attend(%[[QH]], %[[KH]], %[[KH]])
  // CHECK: sp.all_to_all {{.*}} to_rows
  // CHECK: %[[L4:.*]] = stablehlo.reshape %[[LH]] : (tensor<1x7x2xf32>) -> tensor<1x7x2x1xf32>
  // CHECK: %[[LR:.*]] = sp.all_to_all %[[L4]] rows <zigzag 7 on "sp" of 3> heads <contiguous 6 on "sp" of 3> of 6 to_rows : tensor<1x7x2x1xf32> -> tensor<1x3x6x1xf32>
  // CHECK: %[[DELTA:.*]] = stablehlo.reduce(
  // CHECK: %[[DOH:.*]] = sp.all_to_all %[[DO]] {{.*}} of 6 : tensor<1x3x6x8xbf16> -> tensor<1x7x2x8xbf16>
  // CHECK: sp.all_to_all {{.*}} of 6 : tensor<1x3x6x1xf32> -> tensor<1x7x2x1xf32>
  // CHECK: sp.all_to_all {{.*}} of 6 : tensor<1x3x6x1xf32> -> tensor<1x7x2x1xf32>
  // CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attend_backward(%[[QH]], %[[KH]], %[[KH]]) of(%[[DOH]], %{{.*}}, %{{.*}}) queries <contiguous 7 on "sp" of 1> keys <contiguous 7 on "sp" of 1> heads <contiguous 6 on "sp" of 3> kv_heads 3
  // CHECK: %[[DQR:.*]] = stablehlo.convert %[[DQ]]
  // CHECK: sp.all_to_all %[[DQR]] {{.*}} of 6 to_rows : tensor<1x7x2x8xbf16> -> tensor<1x3x6x8xbf16>
  // CHECK: %[[DKR:.*]] = stablehlo.convert %[[DK]]
  // CHECK: sp.all_to_all %[[DKR]] {{.*}} of 3 to_rows : tensor<1x7x1x8xbf16> -> tensor<1x3x3x8xbf16>
  // CHECK: sp.all_to_all %[[DV]] {{.*}} of 3 to_rows : tensor<1x7x1x8xf32> -> tensor<1x3x3x8xf32>
  %o, %lse = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 7, k 0 to 7, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 3, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first>
     : tensor<1x7x6x8xbf16>, tensor<1x7x3x8xbf16>, tensor<1x7x3x8xbf16> -> tensor<1x7x6x8xbf16>, tensor<1x7x6xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%o, %lse) by(%do) bands [#sp.band<q 0 to 7, k 0 to 7, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 3, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first>
     : (tensor<1x7x6x8xbf16>, tensor<1x7x3x8xbf16>, tensor<1x7x3x8xbf16>, tensor<1x7x6x8xbf16>, tensor<1x7x6xf32>, tensor<1x7x6x8xbf16>)
     -> (tensor<1x7x6x8xbf16>, tensor<1x7x3x8xbf16>, tensor<1x7x3x8xf32>)
  return %dq, %dk, %dv : tensor<1x7x6x8xbf16>, tensor<1x7x3x8xbf16>, tensor<1x7x3x8xf32>
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// Pairs of ranks hold one of 2 kv heads: 4 parts come back in fp32, and two each
// make a gradient.
// CHECK-LABEL: func.func @main(
func.func @main(%q: tensor<1x8x4x8xbf16>, %k: tensor<1x8x2x8xbf16>, %lse: tensor<1x8x4xf32>)
    -> (tensor<1x8x2x8xbf16>) {
  // CHECK: %{{.*}}, %[[DK:.*]], %{{.*}} = sp.attend_backward(
  // CHECK: %[[PARTS:.*]] = sp.all_to_all %[[DK]] rows <zigzag 8 on "sp" of 4> heads <contiguous 4 on "sp" of 4> of 4 to_rows : tensor<1x8x1x8xf32> -> tensor<1x2x4x8xf32>
  // CHECK: %[[APART:.*]] = stablehlo.reshape %[[PARTS]] : (tensor<1x2x4x8xf32>) -> tensor<1x2x2x2x8xf32>
  // CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[APART]] init: %{{.*}}) applies stablehlo.add across dimensions = [3]
  // CHECK: %[[ROUNDED:.*]] = stablehlo.convert %[[SUM]]
  // CHECK: return %[[ROUNDED]]
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first>
     : (tensor<1x8x4x8xbf16>, tensor<1x8x2x8xbf16>, tensor<1x8x2x8xbf16>, tensor<1x8x4x8xbf16>, tensor<1x8x4xf32>, tensor<1x8x4x8xbf16>)
     -> (tensor<1x8x4x8xbf16>, tensor<1x8x2x8xbf16>, tensor<1x8x2x8xbf16>)
  return %dk : tensor<1x8x2x8xbf16>
}

// -----

sp.mesh @mesh <["sp" = 3]> sequence "sp"

// Of 4 query heads rank 0 has those that read kv head 0, ranks 1 and 2 one each
// that reads kv head 1, whose gradient has two parts. The other's second is 0.
// CHECK-LABEL: func.func @main(
func.func @main(%q: tensor<1x6x4x8xf32>, %k: tensor<1x6x2x8xf32>, %lse: tensor<1x6x4xf32>)
    -> (tensor<1x6x2x8xf32>) {
  // CHECK-DAG: %[[HELD:.*]] = stablehlo.constant dense<[true, false, true, true]> : tensor<4xi1>
  // CHECK-DAG: %[[ORDER:.*]] = stablehlo.constant dense<[0, 0, 1, 2]> : tensor<4xi32>
  // CHECK: %{{.*}}, %[[DK:.*]], %{{.*}} = sp.attend_backward(
  // CHECK: %[[PARTS:.*]] = sp.all_to_all %[[DK]] rows <zigzag 6 on "sp" of 3> heads <contiguous 3 on "sp" of 3> of 3 to_rows : tensor<1x6x1x8xf32> -> tensor<1x2x3x8xf32>
  // CHECK: %[[INDEX:.*]] = stablehlo.reshape %[[ORDER]]
  // CHECK: %[[SORTED:.*]] = "stablehlo.gather"(%[[PARTS]], %[[INDEX]])
  // CHECK: %[[MASK:.*]] = stablehlo.broadcast_in_dim %[[HELD]], dims = [2]
  // CHECK: %[[CLEAN:.*]] = stablehlo.select %[[MASK]], %[[SORTED]], %{{.*}}
  // CHECK: %[[APART:.*]] = stablehlo.reshape %[[CLEAN]] : (tensor<1x2x4x8xf32>) -> tensor<1x2x2x2x8xf32>
  // CHECK: stablehlo.reduce(%[[APART]]
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 3, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first>
     : (tensor<1x6x4x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4xf32>, tensor<1x6x4x8xf32>)
     -> (tensor<1x6x4x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6x2x8xf32>)
  return %dk : tensor<1x6x2x8xf32>
}

// -----

sp.mesh @mesh <["sp" = 5]> sequence "sp"

// Of 9 query heads ranks 1 to 3 have two that read two kv heads of 4, rank 0 has
// but kv head 0 and rank 4 has kv head 3, beside which there is room: slots 1 and
// 9 hold nothing, and nothing is read from them.
// CHECK-LABEL: func.func @main(
func.func @main(%q: tensor<1x5x9x8xf32>, %k: tensor<1x5x4x8xf32>, %lse: tensor<1x5x9xf32>)
    -> (tensor<1x5x4x8xf32>) {
  // CHECK: stablehlo.constant dense<[0, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi32>
  // CHECK: sp.all_to_all {{.*}} heads <contiguous 10 on "sp" of 5> of 10 to_rows : tensor<1x5x2x8xf32> -> tensor<1x1x10x8xf32>
  // CHECK: "stablehlo.gather"
  // CHECK-NOT: stablehlo.select
  // CHECK: stablehlo.reshape {{.*}} -> tensor<1x1x4x2x8xf32>
  // CHECK: stablehlo.reduce
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 5, k 0 to 5, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 5, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first>
     : (tensor<1x5x9x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x9x8xf32>, tensor<1x5x9xf32>, tensor<1x5x9x8xf32>)
     -> (tensor<1x5x9x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>)
  return %dk : tensor<1x5x4x8xf32>
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// Heads beside a ring: gradients come home in the ring of 2 with the heads that
// the rank has, and then go back to rows.
// CHECK-LABEL: func.func @main(
func.func @main(%q: tensor<1x8x4x8xf32>, %k: tensor<1x8x2x8xf32>, %lse: tensor<1x8x4xf32>)
    -> (tensor<1x8x2x8xf32>) {
  // CHECK: %[[R:.*]] = sp.rank "sp:(1)2"
  // CHECK: sp.shift %{{.*}} heads <contiguous 4 on "sp:(2)2" of 2> of 2 needed_by {{.*}}{sp.backward}
  // CHECK: sp.attend_backward({{.*}} queries <zigzag 8 on "sp:(1)2" of 2> keys <zigzag 8 on "sp:(1)2" of 2> from %[[R]] heads <contiguous 4 on "sp:(2)2" of 2> kv_heads 2
  // CHECK: sp.shift %{{.*}} from %[[R]] by 1 in <zigzag 8 on "sp:(1)2" of 2> heads <contiguous 4 on "sp:(2)2" of 2> of 2 :
  // CHECK: sp.attend_backward({{.*}} onto_keys(
  // CHECK: %[[HOME:.*]]:2 = sp.shift
  // CHECK: %[[DK:.*]] = sp.all_to_all %[[HOME]]#0 rows <zigzag 8 on "sp" of 4 split 2> onto <zigzag 8 on "sp:(1)2" of 2> heads <contiguous 4 on "sp:(2)2" of 2> of 2 to_rows
  // CHECK: return %[[DK]]
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 1.0
     plan <axis = "sp", heads = 2, outer = 1, inner = 2, gather = 1, layout = zigzag, placement = head_first>
     : (tensor<1x8x4x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x4x8xf32>, tensor<1x8x4xf32>, tensor<1x8x4x8xf32>)
     -> (tensor<1x8x4x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>)
  return %dk : tensor<1x8x2x8xf32>
}
