// RUN: not sp-compile %s --mesh=sp=2 -o %t.spx 2>&1 | FileCheck %s

// JAX says how its custom calls may be sharded: the call is named all the same,
// where it stands.
// CHECK: sharding-rules-invalid.mlir:[[@LINE+2]]:8: error: custom call '@lapack_spotrf_ffi' is not supported; express it in StableHLO operations
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=4, j=4, k=4}, custom>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
