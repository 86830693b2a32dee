// RUN: not sp-kernel-check %s 2>&1 | FileCheck %s

// CHECK: kernels-invalid.mlir":[[@LINE+2]]:10): error: expected an operation that kernels support but got 'stablehlo.rng_bit_generator' on these types
func.func @random(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>) {
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  return %0#0, %0#1 : tensor<2xui64>, tensor<8xui32>
}
