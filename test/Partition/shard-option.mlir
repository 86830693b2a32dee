// RUN: sp-opt %s --sp-propagate-shardings="shard=arg0=sp" | FileCheck %s
// RUN: not sp-opt %s --sp-propagate-shardings="shard=arg7=sp" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not sp-opt %s --sp-propagate-shardings="shard=arg0=tp" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: sp-opt %s --sp-propagate-shardings="shard=arg0=dp*sp" | FileCheck %s --check-prefix=PRODUCT
// RUN: sp-opt %s --sp-propagate-shardings="shard=arg0=sp:(2)2" | FileCheck %s --check-prefix=PART
// RUN: sp-opt %s --sp-propagate-shardings="shard=arg0=sp:(1)4" | FileCheck %s
// RUN: not sp-opt %s --sp-propagate-shardings="shard=arg0=sp*dp" 2>&1 | FileCheck %s --check-prefix=DIVIDES
// RUN: not sp-opt %s --sp-propagate-shardings="shard=arg0=sp*sp:(2)2" 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: not sp-opt %s --sp-propagate-shardings="shard=arg0=sp:(1)3" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not sp-opt %s --sp-propagate-shardings="shard=arg0=dp*" 2>&1 | FileCheck %s --check-prefix=EMPTY

sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"

// What the option says of one argument spreads to the other.
// CHECK: func.func @main(%{{.*}}: tensor<14xf32> {sp.sharding = #sp.sharding<{{\[}}[14 by <contiguous 14 on "sp" of 4>]]>}, %{{.*}}: tensor<14xf32> {sp.sharding = #sp.sharding<{{\[}}[14 by <contiguous 14 on "sp" of 4>]]>})
// PRODUCT-COUNT-2: [2 by <contiguous 2 on "dp" of 2>, 7 by <contiguous 7 on "sp" of 4>]
// PART-COUNT-2: [14 by <contiguous 14 on "sp:(2)2" of 2>]
// NUMBER: error: expected --shard to name one of the 2 arguments, such as arg0=_,sp,_, but got "arg7=sp"
// AXIS: error: expected --shard to name axes of the mesh, "dp", "sp", or parts of them, but got "tp" in "arg0=tp"
// DIVIDES: error: --shard=arg0=sp*dp, dimension 0: expected axes of which all but the last divide a dimension of size 14 but got ["sp", "dp"]; dp*sp would
// ONCE: error: expected --shard to name axis "sp:(2)2" once but got "arg0=sp*sp:(2)2"
// OTHER: error: expected --shard to name axes of the mesh, "dp", "sp", or parts of them, but got "sp:(1)3"
// EMPTY: error: expected --shard to name axes of the mesh, "dp", "sp", or parts of them, but got ""
func.func @main(%x: tensor<14xf32>, %y: tensor<14xf32>) -> tensor<14xf32> {
  %z = stablehlo.add %x, %y : tensor<14xf32>
  return %z : tensor<14xf32>
}
