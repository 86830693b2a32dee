// RUN: sp-opt %s --sp-plan-pipeline="mesh=sp=5 strategy=ring" --sp-partition-pipeline --sp-start-communication --sp-memory-pipeline | FileCheck %s

// The blocks that the ring hands on share two places in turn, the state is
// continued in one, and the rank's own keys stay: 3 rows of 2 heads of 4 floats
// are 96 bytes, in 128.
// CHECK-DAG: #[[ARRIVED:.*]] = affine_map<(d0) -> ((d0 mod 2) * 128 + [[K:[0-9]+]])>
// CHECK-DAG: #[[HERE:.*]] = affine_map<(d0) -> (((d0 + 1) mod 2) * 128 + [[K]])>
// CHECK-LABEL: func.func @main(
// CHECK-SAME: sp.place = #sp.place<arena 
// CHECK-SAME: sp.arena_bytes = 832 : i64
// CHECK: scf.for
// CHECK: sp.shift_start {{.*}}sp.places = [#sp.place<arena #{{.*}}>, #sp.place<arena #[[ARRIVED]]>]
// CHECK: sp.attend
// CHECK: sp.wait
// CHECK: sp.carried_places = [#sp.place<arena #{{.*}}>, #sp.place<arena #{{.*}}>, #sp.place<arena #{{.*}}>, #sp.place<arena #[[HERE]]>]
func.func @main(%q: tensor<1x13x2x4xf32>) -> tensor<1x13x2x4xf32> {
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 13, k 0 to 13, lo -inf, hi inf>] scale 0.5
     : tensor<1x13x2x4xf32>, tensor<1x13x2x4xf32>, tensor<1x13x2x4xf32> -> tensor<1x13x2x4xf32>
  return %o : tensor<1x13x2x4xf32>
}
