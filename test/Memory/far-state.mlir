// RUN: sp-opt %s -split-input-file --sp-place-far="flops-per-byte=1 state" | FileCheck %s
// RUN: sp-opt %s -split-input-file --sp-place-far="flops-per-byte=1 state" --sp-memory-pipeline --sp-verify-places | FileCheck %s --check-prefix=PLACES
// RUN: sp-opt %s -split-input-file --sp-place-far=flops-per-byte=1 | FileCheck %s --check-prefix=NEAR

// What is donated comes for its update, and what becomes of it goes to its place; a
// view of it is one of what came.
// NEAR-LABEL: module @updated
// NEAR-NOT: sp.far
// CHECK-LABEL: module @updated
// CHECK: func.func @main(%[[W:.*]]: tensor<8x8xf32>, {{.*}}, %[[M:.*]]: tensor<8x8xf32, #sp.far> {sp.donated_to = 1 : i64}) -> (tensor<8x8xf32>, tensor<8x8xf32, #sp.far>)
// CHECK: sp.gemm
// CHECK: sp.gemm
// CHECK: %[[X:.*]], %[[CAME:.*]] = sp.fetch_start %[[M]] :
// CHECK-NEXT: %[[Y:.*]] = sp.gemm
// CHECK-NEXT: sp.wait %[[CAME]]
// CHECK-NEXT: %[[F:.*]] = stablehlo.reshape %[[X]]
// CHECK-NEXT: %[[V:.*]] = stablehlo.reshape %[[F]]
// CHECK-NEXT: %[[N:.*]] = sp.launch @update(%[[V]], %[[Y]])
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[R:.*]], %[[GONE:.*]] = sp.evict_rows_start %[[N]] into %[[M]] at %[[C0]] dim 0
// CHECK-NEXT: %[[Z:.*]] = sp.gemm
// CHECK-NEXT: sp.wait %[[GONE]]
// CHECK-NEXT: %[[E:.*]] = sp.gemm
// CHECK: return %{{.*}}, %[[R]]
// PLACES-LABEL: module @updated
// PLACES: {sp.donated_to = 1 : i64, sp.place = #sp.place<far #[[M:.*]]>}
// PLACES: sp.far_bytes = 4096
// PLACES: sp.evict_rows_start {{.*}} {sp.places = [#sp.place<far #[[M]]>]}
module @updated {
  func.func private @update(%m: tensor<8x8xf32>, %g: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %n = stablehlo.add %m, %g : tensor<8x8xf32>
    return %n : tensor<8x8xf32>
  }
  func.func @main(%w: tensor<8x8xf32>, %a: tensor<8x64xf32>, %b: tensor<64x8xf32>, %m: tensor<8x8xf32> {sp.donated_to = 1 : i64}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %f = stablehlo.reshape %m : (tensor<8x8xf32>) -> tensor<64xf32>
    %x = stablehlo.reshape %f : (tensor<64xf32>) -> tensor<8x8xf32>
    %z = sp.gemm %w, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %u = sp.gemm %z, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %y = sp.gemm %u, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %n = sp.launch @update(%x, %y) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %v = sp.gemm %y, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %q = sp.gemm %v, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %s = sp.gemm %q, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    return %s, %n : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// What is read early, is returned as it came, or becomes nothing of its type, stays.
// CHECK-LABEL: module @stays
// CHECK-NOT: sp.far
module @stays {
  func.func private @update(%m: tensor<8x8xf32>, %g: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %n = stablehlo.add %m, %g : tensor<8x8xf32>
    return %n : tensor<8x8xf32>
  }
  func.func @main(%w: tensor<8x8xf32> {sp.donated_to = 0 : i64}, %a: tensor<8x64xf32>, %b: tensor<64x8xf32>, %m: tensor<8x8xf32> {sp.donated_to = 1 : i64}, %k: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %z = sp.gemm %w, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %u = sp.gemm %z, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %y = sp.gemm %u, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %n = sp.launch @update(%w, %y) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %l = sp.launch @update(%k, %y) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %v = sp.gemm %y, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %q = sp.gemm %v, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %s = sp.gemm %q, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    return %n, %m, %l : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
}
