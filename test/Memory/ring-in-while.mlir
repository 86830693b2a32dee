// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=5 strategy=ring" --sp-partition-pipeline --sp-count-loops --sp-start-communication --sp-memory-pipeline | FileCheck %s

// Only counting loops have counters: in a scan over layers the ring's is the
// first, and what lies outside it has none.
// CHECK-DAG: #[[SLOT:.*]] = affine_map<(d0) -> ((d0 mod 2) * 128 + {{[0-9]+}})>
// CHECK-NOT: affine_map<(d0, d1)
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.while
// CHECK: scf.for
// CHECK: sp.shift_start {{.*}}sp.places = [#sp.place<arena #{{.*}}>, #sp.place<arena #[[SLOT]]>]
func.func @main(%x: tensor<1x13x2x4xf32>, %go: tensor<i1>) -> tensor<1x13x2x4xf32> {
  %r = stablehlo.while(%q = %x) : tensor<1x13x2x4xf32>
  cond {
    stablehlo.return %go : tensor<i1>
  } do {
    %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 13, k 0 to 13, lo -inf, hi inf>] scale 0.5
       : tensor<1x13x2x4xf32>, tensor<1x13x2x4xf32>, tensor<1x13x2x4xf32> -> tensor<1x13x2x4xf32>
    stablehlo.return %o : tensor<1x13x2x4xf32>
  }
  return %r : tensor<1x13x2x4xf32>
}
