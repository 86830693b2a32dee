// RUN: sp-interpret %s | FileCheck %s

// Programs on scalars: bodies of one operation, of several, with a call (run
// element by element), and with values from around.
func.func private @larger(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.maximum %a, %b : tensor<i32>
  return %0 : tensor<i32>
}

func.func @main() -> (tensor<2xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<3xi32>, tensor<6xi32>, tensor<6xi32>, tensor<3xi32>, tensor<5xi32>) {
  %x = stablehlo.constant dense<[[3, -1, 2], [5, 5, 4]]> : tensor<2x3xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  // CHECK: result0: tensor<2xi32> [14, 24]
  %sum = stablehlo.reduce(%x init: %ten) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
  // CHECK-NEXT: result1: tensor<3xi32> [5, 5, 4]
  %called = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3xi32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %0 = func.call @larger(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      stablehlo.return %0 : tensor<i32>
    }
  // The place of the maximum, the first of equal ones.
  // CHECK-NEXT: result2: tensor<2xi32> [3, 5]
  // CHECK-NEXT: result3: tensor<2xi32> [0, 0]
  %places = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %argmax:2 = stablehlo.reduce(%x init: %zero), (%places init: %zero) across dimensions = [1] : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
    reducer(%a: tensor<i32>, %b: tensor<i32>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare GE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %1 = stablehlo.select %0, %a, %b : tensor<i1>, tensor<i32>
      %2 = stablehlo.select %0, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<i32>
    }
  %line = stablehlo.constant dense<[3, -1, 2]> : tensor<3xi32>
  // CHECK-NEXT: result4: tensor<3xi32> [13, 9, 12]
  %mapped = "stablehlo.map"(%line) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>):
    %0 = stablehlo.add %a, %ten : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) : (tensor<3xi32>) -> tensor<3xi32>
  // Sorted by the last digit, equal ones as they were.
  // CHECK-NEXT: result5: tensor<6xi32> [20, 31, 11, 2, 52, 9]
  // CHECK-NEXT: result6: tensor<6xi32> [3, 1, 4, 0, 5, 2]
  %keys = stablehlo.constant dense<[2, 31, 9, 20, 11, 52]> : tensor<6xi32>
  %numbers = stablehlo.iota dim = 0 : tensor<6xi32>
  %sorted:2 = "stablehlo.sort"(%keys, %numbers) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %0 = stablehlo.remainder %a, %ten : tensor<i32>
    %1 = stablehlo.remainder %b, %ten : tensor<i32>
    %2 = stablehlo.compare LT, %0, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<6xi32>, tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>)
  // Twice the old value less the update, in order; index 7 lies outside.
  // CHECK-NEXT: result7: tensor<3xi32> [3, -7, 2]
  %where = stablehlo.constant dense<[[1], [7], [1]]> : tensor<3x1xi32>
  %updates = stablehlo.constant dense<[1, 100, 1]> : tensor<3xi32>
  %scattered = "stablehlo.scatter"(%line, %where, %updates) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%old: tensor<i32>, %update: tensor<i32>):
    %0 = stablehlo.add %old, %old : tensor<i32>
    %1 = stablehlo.subtract %0, %update : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<3xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<3xi32>
  // Padded with the initial value, of which each window has its own too.
  // CHECK-NEXT: result8: tensor<5xi32> [30, 23, 12, 11, 22]
  %windows = "stablehlo.reduce_window"(%line, %ten) <{padding = dense<[[2, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %0 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) : (tensor<3xi32>, tensor<i32>) -> tensor<5xi32>
  return %sum, %called, %argmax#0, %argmax#1, %mapped, %sorted#0, %sorted#1, %scattered, %windows : tensor<2xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<3xi32>, tensor<6xi32>, tensor<6xi32>, tensor<3xi32>, tensor<5xi32>
}
