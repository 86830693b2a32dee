// RUN: sp-opt %s --sp-place-far=flops-per-byte=1 | FileCheck %s
// RUN: sp-opt %s --sp-place-far=flops-per-byte=1 --sp-memory-pipeline --sp-verify-stacks --sp-verify-places -o /dev/null

// What blocks of rows make goes block by block, and comes to blocks of another size.
// CHECK-DAG: #[[OWN:.*]] = affine_map<(d0) -> (d0 * 8)>
// CHECK-DAG: #[[HALF:.*]] = affine_map<(d0) -> (d0 * 4)>
// CHECK: %[[E:.*]] = sp.empty : tensor<32x8xf32, #sp.far>
// CHECK: %[[F:.*]] = scf.for %[[I:[a-z0-9]*]] = {{.*}} iter_args(%[[S:.*]] = %[[E]])
// CHECK: %[[AT:.*]] = affine.apply #[[OWN]](%[[I]])
// CHECK: sp.evict_rows_start %{{.*}} into %[[S]] at %[[AT]] dim 0
// CHECK: } {sp.row_blocks = array<i64: 0, 32, 8>}
// CHECK: sp.fetch_rows_start %[[F]] at %{{.*}} dim 0 : tensor<32x8xf32, #sp.far> -> tensor<4x8xf32>
// CHECK: scf.for %[[J:[a-z0-9]*]] = {{.*}} to %{{.*}} step %{{.*}} iter_args(
// CHECK: %[[NEXT:.*]] = affine.apply #{{.*}}(%[[J]])
// CHECK: %[[THERE:.*]] = affine.apply #[[HALF]](%[[NEXT]])
// CHECK: sp.fetch_rows_start %[[F]] at %[[THERE]] dim 0 {sp.ahead} : tensor<32x8xf32, #sp.far> -> tensor<4x8xf32>
// CHECK: } {sp.row_blocks = array<i64: 1, 32, 4>}
#eight = affine_map<(d0) -> (d0 * 8)>
#four = affine_map<(d0) -> (d0 * 4)>
module @rows {
  sp.mesh @mesh <["sp" = 1]> sequence "sp"
  func.func private @zeros() -> tensor<8x8xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<8x8xf32>
    return %z : tensor<8x8xf32>
  }
  func.func @main(%x: tensor<32x8xf32>, %w: tensor<8x8xf32>, %a: tensor<8x256xf32>, %b: tensor<256x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %e = sp.empty : tensor<32x8xf32>
    %f = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %e) -> (tensor<32x8xf32>) {
      %at = affine.apply #eight(%i)
      %t = sp.take %x at %at dim 0 : tensor<32x8xf32> -> tensor<8x8xf32>
      %y = sp.gemm %t, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %p = sp.put %y into %s at %at dim 0 : tensor<8x8xf32>, tensor<32x8xf32>
      scf.yield %p : tensor<32x8xf32>
    } {sp.row_blocks = array<i64: 0, 32, 8>}
    %h = sp.gemm %w, %a sizes [1, 8, 256, 8] strides [0, 8, 1] x [0, 256, 1] : (tensor<8x8xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
    %d = sp.gemm %h, %b sizes [1, 8, 8, 256] strides [0, 256, 1] x [0, 8, 1] : (tensor<8x256xf32>, tensor<256x8xf32>) -> tensor<8x8xf32>
    %z = sp.launch @zeros() : () -> tensor<8x8xf32>
    %g = scf.for %j = %c0 to %c8 step %c1 iter_args(%sum = %z) -> (tensor<8x8xf32>) {
      %at = affine.apply #four(%j)
      %t = sp.take %f at %at dim 0 : tensor<32x8xf32> -> tensor<4x8xf32>
      %more = sp.gemm %t, %t onto %sum sizes [1, 8, 8, 4] strides [0, 1, 8] x [0, 8, 1] : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %more : tensor<8x8xf32>
    } {sp.row_blocks = array<i64: 1, 32, 4>}
    return %g, %d : tensor<8x8xf32>, tensor<8x8xf32>
  }
}
