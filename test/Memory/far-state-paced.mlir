// RUN: sp-opt %s --sp-place-far="flops-per-byte=1 state" | FileCheck %s
// RUN: sp-opt %s --sp-memory-pipeline | FileCheck %s --check-prefix=NEAR
// RUN: sp-opt %s --sp-place-far="flops-per-byte=1 state" --sp-memory-pipeline --sp-verify-places | FileCheck %s --check-prefix=PLACES

// Updates that all need the last gradient leave nothing to hide copies behind. So the
// first one's result is away, and the last one's state comes, while those between are
// made, which do not raise the peak.
// NEAR: sp.arena_bytes = 114688
// PLACES: sp.arena_bytes = 98304 : i64, sp.constant_bytes = 0 : i64, sp.far_bytes = 32768
// CHECK: %[[X:.*]], %[[CAME:.*]] = sp.fetch_start %arg1
// CHECK-NEXT: %[[Y:.*]] = sp.gemm
// CHECK-NEXT: sp.wait %[[CAME]]
// CHECK-NEXT: %[[N:.*]] = sp.launch @update(%[[X]], %[[Y]])
// CHECK: %[[R:.*]], %[[GONE:.*]] = sp.evict_rows_start %[[N]] into %arg1
// CHECK-NEXT: sp.launch @update(%arg2, %[[Y]])
// CHECK-NEXT: sp.wait %[[GONE]]
// CHECK-NEXT: %[[X3:.*]], %[[CAME3:.*]] = sp.fetch_start %arg4
// CHECK-NEXT: sp.launch @update(%arg3, %[[Y]])
// CHECK-NEXT: sp.wait %[[CAME3]]
// CHECK-NEXT: %[[N3:.*]] = sp.launch @update(%[[X3]], %[[Y]])
// CHECK: %[[R3:.*]], %[[GONE3:.*]] = sp.evict_rows_start %[[N3]] into %arg4
// CHECK-NEXT: sp.wait %[[GONE3]]
module @paced {
  func.func private @update(%m: tensor<64x64xf32>, %g: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %n = stablehlo.add %m, %g : tensor<64x64xf32>
    return %n : tensor<64x64xf32>
  }
  func.func @main(%w: tensor<64x64xf32>, %m0: tensor<64x64xf32> {sp.donated_to = 0 : i64}, %m1: tensor<64x64xf32> {sp.donated_to = 1 : i64}, %m2: tensor<64x64xf32> {sp.donated_to = 2 : i64}, %m3: tensor<64x64xf32> {sp.donated_to = 3 : i64}) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %x = sp.gemm %w, %w sizes [1, 64, 64, 64] strides [0, 64, 1] x [0, 64, 1] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %y = sp.gemm %x, %w sizes [1, 64, 64, 64] strides [0, 64, 1] x [0, 64, 1] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %n0 = sp.launch @update(%m0, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %n1 = sp.launch @update(%m1, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %n2 = sp.launch @update(%m2, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %n3 = sp.launch @update(%m3, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %n0, %n1, %n2, %n3 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}
