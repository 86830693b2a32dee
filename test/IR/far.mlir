// RUN: sp-opt %s | sp-opt | FileCheck %s

// CHECK-LABEL: @there_and_back(
// CHECK-SAME: %[[X:.*]]: tensor<1x8x4xbf16>
func.func @there_and_back(%x: tensor<1x8x4xbf16>) -> tensor<1x8x4xbf16> {
  // CHECK-NEXT: %[[H:.*]], %[[GONE:.*]] = sp.evict_start %[[X]] : tensor<1x8x4xbf16> -> tensor<1x8x4xbf16, #sp.far>
  %h, %gone = sp.evict_start %x : tensor<1x8x4xbf16> -> tensor<1x8x4xbf16, #sp.far>
  // CHECK-NEXT: sp.wait %[[GONE]]
  sp.wait %gone
  // CHECK-NEXT: %{{.*}}, %[[CAME:.*]] = sp.fetch_start %[[H]] : tensor<1x8x4xbf16, #sp.far> -> tensor<1x8x4xbf16>
  %y, %came = sp.fetch_start %h : tensor<1x8x4xbf16, #sp.far> -> tensor<1x8x4xbf16>
  sp.wait %came
  return %y : tensor<1x8x4xbf16>
}

// CHECK-LABEL: @rows_there_and_back(
func.func @rows_there_and_back(%x: tensor<1x8xf32>) {
  %c1 = arith.constant 1 : index
  %e = sp.empty : tensor<4x8xf32, #sp.far>
  // CHECK: %[[H:.*]], %[[GONE:.*]] = sp.evict_rows_start %{{.*}} into %{{.*}} at %{{.*}} dim 0 : tensor<1x8xf32>, tensor<4x8xf32, #sp.far>
  %h, %gone = sp.evict_rows_start %x into %e at %c1 dim 0 : tensor<1x8xf32>, tensor<4x8xf32, #sp.far>
  sp.wait %gone
  // CHECK: %{{.*}}, %[[CAME:.*]] = sp.fetch_rows_start %[[H]] at %{{.*}} dim 0 : tensor<4x8xf32, #sp.far> -> tensor<1x8xf32>
  %y, %came = sp.fetch_rows_start %h at %c1 dim 0 : tensor<4x8xf32, #sp.far> -> tensor<1x8xf32>
  sp.wait %came
  return
}
