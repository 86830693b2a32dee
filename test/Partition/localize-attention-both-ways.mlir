// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=2 strategy=ring bidirectional" --sp-partition-pipeline | FileCheck %s --check-prefix=TWO
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=3 strategy=ring bidirectional" --sp-partition-pipeline | FileCheck %s --check-prefix=THREE
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=4 strategy=ring bidirectional" --sp-partition-pipeline | FileCheck %s --check-prefix=FOUR
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=7 strategy=ring bidirectional" --sp-partition-pipeline | FileCheck %s --check-prefix=SEVEN
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=8 strategy=double-ring inner=4 bidirectional" --sp-partition-pipeline | FileCheck %s --check-prefix=DOUBLE
// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=6 strategy=2d heads=2 bidirectional" --sp-partition-pipeline | FileCheck %s --check-prefix=HEADS

// A ring that turns both ways: each step attends the block that came from before
// and the one that came from behind. Every block is shifted one time less than
// there are ranks.
func.func @main(%q: tensor<1x33x4x8xf32>, %k: tensor<1x33x2x8xf32>) -> tensor<1x33x4x8xf32> {
  // Of two ranks there is only one way.
  // TWO: %[[R:.*]] = sp.rank "sp" : index
  // TWO: %[[ON:.*]]:2 = sp.shift %arg1, %arg1 from %[[R]] by 1 in
  // TWO: sp.attend(%arg0, %arg1, %arg1)
  // TWO-NOT: sp.shift
  // TWO: sp.attend(%arg0, %[[ON]]#0, %[[ON]]#1) onto(
  // TWO-NOT: sp.attend

  // THREE: %[[R:.*]] = sp.rank "sp" : index
  // THREE: %[[ON:.*]]:2 = sp.shift %arg1, %arg1 from %[[R]] by 1 hops 1 in
  // THREE: %[[BACK:.*]]:2 = sp.shift %arg1, %arg1 from %[[R]] by -1 hops 1 in
  // THREE: sp.attend(%arg0, %arg1, %arg1)
  // THREE-NOT: sp.shift
  // THREE: sp.attend(%arg0, %[[ON]]#0, %[[ON]]#1) onto(
  // THREE: sp.attend(%arg0, %[[BACK]]#0, %[[BACK]]#1) onto(
  // THREE-NOT: sp.attend

  // Of an even number of ranks the one opposite is reached on the way on only.
  // FOUR: %[[R:.*]] = sp.rank "sp" : index
  // FOUR: %[[ON:.*]]:2 = sp.shift %arg1, %arg1 from %[[R]] by 1 hops 2 in
  // FOUR: %[[BACK:.*]]:2 = sp.shift %arg1, %arg1 from %[[R]] by -1 hops 1 in
  // FOUR: sp.attend(%arg0, %arg1, %arg1)
  // FOUR: %[[LAST:.*]]:2 = sp.shift %[[ON]]#0, %[[ON]]#1 from %{{.*}} by 1 hops 2 in
  // FOUR-NOT: sp.shift
  // FOUR: sp.attend(%arg0, %[[ON]]#0, %[[ON]]#1) onto(
  // FOUR: sp.attend(%arg0, %[[BACK]]#0, %[[BACK]]#1) onto(
  // FOUR: sp.attend(%arg0, %[[LAST]]#0, %[[LAST]]#1) onto(
  // FOUR-NOT: sp.attend

  // SEVEN-DAG: #[[BEFORE:.*]] = affine_map<(d0)[s0] -> ((-d0 + s0) mod 7)>
  // SEVEN-DAG: #[[BEHIND:.*]] = affine_map<(d0)[s0] -> ((d0 + s0) mod 7)>
  // SEVEN: %[[R:.*]] = sp.rank "sp" : index
  // SEVEN: %[[ON:.*]]:2 = sp.shift %arg1, %arg1 from %[[R]] by 1 hops 3 in
  // SEVEN: %[[BACK:.*]]:2 = sp.shift %arg1, %arg1 from %[[R]] by -1 hops 3 in
  // SEVEN: sp.attend(%arg0, %arg1, %arg1)
  // SEVEN: scf.for %[[T:.*]] = %c1 to %c3 step %c1 iter_args({{.*}}, %[[K:.*]] = %[[ON]]#0, %[[V:.*]] = %[[ON]]#1, %[[KB:.*]] = %[[BACK]]#0, %[[VB:.*]] = %[[BACK]]#1)
  // SEVEN: %[[FROM:.*]] = affine.apply #[[BEFORE]](%[[T]])[%[[R]]]
  // SEVEN: sp.shift %[[K]], %[[V]] from %[[FROM]] by 1 hops 3 in
  // SEVEN: %[[THERE:.*]] = affine.apply #[[BEHIND]](%[[T]])[%[[R]]]
  // SEVEN: sp.shift %[[KB]], %[[VB]] from %[[THERE]] by -1 hops 3 in
  // SEVEN: sp.attend(%arg0, %[[K]], %[[V]]) onto({{.*}} from %[[FROM]]
  // SEVEN: sp.attend(%arg0, %[[KB]], %[[VB]]) onto({{.*}} from %[[THERE]]
  // SEVEN: scf.yield
  // SEVEN-NOT: sp.shift
  // SEVEN-COUNT-2: sp.attend(
  // SEVEN-NOT: sp.attend

  // In a double ring the windows turn both ways, blocks move on between them.
  // DOUBLE: sp.shift %arg1, %arg1 from %{{.*}} by 1 along "sp:(1)2"
  // DOUBLE: sp.shift %arg1, %arg1 from %{{.*}} by 1 hops 2 along "sp:(2)4"
  // DOUBLE: sp.shift %arg1, %arg1 from %{{.*}} by -1 hops 1 along "sp:(2)4"

  // Beside heads it is the ring of their groups.
  // HEADS: sp.all_to_all
  // HEADS: sp.shift {{.*}} by 1 hops 1 in <zigzag 33 on "sp:(1)3" of 3> heads
  // HEADS: sp.shift {{.*}} by -1 hops 1 in <zigzag 33 on "sp:(1)3" of 3> heads
  %o = sp.attention(%q, %k, %k) bands [#sp.band<q 0 to 33, k 0 to 33, lo -inf, hi 0>] scale 1.0
     : tensor<1x33x4x8xf32>, tensor<1x33x2x8xf32>, tensor<1x33x2x8xf32> -> tensor<1x33x4x8xf32>
  return %o : tensor<1x33x4x8xf32>
}
