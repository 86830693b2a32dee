// RUN: sp-opt %s -split-input-file --sp-verify-partition -verify-diagnostics

sp.mesh @mesh <["sp" = 2]> sequence "sp"
// expected-error @below {{'func.func' op expected argument 0 to be cut as the result that 'sp.donated_to' names}}
func.func @main(%w: tensor<2xf32> {sp.donated_to = 0 : i64, sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp" of 2>]]>}) -> (tensor<2xf32> {sp.sharding = #sp.sharding<[[4 by <zigzag 4 on "sp" of 2>]]>}) {
  return %w : tensor<2xf32>
}

// -----

sp.mesh @mesh <["sp" = 2]> sequence "sp"
// expected-error @below {{'func.func' op expected argument 0 to be cut as the result that 'sp.donated_to' names}}
func.func @main(%w: tensor<4xf32> {sp.donated_to = 3 : i64, sp.sharding = #sp.sharding<[[4]]>}) -> (tensor<4xf32> {sp.sharding = #sp.sharding<[[4]]>}) {
  return %w : tensor<4xf32>
}

// -----

// A factor of an axis deals what the whole axis deals, too.

sp.mesh @mesh <["sp" = 4]> sequence "sp"
// expected-error @below {{'func.func' op expected argument 0 to have one dimension cut by an axis but got #sp.sharding}}
func.func @main(%x: tensor<2x2xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp:(2)2" of 2>], [8 by <contiguous 8 on "sp" of 4>]]>}) {
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @main(%x: tensor<2x4xf32> {sp.sharding = #sp.sharding<[[4 by <contiguous 4 on "sp:(2)2" of 2>], [8 by <contiguous 8 on "sp:(1)2" of 2>]]>}) {
  return
}
