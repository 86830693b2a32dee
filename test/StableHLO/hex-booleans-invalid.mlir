// Bytes that are no booleans stay what they are, and so do columns.
//
// RUN: not sp-opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: hex-booleans-invalid.mlir:[[@LINE+2]]:{{.*}} elements hex data size is invalid for provided type
func.func @main() -> tensor<9xi1> {
  %c = stablehlo.constant dense<"0x020000010000000001"> : tensor<9xi1>
  return %c : tensor<9xi1>
}

// -----

func.func @main() -> tensor<9xi1> {
  // CHECK: hex-booleans-invalid.mlir:[[@LINE+1]]:72: error: custom op 'oops' is unknown
  %c = stablehlo.constant dense<"0x010000010000000001"> : tensor<9xi1> oops
  return %c : tensor<9xi1>
}
