// RUN: sp-opt %s -split-input-file --sp-place-far=flops-per-byte=1 | FileCheck %s
// RUN: sp-opt %s -split-input-file --sp-place-far=flops-per-byte=1 --sp-memory-pipeline --sp-verify-stacks --sp-verify-places -o /dev/null
// RUN: sp-opt %s -split-input-file --sp-place-far=flops-per-byte=40 | FileCheck %s --check-prefix=SHORT

// A turn computes 1024 or 2048 FLOPs: as many as 4 or 8 copies of its block take,
// or less than one at 40 FLOPs a byte.
// SHORT-NOT: sp.far

// A turn's rows go as soon as they are there, and those of the next turn come while
// one goes on: the last turn names the first ones, and fetches nothing.
// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0) -> ((d0 + 1) mod 4)>
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0) -> (-d0 + 3)>
// CHECK-LABEL: module @scan
// CHECK-NOT: sp.launch @zeros
// CHECK: %[[E:.*]] = sp.empty : tensor<4x8x8xf32, #sp.far>
// CHECK: %[[F:.*]]:2 = scf.for %[[I:.*]] = {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[S:.*]] = %[[E]])
// CHECK-NEXT: %[[B:.*]] = stablehlo.reshape %[[X]]
// CHECK-NEXT: %[[S1:.*]], %[[GONE:.*]] = sp.evict_rows_start %[[B]] into %[[S]] at %[[I]] dim 0
// CHECK-NEXT: %[[X1:.*]] = sp.gemm %[[X]],
// CHECK-NEXT: sp.wait %[[GONE]]
// CHECK-NEXT: scf.yield %[[X1]], %[[S1]]
// CHECK: %[[FIRST:.*]] = arith.constant 3 : index
// CHECK-NEXT: %[[Y0:.*]], %[[T0:.*]] = sp.fetch_rows_start %[[F]]#1 at %[[FIRST]] dim 0
// CHECK-NEXT: sp.gemm
// CHECK: sp.wait %[[T0]]
// CHECK-NEXT: scf.for %[[J:.*]] = {{.*}} iter_args(%[[D:.*]] = %{{.*}}, %[[Y:.*]] = %[[Y0]])
// CHECK-NEXT: %[[N:.*]] = affine.apply #[[NEXT]](%[[J]])
// CHECK-NEXT: %[[AT:.*]] = affine.apply #[[BACK]](%[[N]])
// CHECK-NEXT: %[[Y1:.*]], %[[CAME:.*]] = sp.fetch_rows_start %[[F]]#1 at %[[AT]] dim 0 {sp.ahead} :
// CHECK: %[[V:.*]] = stablehlo.reshape %[[Y]]
// CHECK: %[[D1:.*]] = sp.gemm %{{.*}}, %[[V]]
// CHECK-NEXT: sp.wait %[[CAME]]
// CHECK-NEXT: scf.yield %[[D1]], %[[Y1]]
#back = affine_map<(d0) -> (-d0 + 3)>
module @scan {
  sp.mesh @mesh <["sp" = 1]> sequence "sp"
  func.func private @zeros() -> tensor<4x8x8xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<4x8x8xf32>
    return %z : tensor<4x8x8xf32>
  }
  func.func @main(%w: tensor<8x8xf32>, %a: tensor<8x64xf32>, %b: tensor<64x8xf32>) -> tensor<8x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %z = sp.launch @zeros() : () -> tensor<4x8x8xf32>
    %x0 = sp.gemm %w, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %f:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %x0, %s = %z) -> (tensor<8x8xf32>, tensor<4x8x8xf32>) {
      %x1 = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %r = stablehlo.reshape %x : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
      %s1 = sp.put %r into %s at %i dim 0 : tensor<1x8x8xf32>, tensor<4x8x8xf32>
      scf.yield %x1, %s1 : tensor<8x8xf32>, tensor<4x8x8xf32>
    }
    %h = sp.gemm %f#0, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %d0 = sp.gemm %h, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %g = scf.for %j = %c0 to %c4 step %c1 iter_args(%d = %d0) -> (tensor<8x8xf32>) {
      %at = affine.apply #back(%j)
      %t = sp.take %f#1 at %at dim 0 : tensor<4x8x8xf32> -> tensor<1x8x8xf32>
      %y = stablehlo.reshape %t : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
      %e = sp.gemm %d, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %n = sp.gemm %e, %y sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %n : tensor<8x8xf32>
    }
    return %g : tensor<8x8xf32>
  }
}

// -----

