// RUN: sp-opt %s -split-input-file --sp-localize --sp-verify-axes | FileCheck %s

// Where a rank has one row, or one run of rows, local shapes do not tell in
// which dimension of one it lies; reshapes say it.

// Chunks of a sequence alone in its batch.
// CHECK-LABEL: module @chunks
module @chunks {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x16x8xf32> {sp.sharding = #sp.sharding<[[1], [16 by <contiguous 16 on "sp" of 4>], [8]]>}) -> tensor<1x16x8xf32> {
    // CHECK: stablehlo.reshape %{{.*}} {sp.one_row = {sp = 1 : i64}} : (tensor<1x4x8xf32>) -> tensor<1x1x4x8xf32>
    %0 = stablehlo.reshape %x {sp.shardings = [#sp.sharding<[[1], [4 by <contiguous 4 on "sp" of 4>], [4], [8]]>]} : (tensor<1x16x8xf32>) -> tensor<1x4x4x8xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2, 3] {sp.shardings = [#sp.sharding<[[4 by <contiguous 4 on "sp" of 4>], [1], [4], [8]]>]} : (tensor<1x4x4x8xf32>) -> tensor<4x1x4x8xf32>
    %2 = stablehlo.tanh %1 {sp.shardings = [#sp.sharding<[[4 by <contiguous 4 on "sp" of 4>], [1], [4], [8]]>]} : tensor<4x1x4x8xf32>
    // CHECK: stablehlo.reshape %{{.*}} {sp.one_row = {sp = 1 : i64}} : (tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
    %3 = stablehlo.reshape %2 {sp.shardings = [#sp.sharding<[[1], [4 by <contiguous 4 on "sp" of 4>], [4], [8]]>]} : (tensor<4x1x4x8xf32>) -> tensor<1x4x4x8xf32>
    // CHECK: stablehlo.reshape %{{.*}} {sp.one_row = {sp = 1 : i64}} : (tensor<1x1x4x8xf32>) -> tensor<1x4x8xf32>
    %4 = stablehlo.reshape %3 {sp.shardings = [#sp.sharding<[[1], [16 by <contiguous 16 on "sp" of 4>], [8]]>]} : (tensor<1x4x4x8xf32>) -> tensor<1x16x8xf32>
    return %4 : tensor<1x16x8xf32>
  }
}

// -----

// A rank has one sequence of the batch, and one chunk of it.
// CHECK-LABEL: module @chunks_of_a_batch
module @chunks_of_a_batch {
  sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
  func.func @main(%x: tensor<2x16x8xf32> {sp.sharding = #sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [16 by <contiguous 16 on "sp" of 4>], [8]]>}) -> tensor<2x16x8xf32> {
    // CHECK: stablehlo.reshape %{{.*}} {sp.one_row = {dp = 0 : i64, sp = 1 : i64}} : (tensor<1x4x8xf32>) -> tensor<1x1x4x8xf32>
    %0 = stablehlo.reshape %x {sp.shardings = [#sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [4 by <contiguous 4 on "sp" of 4>], [4], [8]]>]} : (tensor<2x16x8xf32>) -> tensor<2x4x4x8xf32>
    %1 = stablehlo.tanh %0 {sp.shardings = [#sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [4 by <contiguous 4 on "sp" of 4>], [4], [8]]>]} : tensor<2x4x4x8xf32>
    // CHECK: stablehlo.reshape %{{.*}} {sp.one_row = {dp = 0 : i64, sp = 1 : i64}} : (tensor<1x1x4x8xf32>) -> tensor<1x4x8xf32>
    %2 = stablehlo.reshape %1 {sp.shardings = [#sp.sharding<[[2 by <contiguous 2 on "dp" of 2>], [16 by <contiguous 16 on "sp" of 4>], [8]]>]} : (tensor<2x4x4x8xf32>) -> tensor<2x16x8xf32>
    return %2 : tensor<2x16x8xf32>
  }
}

// -----

// What no rank has one row of needs no word.
// CHECK-LABEL: module @several
module @several {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%x: tensor<1x16x8xf32> {sp.sharding = #sp.sharding<[[1], [16 by <contiguous 16 on "sp" of 2>], [8]]>}) -> tensor<4x4x8xf32> {
    // CHECK: stablehlo.reshape %{{.*}} : (tensor<1x8x8xf32>) -> tensor<2x4x8xf32>
    %0 = stablehlo.reshape %x {sp.shardings = [#sp.sharding<[[4 by <contiguous 4 on "sp" of 2>], [4], [8]]>]} : (tensor<1x16x8xf32>) -> tensor<4x4x8xf32>
    return %0 : tensor<4x4x8xf32>
  }
}
