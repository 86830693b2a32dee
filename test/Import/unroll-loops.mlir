// RUN: sp-opt %s --sp-unroll-loops | FileCheck %s

// CHECK-LABEL: func.func @mix
// CHECK-SAME: (%[[X:.*]]: tensor<8xui32>, %[[A:.*]]: tensor<ui32>, %[[B:.*]]: tensor<ui32>)
// CHECK-NOT: stablehlo.while
// CHECK: %[[A0:.*]] = stablehlo.broadcast_in_dim %[[A]]
// CHECK: %[[X1:.*]] = stablehlo.xor %[[X]], %[[A0]]
// CHECK: %[[B0:.*]] = stablehlo.broadcast_in_dim %[[B]]
// CHECK: %[[X2:.*]] = stablehlo.xor %[[X1]], %[[B0]]
// CHECK: %[[A1:.*]] = stablehlo.broadcast_in_dim %[[A]]
// CHECK: %[[X3:.*]] = stablehlo.xor %[[X2]], %[[A1]]
// CHECK: return %[[X3]]
func.func @mix(%x: tensor<8xui32>, %a: tensor<ui32>, %b: tensor<ui32>) -> tensor<8xui32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%i = %c0, %y = %x, %u = %a, %v = %b) : tensor<i32>, tensor<8xui32>, tensor<ui32>, tensor<ui32>
  cond {
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %c3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %c1 : tensor<i32>
    %k = stablehlo.broadcast_in_dim %u, dims = [] : (tensor<ui32>) -> tensor<8xui32>
    %z = stablehlo.xor %y, %k : tensor<8xui32>
    stablehlo.return %next, %z, %v, %u : tensor<i32>, tensor<8xui32>, tensor<ui32>, tensor<ui32>
  }
  return %0#1 : tensor<8xui32>
}

// A loop of contractions, one of many trips and one of an unknown count stay.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-3: stablehlo.while
func.func @stays(%x: tensor<8x8xf32>, %y: tensor<8xf32>, %n: tensor<i32>) -> (tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %m = %x) : tensor<i32>, tensor<8x8xf32>
  cond {
    %c2 = stablehlo.constant dense<2> : tensor<i32>
    %p = stablehlo.compare LT, %i, %c2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %c1 : tensor<i32>
    %z = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %next, %z : tensor<i32>, tensor<8x8xf32>
  }
  %1:2 = stablehlo.while(%i = %c0, %m = %y) : tensor<i32>, tensor<8xf32>
  cond {
    %c9 = stablehlo.constant dense<9> : tensor<i32>
    %p = stablehlo.compare LT, %i, %c9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %c1 : tensor<i32>
    %z = stablehlo.negate %m : tensor<8xf32>
    stablehlo.return %next, %z : tensor<i32>, tensor<8xf32>
  }
  %2:2 = stablehlo.while(%i = %c0, %m = %y) : tensor<i32>, tensor<8xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %c1 : tensor<i32>
    %z = stablehlo.negate %m : tensor<8xf32>
    stablehlo.return %next, %z : tensor<i32>, tensor<8xf32>
  }
  return %0#1, %1#1, %2#1 : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Bounds are unsigned where their type is.
// CHECK-LABEL: func.func @unsigned
// CHECK: stablehlo.while
func.func @unsigned(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<ui32>
  %0:2 = stablehlo.while(%i = %c0, %m = %x) : tensor<ui32>, tensor<8xf32>
  cond {
    %last = stablehlo.constant dense<4294967295> : tensor<ui32>
    %p = stablehlo.compare LT, %i, %last, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<ui32>
    %next = stablehlo.add %i, %c1 : tensor<ui32>
    %z = stablehlo.negate %m : tensor<8xf32>
    stablehlo.return %next, %z : tensor<ui32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
