// RUN: sp-opt %s -split-input-file --sp-propagate-shardings --sp-localize --canonicalize --cse --sp-verify-partition \
// RUN:   | FileCheck %s

// CHECK-LABEL: module @scan_over_layers
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<i32>, tensor<2x4x4xf32>
// CHECK: stablehlo.dot_general {{.*}} -> tensor<2x4x4xf32>
module @scan_over_layers {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}, %w: tensor<3x4x4xf32>) -> tensor<2x10x4xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<3> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<2x10x4xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %s = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 4, 4] : (tensor<3x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
      %l = stablehlo.reshape %s : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
      %y = stablehlo.dot_general %h, %l, contracting_dims = [2] x [0] : (tensor<2x10x4xf32>, tensor<4x4xf32>) -> tensor<2x10x4xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %y : tensor<i32>, tensor<2x10x4xf32>
    }
    return %r#1 : tensor<2x10x4xf32>
  }
}

// -----

// CHECK-LABEL: module @branches_agree
// CHECK: "stablehlo.case"
// CHECK: stablehlo.negate %{{.*}} : tensor<2x4x4xf32>
// CHECK: sp.all_gather
// CHECK: "stablehlo.gather"{{.*}} -> tensor<2x4x4xf32>
// CHECK: }) : (tensor<i32>) -> tensor<2x4x4xf32>
module @branches_agree {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}, %i: tensor<i32>) -> tensor<2x10x4xf32> {
    %y = "stablehlo.case"(%i) ({
      %a = stablehlo.negate %x : tensor<2x10x4xf32>
      stablehlo.return %a : tensor<2x10x4xf32>
    }, {
      %b = stablehlo.reverse %x, dims = [1] : tensor<2x10x4xf32>
      stablehlo.return %b : tensor<2x10x4xf32>
    }) : (tensor<i32>) -> tensor<2x10x4xf32>
    return %y : tensor<2x10x4xf32>
  }
}

// -----

// CHECK-LABEL: module @annotations_pass_on
// CHECK: func.func @main(%[[X:.*]]: tensor<2x4x4xf32>
// CHECK-NEXT: %[[B:.*]]:2 = stablehlo.optimization_barrier %[[X]], %[[X]]
// CHECK-NEXT: return %[[B]]#1
module @annotations_pass_on {
  sdy.mesh @none = <["sp"=3]>
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}) -> tensor<2x10x4xf32> {
    %b:2 = stablehlo.optimization_barrier %x, %x : tensor<2x10x4xf32>, tensor<2x10x4xf32>
    %c = sdy.sharding_constraint %b#1 <@none, [{?}, {?}, {?}]> : tensor<2x10x4xf32>
    return %c : tensor<2x10x4xf32>
  }
}

// -----

// CHECK-LABEL: module @results_may_be_anything
// CHECK: func.func @main(%[[X:.*]]: tensor<2x4x4xf32> {{.*}}, %{{.*}}: tensor<7xi8>
// CHECK: return %[[X]], %[[X]], %{{.*}} : tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<f32>
module @results_may_be_anything {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}, %unused: tensor<7xi8>) -> (tensor<2x10x4xf32>, tensor<2x10x4xf32>, tensor<f32>) {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    return %x, %x, %c : tensor<2x10x4xf32>, tensor<2x10x4xf32>, tensor<f32>
  }
}

// -----

// CHECK-LABEL: module @scalars_and_empty_tensors
// CHECK: stablehlo.reshape %{{.*}} : (tensor<0x4xf32>) -> tensor<2x0x2xf32>
module @scalars_and_empty_tensors {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<f32>, %e: tensor<0x4xf32>) -> (tensor<1x1xf32>, tensor<2x0x2xf32>) {
    %r = stablehlo.reshape %x : (tensor<f32>) -> tensor<1x1xf32>
    %s = stablehlo.reshape %e : (tensor<0x4xf32>) -> tensor<2x0x2xf32>
    return %r, %s : tensor<1x1xf32>, tensor<2x0x2xf32>
  }
}

// -----

// What a loop over rows reads is gathered once, before the outermost loop.
// CHECK-LABEL: module @loops_over_rows
// CHECK: sp.all_gather
// CHECK: stablehlo.while
// CHECK: stablehlo.while
// CHECK-NOT: sp.all_gather
// CHECK: stablehlo.dynamic_slice {{.*}}sizes = [2, 1, 4] : (tensor<2x10x4xf32>
// CHECK-NOT: sp.all_gather
// CHECK: return
module @loops_over_rows {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <contiguous 10 on "sp" of 3>], [4]]>}, %h: tensor<2x1x4xf32>) -> tensor<2x1x4xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<10> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %a = %h) : tensor<i32>, tensor<2x1x4xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %s:2 = stablehlo.while(%j = %zero, %b = %a) : tensor<i32>, tensor<2x1x4xf32>
      cond {
        %c = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %row = stablehlo.dynamic_slice %x, %zero, %j, %zero, sizes = [2, 1, 4] : (tensor<2x10x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x1x4xf32>
        %y = stablehlo.multiply %b, %row : tensor<2x1x4xf32>
        %next = stablehlo.add %j, %one : tensor<i32>
        stablehlo.return %next, %y : tensor<i32>, tensor<2x1x4xf32>
      }
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %s#1 : tensor<i32>, tensor<2x1x4xf32>
    }
    return %r#1 : tensor<2x1x4xf32>
  }
}
