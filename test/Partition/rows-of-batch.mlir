// RUN: sp-opt %s --sp-propagate-shardings | FileCheck %s
// RUN: sed 's/: tensor<4x8xf32>)/: tensor<4x8xf32> {sp.sharding = #sp.sharding<[[4 by <batch 4 on "sp" of 2 holds 3>], [8]]>})/' %s | not sp-opt --sp-propagate-shardings 2>&1 | FileCheck %s --check-prefix=GIVEN

// Documents of each row deal it: of arguments and results those whose rows turns take
// and put one by one. A table that serves all rows is whole, and so is what rows meet
// in, though its first dimension is as long.

// GIVEN: error: expected argument 2 whole, or rows of the batch of which each turn takes its own

sp.mesh @mesh <["sp" = 2]> sequence "sp"
sp.documents @ids of 4 in arguments [1]

// CHECK: func.func @main(%arg0: tensor<3x4x2x8xf32> {sp.sharding = #sp.sharding<{{\[\[}}3], [4 by <batch 4 on "sp" of 2 holds 3>], [2], [8]]>}
// CHECK-SAME: %arg1: tensor<3x4xi32> {sp.sharding = #sp.sharding<{{\[\[}}3], [4]]>}
// CHECK-SAME: %arg2: tensor<4x8xf32> {sp.sharding = #sp.sharding<{{\[\[}}4], [8]]>}
// CHECK: stablehlo.while
// CHECK-SAME: sp.shardings = [#sp.sharding<[]>, #sp.sharding<{{\[\[}}3], [4 by <batch 4 on "sp" of 2 holds 3>], [2], [8]]>, #sp.sharding<{{\[\[}}1], [4], [2], [8]]>]
func.func @main(%x: tensor<3x4x2x8xf32>, %ids: tensor<3x4xi32>, %table: tensor<4x8xf32>) -> (tensor<3x4x2x8xf32>, tensor<1x4x2x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %stack = stablehlo.constant dense<0.0> : tensor<3x4x2x8xf32>
  %sum = stablehlo.constant dense<0.0> : tensor<1x4x2x8xf32>
  %r:3 = stablehlo.while(%turn = %zero, %s = %stack, %m = %sum) : tensor<i32>, tensor<3x4x2x8xf32>, tensor<1x4x2x8xf32> attributes {sp.rows_of_batch}
  cond {
    %more = stablehlo.compare LT, %turn, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %own = stablehlo.dynamic_slice %x, %turn, %zero, %zero, %zero, sizes = [1, 4, 2, 8] : (tensor<3x4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x2x8xf32>
    %rows = stablehlo.broadcast_in_dim %table, dims = [1, 3] : (tensor<4x8xf32>) -> tensor<1x4x2x8xf32>
    %q = stablehlo.add %own, %rows : tensor<1x4x2x8xf32>
    %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 4, k 0 to 4, lo -inf, hi 0>] documents <queries @ids keys @ids> scale 1.0
        plan <axis = "sp", heads = 1, outer = 1, inner = 2, gather = 1, layout = batch, placement = head_first, holds = 3>
        : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32> -> tensor<1x4x2x8xf32>
    %put = stablehlo.dynamic_update_slice %s, %o, %turn, %zero, %zero, %zero : (tensor<3x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x2x8xf32>
    %met = stablehlo.add %m, %o : tensor<1x4x2x8xf32>
    %next = stablehlo.add %turn, %one : tensor<i32>
    stablehlo.return %next, %put, %met : tensor<i32>, tensor<3x4x2x8xf32>, tensor<1x4x2x8xf32>
  }
  return %r#1, %r#2 : tensor<3x4x2x8xf32>, tensor<1x4x2x8xf32>
}
