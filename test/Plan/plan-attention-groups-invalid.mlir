// RUN: not sp-opt --sp-plan-attention="strategy=2d heads=1 head-groups=2" %s 2>&1 | FileCheck %s

sp.mesh @mesh <["sp" = 1]> sequence "sp"

// 8 query heads cannot be shared evenly among 3 kv heads.
// CHECK: plan-attention-groups-invalid.mlir:[[@LINE+2]]:8: error: expected --head-groups where each kv head serves as many query heads but uneven has 8 query heads for 3 kv heads; leave it out
func.func @main(%q: tensor<1x64x8x16xf32>, %k: tensor<1x64x3x16xf32>) {
  %a = sp.attention(%q, %k, %k) bands [] scale 1.0 {name = "uneven"}
     : tensor<1x64x8x16xf32>, tensor<1x64x3x16xf32>, tensor<1x64x3x16xf32> -> tensor<1x64x8x16xf32>
  return
}
