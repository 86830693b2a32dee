// RUN: sp-opt %s -split-input-file --sp-place-far=flops-per-byte=1 --sp-verify-schedule | FileCheck %s
// RUN: sp-opt %s -split-input-file --sp-place-far=flops-per-byte=40 --remarks-filter=".*" 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: sp-opt %s -split-input-file --sp-place-far="flops-per-byte=1 arena-bytes=10240" | FileCheck %s --check-prefix=FITS

// A product of 8 x 8 computes 1024 FLOPs: as many as 4 copies of its operands
// take, or less than one at 40 FLOPs a byte. One to or from 8 x 64, where memory
// is short, computes 8192.

// Nothing goes away where it waits too short, or where the arena has room.
// SHORT: nothing waits long enough for far memory: that is a value which is not read while {{.*}} flops=80
// SHORT-NOT: evict
// FITS-NOT: evict

// Away as soon as it is there, and back for as long as that takes.
// CHECK-LABEL: module @waits
// CHECK: %[[X:.*]] = sp.gemm
// CHECK-NEXT: %[[H:.*]], %[[GONE:.*]] = sp.evict_start %[[X]] :
// CHECK-NEXT: %[[Y:.*]] = sp.gemm %[[X]],
// CHECK-NEXT: sp.wait %[[GONE]]
// CHECK-NEXT: %[[Z:.*]] = sp.gemm %[[Y]],
// CHECK-NEXT: %[[U:.*]] = sp.gemm %[[Z]],
// CHECK-NEXT: %[[BACK:.*]], %[[CAME:.*]] = sp.fetch_start %[[H]] :
// CHECK-NEXT: %[[V:.*]] = sp.gemm %[[U]],
// CHECK-NEXT: sp.wait %[[CAME]]
// CHECK-NEXT: %[[R:.*]] = sp.gemm %[[BACK]], %[[V]]
// CHECK-NEXT: return %[[R]]
module @waits {
  func.func @main(%w: tensor<8x8xf32>, %a: tensor<8x64xf32>, %b: tensor<64x8xf32>) -> tensor<8x8xf32> {
    %x = sp.gemm %w, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %z = sp.gemm %y, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %u = sp.gemm %z, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %v = sp.gemm %u, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = sp.gemm %x, %v sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %r : tensor<8x8xf32>
  }
}

// -----

// It goes once and comes twice; what is a view of it is one of what came.
// CHECK-LABEL: module @waits_twice
// CHECK: %[[X:.*]] = sp.gemm
// CHECK-NEXT: %[[H:.*]], %[[GONE:.*]] = sp.evict_start %[[X]] :
// CHECK-NOT: evict_start
// CHECK: %[[B1:.*]], %[[C1:.*]] = sp.fetch_start %[[H]] :
// CHECK-NEXT: sp.gemm
// CHECK-NEXT: sp.wait %[[C1]]
// CHECK-NEXT: %[[V1:.*]] = stablehlo.reshape %[[B1]]
// CHECK-NEXT: sp.gemm %[[V1]], %{{.*}}
// CHECK: %[[B2:.*]], %[[C2:.*]] = sp.fetch_start %[[H]] :
// CHECK-NEXT: sp.gemm
// CHECK-NEXT: sp.wait %[[C2]]
// CHECK-NEXT: sp.gemm %[[B2]], %{{.*}}
// CHECK-NEXT: return
module @waits_twice {
  func.func @main(%w: tensor<8x8xf32>, %a: tensor<8x64xf32>, %b: tensor<64x8xf32>) -> tensor<8x8xf32> {
    %x = sp.gemm %w, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %f = stablehlo.reshape %x : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %y = sp.gemm %w, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %z = sp.gemm %y, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %u = sp.gemm %z, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %v = sp.gemm %u, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %p = sp.gemm %f, %v sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<1x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %q = sp.gemm %p, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %s = sp.gemm %q, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %t = sp.gemm %s, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = sp.gemm %x, %t sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %r : tensor<8x8xf32>
  }
}

