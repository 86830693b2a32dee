// RUN: sp-opt %s --sp-propagate-shardings="shard=arg0=sp:(2)2,arg1=sp:(1)4" | FileCheck %s
// RUN: sp-opt %s --sp-deal-parameters="zero=1 axes=sp:(4)3,sp:(1)2" | FileCheck %s --check-prefix=DEALT
// RUN: not sp-opt %s --sp-propagate-shardings="shard=arg0=sp:(2)2,arg1=sp:(3)2" 2>&1 | FileCheck %s --check-prefix=SHARD
// RUN: not sp-opt %s --sp-deal-parameters="zero=1 axes=sp:(1)2,sp:(3)2" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not sp-opt %s --sp-deal-parameters="zero=1 axes=sp:(1)2" --sp-propagate-shardings="shard=arg0=sp:(3)4" 2>&1 | FileCheck %s --check-prefix=BOTH

// Parts of an axis are factors of it, or several of them that follow each other.

// CHECK: %{{[^:]*}}: tensor<24xf32> {sp.sharding = #sp.sharding<{{\[}}[24 by <contiguous 24 on "sp:(2)2" of 2>]]>}
// CHECK-SAME: tensor<24xf32> {sp.sharding = #sp.sharding<{{\[}}[24 by <contiguous 24 on "sp:(1)4" of 4>]]>}
// DEALT: [2 by <contiguous 2 on "sp:(1)2" of 2>, 96 by <contiguous 96 on "sp:(4)3" of 3>]
// SHARD: error: --shard=arg1=sp:(3)2: expected parts of axis "sp" that begin and end at divisors of one another but got "sp:(3)2" beside "sp:(2)2"; with the latter go "sp:(1)2" and "sp:(4)3"
// ZERO: error: --zero-axes=sp:(1)2,sp:(3)2: expected parts of axis "sp" that begin and end at divisors of one another but got "sp:(3)2" beside "sp:(1)2"; with the latter goes "sp:(2)6"
// BOTH: error: --shard=arg0=sp:(3)4: expected parts of axis "sp" that begin and end at divisors of one another but got "sp:(3)4" beside "sp:(1)2"; with the latter goes "sp:(2)6"
sp.mesh @mesh <["sp" = 12]> sequence "sp"
func.func @main(%x: tensor<24xf32>, %y: tensor<24xf32>, %w: tensor<192x256xf32> {sp.donated_to = 0 : i64}, %m: tensor<192x256xf32> {sp.donated_to = 1 : i64},
                %a: tensor<192x192xf32>) -> (tensor<192x256xf32>, tensor<192x256xf32>) {
  %g = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<192x192xf32>, tensor<192x256xf32>) -> tensor<192x256xf32>
  %n = stablehlo.add %m, %g : tensor<192x256xf32>
  %v = stablehlo.subtract %w, %n : tensor<192x256xf32>
  return %v, %n : tensor<192x256xf32>, tensor<192x256xf32>
}
