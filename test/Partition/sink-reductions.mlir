// RUN: sp-opt %s -split-input-file --sp-sink-reductions --canonicalize | FileCheck %s

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// A sum of reductions is reduced once; one that is read in the loop stays.

// CHECK-LABEL: func.func public @main
// CHECK: %[[LOOP:.*]]:3 = stablehlo.while
// CHECK: do {
// CHECK: %[[READ:.*]] = sp.all_reduce %{{.*}} sum over ["sp"] of 4 : tensor<8xf32>
// CHECK-NOT: sp.all_reduce
// CHECK: stablehlo.return
// CHECK: %[[SUM:.*]] = sp.all_reduce %[[LOOP]]#1 sum over ["sp"] of 4 : tensor<8xf32>
// CHECK: %[[ALL:.*]] = stablehlo.add %arg1, %[[SUM]] : tensor<8xf32>
// CHECK: return %[[ALL]], %[[LOOP]]#2
func.func public @main(%x: tensor<3x8xf32> {sp.sharding = #sp.sharding<[[3], [32 by <contiguous 32 on "sp" of 4>]]>},
                       %start: tensor<8xf32> {sp.sharding = #sp.sharding<[[8]]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %trips = stablehlo.constant dense<3> : tensor<i32>
  %two = stablehlo.constant dense<2.0> : tensor<8xf32>
  %r:3 = stablehlo.while(%i = %zero, %a = %start, %b = %start) : tensor<i32>, tensor<8xf32>, tensor<8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %trips : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %p = stablehlo.reshape %row : (tensor<1x8xf32>) -> tensor<8xf32>
    %s = sp.all_reduce %p sum over ["sp"] of 4 : tensor<8xf32>
    %scaled = stablehlo.multiply %s, %two : tensor<8xf32>
    %na = stablehlo.add %a, %scaled : tensor<8xf32>
    %q = stablehlo.tanh %p : tensor<8xf32>
    %t = sp.all_reduce %q sum over ["sp"] of 4 : tensor<8xf32>
    %squares = stablehlo.multiply %t, %t : tensor<8xf32>
    %nb = stablehlo.add %b, %squares : tensor<8xf32>
    %ni = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %ni, %na, %nb : tensor<i32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// Narrow sums are carried in f32 and rounded once; what was f64 is not narrowed,
// nor is what is infinite scaled before it is summed.

// CHECK-LABEL: func.func public @main
// CHECK: %[[LOOP:.*]]:4 = stablehlo.while({{.*}}) : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
// CHECK: do {
// CHECK: sp.all_reduce %{{.*}} sum over ["sp"] of 4 : tensor<8xf64>
// CHECK: sp.all_reduce %{{.*}} sum over ["sp"] of 4 : tensor<8xf32>
// CHECK-NOT: sp.all_reduce
// CHECK: stablehlo.return
// CHECK: %[[SUM:.*]] = sp.all_reduce %[[LOOP]]#1 sum over ["sp"] of 4 : tensor<8xf32>
// CHECK: %[[WIDE:.*]] = stablehlo.convert %arg2 : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK: %[[ALL:.*]] = stablehlo.add %[[WIDE]], %[[SUM]] : tensor<8xf32>
// CHECK: stablehlo.convert %[[ALL]] : (tensor<8xf32>) -> tensor<8xbf16>
func.func public @main(%x: tensor<8xf32> {sp.sharding = #sp.sharding<[[32 by <contiguous 32 on "sp" of 4>]]>},
                       %f: tensor<8xf32> {sp.sharding = #sp.sharding<[[8]]>},
                       %start: tensor<8xbf16> {sp.sharding = #sp.sharding<[[8]]>})
    -> (tensor<8xbf16>, tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %trips = stablehlo.constant dense<3> : tensor<i32>
  %r:4 = stablehlo.while(%i = %zero, %a = %start, %b = %f, %c = %f) : tensor<i32>, tensor<8xbf16>, tensor<8xf32>, tensor<8xf32>
  cond {
    %l = stablehlo.compare LT, %i, %trips : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  } do {
    %s = sp.all_reduce %x sum over ["sp"] of 4 : tensor<8xf32>
    %n = stablehlo.convert %s : (tensor<8xf32>) -> tensor<8xbf16>
    %na = stablehlo.add %a, %n : tensor<8xbf16>
    %d = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xf64>
    %t = sp.all_reduce %d sum over ["sp"] of 4 : tensor<8xf64>
    %m = stablehlo.convert %t : (tensor<8xf64>) -> tensor<8xf32>
    %nb = stablehlo.add %b, %m : tensor<8xf32>
    %u = sp.all_reduce %x sum over ["sp"] of 4 : tensor<8xf32>
    %scaled = stablehlo.divide %u, %f : tensor<8xf32>
    %nc = stablehlo.add %c, %scaled : tensor<8xf32>
    %ni = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %ni, %na, %nb, %nc : tensor<i32>, tensor<8xbf16>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#1, %r#2, %r#3 : tensor<8xbf16>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A slice of a sum is that of each part's, where every rank takes the same.

// CHECK-LABEL: module @slices
// CHECK: %[[LOOP:.*]]:3 = stablehlo.while
// CHECK: do {
// CHECK: sp.all_reduce %{{.*}} sum over ["sp"] of 4 : tensor<8xf32>
// CHECK-NOT: sp.all_reduce
// CHECK: stablehlo.return
// CHECK: sp.all_reduce %[[LOOP]]#1 sum over ["sp"] of 4 : tensor<2xf32>
// CHECK-NOT: sp.all_reduce
module @slices {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func public @main(%x: tensor<8xf32> {sp.sharding = #sp.sharding<[[32 by <contiguous 32 on "sp" of 4>]]>}) -> (tensor<2xf32>, tensor<2xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %trips = stablehlo.constant dense<3> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<2xf32>
    %own = sp.row_count <contiguous 29 on "sp" of 4> : tensor<i32>
    %r:3 = stablehlo.while(%i = %zero, %a = %none, %b = %none) : tensor<i32>, tensor<2xf32>, tensor<2xf32>
    cond {
      %l = stablehlo.compare LT, %i, %trips : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    } do {
      %s = sp.all_reduce %x sum over ["sp"] of 4 : tensor<8xf32>
      %t = stablehlo.dynamic_slice %s, %i, sizes = [2] : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
      %na = stablehlo.add %a, %t : tensor<2xf32>
      %u = sp.all_reduce %x sum over ["sp"] of 4 : tensor<8xf32>
      %v = stablehlo.dynamic_slice %u, %own, sizes = [2] : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
      %nb = stablehlo.add %b, %v : tensor<2xf32>
      %ni = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %ni, %na, %nb : tensor<i32>, tensor<2xf32>, tensor<2xf32>
    }
    return %r#1, %r#2 : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// What two sums add is reduced for each behind the loop; what is read by a third
// that stays is reduced once, in it.

// CHECK-LABEL: module @shared
// CHECK: %[[LOOP:.*]]:5 = stablehlo.while
// CHECK: do {
// CHECK: stablehlo.add %{{.*}}, %arg0
// CHECK: %[[TWICE:.*]] = stablehlo.multiply %arg0
// CHECK: stablehlo.add %{{.*}}, %[[TWICE]]
// CHECK: sp.all_reduce %{{.*}} sum over ["sp"] of 4 : tensor<8xf32>
// CHECK-NOT: sp.all_reduce
// CHECK: stablehlo.return
// CHECK-DAG: sp.all_reduce %[[LOOP]]#1 sum over ["sp"] of 4 : tensor<8xf32>
// CHECK-DAG: sp.all_reduce %[[LOOP]]#2 sum over ["sp"] of 4 : tensor<8xf32>
// CHECK-NOT: sp.all_reduce
module @shared {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func public @main(%x: tensor<8xf32> {sp.sharding = #sp.sharding<[[32 by <contiguous 32 on "sp" of 4>]]>},
                         %w: tensor<8xf32> {sp.sharding = #sp.sharding<[[8]]>})
      -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %trips = stablehlo.constant dense<3> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<8xf32>
    %two = stablehlo.constant dense<2.0> : tensor<8xf32>
    %r:5 = stablehlo.while(%i = %zero, %a = %none, %b = %none, %c = %none, %d = %w) : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    cond {
      %l = stablehlo.compare LT, %i, %trips : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    } do {
      %s = sp.all_reduce %x sum over ["sp"] of 4 : tensor<8xf32>
      %na = stablehlo.add %a, %s : tensor<8xf32>
      %twice = stablehlo.multiply %s, %two : tensor<8xf32>
      %nb = stablehlo.add %b, %twice : tensor<8xf32>
      %y = stablehlo.tanh %x : tensor<8xf32>
      %t = sp.all_reduce %y sum over ["sp"] of 4 : tensor<8xf32>
      %more = stablehlo.add %t, %t : tensor<8xf32>
      %nc = stablehlo.add %c, %more : tensor<8xf32>
      %nd = stablehlo.tanh %t : tensor<8xf32>
      %ni = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %ni, %na, %nb, %nc, %nd : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }
    return %r#1, %r#2, %r#3, %r#4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Sums that are joined are one sum of what is joined.

// CHECK-LABEL: module @joined
// CHECK: %[[LOOP:.*]]:2 = stablehlo.while
// CHECK: do {
// CHECK-NOT: sp.all_reduce
// CHECK: %[[BOTH:.*]] = stablehlo.concatenate %arg0, %{{.*}}, dim = 0
// CHECK: stablehlo.add %{{.*}}, %[[BOTH]]
// CHECK: stablehlo.return
// CHECK: sp.all_reduce %[[LOOP]]#1 sum over ["sp"] of 4 : tensor<16xf32>
module @joined {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func public @main(%x: tensor<8xf32> {sp.sharding = #sp.sharding<[[32 by <contiguous 32 on "sp" of 4>]]>}) -> tensor<16xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %trips = stablehlo.constant dense<3> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<16xf32>
    %r:2 = stablehlo.while(%i = %zero, %a = %none) : tensor<i32>, tensor<16xf32>
    cond {
      %l = stablehlo.compare LT, %i, %trips : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    } do {
      %s = sp.all_reduce %x sum over ["sp"] of 4 : tensor<8xf32>
      %y = stablehlo.tanh %x : tensor<8xf32>
      %t = sp.all_reduce %y sum over ["sp"] of 4 : tensor<8xf32>
      %both = stablehlo.concatenate %s, %t, dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
      %na = stablehlo.add %a, %both : tensor<16xf32>
      %ni = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %ni, %na : tensor<i32>, tensor<16xf32>
    }
    return %r#1 : tensor<16xf32>
  }
}
