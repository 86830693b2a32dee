// RUN: sp-opt %s -split-input-file --sp-accumulate-pipeline=micro-batches=2 | FileCheck %s

// A batch of 5 runs as micro-batches of 3 and 2 sequences: rows 0, 2, 4 and rows
// 1, 3, then one of zeros, which no sum counts. The gradient is added to turn by
// turn; the update comes behind the loop.

// CHECK-NOT: sp.mesh
// CHECK-LABEL: func.func public @main(%arg0: tensor<5x8x2x4xf32>, %arg1: tensor<4x4xf32>)
// CHECK: %[[LOOP:.*]]:2 = stablehlo.while(%[[TURN:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) : tensor<i32>, tensor<4x4xf32>
// CHECK: do {
// CHECK: %[[PADDED:.*]] = stablehlo.pad %arg0
// CHECK: %[[SPLIT:.*]] = stablehlo.reshape %[[PADDED]] : (tensor<6x8x2x4xf32>) -> tensor<3x2x8x2x4xf32>
// CHECK: stablehlo.dynamic_slice %[[SPLIT]], %{{.*}}, %[[TURN]], {{.*}} sizes = [3, 1, 8, 2, 4]
// CHECK: sp.attention({{.*}}) {{.*}} : tensor<3x8x2x4xf32>
// CHECK: stablehlo.compare LT
// CHECK: stablehlo.select
// CHECK: %[[OWN:.*]] = stablehlo.dot_general
// CHECK: %[[NEXT:.*]] = stablehlo.add %[[SUM]], %[[OWN]] : tensor<4x4xf32>
// CHECK: stablehlo.return %{{.*}}, %[[NEXT]]
// CHECK: stablehlo.subtract %arg1, %[[LOOP]]#1
func.func public @main(%x: tensor<5x8x2x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %o = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 5.000000e-01 {name = "layer0"}
     : tensor<5x8x2x4xf32>, tensor<5x8x2x4xf32>, tensor<5x8x2x4xf32> -> tensor<5x8x2x4xf32>
  %g = stablehlo.dot_general %x, %o, contracting_dims = [0, 1, 2] x [0, 1, 2]
     : (tensor<5x8x2x4xf32>, tensor<5x8x2x4xf32>) -> tensor<4x4xf32>
  %n = stablehlo.subtract %w, %g : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// -----

// What a sum over the whole batch is needed for is a loop of its own, and what
// both loops read is made by the second: only the mean leaves the first. Results
// of every sequence leave as rows.

// CHECK-LABEL: func.func public @main
// CHECK: %[[COUNT:.*]]:2 = stablehlo.while({{.*}}) : tensor<i32>, tensor<f32>
// CHECK-NOT: sp.attention
// CHECK: stablehlo.return
// CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<2x2x8x2x4xf32>
// CHECK: sp.attention
// CHECK: %[[MEAN:.*]] = stablehlo.broadcast_in_dim %[[COUNT]]#1
// CHECK: stablehlo.divide %{{.*}}, %[[MEAN]]
// CHECK: stablehlo.dynamic_update_slice
// CHECK: stablehlo.return
// CHECK: stablehlo.transpose
// CHECK: %[[ALL:.*]] = stablehlo.reshape {{.*}} -> tensor<4x8x2x4xf32>
// CHECK: return %[[ALL]]
func.func public @main(%x: tensor<4x8x2x4xf32>, %m: tensor<4x8xf32>) -> tensor<4x8x2x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %o = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 5.000000e-01 {name = "layer0"}
     : tensor<4x8x2x4xf32>, tensor<4x8x2x4xf32>, tensor<4x8x2x4xf32> -> tensor<4x8x2x4xf32>
  %s = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x2x4xf32>
  %p = stablehlo.multiply %o, %s : tensor<4x8x2x4xf32>
  %n = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<4x8x2x4xf32>
  %d = stablehlo.divide %p, %b : tensor<4x8x2x4xf32>
  return %d : tensor<4x8x2x4xf32>
}

// -----

// What needs every sequence reads an argument as it is, and of what turns make a
// stack.

// CHECK-LABEL: func.func public @main
// CHECK: %[[LOOP:.*]]:3 = stablehlo.while
// CHECK: stablehlo.return
// CHECK: %[[WHOLE:.*]] = stablehlo.reshape %arg1 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: stablehlo.transpose {{.*}} : (tensor<2x1x2x1xf32>)
// CHECK: %[[JOINED:.*]] = stablehlo.reshape {{.*}} -> tensor<4xf32>
// CHECK: "stablehlo.sort"(%[[WHOLE]])
// CHECK: "stablehlo.sort"(%[[JOINED]])
func.func public @main(%x: tensor<4x8x2x4xf32>, %b: tensor<4xf32>) -> (tensor<4x8x2x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %o = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 5.000000e-01 {name = "layer0"}
     : tensor<4x8x2x4xf32>, tensor<4x8x2x4xf32>, tensor<4x8x2x4xf32> -> tensor<4x8x2x4xf32>
  %s = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<4xf32>) -> tensor<4x8x2x4xf32>
  %p = stablehlo.multiply %o, %s : tensor<4x8x2x4xf32>
  %sorted = "stablehlo.sort"(%b) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %n = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1, 2, 3] : (tensor<4x8x2x4xf32>, tensor<f32>) -> tensor<4xf32>
  %means = "stablehlo.sort"(%n) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %p, %sorted, %means : tensor<4x8x2x4xf32>, tensor<4xf32>, tensor<4xf32>
}
