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

// Rank r is owner 4 t + r of queries in turn t.
// CHECK-LABEL: func.func @queries_by_turn
func.func @queries_by_turn(%q: tensor<1x2x1x4xf32>, %k: tensor<1x6x1x4xf32>, %owner: index) -> tensor<1x2x1x4xf32> {
  // CHECK: sp.attend({{.*}}) queries <striped 24 on "sp" of 4 turns 3> from %{{.*}} keys <striped 24 on "sp" of 4 blocks 3> bands
  %o, %l = sp.attend(%q, %k, %k) queries <striped 24 on "sp" of 4 turns 3> from %owner keys <striped 24 on "sp" of 4 blocks 3> bands [] scale 1.0
    : (tensor<1x2x1x4xf32>, tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>) -> tensor<1x2x1x4xf32>, tensor<1x2x1xf32>
  return %o : tensor<1x2x1x4xf32>
}

// By the documents of a batch, and which owners share them.
// CHECK-LABEL: func.func @batch
func.func @batch(%t: index) -> (tensor<6xi32>, index, index) {
  // CHECK: sp.positions <batch 20 within 21 on "sp" of 4 holds 6> : tensor<6xi32>
  %p = sp.positions <batch 20 within 21 on "sp" of 4 holds 6> : tensor<6xi32>
  // CHECK: sp.group_size <batch 21 on "sp" of 4 holds 6> : index
  %n = sp.group_size <batch 21 on "sp" of 4 holds 6> : index
  // CHECK: sp.group_source %{{.*}} in <batch 21 on "sp" of 4 holds 6> : index
  %s = sp.group_source %t in <batch 21 on "sp" of 4 holds 6> : index
  return %p, %n, %s : tensor<6xi32>, index, index
}
