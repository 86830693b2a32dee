// RUN: sp-opt %s --sp-recompute-residuals --sp-simplify-loops | FileCheck %s

// Powers of scores are saved by trip; the loop in reverse makes them again of the queries and keys that are saved too.
// CHECK-LABEL: @powers_are_made_again
// CHECK: stablehlo.while
// CHECK: do {
// CHECK-NOT: stablehlo.dynamic_update_slice {{.*}}tensor<3x5x5xf32>
// CHECK: stablehlo.while
// CHECK: do {
// CHECK-DAG: %[[Q:.*]] = stablehlo.reshape %{{.*}} : (tensor<1x5x4xf32>) -> tensor<5x4xf32>
// CHECK: %[[S:.*]] = stablehlo.dot_general
// CHECK: %[[E:.*]] = stablehlo.exponential %[[S]]
// CHECK: stablehlo.dot_general %[[E]]
func.func @powers_are_made_again(%x: tensor<5x4xf32>, %d: tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<5x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %qs = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<3x5x4xf32>
  %es = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<3x5x5xf32>
  %r:4 = stablehlo.while(%i = %zero, %h = %x, %q = %qs, %e = %es) : tensor<i32>, tensor<5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x5xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %s = stablehlo.dot_general %h, %h, contracting_dims = [1] x [1] : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x5xf32>
    %pow = stablehlo.exponential %s : tensor<5x5xf32>
    %y = stablehlo.dot_general %pow, %h, contracting_dims = [1] x [0] : (tensor<5x5xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %hr = stablehlo.reshape %h : (tensor<5x4xf32>) -> tensor<1x5x4xf32>
    %q1 = stablehlo.dynamic_update_slice %q, %hr, %i, %k0, %k0 : (tensor<3x5x4xf32>, tensor<1x5x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x5x4xf32>
    %er = stablehlo.reshape %pow : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %e1 = stablehlo.dynamic_update_slice %e, %er, %i, %k0, %k0 : (tensor<3x5x5xf32>, tensor<1x5x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x5x5xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %y, %q1, %e1 : tensor<i32>, tensor<5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x5xf32>
  }
  %b:4 = stablehlo.while(%i = %zero, %g = %d, %q = %r#2, %e = %r#3) : tensor<i32>, tensor<5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x5xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %k2 = stablehlo.constant dense<2> : tensor<i32>
    %at = stablehlo.subtract %k2, %i : tensor<i32>
    %qr = stablehlo.dynamic_slice %q, %at, %k0, %k0, sizes = [1, 5, 4] : (tensor<3x5x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x5x4xf32>
    %h = stablehlo.reshape %qr : (tensor<1x5x4xf32>) -> tensor<5x4xf32>
    %er = stablehlo.dynamic_slice %e, %at, %k0, %k0, sizes = [1, 5, 5] : (tensor<3x5x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x5x5xf32>
    %pow = stablehlo.reshape %er : (tensor<1x5x5xf32>) -> tensor<5x5xf32>
    %dv = stablehlo.dot_general %pow, %g, contracting_dims = [0] x [0] : (tensor<5x5xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %sum = stablehlo.add %dv, %h : tensor<5x4xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %sum, %q, %e : tensor<i32>, tensor<5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x5xf32>
  }
  return %r#1, %b#1 : tensor<5x4xf32>, tensor<5x4xf32>
}

// Read in the order in which they were saved, another trip's powers are.
// CHECK-LABEL: @another_trip
// CHECK: stablehlo.while
// CHECK: stablehlo.dynamic_update_slice {{.*}}tensor<3x5x5xf32>
func.func @another_trip(%x: tensor<5x4xf32>, %d: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %es = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<3x5x5xf32>
  %r:2 = stablehlo.while(%i = %zero, %e = %es) : tensor<i32>, tensor<3x5x5xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %s = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x5xf32>
    %pow = stablehlo.exponential %s : tensor<5x5xf32>
    %er = stablehlo.reshape %pow : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %e1 = stablehlo.dynamic_update_slice %e, %er, %i, %k0, %k0 : (tensor<3x5x5xf32>, tensor<1x5x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x5x5xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %e1 : tensor<i32>, tensor<3x5x5xf32>
  }
  %b:3 = stablehlo.while(%i = %zero, %g = %d, %e = %r#1) : tensor<i32>, tensor<5x4xf32>, tensor<3x5x5xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %er = stablehlo.dynamic_slice %e, %i, %k0, %k0, sizes = [1, 5, 5] : (tensor<3x5x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x5x5xf32>
    %pow = stablehlo.reshape %er : (tensor<1x5x5xf32>) -> tensor<5x5xf32>
    %dv = stablehlo.dot_general %pow, %g, contracting_dims = [0] x [0] : (tensor<5x5xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %dv, %e : tensor<i32>, tensor<5x4xf32>, tensor<3x5x5xf32>
  }
  return %b#1 : tensor<5x4xf32>
}

// A mask that a flag of the trip chooses is made again, of the flags.
// CHECK-LABEL: @mask_of_a_trip
// CHECK: stablehlo.while
// CHECK: do {
// CHECK-NOT: stablehlo.dynamic_update_slice {{.*}}tensor<3x5x5xi1>
// CHECK: stablehlo.while
// CHECK: do {
// CHECK: %[[FLAG:.*]] = stablehlo.dynamic_slice %{{.*}}, sizes = [1] : (tensor<3xi1>, tensor<i32>)
// CHECK: %[[ONE:.*]] = stablehlo.reshape %[[FLAG]]
// CHECK: stablehlo.select %[[ONE]], %{{.*}} : tensor<i1>, tensor<5x5xi1>
func.func @mask_of_a_trip(%x: tensor<5x4xf32>, %d: tensor<5x4xf32>, %flags: tensor<3xi1>) -> (tensor<5x4xf32>, tensor<5x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %no = stablehlo.constant dense<false> : tensor<i1>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<5x5xf32>
  %rows = stablehlo.iota dim = 0 : tensor<5x5xi32>
  %columns = stablehlo.iota dim = 1 : tensor<5x5xi32>
  %causal = stablehlo.compare GE, %rows, %columns : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
  %own = stablehlo.compare EQ, %rows, %columns : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
  %qs = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<3x5x4xf32>
  %ms = stablehlo.broadcast_in_dim %no, dims = [] : (tensor<i1>) -> tensor<3x5x5xi1>
  %r:5 = stablehlo.while(%i = %zero, %h = %x, %q = %qs, %m = %ms, %f = %flags) : tensor<i32>, tensor<5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x5xi1>, tensor<3xi1>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %fr = stablehlo.dynamic_slice %f, %i, sizes = [1] : (tensor<3xi1>, tensor<i32>) -> tensor<1xi1>
    %flag = stablehlo.reshape %fr : (tensor<1xi1>) -> tensor<i1>
    %mask = stablehlo.select %flag, %causal, %own : tensor<i1>, tensor<5x5xi1>
    %s = stablehlo.dot_general %h, %h, contracting_dims = [1] x [1] : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x5xf32>
    %seen = stablehlo.select %mask, %s, %hidden : tensor<5x5xi1>, tensor<5x5xf32>
    %pow = stablehlo.exponential %seen : tensor<5x5xf32>
    %y = stablehlo.dot_general %pow, %h, contracting_dims = [1] x [0] : (tensor<5x5xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %hr = stablehlo.reshape %h : (tensor<5x4xf32>) -> tensor<1x5x4xf32>
    %q1 = stablehlo.dynamic_update_slice %q, %hr, %i, %k0, %k0 : (tensor<3x5x4xf32>, tensor<1x5x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x5x4xf32>
    %mr = stablehlo.reshape %mask : (tensor<5x5xi1>) -> tensor<1x5x5xi1>
    %m1 = stablehlo.dynamic_update_slice %m, %mr, %i, %k0, %k0 : (tensor<3x5x5xi1>, tensor<1x5x5xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x5x5xi1>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %y, %q1, %m1, %f : tensor<i32>, tensor<5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x5xi1>, tensor<3xi1>
  }
  %b:4 = stablehlo.while(%i = %zero, %g = %d, %q = %r#2, %m = %r#3) : tensor<i32>, tensor<5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x5xi1>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k0 = stablehlo.constant dense<0> : tensor<i32>
    %k1 = stablehlo.constant dense<1> : tensor<i32>
    %k2 = stablehlo.constant dense<2> : tensor<i32>
    %at = stablehlo.subtract %k2, %i : tensor<i32>
    %qr = stablehlo.dynamic_slice %q, %at, %k0, %k0, sizes = [1, 5, 4] : (tensor<3x5x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x5x4xf32>
    %h = stablehlo.reshape %qr : (tensor<1x5x4xf32>) -> tensor<5x4xf32>
    %mr = stablehlo.dynamic_slice %m, %at, %k0, %k0, sizes = [1, 5, 5] : (tensor<3x5x5xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x5x5xi1>
    %mask = stablehlo.reshape %mr : (tensor<1x5x5xi1>) -> tensor<5x5xi1>
    %s = stablehlo.dot_general %g, %h, contracting_dims = [1] x [1] : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x5xf32>
    %seen = stablehlo.select %mask, %s, %hidden : tensor<5x5xi1>, tensor<5x5xf32>
    %dv = stablehlo.dot_general %seen, %h, contracting_dims = [0] x [0] : (tensor<5x5xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %i1 = stablehlo.add %i, %k1 : tensor<i32>
    stablehlo.return %i1, %dv, %q, %m : tensor<i32>, tensor<5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x5xi1>
  }
  return %r#1, %b#1 : tensor<5x4xf32>, tensor<5x4xf32>
}
