// RUN: sp-opt %s --sp-simplify-loops | FileCheck %s

// CHECK-LABEL: func.func @dead_and_invariant
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>, %[[N:.*]]: tensor<i32>)
// CHECK-NOT: stablehlo.iota
// CHECK: %[[R:.*]]:2 = stablehlo.while(%{{.*}} = %[[N]], %{{.*}} = %[[X]])
// CHECK: stablehlo.return %{{.*}}, %{{.*}} : tensor<i32>, tensor<8xf32>
// CHECK: return %[[R]]#1, %[[N]]
func.func @dead_and_invariant(%x: tensor<8xf32>, %n: tensor<i32>) -> (tensor<8xf32>, tensor<i32>) {
  %mask = stablehlo.iota dim = 0 : tensor<8xi32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:5 = stablehlo.while(%m = %mask, %count = %c0, %left = %n, %y = %x, %same = %n)
    : tensor<8xi32>, tensor<i32>, tensor<i32>, tensor<8xf32>, tensor<i32>
  cond {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare GT, %left, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %count, %c1 : tensor<i32>
    %fewer = stablehlo.subtract %left, %c1 : tensor<i32>
    %z = stablehlo.negate %y : tensor<8xf32>
    stablehlo.return %m, %next, %fewer, %z, %same : tensor<8xi32>, tensor<i32>, tensor<i32>, tensor<8xf32>, tensor<i32>
  }
  return %0#3, %0#4 : tensor<8xf32>, tensor<i32>
}

// A value that another live one is computed from stays.
// CHECK-LABEL: func.func @needed_inside
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
func.func @needed_inside(%x: tensor<f32>, %n: tensor<i1>) -> tensor<f32> {
  %0:3 = stablehlo.while(%step = %x, %go = %n, %y = %x) : tensor<f32>, tensor<i1>, tensor<f32>
  cond {
    stablehlo.return %go : tensor<i1>
  } do {
    %double = stablehlo.add %step, %step : tensor<f32>
    %stop = stablehlo.not %go : tensor<i1>
    %z = stablehlo.add %y, %step : tensor<f32>
    stablehlo.return %double, %stop, %z : tensor<f32>, tensor<i1>, tensor<f32>
  }
  return %0#2 : tensor<f32>
}

// What nothing reads goes with the loop that computes it.
// CHECK-LABEL: func.func @dead_with_its_loop
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<i1>, tensor<f32>
// CHECK-NOT: stablehlo.while
func.func @dead_with_its_loop(%x: tensor<f32>, %n: tensor<i1>) -> tensor<f32> {
  %0:3 = stablehlo.while(%dead = %x, %go = %n, %y = %x) : tensor<f32>, tensor<i1>, tensor<f32>
  cond {
    stablehlo.return %go : tensor<i1>
  } do {
    %stop = stablehlo.not %go : tensor<i1>
    %1:2 = stablehlo.while(%a = %dead, %b = %go) : tensor<f32>, tensor<i1>
    cond {
      stablehlo.return %b : tensor<i1>
    } do {
      %c = stablehlo.add %a, %a : tensor<f32>
      %d = stablehlo.not %b : tensor<i1>
      stablehlo.return %c, %d : tensor<f32>, tensor<i1>
    }
    %z = stablehlo.add %y, %y : tensor<f32>
    stablehlo.return %1#0, %stop, %z : tensor<f32>, tensor<i1>, tensor<f32>
  }
  return %0#2 : tensor<f32>
}