// A stack of which the turns put some rows only, or that something else reads, stays.
// CHECK-LABEL: module @stays
// CHECK-NOT: sp.far
module @stays {
  sp.mesh @mesh <["sp" = 1]> sequence "sp"
  func.func private @zeros() -> tensor<5x8x8xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<5x8x8xf32>
    return %z : tensor<5x8x8xf32>
  }
  func.func @main(%w: tensor<8x8xf32>, %a: tensor<8x64xf32>, %b: tensor<64x8xf32>) -> (tensor<8x8xf32>, tensor<5x8x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %z = sp.launch @zeros() : () -> tensor<5x8x8xf32>
    %some:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %w, %s = %z) -> (tensor<8x8xf32>, tensor<5x8x8xf32>) {
      %x1 = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %r = stablehlo.reshape %x : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
      %s1 = sp.put %r into %s at %i dim 0 : tensor<1x8x8xf32>, tensor<5x8x8xf32>
      scf.yield %x1, %s1 : tensor<8x8xf32>, tensor<5x8x8xf32>
    }
    %y = sp.launch @zeros() : () -> tensor<5x8x8xf32>
    %read:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %w, %s = %y) -> (tensor<8x8xf32>, tensor<5x8x8xf32>) {
      %x1 = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %r = stablehlo.reshape %x : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
      %s1 = sp.put %r into %s at %i dim 0 : tensor<1x8x8xf32>, tensor<5x8x8xf32>
      scf.yield %x1, %s1 : tensor<8x8xf32>, tensor<5x8x8xf32>
    }
    %h = sp.gemm %some#0, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %d0 = sp.gemm %h, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %g = scf.for %j = %c0 to %c5 step %c1 iter_args(%d = %d0) -> (tensor<8x8xf32>) {
      %t = sp.take %some#1 at %j dim 0 : tensor<5x8x8xf32> -> tensor<1x8x8xf32>
      %u = sp.take %read#1 at %j dim 0 : tensor<5x8x8xf32> -> tensor<1x8x8xf32>
      %e = sp.gemm %d, %t sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<1x8x8xf32>) -> tensor<8x8xf32>
      %n = sp.gemm %e, %u sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<1x8x8xf32>) -> tensor<8x8xf32>
      scf.yield %n : tensor<8x8xf32>
    }
    return %g, %read#1 : tensor<8x8xf32>, tensor<5x8x8xf32>
  }
}

// -----

// What ranks move may go once it has been waited for.
// CHECK-LABEL: module @moved
// CHECK: scf.for
// CHECK: %[[M:.*]], %[[MOVED:.*]] = sp.shift_start
// CHECK-NEXT: %[[X1:.*]] = sp.gemm
// CHECK-NEXT: sp.wait %[[MOVED]]
// CHECK-NEXT: %[[V:.*]] = stablehlo.reshape %[[M]]
// CHECK-NEXT: %[[B:.*]] = stablehlo.reshape %[[V]]
// CHECK-NEXT: sp.evict_rows_start %[[B]] into
#same = affine_map<(d0) -> (d0)>
module @moved {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func private @zeros() -> tensor<4x8x8xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<4x8x8xf32>
    return %z : tensor<4x8x8xf32>
  }
  func.func @main(%w: tensor<8x8xf32>, %k: tensor<1x8x8xf32>, %a: tensor<8x64xf32>, %b: tensor<64x8xf32>) -> tensor<8x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %src = sp.rank "sp" : index
    %z = sp.launch @zeros() : () -> tensor<4x8x8xf32>
    %f:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %w, %s = %z) -> (tensor<8x8xf32>, tensor<4x8x8xf32>) {
      %m, %moved = sp.shift_start %k from %src by 1 in <contiguous 16 on "sp" of 2> : tensor<1x8x8xf32>
      %x1 = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      sp.wait %moved
      %x2 = sp.gemm %x1, %m sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<1x8x8xf32>) -> tensor<8x8xf32>
      %v = stablehlo.reshape %m : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
      %r = stablehlo.reshape %v : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
      %s1 = sp.put %r into %s at %i dim 0 : tensor<1x8x8xf32>, tensor<4x8x8xf32>
      scf.yield %x2, %s1 : tensor<8x8xf32>, tensor<4x8x8xf32>
    }
    %h = sp.gemm %f#0, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %d0 = sp.gemm %h, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %g = scf.for %j = %c0 to %c4 step %c1 iter_args(%d = %d0) -> (tensor<8x8xf32>) {
      %at = affine.apply #same(%j)
      %t = sp.take %f#1 at %at dim 0 : tensor<4x8x8xf32> -> tensor<1x8x8xf32>
      %e = sp.gemm %d, %t sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<1x8x8xf32>) -> tensor<8x8xf32>
      %n = sp.gemm %e, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %n : tensor<8x8xf32>
    }
    return %g : tensor<8x8xf32>
  }
}