// -----

// Results, what is gone on with and arguments stay.
// CHECK-LABEL: module @stays
// CHECK-NOT: evict_start
module @stays {
  func.func @main(%w: tensor<8x8xf32>, %a: tensor<8x64xf32>, %b: tensor<64x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %x = sp.gemm %w, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %s = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %z = sp.gemm %y, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %u = sp.gemm %z, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %v = sp.gemm %u, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = sp.gemm %v, %w onto %s sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %r, %x : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// Of two values the one that waits longer goes, where that is enough.
// CHECK-LABEL: module @longest_first
// CHECK: %[[X:.*]] = sp.gemm
// CHECK-NEXT: sp.evict_start %[[X]] :
// CHECK-NOT: evict_start
// SHORT-LABEL: module @longest_first
module @longest_first {
  func.func @main(%w: tensor<8x8xf32>, %a: tensor<8x64xf32>, %b: tensor<64x8xf32>) -> tensor<8x8xf32> {
    %x = sp.gemm %w, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = sp.gemm %x, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %o = sp.gemm %y, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %z = sp.gemm %o, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %u = sp.gemm %z, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %v = sp.gemm %u, %y sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %q = sp.gemm %v, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %s = sp.gemm %q, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %t = sp.gemm %s, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = sp.gemm %x, %t sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %r : tensor<8x8xf32>
  }
}

// -----

// What ranks move is there after the wait, and read until another one.
// CHECK-LABEL: module @moved
// CHECK: %[[X:.*]], %[[MOVED:.*]] = sp.shift_start
// CHECK: sp.wait %[[MOVED]]
// CHECK-NEXT: %[[H:.*]], %[[GONE:.*]] = sp.evict_start %[[X]] :
// CHECK-NEXT: %[[Y:.*]], %[[ON:.*]] = sp.shift_start %[[X]]
// CHECK-NEXT: sp.gemm
// CHECK-NEXT: sp.wait %[[ON]]
// CHECK-NEXT: sp.wait %[[GONE]]
// CHECK: %[[B:.*]], %[[CAME:.*]] = sp.fetch_start %[[H]] :
// CHECK-NEXT: sp.gemm
// CHECK-NEXT: sp.wait %[[CAME]]
// CHECK-NEXT: sp.shift_start %[[B]]
module @moved {
  sp.mesh @mesh <["sp" = 2]> sequence "sp"
  func.func @main(%w: tensor<8x8xf32>, %a: tensor<8x64xf32>, %b: tensor<64x8xf32>, %k: tensor<1x8x8xf32>) -> tensor<8x8xf32> {
    %src = sp.rank "sp" : index
    %x, %moved = sp.shift_start %k from %src by 1 in <contiguous 16 on "sp" of 2> : tensor<1x8x8xf32>
    sp.wait %moved
    %x1, %on = sp.shift_start %x from %src by 1 in <contiguous 16 on "sp" of 2> : tensor<1x8x8xf32>
    %y = sp.gemm %w, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    sp.wait %on
    %z = sp.gemm %y, %a sizes [1, 8, 64, 8] strides [0, 8, 1] x [0, 64, 1] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %u = sp.gemm %z, %b sizes [1, 8, 8, 64] strides [0, 64, 1] x [0, 8, 1] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %t = sp.gemm %u, %w sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %x2, %off = sp.shift_start %x from %src by 1 in <contiguous 16 on "sp" of 2> : tensor<1x8x8xf32>
    sp.wait %off
    %v = sp.gemm %t, %x2 sizes [1, 8, 8, 8] strides [0, 8, 1] x [0, 8, 1] : (tensor<8x8xf32>, tensor<1x8x8xf32>) -> tensor<8x8xf32>
    return %v : tensor<8x8xf32>
  }
}
