// RUN: sp-opt %s --sp-fold-constants | FileCheck %s

// Documents begin where a position is not the one before and one.
// CHECK-LABEL: func.func @documents
// CHECK-DAG: %[[ONE:.*]] = stablehlo.constant dense<0> : tensor<1x8xi32>
// CHECK-DAG: %[[TWO:.*]] = stablehlo.constant dense<{{\[\[}}0, 0, 0, 1, 1, 1, 1, 1]]> : tensor<1x8xi32>
// CHECK: return %[[ONE]], %[[TWO]]
func.func @documents() -> (tensor<1x8xi32>, tensor<1x8xi32>) {
  %counted = stablehlo.iota dim = 1 : tensor<1x8xi32>
  %given = stablehlo.constant dense<[[0, 1, 2, 0, 1, 2, 3, 4]]> : tensor<1x8xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<1x8xi32>
  %before = stablehlo.constant dense<-1> : tensor<1x1xi32>
  %0 = stablehlo.concatenate %before, %counted, dim = 1 : (tensor<1x1xi32>, tensor<1x8xi32>) -> tensor<1x9xi32>
  %1 = stablehlo.slice %0 [0:1, 0:8] : (tensor<1x9xi32>) -> tensor<1x8xi32>
  %2 = stablehlo.subtract %counted, %1 : tensor<1x8xi32>
  %3 = stablehlo.compare NE, %2, %one, SIGNED : (tensor<1x8xi32>, tensor<1x8xi32>) -> tensor<1x8xi1>
  %4 = stablehlo.convert %3 : (tensor<1x8xi1>) -> tensor<1x8xi32>
  %5 = "stablehlo.reduce_window"(%4, %zero) <{padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<1x8xi32>, tensor<i32>) -> tensor<1x8xi32>
  %6 = stablehlo.concatenate %before, %given, dim = 1 : (tensor<1x1xi32>, tensor<1x8xi32>) -> tensor<1x9xi32>
  %7 = stablehlo.slice %6 [0:1, 0:8] : (tensor<1x9xi32>) -> tensor<1x8xi32>
  %8 = stablehlo.subtract %given, %7 : tensor<1x8xi32>
  %9 = stablehlo.compare NE, %8, %one, SIGNED : (tensor<1x8xi32>, tensor<1x8xi32>) -> tensor<1x8xi1>
  %10 = stablehlo.convert %9 : (tensor<1x8xi1>) -> tensor<1x8xi32>
  %11 = "stablehlo.reduce_window"(%10, %zero) <{padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<1x8xi32>, tensor<i32>) -> tensor<1x8xi32>
  return %5, %11 : tensor<1x8xi32>, tensor<1x8xi32>
}

// A comparator may depend on an argument.
// CHECK-LABEL: func.func @captures
// CHECK: stablehlo.sort
func.func @captures(%x: tensor<i32>) -> tensor<8xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<8xi32>
  %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.compare LT, %a, %x, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xi32>) -> tensor<8xi32>
  return %1 : tensor<8xi32>
}

// What depends on an argument, is of floats or is arithmetic that masks are
// read through stays.
// CHECK-LABEL: func.func @stays
// CHECK: stablehlo.iota dim = 0 : tensor<8xi32>
// CHECK: stablehlo.add
// CHECK: stablehlo.reduce
// CHECK: stablehlo.reduce
func.func @stays(%x: tensor<8xi32>) -> (tensor<8xi32>, tensor<i32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %float = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.iota dim = 0 : tensor<8xi32>
  %1 = stablehlo.add %0, %0 : tensor<8xi32>
  %2 = stablehlo.add %1, %x : tensor<8xi32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
  %4 = stablehlo.iota dim = 0 : tensor<8xf32>
  %5 = stablehlo.reduce(%4 init: %float) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %1, %3, %5 : tensor<8xi32>, tensor<i32>, tensor<f32>
}

// What pads nothing is left out, and made of nothing.
// CHECK-LABEL: func.func @empty
// CHECK-SAME: (%[[X:.*]]: tensor<2x8xf32>)
// CHECK: %[[NONE:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2x0xf32>
// CHECK-NOT: stablehlo.concatenate
// CHECK: return %[[X]], %[[NONE]]
func.func @empty(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x0xf32>) {
  %0 = stablehlo.slice %x [0:2, 0:1] : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x1x0xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x1x0xf32>) -> tensor<2x0xf32>
  %3 = stablehlo.concatenate %2, %x, %2, dim = 1 : (tensor<2x0xf32>, tensor<2x8xf32>, tensor<2x0xf32>) -> tensor<2x8xf32>
  return %3, %2 : tensor<2x8xf32>, tensor<2x0xf32>
}
