// JAX prints many booleans as hex with a byte an element, MLIR 22 with a bit.
//
// RUN: sp-opt %s --mlir-print-elementsattrs-with-hex-if-larger=-1 | FileCheck %s
// RUN: sp-opt %s --mlir-print-debuginfo --mlir-print-elementsattrs-with-hex-if-larger=4 | FileCheck %s --check-prefix=HEX
// RUN: sp-opt %s | sp-opt --mlir-print-elementsattrs-with-hex-if-larger=-1 | FileCheck %s
// RUN: sp-interpret %s | FileCheck %s --check-prefix=VALUES

func.func @main() -> (tensor<3x3xi1>, tensor<9xi1>) {
  // CHECK{LITERAL}: dense<[[true, false, false], [true, false, false], [false, false, true]]> : tensor<3x3xi1>
  // HEX: dense<"0x0901"> : tensor<3x3xi1> loc(#[[LOC:.*]])
  // VALUES: result0: {{.*}}3x3
  %bytes = stablehlo.constant dense<"0x010000010000000001"> : tensor<3x3xi1> loc("here")
  // CHECK: dense<[true, false, false, true, false, false, false, false, true]> : tensor<9xi1>
  %bits = stablehlo.constant dense<"0x0901"> : tensor<9xi1>
  return %bytes, %bits : tensor<3x3xi1>, tensor<9xi1>
}
