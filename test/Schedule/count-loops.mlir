// RUN: sp-opt %s --sp-count-loops --split-input-file | FileCheck %s

// CHECK-LABEL: @constant_bounds
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>)
func.func @constant_bounds(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  // CHECK: %[[TIMES:.*]] = arith.constant 4 : index
  // CHECK: %[[R:.*]] = scf.for %{{.*}} = %{{.*}} to %[[TIMES]] step %{{.*}} iter_args(%[[H:.*]] = %[[X]]) -> (tensor<8xf32>)
  // CHECK-NEXT: %[[NEXT:.*]] = stablehlo.add %[[H]], %[[H]]
  // CHECK-NEXT: scf.yield %[[NEXT]]
  %r:2 = stablehlo.while(%i = %one, %h = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %n = stablehlo.add %h, %h : tensor<8xf32>
    stablehlo.return %j, %n : tensor<i32>, tensor<8xf32>
  }
  // The counter is known in the end.
  // CHECK: %[[LAST:.*]] = stablehlo.constant dense<5> : tensor<i32>
  // CHECK: return %[[R]], %[[LAST]]
  return %r#1, %r#0 : tensor<8xf32>, tensor<i32>
}

// -----

// CHECK-LABEL: @bound_known_at_run_time
// CHECK: stablehlo.while
func.func @bound_known_at_run_time(%n: tensor<i32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.while(%i = %one) : tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j : tensor<i32>
  }
  return %r : tensor<i32>
}

// -----

// A scan as JAX writes it: a negative index counts from the end.
// CHECK-LABEL: @rows_of_stacks
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>, %[[W:.*]]: tensor<3x8xf32>, %[[S:.*]]: tensor<3x8xf32>)
func.func @rows_of_stacks(%x: tensor<8xf32>, %w: tensor<3x8xf32>, %s: tensor<3x8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  // CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[H:.*]] = %[[X]], %[[T:.*]] = %[[S]])
  // CHECK-NEXT: %[[L:.*]] = sp.take %[[W]] at %[[I]] dim 0 : tensor<3x8xf32> -> tensor<1x8xf32>
  // CHECK-NEXT: stablehlo.reshape %[[L]]
  // CHECK: %[[BACK:.*]] = affine.apply #{{.*}}(%[[I]])
  // CHECK: sp.put %{{.*}} into %[[T]] at %[[BACK]] dim 0 : tensor<1x8xf32>, tensor<3x8xf32>
  // CHECK-NOT: tensor<i32>
  // CHECK: scf.yield
  %r:4 = stablehlo.while(%i = %zero, %h = %x, %all = %w, %made = %s) : tensor<i32>, tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %isnegative = stablehlo.compare LT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %more = stablehlo.add %i, %three : tensor<i32>
    %at = stablehlo.select %isnegative, %more, %i : tensor<i1>, tensor<i32>
    %row = stablehlo.dynamic_slice %all, %at, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %l = stablehlo.reshape %row : (tensor<1x8xf32>) -> tensor<8xf32>
    %n = stablehlo.multiply %h, %l : tensor<8xf32>
    %two = stablehlo.subtract %three, %one : tensor<i32>
    %last = stablehlo.subtract %two, %i : tensor<i32>
    %as = stablehlo.reshape %n : (tensor<8xf32>) -> tensor<1x8xf32>
    %put = stablehlo.dynamic_update_slice %made, %as, %last, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %n, %all, %put : tensor<i32>, tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %r#1, %r#3 : tensor<8xf32>, tensor<3x8xf32>
}

// -----

// Rows that data chooses, or that are not dense, are moved as before, and so the
// counter is carried that they read. A start beyond the last row is the last row.
// CHECK-LABEL: @rows_that_are_moved
func.func @rows_that_are_moved(%x: tensor<2xf32>, %w: tensor<3x2xf32>, %v: tensor<2x3xf32>, %at: tensor<i32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  // CHECK: scf.for {{.*}} iter_args(%[[I:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<i32>, tensor<2xf32>)
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK-DAG: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [1, 2]
  // CHECK-DAG: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %[[I]], sizes = [2, 1]
  // CHECK-DAG: sp.take %{{.*}} at %[[TWO]] dim 0 : tensor<3x2xf32> -> tensor<1x2xf32>
  %r:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %a = stablehlo.dynamic_slice %w, %at, %zero, sizes = [1, 2] : (tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %b = stablehlo.dynamic_slice %v, %zero, %i, sizes = [2, 1] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
    %d = stablehlo.dynamic_slice %w, %nine, %zero, sizes = [1, 2] : (tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %a1 = stablehlo.reshape %a : (tensor<1x2xf32>) -> tensor<2xf32>
    %b1 = stablehlo.reshape %b : (tensor<2x1xf32>) -> tensor<2xf32>
    %d1 = stablehlo.reshape %d : (tensor<1x2xf32>) -> tensor<2xf32>
    %ab = stablehlo.add %a1, %b1 : tensor<2xf32>
    %abd = stablehlo.add %ab, %d1 : tensor<2xf32>
    %n = stablehlo.add %h, %abd : tensor<2xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %n : tensor<i32>, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}

// -----

// Values change places, and another integer counts back by two.
// CHECK-LABEL: @changes_places
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>, %[[W:.*]]: tensor<8x8xf32>)
func.func @changes_places(%x: tensor<8xf32>, %w: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<-2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  // CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[X]])
  // CHECK: %[[AT:.*]] = affine.apply #{{.*}}(%[[I]])
  // CHECK: sp.take %[[W]] at %[[AT]] dim 0
  // CHECK: %[[N:.*]] = stablehlo.multiply %[[A]]
  // CHECK: scf.yield %[[B]], %[[N]]
  %r:4 = stablehlo.while(%i = %zero, %j = %seven, %a = %x, %b = %x) : tensor<i32>, tensor<i32>, tensor<8xf32>, tensor<8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %w, %j, %zero, sizes = [1, 8] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %l = stablehlo.reshape %row : (tensor<1x8xf32>) -> tensor<8xf32>
    %n = stablehlo.multiply %a, %l : tensor<8xf32>
    %k = stablehlo.add %i, %one : tensor<i32>
    %m = stablehlo.add %j, %two : tensor<i32>
    stablehlo.return %k, %m, %b, %n : tensor<i32>, tensor<i32>, tensor<8xf32>, tensor<8xf32>
  }
  // CHECK: %[[LAST:.*]] = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: return %[[R]]#0, %[[R]]#1, %[[LAST]]
  return %r#2, %r#3, %r#1 : tensor<8xf32>, tensor<8xf32>, tensor<i32>
}

// -----

// Below 0 an unsigned start is beyond the last row: that is no row by the turn.
// CHECK-LABEL: @unsigned_start
// CHECK: scf.for
// CHECK: stablehlo.dynamic_slice
func.func @unsigned_start(%x: tensor<8xf32>, %w: tensor<4x8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<ui32>
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %three = stablehlo.constant dense<3> : tensor<ui32>
  %r:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<ui32>, tensor<8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.subtract %i, %one : tensor<ui32>
    %row = stablehlo.dynamic_slice %w, %at, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x8xf32>
    %l = stablehlo.reshape %row : (tensor<1x8xf32>) -> tensor<8xf32>
    %n = stablehlo.multiply %h, %l : tensor<8xf32>
    %j = stablehlo.add %i, %one : tensor<ui32>
    stablehlo.return %j, %n : tensor<ui32>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}
