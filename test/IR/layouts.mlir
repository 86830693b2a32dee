// RUN: sp-opt %s | FileCheck %s

// Blocks, of which every rank has a part, and the same parts by turn.

sp.mesh @mesh <["sp" = 4]> sequence "sp"

// CHECK-LABEL: func.func @blocks
func.func @blocks() -> tensor<6xi32> {
  // CHECK: sp.positions <zigzag 24 on "sp" of 4 blocks 3> : tensor<6xi32>
  %p = sp.positions <zigzag 24 on "sp" of 4 blocks 3> : tensor<6xi32>
  return %p : tensor<6xi32>
}

// CHECK-LABEL: func.func @first_ones
func.func @first_ones() -> tensor<6xi32> {
  // CHECK: sp.positions <contiguous 21 within 24 on "sp" of 4 split 2 blocks 3> : tensor<6xi32>
  %p = sp.positions <contiguous 21 within 24 on "sp" of 4 split 2 blocks 3> : tensor<6xi32>
  return %p : tensor<6xi32>
}

// CHECK-LABEL: func.func @turns
// CHECK-SAME: #sp.sharding<{{.*}}24 by <striped 24 on "sp" of 4 turns 3>
func.func @turns(%x: tensor<2xi32> {sp.sharding = #sp.sharding<[[24 by <striped 24 on "sp" of 4 turns 3>]]>}) {
  return
}
