// RUN: sp-opt %s -split-input-file --sp-gather-ahead | FileCheck %s
// RUN: sp-opt %s -split-input-file --sp-gather-ahead --sp-start-communication --sp-verify-schedule | FileCheck %s --check-prefix=START
// RUN: sp-opt %s -split-input-file --sp-gather-ahead --sp-start-communication --sp-verify-schedule --sp-memory-pipeline --sp-verify-places | FileCheck %s --check-prefix=PLACE

// A layer's weights are gathered while the layer before is computed, those of the
// first one before the loop. The last turn names the first rows again.
// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0) -> ((d0 + 1) mod 4)>
// CHECK-LABEL: module @forward
// CHECK: arith.constant 4 : index
// CHECK-NEXT: %[[FIRST:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[T0:.*]] = sp.take %arg1 at %[[FIRST]] dim 0
// CHECK-NEXT: %[[R0:.*]] = stablehlo.reshape %[[T0]]
// CHECK-NEXT: %[[W0:.*]] = sp.all_gather %[[R0]] dim 0 in <contiguous 8 on "sp" of 2> : tensor<4x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[L:.*]]:2 = scf.for %[[I:.*]] = {{.*}} iter_args(%[[X:.*]] = %arg0, %[[W:.*]] = %[[W0]])
// CHECK-NEXT: %[[J:.*]] = affine.apply #[[NEXT]](%[[I]])
// CHECK-NEXT: %[[T:.*]] = sp.take %arg1 at %[[J]] dim 0
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[T]]
// CHECK-NEXT: %[[V:.*]] = sp.all_gather %[[R]] dim 0 in <contiguous 8 on "sp" of 2> {sp.ahead} : tensor<4x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[Y:.*]] = sp.gemm %[[X]], %[[W]]
// CHECK-NEXT: scf.yield %[[Y]], %[[V]]
// CHECK: return %[[L]]#0

// No ring waits behind them.
// START-LABEL: module @forward
// START: sp.all_gather_start {{.*}} : tensor<4x8xf32> -> tensor<8x8xf32>
// START-NEXT: sp.wait
// START-NEXT: scf.for
// START: %[[V:.*]], %[[T:.*]] = sp.all_gather_start {{.*}} on back {sp.ahead}
// START-NEXT: %[[Y:.*]] = sp.gemm
// START-NEXT: sp.wait %[[T]]
// START-NEXT: scf.yield %[[Y]], %[[V]]

// What is in use and what is on its way lie in two places in turn.
// PLACE-DAG: #[[OTHER:.*]] = affine_map<(d0) -> (((d0 + 1) mod 2) * 256{{.*}})>
// PLACE-LABEL: module @forward
// PLACE: scf.for
// PLACE: sp.all_gather_start {{.*}}{sp.ahead, sp.places = [#sp.place<arena #[[OTHER]]>]}
module @forward {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%x0: tensor<8x8xf32>, %stack: tensor<4x4x8xf32>) -> tensor<8x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %x0) -> (tensor<8x8xf32>) {
      %t = sp.take %stack at %i dim 0 : tensor<4x4x8xf32> -> tensor<1x4x8xf32>
      %r = stablehlo.reshape %t : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
      %w = sp.all_gather %r dim 0 in <contiguous 8 on "sp" of 2> : tensor<4x8xf32> -> tensor<8x8xf32>
      %n = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %n : tensor<8x8xf32>
    }
    return %y : tensor<8x8xf32>
  }
}

// -----

