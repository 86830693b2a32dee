// What a loop over micro-batches adds is written where what it is for is: the
// loop at its first attention, the part of an argument that a turn takes at what
// reads it, a gathered batch at what gathers it.

// RUN: sp-opt %s --sp-accumulate-pipeline=micro-batches=2 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func public @main
// CHECK: stablehlo.while
// CHECK: stablehlo.dynamic_slice {{.*}}tensor<2x2x8x2x4xf32>{{.*}} loc("model.py":3:1)
// CHECK: sp.attention{{.*}} loc("model.py":3:1)
// CHECK: stablehlo.dynamic_slice {{.*}}tensor<2x2x4x4xf32>{{.*}} loc("model.py":4:1)
// CHECK: stablehlo.dot_general {{.*}} loc("model.py":4:1)
// CHECK: stablehlo.dynamic_update_slice {{.*}} loc("model.py":4:1)
// CHECK: } loc("model.py":3:1)
// CHECK: stablehlo.transpose {{.*}} loc("model.py":5:1)
// CHECK: "stablehlo.sort"
module {
  func.func public @main(%x: tensor<4x8x2x4xf32> loc("x"), %w: tensor<4x4x4xf32> loc("w")) -> tensor<4x8x2x4xf32> {
    %o = sp.attention(%x, %x, %x) bands [#sp.band<q 0 to 8, k 0 to 8, lo -inf, hi 0>] scale 5.000000e-01 {name = "layer0"}
       : tensor<4x8x2x4xf32>, tensor<4x8x2x4xf32>, tensor<4x8x2x4xf32> -> tensor<4x8x2x4xf32> loc("model.py":3:1)
    %y = stablehlo.dot_general %o, %w, batching_dims = [0] x [0], contracting_dims = [3] x [1]
       : (tensor<4x8x2x4xf32>, tensor<4x4x4xf32>) -> tensor<4x8x2x4xf32> loc("model.py":4:1)
    %s = "stablehlo.sort"(%y) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> loc("model.py":5:1)
      stablehlo.return %less : tensor<i1> loc("model.py":5:1)
    }) : (tensor<4x8x2x4xf32>) -> tensor<4x8x2x4xf32> loc("model.py":5:1)
    return %s : tensor<4x8x2x4xf32> loc("model.py":6:1)
  } loc(unknown)
} loc(unknown)
