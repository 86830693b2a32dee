// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=8 strategy=double-ring inner=2" --sp-partition-pipeline | FileCheck %s --check-prefix=DOUBLE
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=8 strategy=2d heads=2" --sp-partition-pipeline | FileCheck %s --check-prefix=TWO

// TWO-LABEL: func.func @main(
// TWO-SAME: %[[Q:[a-z0-9]*]]: tensor<1x5x4x8xf32> {sp.sharding = #sp.sharding<{{\[}}[1], [33 by <zigzag 33 on "sp" of 8 split 2>], [4], [8]]>}
func.func @main(%q: tensor<1x33x4x8xf32>, %k: tensor<1x33x2x8xf32>) -> tensor<1x33x4x8xf32> {
  // Each window's first block goes on to the next window before the window
  // turns; the last window hands nothing on.
  // DOUBLE: %[[R:.*]] = sp.rank "sp" : index
  // DOUBLE: %[[NEXT:.*]]:2 = sp.shift %arg1, %arg1 from %{{.*}} by 1 along "sp:(1)4" in <zigzag 33 on "sp" of 8>
  // DOUBLE: %[[IN:.*]]:2 = sp.shift %arg1, %arg1 from %{{.*}} by 1 along "sp:(4)2" in <zigzag 33 on "sp" of 8>
  // DOUBLE: sp.attend(%arg0, %arg1, %arg1) queries
  // DOUBLE: sp.attend(%arg0, %[[IN]]#0, %[[IN]]#1) onto(
  // DOUBLE: scf.for %[[J:.*]] = %c1 to %c3 step %c1 iter_args({{.*}}, %[[K:.*]] = %[[NEXT]]#0, %[[V:.*]] = %[[NEXT]]#1)
  // DOUBLE: %[[SOURCE:.*]] = affine.apply #{{.*}}(%[[J]])[%[[R]]]
  // DOUBLE: %[[FOLLOWING:.*]]:2 = sp.shift %[[K]], %[[V]] from %[[SOURCE]] by 1 along "sp:(1)4"
  // DOUBLE: sp.shift %[[K]], %[[V]] from %{{.*}} by 1 along "sp:(4)2"
  // DOUBLE: sp.attend(%arg0, %[[K]], %[[V]]) onto(
  // DOUBLE: sp.attend(
  // DOUBLE: scf.yield %{{.*}}, %{{.*}}, %[[FOLLOWING]]#0, %[[FOLLOWING]]#1
  // DOUBLE-NOT: along "sp:(1)4"
  // DOUBLE: sp.shift {{.*}} along "sp:(4)2"
  // DOUBLE: sp.attend(
  // DOUBLE-NOT: sp.shift
  // DOUBLE: sp.attend(

  // Two ranks join the rows of their ring owner, each with two of four heads; the
  // ring of four moves the kv head that they read.
  // TWO: %[[QH:.*]] = sp.all_to_all %[[Q]] rows <zigzag 33 on "sp" of 8 split 2> onto <zigzag 33 on "sp:(1)4" of 4> heads <contiguous 4 on "sp:(4)2" of 2> of 4 : tensor<1x5x4x8xf32> -> tensor<1x9x2x8xf32>
  // TWO: %[[KH:.*]] = sp.all_to_all %{{.*}} of 2 : tensor<1x5x2x8xf32> -> tensor<1x9x1x8xf32>
  // TWO: %[[R:.*]] = sp.rank "sp:(1)4" : index
  // TWO: sp.shift %[[KH]], %{{.*}} from %[[R]] by 1 in <zigzag 33 on "sp:(1)4" of 4> heads <contiguous 4 on "sp:(4)2" of 2> of 2
  // TWO: sp.attend(%[[QH]], %[[KH]], %{{.*}}) queries <zigzag 33 on "sp:(1)4" of 4> keys <zigzag 33 on "sp:(1)4" of 4> from %[[R]] heads <contiguous 4 on "sp:(4)2" of 2> kv_heads 2
  // TWO: scf.for
  // TWO: sp.all_to_all %{{.*}} onto <zigzag 33 on "sp:(1)4" of 4> {{.*}} of 4 to_rows : tensor<1x9x2x8xf32> -> tensor<1x5x4x8xf32>
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 33, k 0 to 33, lo -inf, hi 0>] scale 1.0
     : tensor<1x33x4x8xf32>, tensor<1x33x2x8xf32>, tensor<1x33x2x8xf32> -> tensor<1x33x4x8xf32>
  return %o : tensor<1x33x4x8xf32>
}