// So are those of a scan that goes back, and in a kernel's precision; the loop
// around gathers nothing by its own counter.
// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0) -> ((d0 + 1) mod 4)>
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0) -> (-d0 + 3)>
// CHECK-LABEL: module @backward_in_turns
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %arg0)
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[FIRST:.*]] = affine.apply #[[BACK]](%[[ZERO]])
// CHECK-NEXT: %[[T0:.*]] = sp.take %arg1 at %[[FIRST]] dim 0
// CHECK-NEXT: %[[B0:.*]] = sp.launch @narrow(%[[T0]])
// CHECK-NEXT: %[[W0:.*]] = sp.all_gather %[[B0]] dim 1
// CHECK-NEXT: scf.for %[[I:.*]] = {{.*}} iter_args(%{{.*}} = %[[S]], %[[W:.*]] = %[[W0]])
// CHECK-NEXT: %[[J:.*]] = affine.apply #[[NEXT]](%[[I]])
// CHECK-NEXT: %[[AT:.*]] = affine.apply #[[BACK]](%[[J]])
// CHECK-NEXT: %[[T:.*]] = sp.take %arg1 at %[[AT]] dim 0
// CHECK-NEXT: %[[B:.*]] = sp.launch @narrow(%[[T]])
// CHECK-NEXT: %[[V:.*]] = sp.all_gather %[[B]] dim 1 {{.*}}{sp.ahead}
// CHECK-NEXT: sp.launch @use(%{{.*}}, %[[W]])
// CHECK-NEXT: scf.yield %{{.*}}, %[[V]]
#back = affine_map<(d0) -> (-d0 + 3)>
module @backward_in_turns {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func private @narrow(%t: tensor<1x4x8xf32>) -> tensor<1x4x8xbf16> {
    %b = stablehlo.convert %t : (tensor<1x4x8xf32>) -> tensor<1x4x8xbf16>
    return %b : tensor<1x4x8xbf16>
  }
  func.func private @use(%x: tensor<1x8x8xf32>, %w: tensor<1x8x8xbf16>) -> tensor<1x8x8xf32> {
    %v = stablehlo.convert %w : (tensor<1x8x8xbf16>) -> tensor<1x8x8xf32>
    %y = stablehlo.add %x, %v : tensor<1x8x8xf32>
    return %y : tensor<1x8x8xf32>
  }
  func.func @main(%x0: tensor<1x8x8xf32>, %stack: tensor<4x4x8xf32>) -> tensor<1x8x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %z = scf.for %k = %c0 to %c2 step %c1 iter_args(%s = %x0) -> (tensor<1x8x8xf32>) {
      %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %s) -> (tensor<1x8x8xf32>) {
        %at = affine.apply #back(%i)
        %t = sp.take %stack at %at dim 0 : tensor<4x4x8xf32> -> tensor<1x4x8xf32>
        %b = sp.launch @narrow(%t) : (tensor<1x4x8xf32>) -> tensor<1x4x8xbf16>
        %w = sp.all_gather %b dim 1 in <contiguous 8 on "sp" of 2> : tensor<1x4x8xbf16> -> tensor<1x8x8xbf16>
        %n = sp.launch @use(%x, %w) : (tensor<1x8x8xf32>, tensor<1x8x8xbf16>) -> tensor<1x8x8xf32>
        scf.yield %n : tensor<1x8x8xf32>
      }
      scf.yield %y : tensor<1x8x8xf32>
    }
    return %z : tensor<1x8x8xf32>
  }
}

// -----

// What a turn computes is gathered in it, and so is what all turns gather alike,
// what comes of a kernel that others read as well, and what a single turn gathers.
// CHECK-LABEL: module @stays
// CHECK-NOT: sp.ahead
// CHECK: return
module @stays {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func private @both(%t: tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>) {
    %n = stablehlo.negate %t : tensor<1x4x8xf32>
    return %t, %n : tensor<1x4x8xf32>, tensor<1x4x8xf32>
  }
  func.func private @use(%x: tensor<1x4x8xf32>, %n: tensor<1x4x8xf32>, %a: tensor<1x8x8xf32>, %b: tensor<1x8x8xf32>, %c: tensor<1x8x8xf32>) -> tensor<1x4x8xf32> {
    return %x : tensor<1x4x8xf32>
  }
  func.func @main(%x0: tensor<1x4x8xf32>, %stack: tensor<4x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x8x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %x0) -> (tensor<1x4x8xf32>) {
      %a = sp.all_gather %x dim 1 in <contiguous 8 on "sp" of 2> : tensor<1x4x8xf32> -> tensor<1x8x8xf32>
      %b = sp.all_gather %x0 dim 1 in <contiguous 8 on "sp" of 2> : tensor<1x4x8xf32> -> tensor<1x8x8xf32>
      %t = sp.take %stack at %i dim 0 : tensor<4x4x8xf32> -> tensor<1x4x8xf32>
      %two:2 = sp.launch @both(%t) : (tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>)
      %c = sp.all_gather %two#0 dim 1 in <contiguous 8 on "sp" of 2> : tensor<1x4x8xf32> -> tensor<1x8x8xf32>
      %n = sp.launch @use(%x, %two#1, %a, %b, %c) : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x4x8xf32>
      scf.yield %n : tensor<1x4x8xf32>
    }
    %e = sp.empty : tensor<1x8x8xf32>
    %z = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %e) -> (tensor<1x8x8xf32>) {
      %t = sp.take %stack at %i dim 0 : tensor<4x4x8xf32> -> tensor<1x4x8xf32>
      %w = sp.all_gather %t dim 1 in <contiguous 8 on "sp" of 2> : tensor<1x4x8xf32> -> tensor<1x8x8xf32>
      scf.yield %w : tensor<1x8x8xf32>
    }
    return %y, %z : tensor<1x4x8xf32>, tensor<1x8x8xf32>
  }
}
