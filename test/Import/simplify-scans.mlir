// RUN: sp-opt %s -split-input-file --sp-simplify-scans | FileCheck %s

// Rows that an index of arange says are those that the counter says, and sums of
// rows at places of their own are written there.
// CHECK-LABEL: module @slices
// CHECK-SAME:  {
// CHECK:       func.func @main(%[[X:.*]]: tensor<12x4xf32>, %[[START:.*]]: tensor<12x4xf32>)
// CHECK:         %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK:         %[[ZEROS:.*]] = stablehlo.broadcast_in_dim %[[ZERO]], dims = [] : (tensor<f32>) -> tensor<12x4xf32>
// CHECK:         %[[LOOP:.*]]:3 = stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[SUM:.*]] = %[[ZEROS]])
// CHECK:           %[[AT:.*]] = stablehlo.multiply %iterArg, %c{{.*}} : tensor<i32>
// CHECK-NEXT:      %[[PART:.*]] = stablehlo.dynamic_slice %[[X]], %[[AT]], %c{{.*}}, sizes = [3, 4]
// CHECK:           %[[NEXT:.*]] = stablehlo.dynamic_update_slice %[[SUM]], %{{.*}}, %[[AT]], %c{{.*}} : (tensor<12x4xf32>, tensor<3x4xf32>
// CHECK:           stablehlo.return %{{.*}}, %{{.*}}, %[[NEXT]]
// CHECK:         %[[ALL:.*]] = stablehlo.add %[[START]], %[[LOOP]]#2
// CHECK-NEXT:    return %[[ALL]]
module @slices {
  func.func @main(%x: tensor<12x4xf32>, %start: tensor<12x4xf32>) -> tensor<12x4xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %numbers = stablehlo.iota dim = 0 : tensor<4xi32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %r:3 = stablehlo.while(%i = %c0, %n = %numbers, %sum = %start) : tensor<i32>, tensor<4xi32>, tensor<12x4xf32>
    cond {
      %c4 = stablehlo.constant dense<4> : tensor<i32>
      %more = stablehlo.compare LT, %i, %c4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %t = stablehlo.dynamic_slice %n, %i, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
      %number = stablehlo.reshape %t : (tensor<1xi32>) -> tensor<i32>
      %at = stablehlo.multiply %number, %three : tensor<i32>
      %part = stablehlo.dynamic_slice %x, %at, %c0, sizes = [3, 4] : (tensor<12x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
      %made = stablehlo.sine %part : tensor<3x4xf32>
      %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<12x4xf32>
      %placed = stablehlo.dynamic_update_slice %zeros, %made, %at, %c0 : (tensor<12x4xf32>, tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<12x4xf32>
      %more = stablehlo.add %sum, %placed : tensor<12x4xf32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %n, %more : tensor<i32>, tensor<4xi32>, tensor<12x4xf32>
    }
    return %r#2 : tensor<12x4xf32>
  }
}

// -----

// Of a gradient's loop: what the forward saved are numbers in a progression.
// CHECK-LABEL: module @saved
// CHECK:         stablehlo.while
// CHECK:         stablehlo.while
// CHECK:           %[[LEFT:.*]] = stablehlo.subtract %{{.*}}, %iterArg
// CHECK:           %[[TIMES:.*]] = stablehlo.multiply %[[LEFT]], %{{.*}} : tensor<i32>
// CHECK:           %[[AT:.*]] = stablehlo.add %[[TIMES]], %{{.*}} : tensor<i32>
// CHECK:           stablehlo.add %{{.*}}, %[[AT]]
module @saved {
  func.func @main() -> tensor<i32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %c5 = stablehlo.constant dense<5> : tensor<i32>
    %none = stablehlo.broadcast_in_dim %c0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %f:2 = stablehlo.while(%i = %c0, %saved = %none) : tensor<i32>, tensor<4xi32>
    cond {
      %c4 = stablehlo.constant dense<4> : tensor<i32>
      %more = stablehlo.compare LT, %i, %c4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %times = stablehlo.multiply %i, %c3 : tensor<i32>
      %at = stablehlo.add %times, %c5 : tensor<i32>
      %row = stablehlo.broadcast_in_dim %at, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %left = stablehlo.dynamic_update_slice %saved, %row, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %next, %left : tensor<i32>, tensor<4xi32>
    }
    %b:3 = stablehlo.while(%i = %c0, %n = %f#1, %sum = %c0) : tensor<i32>, tensor<4xi32>, tensor<i32>
    cond {
      %c4 = stablehlo.constant dense<4> : tensor<i32>
      %more = stablehlo.compare LT, %i, %c4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %last = stablehlo.subtract %c3, %i : tensor<i32>
      %t = stablehlo.dynamic_slice %n, %last, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
      %number = stablehlo.reshape %t : (tensor<1xi32>) -> tensor<i32>
      %more = stablehlo.add %sum, %number : tensor<i32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %next, %n, %more : tensor<i32>, tensor<4xi32>, tensor<i32>
    }
    return %b#2 : tensor<i32>
  }
}

// -----

// Numbers in no progression, and rows at places that meet, stay what they are.
// CHECK-LABEL: module @otherwise
// CHECK:           stablehlo.dynamic_slice {{.*}} sizes = [1] : (tensor<4xi32>
// CHECK:           stablehlo.dynamic_slice {{.*}} sizes = [3, 4]
// CHECK:           %[[PLACED:.*]] = stablehlo.dynamic_update_slice %{{.*}}, %{{.*}} : (tensor<12x4xf32>
// CHECK-NEXT:      stablehlo.add %{{.*}}, %[[PLACED]] : tensor<12x4xf32>
module @otherwise {
  func.func @main(%x: tensor<12x4xf32>, %start: tensor<12x4xf32>) -> tensor<12x4xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %numbers = stablehlo.constant dense<[0, 3, 4, 9]> : tensor<4xi32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %r:3 = stablehlo.while(%i = %c0, %n = %numbers, %sum = %start) : tensor<i32>, tensor<4xi32>, tensor<12x4xf32>
    cond {
      %c4 = stablehlo.constant dense<4> : tensor<i32>
      %more = stablehlo.compare LT, %i, %c4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %t = stablehlo.dynamic_slice %n, %i, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
      %at = stablehlo.reshape %t : (tensor<1xi32>) -> tensor<i32>
      %part = stablehlo.dynamic_slice %x, %at, %c0, sizes = [3, 4] : (tensor<12x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
      %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<12x4xf32>
      %placed = stablehlo.dynamic_update_slice %zeros, %part, %at, %c0 : (tensor<12x4xf32>, tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<12x4xf32>
      %more = stablehlo.add %sum, %placed : tensor<12x4xf32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %n, %more : tensor<i32>, tensor<4xi32>, tensor<12x4xf32>
    }
    return %r#2 : tensor<12x4xf32>
  }
}
