// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=ring" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,RING
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=ulysses" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,ULYSSES
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=allgather" --sp-partition-pipeline | FileCheck %s --check-prefixes=CHECK,GATHER
// RUN: sp-opt %s --sp-plan-pipeline="mesh=dp=2,sp=5 strategy=none" --sp-partition-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=8 strategy=2d heads=2" --sp-partition-pipeline | FileCheck %s --check-prefix=TWO
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ring bidirectional" --sp-partition-pipeline | FileCheck %s --check-prefix=BOTH

func.func private @gradient(%s: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>, %w: tensor<f32>, %p: tensor<f32>, %t: tensor<9x4xf32>) -> (tensor<f32>, tensor<f32>) {
  return %s, %w : tensor<f32>, tensor<f32>
}

// Terms of gradients are dealt as those of the attention are. Two numbers of
// lse move with their queries.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<1x3x4x8xf32>
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<1x4x2x8xf32>
// CHECK-SAME: %[[LSE:[a-z0-9]*]]: tensor<1x3x4x2xf32>
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<1x3x1x1xi32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [13 by <contiguous 13 on "sp" of 5>], [1], [1]]>}
// CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<1x4x1x1xi32> {sp.sharding = #sp.sharding<{{\[}}[1], [17 by <contiguous 17 on "sp" of 5>], [1], [1]]>}
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<1x1x4x1xf32> {sp.sharding = #sp.sharding<{{\[}}[2 by <contiguous 2 on "dp" of 2>], [1], [4], [1]]>}
// RING-SAME: %[[P:[a-z0-9]*]]: tensor<1x4x3x17xf32> {sp.sharding = #sp.sharding<{{\[}}[1], [4], [13 by <contiguous 13 on "sp" of 5>], [17]]>}
// GATHER-SAME: %[[P:[a-z0-9]*]]: tensor<1x4x3x17xf32>
// ULYSSES-SAME: %[[P:[a-z0-9]*]]: tensor<1x1x13x17xf32> {sp.sharding = #sp.sharding<{{\[}}[1], [4 by <contiguous 4 on "sp" of 5>], [13], [17]]>}
// CHECK-SAME: %[[T:[a-z0-9]*]]: tensor<9x4xf32> {sp.sharding = #sp.sharding<{{\[}}[9], [4]]>}
// NONE-LABEL: func.func @main(
// NONE-SAME: %[[Q:[a-z0-9]*]]: tensor<1x13x4x8xf32>
// NONE-SAME: %[[A:[a-z0-9]*]]: tensor<1x13x1x1xi32>
// NONE-SAME: %[[B:[a-z0-9]*]]: tensor<1x17x1x1xi32>
// TWO-LABEL: func.func @main(
// TWO-SAME: %[[LSE:[a-z0-9]*]]: tensor<2x2x4x2xf32>
// TWO-SAME: %[[A:[a-z0-9]*]]: tensor<2x2x1x1xi32> {sp.sharding = #sp.sharding<{{\[}}[2], [13 by <contiguous 13 on "sp" of 8 split 2>], [1], [1]]>}
// TWO-SAME: %[[B:[a-z0-9]*]]: tensor<1x3x1x1xi32> {sp.sharding = #sp.sharding<{{\[}}[1], [17 by <contiguous 17 on "sp" of 8 split 2>], [1], [1]]>}
// BOTH-LABEL: func.func @main(
// BOTH-SAME: %[[B:[a-z0-9]*]]: tensor<1x5x1x1xi32>
func.func @main(%q: tensor<2x13x4x8xf32>, %k: tensor<2x17x2x8xf32>, %lse: tensor<2x13x4x2xf32>, %a: tensor<2x13x1x1xi32>, %b: tensor<1x17x1x1xi32>,
                %w: tensor<2x1x4x1xf32>, %p: tensor<1x4x13x17xf32>, %t: tensor<9x4xf32>) -> (tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>) {
  // What is said of keys travels beside them, apart from the way of the forward,
  // and stays where gradients go home.
  // RING: %[[R:.*]] = sp.rank "sp" : index
  // RING: sp.shift %[[K]], %[[K]] from %[[R]] by 1 in <contiguous 17 on "sp" of 5> needed_by {{.*}}{sp.backward}
  // RING: %[[FIRST:.*]] = sp.shift %[[B]] from %[[R]] by 1 in <contiguous 17 on "sp" of 5> needed_by {{.*}}{sp.backward} : tensor<1x4x1x1xi32>
  // RING: sp.attend_backward(%[[Q]], %[[K]], %[[K]]) of(%[[Q]], %[[LSE]], %{{.*}}) score @gradient per_query(%[[A]] : {{.*}}) per_key(%[[B]] : {{.*}}) per_head(%[[W]] : {{.*}}) pair(%[[P]] : {{.*}}) table(%[[T]] : tensor<9x4xf32>) queries
  // RING: scf.for {{.*}}, %[[BT:[a-z0-9]*]] = %[[FIRST]],
  // RING: %[[NEXT:.*]] = sp.shift %[[BT]] from %[[SRC:.*]] by 1
  // RING: sp.attend_backward(%[[Q]], {{.*}} score @gradient per_query(%[[A]] : {{.*}}) per_key(%[[BT]] : {{.*}} from %[[SRC]]
  // RING: scf.yield {{.*}}, %[[NEXT]], %
  // RING: sp.attend_backward(%[[Q]], {{.*}} score @gradient per_query(%[[A]] : {{.*}}) per_key(%{{.*}} : tensor<1x4x1x1xi32>)
  // RING-NOT: sp.shift {{.*}} tensor<1x4x1x1xi32>

  // ULYSSES: %[[AS:.*]] = stablehlo.broadcast_in_dim %[[A]], dims = [0, 1, 2, 3] : (tensor<1x3x1x1xi32>) -> tensor<1x3x5x1xi32>
  // ULYSSES: %[[AH:.*]] = sp.all_to_all %[[AS]] rows <contiguous 13 on "sp" of 5> heads <contiguous 5 on "sp" of 5> of 5 : tensor<1x3x5x1xi32> -> tensor<1x13x1x1xi32>
  // ULYSSES: %[[BS:.*]] = stablehlo.broadcast_in_dim %[[B]]
  // ULYSSES: %[[BH:.*]] = sp.all_to_all %[[BS]] rows <contiguous 17 on "sp" of 5> heads <contiguous 5 on "sp" of 5> of 5 : tensor<1x4x5x1xi32> -> tensor<1x17x1x1xi32>
  // ULYSSES: %[[LH:.*]] = sp.all_to_all %[[LSE]] rows <contiguous 13 on "sp" of 5> heads <contiguous 4 on "sp" of 5> of 4 : tensor<1x3x4x2xf32> -> tensor<1x13x1x2xf32>
  // ULYSSES: sp.attend_backward({{.*}}) of(%{{.*}}, %[[LH]], %{{.*}}) score @gradient per_query(%[[AH]] : {{.*}}) per_key(%[[BH]] : {{.*}}) per_head(%[[W]] : tensor<1x1x4x1xf32>) pair(%[[P]] : {{.*}}) table(%[[T]] : {{.*}}) {{.*}} heads <contiguous 4 on "sp" of 5> kv_heads 2

  // GATHER: %[[ALL:.*]]:2 = sp.all_gather %[[K]], %[[B]] dim 1 in <contiguous 17 on "sp" of 5> after {{.*}}tensor<1x4x1x1xi32>{{.*}} -> tensor<1x17x2x8xf32>, tensor<1x17x1x1xi32>
  // GATHER: sp.attend_backward(%[[Q]], %[[ALL]]#0, %[[ALL]]#0) {{.*}} per_query(%[[A]] : {{.*}}) per_key(%[[ALL]]#1 : tensor<1x17x1x1xi32>)

  // NONE-NOT: sp.shift
  // NONE: sp.attend_backward(%[[Q]], {{.*}} score @gradient per_query(%[[A]] : {{.*}}) per_key(%[[B]] :

  // TWO: %[[AS:.*]] = stablehlo.broadcast_in_dim %[[A]], dims = [0, 1, 2, 3] : (tensor<2x2x1x1xi32>) -> tensor<2x2x2x1xi32>
  // TWO: %[[AH:.*]] = sp.all_to_all %[[AS]] rows <contiguous 13 on "sp" of 8 split 2> onto <contiguous 13 on "sp:(1)4" of 4>
  // TWO: %[[BS:.*]] = stablehlo.broadcast_in_dim %[[B]]
  // TWO: %[[BH:.*]] = sp.all_to_all %[[BS]] rows <contiguous 17 on "sp" of 8 split 2> onto <contiguous 17 on "sp:(1)4" of 4>
  // TWO: %[[FIRST:.*]] = sp.shift %[[BH]] from %{{.*}} by 1 in <contiguous 17 on "sp:(1)4" of 4> needed_by {{.*}}{sp.backward} : tensor<1x5x1x1xi32>
  // TWO: sp.attend_backward({{.*}} per_query(%[[AH]] : {{.*}}) per_key(%[[BH]] :
  // TWO: scf.for {{.*}}, %[[BT:[a-z0-9]*]] = %[[FIRST]],
  // TWO: sp.attend_backward({{.*}} per_query(%[[AH]] : {{.*}}) per_key(%[[BT]] :

  // BOTH: %[[ON:.*]] = sp.shift %[[B]] from %{{.*}} by 1 hops 2 in <contiguous 17 on "sp" of 4> needed_by {{.*}}{sp.backward}
  // BOTH: %[[BACK:.*]] = sp.shift %[[B]] from %{{.*}} by -1 hops 1 in <contiguous 17 on "sp" of 4> needed_by {{.*}}{sp.backward}
  // BOTH: sp.attend_backward({{.*}} per_key(%[[B]] :
  // BOTH: %[[OPPOSITE:.*]] = sp.shift %[[ON]] from %{{.*}} by 1 hops 2
  // BOTH: sp.attend_backward({{.*}} per_key(%[[ON]] :
  // BOTH: sp.attend_backward({{.*}} per_key(%[[BACK]] :
  // BOTH: sp.attend_backward({{.*}} per_key(%[[OPPOSITE]] :
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %k) of(%q, %lse) by(%q) score @gradient per_query(%a : tensor<2x13x1x1xi32>) per_key(%b : tensor<1x17x1x1xi32>)
     per_head(%w : tensor<2x1x4x1xf32>) pair(%p : tensor<1x4x13x17xf32>) table(%t : tensor<9x4xf32>) bands [#sp.band<q 0 to 13, k 0 to 17, lo -inf, hi inf>] scale 0.5
     : (tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32>, tensor<2x13x4x8xf32>, tensor<2x13x4x2xf32>, tensor<2x13x4x8xf32>)
     -> (tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>, tensor<2x17x2x8xf32>)
  return %dq, %dk : tensor<2x13x4x8xf32>, tensor<2x17x2x8xf32>
}
