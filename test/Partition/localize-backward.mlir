// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=ring" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,RING
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=allgather" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,GATHER
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=none" --sp-partition-pipeline | FileCheck %s --check-prefix=NONE

// 13 positions over 5 ranks; the keys are another, longer sequence, values are
// smaller. Results are bf16, gradients of keys but rounded once.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x3x4x8xbf16>
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x4x2x8xbf16>
// CHECK-SAME: %[[V:[a-z0-9]*]]: tensor<1x4x2x4xbf16>
// CHECK-SAME: %[[DO:[a-z0-9]*]]: tensor<1x3x4x4xbf16>
// NONE-LABEL: func.func @main(
// NONE-SAME: %[[Q:[a-z0-9]*]]: tensor<1x13x4x8xbf16>
func.func @main(%q: tensor<2x13x4x8xbf16>, %k: tensor<2x17x2x8xbf16>, %v: tensor<2x17x2x4xbf16>, %do: tensor<2x13x4x4xbf16>)
    -> (tensor<2x13x4x8xbf16>, tensor<2x17x2x8xbf16>, tensor<2x17x2x4xbf16>, tensor<2x13x4xf32>) {
  // The forward leaves its sums, which lie as the queries do.
  // RING: %[[R:.*]] = sp.rank "sp" : index
  // RING: sp.attend(
  // RING: scf.yield
  // RING: %[[O:.*]], %[[L:.*]] = sp.attend({{.*}} onto(
  // RING: %[[SUM:.*]] = stablehlo.slice %[[L]] [0:1, 0:3, 0:4, 1:2]
  // RING: %[[N:.*]] = stablehlo.reshape %[[SUM]]
  // RING: %[[DIVISOR:.*]] = stablehlo.broadcast_in_dim %[[N]], dims = [0, 1, 2]
  // RING: %[[MEAN:.*]] = stablehlo.divide %[[O]], %[[DIVISOR]]
  // RING: %[[ROUNDED:.*]] = stablehlo.convert %[[MEAN]]
  // RING: %[[GREATEST:.*]] = stablehlo.slice %[[L]] [0:1, 0:3, 0:4, 0:1]
  // RING: %[[M:.*]] = stablehlo.reshape %[[GREATEST]]
  // Scores of -inf alone have no sum, and NaN for its logarithm.
  // RING: %[[HAS:.*]] = stablehlo.compare EQ, %[[N]], %{{.*}}
  // RING: %[[ANY:.*]] = stablehlo.select %[[HAS]], %{{.*}}, %[[N]]
  // RING: %[[NATURAL:.*]] = stablehlo.multiply %[[M]], %{{.*}}
  // RING: %[[LOG:.*]] = stablehlo.log %[[ANY]]
  // RING: %[[LSE:.*]] = stablehlo.add %[[NATURAL]], %[[LOG]]
  // GATHER: %[[F:.*]]:2 = sp.all_gather %[[K]], %[[V]] dim 1
  // GATHER: %[[O:.*]], %[[L:.*]] = sp.attend(%[[Q]], %[[F]]#0, %[[F]]#1)
  // GATHER: %[[ROUNDED:.*]] = stablehlo.convert %[[O]]

  // delta is made of local rows, NaN where the cotangent is not finite.
  // CHECK: %[[A:.*]] = stablehlo.convert %[[DO]] : (tensor<1x3x4x4xbf16>) -> tensor<1x3x4x4xf32>
  // CHECK: %[[B:.*]] = stablehlo.convert %[[ROUNDED]]
  // CHECK: %[[AB:.*]] = stablehlo.multiply %[[A]], %[[B]]
  // CHECK: %[[ZERO:.*]] = stablehlo.multiply %[[A]], %{{.*}}
  // CHECK: %[[TERMS:.*]] = stablehlo.add %[[AB]], %[[ZERO]]
  // CHECK: %[[DELTA:.*]] = stablehlo.reduce(%[[TERMS]] init: %{{.*}}) applies stablehlo.add across dimensions = [3] : (tensor<1x3x4x4xf32>, tensor<f32>) -> tensor<1x3x4xf32>

  // Keys travel as in the forward, without being kept from there; gradients of
  // a block follow it, and the last hop brings them home.
  // RING: %[[KV:.*]]:2 = sp.shift %[[K]], %[[V]] from %[[R]] by 1 in <contiguous 17 on "sp" of 5> needed_by {{.*}}{sp.backward}
  // RING: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attend_backward(%[[Q]], %[[K]], %[[V]]) of(%[[DO]], %[[LSE]], %[[DELTA]]) queries <contiguous 13 on "sp" of 5> keys <contiguous 17 on "sp" of 5> from %[[R]]
  // RING: %[[G:.*]]:2 = sp.shift %[[DK]], %[[DV]] from %[[R]] by 1 in <contiguous 17 on "sp" of 5> : tensor<1x4x2x8xf32>, tensor<1x4x2x4xf32>
  // RING: %[[LOOP:.*]]:5 = scf.for %[[T:.*]] = %c1 to %c4 step %c1 iter_args(%[[DQT:.*]] = %[[DQ]], %[[KT:.*]] = %[[KV]]#0, %[[VT:.*]] = %[[KV]]#1, %[[DKT:.*]] = %[[G]]#0, %[[DVT:.*]] = %[[G]]#1)
  // RING: %[[SRC:.*]] = affine.apply #{{.*}}(%[[T]])[%[[R]]]
  // RING: %[[KN:.*]]:2 = sp.shift %[[KT]], %[[VT]] from %[[SRC]] by 1
  // RING: %[[DQN:.*]], %[[DKN:.*]], %[[DVN:.*]] = sp.attend_backward(%[[Q]], %[[KT]], %[[VT]]) of(%[[DO]], %[[LSE]], %[[DELTA]]) onto_query(%[[DQT]]) onto_keys(%[[DKT]], %[[DVT]]) {{.*}} from %[[SRC]]
  // RING: %[[GN:.*]]:2 = sp.shift %[[DKN]], %[[DVN]] from %[[SRC]] by 1 in
  // RING: scf.yield %[[DQN]], %[[KN]]#0, %[[KN]]#1, %[[GN]]#0, %[[GN]]#1
  // RING: %[[DQL:.*]], %[[DKL:.*]], %[[DVL:.*]] = sp.attend_backward(%[[Q]], %[[LOOP]]#1, %[[LOOP]]#2) {{.*}} onto_query(%[[LOOP]]#0) onto_keys(%[[LOOP]]#3, %[[LOOP]]#4) {{.*}} from %[[NEXT:[0-9]*]] bands
  // RING: %[[HOME:.*]]:2 = sp.shift %[[DKL]], %[[DVL]] from %[[NEXT]] by 1 in
  // RING: %[[DQR:.*]] = stablehlo.convert %[[DQL]]
  // RING: %[[DKR:.*]] = stablehlo.convert %[[HOME]]#0 : (tensor<1x4x2x8xf32>) -> tensor<1x4x2x8xbf16>
  // RING: %[[DVR:.*]] = stablehlo.convert %[[HOME]]#1
  // RING: return %[[DQR]], %[[DKR]], %[[DVR]], %[[LSE]]

  // Keys are gathered again, once delta is there; every rank's part of the
  // gradients of all keys is added up where the key is at home.
  // GATHER: %[[G:.*]]:2 = sp.all_gather %[[K]], %[[V]] dim 1 in <contiguous 17 on "sp" of 5> after %[[DELTA]]
  // GATHER: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = sp.attend_backward(%[[Q]], %[[G]]#0, %[[G]]#1) of(%[[DO]], %[[L]], %[[DELTA]]) queries <contiguous 13 on "sp" of 5> keys <contiguous 17 on "sp" of 1> bands
  // GATHER: %[[DQR:.*]] = stablehlo.convert %[[DQ]]
  // GATHER: %[[S:.*]]:2 = sp.reduce_scatter %[[DK]], %[[DV]] sum dim 1 in <contiguous 17 on "sp" of 5> : tensor<1x17x2x8xf32>, tensor<1x17x2x4xf32> -> tensor<1x4x2x8xf32>, tensor<1x4x2x4xf32>
  // GATHER: %[[DKR:.*]] = stablehlo.convert %[[S]]#0
  // GATHER: %[[DVR:.*]] = stablehlo.convert %[[S]]#1
  // GATHER: return %[[DQR]], %[[DKR]], %[[DVR]], %[[L]]

  // NONE-NOT: sp.{{shift|all_|reduce_}}
  // NONE: %[[L:.*]] = sp.attend(
  // NONE: sp.attend_backward(%[[Q]], {{.*}}) queries <contiguous 13 on "" of 1> keys <contiguous 17 on "" of 1>
  // NONE-NOT: sp.{{shift|all_|reduce_}}
  // NONE: return
  %o, %lse = sp.attention(%q, %k, %v) bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5
     : tensor<2x13x4x8xbf16>, tensor<2x17x2x8xbf16>, tensor<2x17x2x4xbf16> -> tensor<2x13x4x4xbf16>, tensor<2x13x4xf32>
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %v) of(%o, %lse) by(%do) bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5
     : (tensor<2x13x4x8xbf16>, tensor<2x17x2x8xbf16>, tensor<2x17x2x4xbf16>, tensor<2x13x4x4xbf16>, tensor<2x13x4xf32>, tensor<2x13x4x4xbf16>)
     -> (tensor<2x13x4x8xbf16>, tensor<2x17x2x8xbf16>, tensor<2x17x2x4xbf16>)
  return %dq, %dk, %dv, %lse : tensor<2x13x4x8xbf16>, tensor<2x17x2x8xbf16>, tensor<2x17x2x4xbf16>, tensor<2x13x4xf32>
}
