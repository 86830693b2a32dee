// RUN: sp-opt %s --sp-place-far=flops-per-byte=1 --sp-verify-schedule | FileCheck %s

// Products that a kernel makes, as those of f64, take as long as a library's:
// what waits for them goes away meanwhile.

// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = sp.launch @small
// CHECK-NEXT: %[[H:.*]], %[[GONE:.*]] = sp.evict_start %[[X]] :
// CHECK: sp.launch @wide
// CHECK: sp.fetch_start %[[H]] :
// CHECK: sp.launch @small
module @kernels {
  func.func private @small(%x: tensor<8x8xf64>, %w: tensor<8x8xf64>) -> tensor<8x8xf64> {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
    return %y : tensor<8x8xf64>
  }
  func.func private @wide(%x: tensor<8x8xf64>, %w: tensor<8x64xf64>) -> tensor<8x64xf64> {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf64>, tensor<8x64xf64>) -> tensor<8x64xf64>
    return %y : tensor<8x64xf64>
  }
  func.func private @narrow(%x: tensor<8x64xf64>, %w: tensor<64x8xf64>) -> tensor<8x8xf64> {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf64>, tensor<64x8xf64>) -> tensor<8x8xf64>
    return %y : tensor<8x8xf64>
  }
  func.func @main(%w: tensor<8x8xf64>, %a: tensor<8x64xf64>, %b: tensor<64x8xf64>) -> tensor<8x8xf64> {
    %x = sp.launch @small(%w, %w) : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
    %y = sp.launch @small(%x, %w) : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
    %z = sp.launch @wide(%y, %a) : (tensor<8x8xf64>, tensor<8x64xf64>) -> tensor<8x64xf64>
    %u = sp.launch @narrow(%z, %b) : (tensor<8x64xf64>, tensor<64x8xf64>) -> tensor<8x8xf64>
    %v = sp.launch @small(%u, %w) : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
    %r = sp.launch @small(%x, %v) : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
    return %r : tensor<8x8xf64>
  }
}
