// RUN: sp-opt %s --sp-propagate-shardings="shard=arg0=sp" | FileCheck %s
// RUN: not sp-opt %s --sp-propagate-shardings="shard=arg7=sp" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not sp-opt %s --sp-propagate-shardings="shard=arg0=tp" 2>&1 | FileCheck %s --check-prefix=AXIS

sp.mesh @mesh <["sp" = 3]> sequence "sp"

// What the option says of one argument spreads to the other.
// CHECK: func.func @main(%{{.*}}: tensor<7xf32> {sp.sharding = #sp.sharding<{{\[}}[7 by <contiguous 7 on "sp" of 3>]]>}, %{{.*}}: tensor<7xf32> {sp.sharding = #sp.sharding<{{\[}}[7 by <contiguous 7 on "sp" of 3>]]>})
// NUMBER: error: expected --shard to name one of the 2 arguments, such as arg0=_,sp,_, but got "arg7=sp"
// AXIS: error: expected --shard to name axes of the mesh, "sp", but got "tp"
func.func @main(%x: tensor<7xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %z = stablehlo.add %x, %y : tensor<7xf32>
  return %z : tensor<7xf32>
}
