// RUN: sp-opt %s --sp-deal-loops --remarks-filter=sp-deal-loops -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sp-opt %t.mlir --sp-propagate-shardings --sp-localize --remarks-filter=sp-localize 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: FileCheck %s < %t.mlir
// RUN: sp-interpret %t.mlir --random-inputs=1 --outputs=%t.dealt.npz
// RUN: sp-interpret %s --random-inputs=1 --outputs=%t.npz
// RUN: %python -c "import sys, numpy; a, b = map(numpy.load, sys.argv[1:]); assert a.files == b.files and len(a.files) == 8; assert all(numpy.allclose(a[k], b[k], atol=1e-5) and a[k].any() for k in a.files)" %t.npz %t.dealt.npz

// REMARK-COUNT-4: remark: [Analysis] Dealt {{.*}}parts=4
// WHOLE: NotDealt {{.*}}every rank runs all trips of a loop: ", Remark="the state that it carries, made at {{.*}}deal-loops.mlir:{{[0-9]+}}, is not a product of the last one, element by element, plus what depends on no state
// WHOLE: NotDealt {{.*}}every rank runs all trips of a loop: ", Remark="it takes rows from both ends
sp.mesh @mesh <["sp" = 4]> sequence "sp"
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x4xf32> {sp.sharding = #sp.sharding<[[16 by <contiguous 16 on "sp" of 4>], [4]]>}, %g: tensor<16x4xf32>) -> (tensor<16x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %i1 = stablehlo.constant dense<1> : tensor<i32>
  %i2 = stablehlo.constant dense<2> : tensor<i32>
  %i4 = stablehlo.constant dense<4> : tensor<i32>
  %i8 = stablehlo.constant dense<8> : tensor<i32>
  %i15 = stablehlo.constant dense<15> : tensor<i32>
  %i16 = stablehlo.constant dense<16> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %stack = stablehlo.constant dense<0.0> : tensor<16x4xf32>
  // What each part makes of any state, in 4 trips, ...
  // CHECK: %[[X:.*]] = stablehlo.reshape %{{.*}} : (tensor<16x4xf32>) -> tensor<4x4x4xf32>
  // CHECK: %[[ENDS:.*]]:3 = stablehlo.while
  // CHECK: dynamic_slice {{.*}}, sizes = [4, 1, 4]
  // ... what that is of all parts before, in 2 steps, ...
  // CHECK: stablehlo.pad %[[ENDS]]#1, {{.*}} low = [1, 0], high = [-1, 0]
  // CHECK: stablehlo.pad {{.*}} low = [2, 0], high = [-2, 0]
  // ... and then all, of which each part has its own. What is only added to is
  // no state.
  // CHECK: %[[ALL:.*]]:4 = stablehlo.while
  // CHECK: stablehlo.slice %[[ALL]]#1 [3:4, 0:4]
  // CHECK: stablehlo.reshape %[[ALL]]#2 : (tensor<4x4x4xf32>) -> tensor<16x4xf32>
  // CHECK: stablehlo.reduce(%[[ALL]]#3
  %a:4 = stablehlo.while(%i = %i0, %state = %half, %rows = %stack, %sum = %zero) : tensor<i32>, tensor<4xf32>, tensor<16x4xf32>, tensor<4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %i16 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %xi = stablehlo.dynamic_slice %x, %i, %i0, sizes = [1, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %xr = stablehlo.reshape %xi : (tensor<1x4xf32>) -> tensor<4xf32>
      %gi = stablehlo.dynamic_slice %g, %i, %i0, sizes = [1, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %gr = stablehlo.reshape %gi : (tensor<1x4xf32>) -> tensor<4xf32>
      %gate = stablehlo.logistic %gr : tensor<4xf32>
      %number = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
      %numbers = stablehlo.broadcast_in_dim %number, dims = [] : (tensor<f32>) -> tensor<4xf32>
      // As a checkpoint round the step has it: the state is no part of its gate.
      %made:2 = stablehlo.optimization_barrier %gate, %state : tensor<4xf32>, tensor<4xf32>
      %kept = stablehlo.multiply %made#0, %made#1 : tensor<4xf32>
      %added = stablehlo.add %xr, %numbers : tensor<4xf32>
      %next = stablehlo.add %kept, %added : tensor<4xf32>
      %row = stablehlo.reshape %next : (tensor<4xf32>) -> tensor<1x4xf32>
      %put = stablehlo.dynamic_update_slice %rows, %row, %i, %i0 : (tensor<16x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
      %term = stablehlo.multiply %next, %gate : tensor<4xf32>
      %more = stablehlo.add %term, %sum : tensor<4xf32>
      %total = stablehlo.add %more, %gate : tensor<4xf32>
      %j = stablehlo.add %i, %i1 : tensor<i32>
      stablehlo.return %j, %next, %put, %total : tensor<i32>, tensor<4xf32>, tensor<16x4xf32>, tensor<4xf32>
    }
  // From the end, with a difference, a quotient and a choice. The state starts
  // from 0, whatever it is multiplied with.
  // CHECK: stablehlo.pad {{.*}} low = [-1, 0], high = [1, 0]
  // CHECK: stablehlo.pad {{.*}} low = [-2, 0], high = [2, 0]
  // CHECK: stablehlo.pad {{.*}} low = [-1, 0], high = [1, 0]
  // CHECK: stablehlo.while
  %b:3 = stablehlo.while(%i = %i0, %state = %zero, %rows = %stack) : tensor<i32>, tensor<4xf32>, tensor<16x4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %i16 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %at = stablehlo.subtract %i15, %i : tensor<i32>
      %xi = stablehlo.dynamic_slice %x, %at, %i0, sizes = [1, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %xr = stablehlo.reshape %xi : (tensor<1x4xf32>) -> tensor<4xf32>
      %scale = stablehlo.exponential %xr : tensor<4xf32>
      %one = stablehlo.add %scale, %half : tensor<4xf32>
      %quotient = stablehlo.divide %state, %one : tensor<4xf32>
      %less = stablehlo.subtract %xr, %quotient : tensor<4xf32>
      %positive = stablehlo.compare GT, %xr, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
      %next = stablehlo.select %positive, %less, %state : tensor<4xi1>, tensor<4xf32>
      %row = stablehlo.reshape %next : (tensor<4xf32>) -> tensor<1x4xf32>
      %put = stablehlo.dynamic_update_slice %rows, %row, %at, %i0 : (tensor<16x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
      %j = stablehlo.add %i, %i1 : tensor<i32>
      stablehlo.return %j, %next, %put : tensor<i32>, tensor<4xf32>, tensor<16x4xf32>
    }
  // Chunks of two rows, of which each part has two.
  // CHECK: stablehlo.while
  // CHECK: dynamic_slice {{.*}}, sizes = [4, 2, 4]
  %c:2 = stablehlo.while(%i = %i0, %rows = %stack) : tensor<i32>, tensor<16x4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %i8 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %at = stablehlo.multiply %i, %i2 : tensor<i32>
      %xi = stablehlo.dynamic_slice %x, %at, %i0, sizes = [2, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
      %y = stablehlo.tanh %xi : tensor<2x4xf32>
      %put = stablehlo.dynamic_update_slice %rows, %y, %at, %i0 : (tensor<16x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
      %j = stablehlo.add %i, %i1 : tensor<i32>
      stablehlo.return %j, %put : tensor<i32>, tensor<16x4xf32>
    }
  // As many chunks as parts: no loop is left.
  // CHECK-NOT: stablehlo.while
  // CHECK: stablehlo.cosine %{{.*}} : tensor<4x4x4xf32>
  %d:2 = stablehlo.while(%i = %i0, %rows = %stack) : tensor<i32>, tensor<16x4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %i4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %at = stablehlo.multiply %i, %i4 : tensor<i32>
      %xi = stablehlo.dynamic_slice %x, %at, %i0, sizes = [4, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
      %y = stablehlo.cosine %xi : tensor<4x4xf32>
      %put = stablehlo.dynamic_update_slice %rows, %y, %at, %i0 : (tensor<16x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
      %j = stablehlo.add %i, %i1 : tensor<i32>
      stablehlo.return %j, %put : tensor<i32>, tensor<16x4xf32>
    }
  // A state that goes on otherwise, and rows from both ends.
  // CHECK: stablehlo.while
  // CHECK: dynamic_slice {{.*}}, sizes = [1, 4]
  %e:2 = stablehlo.while(%i = %i0, %state = %zero) : tensor<i32>, tensor<4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %i16 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %xi = stablehlo.dynamic_slice %x, %i, %i0, sizes = [1, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %xr = stablehlo.reshape %xi : (tensor<1x4xf32>) -> tensor<4xf32>
      %added = stablehlo.add %xr, %state : tensor<4xf32>
      %next = stablehlo.tanh %added : tensor<4xf32>
      %j = stablehlo.add %i, %i1 : tensor<i32>
      stablehlo.return %j, %next : tensor<i32>, tensor<4xf32>
    }
  // CHECK: stablehlo.while
  // CHECK: dynamic_slice {{.*}}, sizes = [1, 4]
  %f:2 = stablehlo.while(%i = %i0, %sum = %zero) : tensor<i32>, tensor<4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %i16 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %at = stablehlo.subtract %i15, %i : tensor<i32>
      %xi = stablehlo.dynamic_slice %x, %i, %i0, sizes = [1, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %gi = stablehlo.dynamic_slice %x, %at, %i0, sizes = [1, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %both = stablehlo.multiply %xi, %gi : tensor<1x4xf32>
      %row = stablehlo.reshape %both : (tensor<1x4xf32>) -> tensor<4xf32>
      %total = stablehlo.add %sum, %row : tensor<4xf32>
      %j = stablehlo.add %i, %i1 : tensor<i32>
      stablehlo.return %j, %total : tensor<i32>, tensor<4xf32>
    }
  // CHECK: return
  return %a#2, %a#1, %a#3, %b#2, %c#1, %d#1, %e#1, %f#1 : tensor<16x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<4xf32>, tensor<4xf32>
}
